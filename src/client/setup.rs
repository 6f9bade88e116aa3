//! Setting up a client: what is written where, so that it starts HeyAira, calls its hooks and knows how to hand off. The
//! plan is a pure function; `execution` alone writes. Must never write a token, nor what it cannot take back.

pub mod block;
pub mod claude_code;
pub mod codex;
pub mod consent;
pub mod copilot;
pub mod difference;
pub mod documented;
pub mod edit;
pub mod edit_hooks;
pub mod edit_json;
pub mod edit_toml;
pub mod edit_yaml;
pub mod examination;
pub mod execution;
pub mod file;
pub mod gemini;
pub mod opencode;
pub mod record;
pub mod server;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::client::Client;
use crate::client::place::Places;
use crate::client::setup::edit::Edit;
use crate::client::setup::record::User;
use crate::client::setup::server::Server;
use crate::client::skills;

/// Whether a client is set up for the person or for everyone who works in the repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The person's own files.
    User,
    /// Files of the repository, which are committed.
    Project,
}

/// The parts of a set-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The entry that starts the server.
    Server,
    /// The hooks.
    Hooks,
    /// The two skills.
    Skills,
    /// The block in the repository's document for agents.
    Block,
    /// The connection profile.
    Profile,
}

impl Part {
    /// All of them, in the order in which they are written.
    pub const ALL: [Self; 5] = [Self::Profile, Self::Block, Self::Skills, Self::Hooks, Self::Server];

    /// Its word on the command line and in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Server => "mcp",
            Self::Hooks => "hooks",
            Self::Skills => "skills",
            Self::Block => "agents-md",
            Self::Profile => "profile",
        }
    }
}

/// One change of one file.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Which part it belongs to.
    pub part: Part,
    /// The file, as the client names it.
    pub path: PathBuf,
    /// What is put in.
    pub edit: Edit,
    /// For whom.
    pub user: User,
}

/// A repository, and what agents are told in it.
#[derive(Clone, Debug)]
pub struct Repository {
    /// Its root.
    pub root: PathBuf,
    /// What the block says.
    pub block: Option<String>,
    /// The file of the profile with its text, where one is to be written.
    pub profile: Option<(PathBuf, String)>,
}

/// What is to be set up.
pub struct Request<'r> {
    /// The client.
    pub client: Client,
    /// For whom.
    pub scope: Scope,
    /// Where files are.
    pub places: &'r Places,
    /// The repository, if there is one.
    pub repository: Option<&'r Repository>,
    /// How the server is started.
    pub server: &'r Server,
    /// Parts that are not wanted.
    pub without: &'r [Part],
    /// The content of a file, where the plan depends on one.
    pub read: &'r dyn Fn(&Path) -> Option<String>,
}

impl Request<'_> {
    /// For whom a file that depends on the scope is changed.
    fn user(&self) -> User {
        let root = self.repository.filter(|_| self.scope == Scope::Project).map(|repository| repository.root.clone());
        User { client: self.client.name().to_owned(), repository: root }
    }

    fn change(&self, part: Part, path: PathBuf, edit: Edit) -> Change {
        Change { part, path, edit, user: self.user() }
    }

    /// The root of the repository, where files of the project scope are.
    fn root(&self) -> PathBuf {
        self.repository.map(|repository| repository.root.clone()).unwrap_or_default()
    }

    /// A path in the person's folder, or one below the repository's root.
    fn either(&self, of_person: impl FnOnce(&Places) -> PathBuf, in_project: &[&str]) -> PathBuf {
        match self.scope {
            Scope::User => of_person(self.places),
            Scope::Project => in_project.iter().fold(self.root(), |path, word| path.join(word)),
        }
    }

    /// The entry of a server in a JSON file.
    fn json(&self, path: PathBuf, list: &str, entry: Value) -> Change {
        self.change(Part::Server, path, Edit::Json { at: vec![list.to_owned(), server::NAME.to_owned()], entry })
    }

    /// Hooks in the shape that three clients share; `more` stands in each handler besides the command.
    fn hooks(&self, path: PathBuf, events: &[&str], more: &[(&str, Value)]) -> Change {
        let end = if self.client == Client::Gemini { server::OR_NOTHING } else { "" };
        let command = self.server.hook(self.client.name()) + end;
        let mut handler = json!({"type": "command", "command": command});
        for (name, value) in more {
            handler[*name] = value.clone();
        }
        let events = events.iter().map(|event| ((*event).to_owned(), handler.clone())).collect();
        self.change(Part::Hooks, path, Edit::Hooks { events })
    }

    /// The two skills below a folder.
    fn skills(&self, folder: &Path) -> Vec<Change> {
        let whole = |text: &str| Edit::Whole { text: text.to_owned(), replaces: false };
        let file = |name: &str| folder.join(name).join("SKILL.md");
        skills::ALL.iter().map(|skill| self.change(Part::Skills, file(skill.name), whole(skill.text))).collect()
    }

    /// The skills where every client but Claude Code reads them.
    fn shared_skills(&self) -> Vec<Change> {
        self.skills(&self.either(Places::skills, &[".agents", "skills"]))
    }

    /// A document of the repository, whatever the scope.
    fn in_repository(&self, part: Part, path: PathBuf, edit: Edit) -> Change {
        let user = User { client: self.client.name().to_owned(), repository: Some(self.root()) };
        Change { part, path, edit, user }
    }

    /// The connection profile and the block that shows it to agents.
    fn documents(&self) -> Vec<Change> {
        let Some(repository) = self.repository else { return Vec::new() };
        let mut changes = Vec::new();
        if let Some((path, text)) = &repository.profile {
            let edit = Edit::Whole { text: text.clone(), replaces: true };
            changes.push(self.in_repository(Part::Profile, path.clone(), edit));
        }
        for name in self.context_files() {
            let Some(text) = repository.block.clone() else { break };
            changes.push(self.in_repository(Part::Block, repository.root.join(name), Edit::Block { text }));
        }
        changes
    }

    /// The documents that agents of this client are shown at the start.
    fn context_files(&self) -> Vec<String> {
        match self.client {
            Client::ClaudeCode => claude_code::context_files(self),
            Client::Codex => codex::context_files(self),
            Client::Gemini => gemini::context_files(self),
            _ => vec![AGENTS_FILE.to_owned()],
        }
    }
}

/// The document for agents that most clients read.
pub const AGENTS_FILE: &str = "AGENTS.md";

/// Everything that is written for a client, in its order: a client that is started in between finds each part whole.
pub fn plan(request: &Request<'_>) -> Vec<Change> {
    let mut changes = request.documents();
    changes.extend(match request.client {
        Client::ClaudeCode => claude_code::changes(request),
        Client::Codex => codex::changes(request),
        Client::Gemini => gemini::changes(request),
        Client::OpenCode => opencode::changes(request),
        Client::Copilot => copilot::changes(request),
        Client::ClaudeDesktop | Client::Cursor | Client::VsCode | Client::Zed | Client::Goose => {
            documented::changes(request)
        }
    });
    changes.retain(|change| !request.without.contains(&change.part));
    changes.sort_by_key(|change| Part::ALL.iter().position(|part| *part == change.part));
    changes
}
