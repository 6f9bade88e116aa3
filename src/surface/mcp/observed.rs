//! What a client tells about itself without being asked: its name, its model and its session.
//! Must never refuse anything: what is malformed counts as not told. Must never take another client's session for
//! the caller's.

use std::collections::HashMap;
use std::ffi::OsString;

use serde_json::{Map, Value};

use crate::client::process::Process;
use crate::client::state::State;
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
    /// True if it makes tools for the model out of the resources: each session then pays over 200 tokens for pages that
    /// its skills hold as well.
    makes_tools_of_resources: bool,
    /// True if it complains at each start of prompts and skills with one name. It has the skills.
    mixes_prompts_and_skills: bool,
}

const fn client(starts: &'static str, harness: &'static str) -> Client {
    Client {
        starts,
        harness,
        session_in_call: &[],
        model_in_call: &[],
        session_variable: None,
        model_variable: None,
        makes_tools_of_resources: false,
        mixes_prompts_and_skills: false,
    }
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
    Client {
        session_variable: Some("GEMINI_SESSION_ID"),
        makes_tools_of_resources: true,
        mixes_prompts_and_skills: true,
        ..client("gemini", "gemini")
    },
    Client { makes_tools_of_resources: true, ..client("opencode", "opencode") },
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

/// What is known of the client that started this process: the variables that it gave, and what its hooks say.
#[derive(Debug, Default)]
pub struct Environment {
    variables: HashMap<String, String>,
    hooks: Option<Hooks>,
}

/// The client's process, and where its hooks keep which session it is in.
#[derive(Debug)]
struct Hooks {
    state: State,
    process: Process,
}

impl Environment {
    /// Keeps what is of use. The hooks' state is where these variables lead.
    pub fn new(variables: Vec<(String, String)>) -> Self {
        let given = |name: &str| variables.iter().find(|(one, _)| one == name).map(|(_, value)| value);
        let told = given("CLAUDE_PID").and_then(|told| told.parse().ok());
        let state = State::find(|name| given(name).map(OsString::from));
        let hooks = state.and_then(|state| Some(Hooks { state, process: Process::client(told)? }));
        let variables = variables.into_iter().filter(|(name, _)| VARIABLES.contains(&name.as_str())).collect();
        Self { variables, hooks }
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// The sessions that the client's process is in now, as its hooks say; asked anew each time, as it may start others.
    fn hooked(&self, harness: &str) -> Vec<String> {
        let client = crate::client::Client::named(harness).ok();
        let hooks = self.hooks.as_ref().zip(client);
        let found = hooks.map(|(hooks, client)| hooks.state.open_sessions(&hooks.process, client)).unwrap_or_default();
        found.into_iter().filter(|session_ref| session_ref_problem(session_ref).is_none()).collect()
    }
}

/// Puts together what `client` (name and version), its hooks, the metadata of this call and the environment tell.
///
/// The hooks win, then the call, then the environment, which can be older than the session: a client may start a new one
/// and keep the server. Over the network there are no hooks and no environment: those of a server say nothing about its
/// callers.
pub fn observe(client: Option<(&str, &str)>, meta: &Map<String, Value>, environment: Option<&Environment>) -> Observed {
    let variable = |name: Option<&str>| environment?.get(name?);
    let Some((name, version)) = client else {
        // The agent that started this process need not be the one that talks: a name, but no session.
        let agent = variable(Some("AI_AGENT")).and_then(agent_name);
        return Observed { harness: agent, ..Observed::default() };
    };
    let known = known(name);
    let shown = known.map_or(name, |known| known.harness);
    let harness = word(shown).map(|shown| match word(version) {
        Some(version) => format!("{shown} {version}"),
        None => shown.to_owned(),
    });
    let Some(known) = known else {
        return Observed { harness, ..Observed::default() };
    };
    let mut in_call = known.session_in_call.iter().filter_map(|path| at(meta, path));
    let in_call = in_call.find_map(|id| session_ref(known.harness, id));
    let mut hooked = environment.map(|environment| environment.hooked(known.harness)).unwrap_or_default();
    let session_ref = match hooked.len() {
        0 => in_call.or_else(|| session_ref(known.harness, variable(known.session_variable)?)),
        1 => hooked.pop(),
        // One process in several sessions: only the call knows whose it is.
        _ => in_call,
    };
    let models = [at(meta, known.model_in_call), variable(known.model_variable)];
    let model = models.into_iter().flatten().find_map(word).map(str::to_owned);
    Observed { harness, model, session_ref }
}

fn known(name: &str) -> Option<&'static Client> {
    let begins = |with: &str| name.get(..with.len()).is_some_and(|head| head.eq_ignore_ascii_case(with));
    CLIENTS.iter().find(|one| begins(one.starts))
}

/// False for a client that would make tools for its model out of the resources: it is not told that there are some.
pub fn is_offered_resources(name: &str) -> bool {
    !known(name).is_some_and(|client| client.makes_tools_of_resources)
}

/// False for a client whose skills of the same names the prompts would get in the way of.
pub fn is_offered_prompts(name: &str) -> bool {
    !known(name).is_some_and(|client| client.mixes_prompts_and_skills)
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
