//! Lines of events as clients print them: one JSON document a line. A kind that is not known is passed over, a line that is
//! no JSON is counted. Must never keep more than a little, whatever is printed.

use std::collections::{HashMap, HashSet, VecDeque};

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::client::harness::Told;
use crate::domain::run::{Denied, Exit};
use crate::domain::secret::masked;

/// How many errors are kept.
const MOST_ERRORS: usize = 20;
/// How long one may be, in characters.
const LONGEST_ERROR: usize = 1_000;
/// How many names of tools and ids of refused calls are kept.
const MOST_DENIED: usize = 1_000;
/// How many lines that are no JSON are kept until it is known whether the client came to its end; as many of those of
/// standard error.
const MOST_PLAIN: usize = 5;
/// A message that is longer is cut, which the report says at its end.
const LONGEST_MESSAGE: usize = 1_000_000;

/// What is remembered between the lines.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// True if the session had begun before.
    pub(super) resumes: bool,
    /// Pieces of a message that is being told.
    pub(super) message: String,
    /// The last step of the model, where the client tells no end of its own.
    pub(super) is_step_over: bool,
    calls: HashMap<String, String>,
    denied: HashSet<String>,
    plain: Vec<String>,
    /// The last lines of standard error.
    last: VecDeque<String>,
    /// The last of them that say that they are errors.
    complaints: VecDeque<String>,
}

impl Events {
    pub(super) fn new(resumes: bool) -> Self {
        Self { resumes, ..Self::default() }
    }

    /// Takes a line: as an event where it is one, else counted.
    pub(super) fn take<E: DeserializeOwned>(
        &mut self,
        line: &[u8],
        told: &mut Told,
        take: fn(E, &mut Self, &mut Told),
    ) {
        let line = line.trim_ascii();
        if line.is_empty() {
            return;
        }
        match serde_json::from_slice(line) {
            Ok(event) => take(event, self, told),
            // An event in another shape than the one that is known tells nothing, and is no broken line.
            Err(_) if line.starts_with(b"{") && serde_json::from_slice::<IgnoredAny>(line).is_ok() => {}
            Err(_) => {
                told.broken_lines += 1;
                if self.plain.len() < MOST_PLAIN && !line.starts_with(b"{") {
                    self.plain.push(String::from_utf8_lossy(line).into_owned());
                }
            }
        }
    }

    /// A line of standard error: its text, without what would colour a terminal.
    pub(super) fn complaint(&mut self, line: &[u8]) -> String {
        let text = plain(line);
        if text.is_empty() {
            return text;
        }
        let head = text.get(..5).map(str::to_ascii_lowercase);
        let kept =
            if matches!(head.as_deref(), Some("error" | "fatal")) { &mut self.complaints } else { &mut self.last };
        if kept.len() == MOST_PLAIN {
            kept.pop_front();
        }
        kept.push_back(text.clone());
        text
    }

    /// A call that began, where its end does not name the tool.
    pub(super) fn calling(&mut self, id: String, tool: String) {
        if self.calls.len() < MOST_DENIED {
            self.calls.insert(id, tool);
        }
    }

    /// The tool of a call that ended.
    pub(super) fn called(&mut self, id: &str) -> Option<String> {
        self.calls.remove(id)
    }

    /// One more call that was refused; the same call told again is one.
    pub(super) fn denied(&mut self, tool: Option<String>, call: Option<&str>, told: &mut Told) {
        if self.denied.len() >= MOST_DENIED || call.is_some_and(|call| !self.denied.insert(call.to_owned())) {
            return;
        }
        let tool = tool.unwrap_or_else(|| "unknown".to_owned());
        if let Some(denied) = told.denied.iter_mut().find(|denied| denied.tool == tool) {
            denied.times += 1;
        } else if told.denied.len() < MOST_DENIED {
            told.denied.push(Denied { tool, times: 1 });
        }
    }

    /// What is left to be said at the end: lines that were no events explain why it came to no end of its own.
    ///
    /// Standard error is full of warnings: only a client that said nothing else is taken at its word there, and one that was
    /// ended only where it says that it is an error.
    pub(super) fn ended(self, exit: Exit, told: &mut Told) {
        if told.is_complete {
            return;
        }
        self.plain.iter().for_each(|line| error(told, line));
        if told.errors.is_empty() {
            let is_noise = !self.complaints.is_empty() || exit.signal.is_some();
            let said = if is_noise { &self.complaints } else { &self.last };
            for line in said {
                error(told, line);
            }
        }
    }
}

/// The beginning of a line without its sequences for terminals.
fn plain(line: &[u8]) -> String {
    let line = String::from_utf8_lossy(&line[..line.len().min(LONGEST_ERROR * 4)]);
    let mut parts = line.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    // Such a sequence has parameters, and one letter that ends it.
    let rest = parts.filter_map(|part| part.split_once(|one: char| ('@'..='~').contains(&one)));
    let text = rest.fold(first, |text, (_, rest)| text + rest);
    text.trim().chars().take(LONGEST_ERROR).collect()
}

/// An error that was told, once.
pub(super) fn error(told: &mut Told, message: &str) {
    let text: String = masked(message.trim()).chars().take(LONGEST_ERROR).collect();
    if !text.is_empty() && told.errors.len() < MOST_ERRORS && !told.errors.contains(&text) {
        told.errors.push(text);
    }
}

/// The model's last message.
pub(super) fn message(told: &mut Told, text: String) {
    if !text.trim().is_empty() {
        told.final_message = Some(text);
    }
}

/// A piece of a message.
pub(super) fn piece(message: &mut String, text: &str) {
    if message.len() < LONGEST_MESSAGE {
        message.push_str(text);
    }
}

/// An error in an event: a text, or a document with one.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Problem {
    Text(String),
    Document {
        message: Option<String>,
        name: Option<String>,
        #[serde(rename = "type")]
        kind: Option<String>,
        data: Option<Box<Problem>>,
    },
    Other(IgnoredAny),
}

impl Problem {
    /// What it says.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Document { message, name, data, .. } => {
                let inner = data.as_deref().and_then(Self::text);
                message.as_deref().or(inner).or(name.as_deref())
            }
            Self::Other(_) => None,
        }
    }

    /// Which kind of error it is, where it says so.
    pub(super) fn kind(&self) -> Option<&str> {
        if let Self::Document { kind, .. } = self { kind.as_deref() } else { None }
    }
}
