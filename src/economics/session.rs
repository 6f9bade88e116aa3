//! A session as its transcript counts it: requests to a model and the tokens of each. Holds no text that was said in it.

use crate::domain::time::Timestamp;

/// The tokens of one request, each counted once: they add up to what was sent and what came back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Sent, and neither read from a cache nor written into one.
    pub input: u64,
    /// Read from the cache.
    pub cache_read: u64,
    /// Written into the cache for its usual lifetime.
    pub cache_write: u64,
    /// Written into the cache for the longer lifetime that costs more.
    pub cache_write_long: u64,
    /// What came back, thoughts among it.
    pub output: u64,
}

impl Usage {
    /// All that was sent.
    pub fn prompt(self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.written())
    }

    /// All that was written into the cache.
    pub fn written(self) -> u64 {
        self.cache_write.saturating_add(self.cache_write_long)
    }

    /// What the next request sends again: all that was sent, and the answer.
    pub fn context(self) -> u64 {
        self.prompt().saturating_add(self.output)
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write: self.cache_write.saturating_add(other.cache_write),
            cache_write_long: self.cache_write_long.saturating_add(other.cache_write_long),
            output: self.output.saturating_add(other.output),
        }
    }
}

/// One request to a model, as the last word of the transcript on it has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// When the transcript first tells of it.
    pub started: Option<Timestamp>,
    /// When the transcript last tells of it.
    pub ended: Option<Timestamp>,
    /// How long what it wrote into the cache lives after each use, in seconds, where the transcript tells.
    pub lifetime_seconds: Option<u32>,
    /// Which model, as a position in [`Session::models`].
    pub model: u32,
    /// True for work beside the conversation, such as a subagent's: it costs, and is no part of the context.
    pub is_beside: bool,
    /// Its tokens.
    pub usage: Usage,
}

/// A point at which the client put a summary in the place of the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compaction {
    /// When.
    pub at: Option<Timestamp>,
    /// How many requests of the session came before it.
    pub after_requests: usize,
    /// True if the client did it by itself, because the window was full.
    pub is_automatic: bool,
    /// The context before.
    pub tokens_before: Option<u64>,
    /// The context after.
    pub tokens_after: Option<u64>,
}

/// How the lines of a transcript were read. Lines that cannot hold a count are not looked into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// All of them.
    pub read: u64,
    /// Those that told the tokens of a request.
    pub counted: u64,
    /// Those that told of a request once more.
    pub repeated: u64,
    /// Those that should tell tokens and cannot be understood.
    pub broken: u64,
    /// Those that hold counts in a shape that is not known.
    pub unknown: u64,
    /// True if the last line is not whole: the client is still writing, or was stopped.
    pub is_unfinished: bool,
}

impl Lines {
    /// Both files together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            read: self.read + other.read,
            counted: self.counted + other.counted,
            repeated: self.repeated + other.repeated,
            broken: self.broken + other.broken,
            unknown: self.unknown + other.unknown,
            is_unfinished: self.is_unfinished || other.is_unfinished,
        }
    }
}

/// A session of a client.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Session {
    /// The client's name.
    pub client: &'static str,
    /// The client's id of the session, where the transcript tells.
    pub id: Option<String>,
    /// The models that it asked.
    pub models: Vec<String>,
    /// Its requests, in the order of the transcript; those beside the conversation may stand last.
    pub requests: Vec<Request>,
    /// Its compactions.
    pub compactions: Vec<Compaction>,
    /// The window, where the transcript tells it.
    pub window_tokens: Option<u64>,
    /// What the client itself says the session cost.
    pub told_cost_usd: Option<f64>,
    /// All tokens by model, where the client tells a sum and no requests.
    pub told_totals: Vec<(String, Usage)>,
    /// True if only the end of the transcript was read: sums are of that part.
    pub is_part: bool,
    /// How the transcript was read.
    pub lines: Lines,
}

/// No model has a name of more characters, and whatever has is not kept.
const LONGEST_NAME: usize = 200;
const LONGER_NAME: &str = "(a name of more than 200 characters)";

impl Session {
    /// The position of a model, which is added if it is new.
    pub fn model(&mut self, name: &str) -> u32 {
        let name = if name.chars().nth(LONGEST_NAME).is_some() { LONGER_NAME } else { name };
        let known = self.models.iter().position(|known| known == name);
        let position = known.unwrap_or_else(|| {
            self.models.push(name.to_owned());
            self.models.len() - 1
        });
        u32::try_from(position).unwrap_or(u32::MAX)
    }

    /// The name of a request's model.
    pub fn model_of(&self, request: &Request) -> &str {
        let position = usize::try_from(request.model).unwrap_or(usize::MAX);
        self.models.get(position).map_or("", String::as_str)
    }

    /// The requests of the conversation itself, each with its position among all.
    pub fn conversation(&self) -> impl DoubleEndedIterator<Item = (usize, &Request)> {
        self.requests.iter().enumerate().filter(|(_, request)| !request.is_beside)
    }

    /// All tokens: of its requests, or where there are none, those that the client sums up.
    pub fn total(&self) -> Usage {
        let sum = |all: Usage, usage: Usage| all.plus(usage);
        if self.requests.is_empty() {
            return self.told_totals.iter().map(|(_, usage)| *usage).fold(Usage::default(), sum);
        }
        self.requests.iter().map(|request| request.usage).fold(Usage::default(), sum)
    }

    /// What the next request would send of what was said so far.
    pub fn context_tokens(&self) -> u64 {
        let last = self.conversation().next_back();
        let compaction = self.compactions.last();
        match (last, compaction) {
            (Some((position, _)), Some(compaction)) if compaction.after_requests > position => {
                compaction.tokens_after.unwrap_or(0)
            }
            (None, Some(compaction)) => compaction.tokens_after.unwrap_or(0),
            (Some((_, request)), _) => request.usage.context(),
            (None, None) => 0,
        }
    }
}
