//! What a client tells about itself without being asked: its name, its model and its session.
//! Must never refuse anything: what is malformed counts as not told. Must never take another client's session for
//! the caller's.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::domain::secret;
use crate::domain::session::{Observed, session_ref_problem};

/// The longest name, version or model that is believed, in characters.
pub const WORD_MAX: usize = 80;
/// The longest name with its version.
pub const PROGRAM_MAX: usize = 2 * WORD_MAX + 1;

/// A client that is known: how its programs call themselves and where they say more.
struct Client {
    /// How its name in `clientInfo` starts.
    starts: &'static str,
    /// Its name in a `session_ref`.
    harness: &'static str,
    /// Where each call names the session, the surest place first.
    session_in_call: &'static [&'static [&'static str]],
    /// Where each call names the model.
    model_in_call: &'static [&'static str],
    /// The variable that names the session, set when the server was started.
    session_variable: Option<&'static str>,
    /// The variable that names the model.
    model_variable: Option<&'static str>,
}

const fn client(starts: &'static str, harness: &'static str) -> Client {
    Client { starts, harness, session_in_call: &[], model_in_call: &[], session_variable: None, model_variable: None }
}

const TURN: &str = "x-codex-turn-metadata";

/// As seen on the wire: Claude Code 2.1, Codex 0.171, Copilot 1.0, Gemini 0.61, `OpenCode` 1.18, Qwen Code 0.15.
static CLIENTS: [Client; 6] = [
    Client {
        session_in_call: &[&["claudecode/sessionId"]],
        session_variable: Some("CLAUDE_CODE_SESSION_ID"),
        ..client("claude-code", "claude-code")
    },
    Client {
        session_in_call: &[&["sessionId"], &["threadId"], &[TURN, "session_id"], &[TURN, "thread_id"]],
        model_in_call: &[TURN, "model"],
        session_variable: Some("CODEX_SESSION_ID"),
        ..client("codex", "codex")
    },
    Client {
        session_variable: Some("COPILOT_AGENT_SESSION_ID"),
        model_variable: Some("COPILOT_MODEL"),
        ..client("copilot", "copilot")
    },
    Client { session_variable: Some("GEMINI_SESSION_ID"), ..client("gemini", "gemini") },
    client("opencode", "opencode"),
    client("qwen", "qwen"),
];

/// The variables that are read; the rest of the environment is not kept.
const VARIABLES: [&str; 6] = [
    "AI_AGENT",
    "CLAUDE_CODE_SESSION_ID",
    "CODEX_SESSION_ID",
    "COPILOT_AGENT_SESSION_ID",
    "COPILOT_MODEL",
    "GEMINI_SESSION_ID",
];

/// What the environment of this process says about the client that started it.
#[derive(Debug, Default)]
pub struct Environment(HashMap<String, String>);

impl Environment {
    /// Keeps what is of use.
    pub fn new(variables: Vec<(String, String)>) -> Self {
        Self(variables.into_iter().filter(|(name, _)| VARIABLES.contains(&name.as_str())).collect())
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

/// Puts together what `client` (name and version), the metadata of this call and the environment tell.
///
/// The call wins over the environment, which can be older than the session: a client may start a new one and keep
/// the server. Over the network there is none: the environment of a server says nothing about its callers.
pub fn observe(client: Option<(&str, &str)>, meta: &Map<String, Value>, environment: Option<&Environment>) -> Observed {
    let variable = |name: Option<&str>| environment?.get(name?);
    let Some((name, version)) = client else {
        // The agent that started this process need not be the one that talks: a name, but no session.
        let agent = variable(Some("AI_AGENT")).and_then(agent_name);
        return Observed { harness: agent, ..Observed::default() };
    };
    let begins = |with: &str| name.get(..with.len()).is_some_and(|head| head.eq_ignore_ascii_case(with));
    let known = CLIENTS.iter().find(|one| begins(one.starts));
    let shown = known.map_or(name, |known| known.harness);
    let harness = word(shown).map(|shown| match word(version) {
        Some(version) => format!("{shown} {version}"),
        None => shown.to_owned(),
    });
    let Some(known) = known else {
        return Observed { harness, ..Observed::default() };
    };
    let in_calls = known.session_in_call.iter().map(|path| at(meta, path));
    let mut ids = in_calls.chain([variable(known.session_variable)]).flatten();
    let session_ref = ids.find_map(|id| session_ref(known.harness, id));
    let models = [at(meta, known.model_in_call), variable(known.model_variable)];
    let model = models.into_iter().flatten().find_map(word).map(str::to_owned);
    Observed { harness, model, session_ref }
}

fn at<'m>(meta: &'m Map<String, Value>, path: &[&str]) -> Option<&'m str> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(meta.get(*first)?, |value, name| value.get(name))?.as_str()
}

/// A word or few that may stand in a receipt; `None` for anything else.
pub fn word(text: &str) -> Option<&str> {
    within(WORD_MAX, text)
}

/// The name and version of a program, as [`observe`] puts them together; `None` for anything else.
pub fn program(text: &str) -> Option<&str> {
    within(PROGRAM_MAX, text)
}

fn within(most: usize, text: &str) -> Option<&str> {
    let text = text.trim();
    let lawful = !text.chars().any(char::is_control) && !secret::holds(text);
    let fits = !text.is_empty() && text.chars().count() <= most && lawful;
    fits.then_some(text)
}

fn session_ref(harness: &str, id: &str) -> Option<String> {
    let id = word(id).filter(|id| !id.contains(char::is_whitespace))?;
    let session_ref = format!("{harness}:{id}");
    session_ref_problem(&session_ref).is_none().then_some(session_ref)
}

/// `claude-code_2-1-332_harness` is `claude-code 2.1.332`.
fn agent_name(agent: &str) -> Option<String> {
    let mut parts = word(agent)?.split('_');
    let name = parts.next().filter(|name| !name.is_empty())?;
    let digits = |version: &&str| version.starts_with(|first: char| first.is_ascii_digit());
    let version = parts.next().filter(digits).map(|version| version.replace('-', "."));
    Some(version.map_or_else(|| name.to_owned(), |version| format!("{name} {version}")))
}
