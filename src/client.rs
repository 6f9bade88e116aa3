//! The coding clients that are known: what each is called, by people and by programs. What else is known of them stands
//! below this folder. Must never hold text that a session said or a task stores: counts, ids and places alone.

pub mod desktop;
pub mod folder;
pub mod harness;
pub mod hook;
pub mod place;
pub mod process;
pub mod setup;
pub mod skills;
pub mod state;
pub mod transcript;

use crate::error::{Refusal, Result};

/// A program in which a person works with an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Client {
    /// Claude Code, of Anthropic.
    ClaudeCode,
    /// Codex CLI, of `OpenAI`.
    Codex,
    /// Gemini CLI, of Google.
    Gemini,
    /// `OpenCode`.
    OpenCode,
    /// GitHub Copilot CLI.
    Copilot,
    /// Claude Desktop: its chats; its Code tab is Claude Code.
    ClaudeDesktop,
    /// Cursor, the editor and its command line.
    Cursor,
    /// Visual Studio Code with Copilot.
    VsCode,
    /// Zed.
    Zed,
    /// Goose.
    Goose,
}

impl Client {
    /// All of them, those first that are tested with the real program.
    pub const ALL: [Self; 10] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::Gemini,
        Self::OpenCode,
        Self::Copilot,
        Self::ClaudeDesktop,
        Self::Cursor,
        Self::VsCode,
        Self::Zed,
        Self::Goose,
    ];

    /// Its name on the command line; also the harness in a `session_ref`.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::OpenCode => "opencode",
            Self::Copilot => "copilot",
            Self::ClaudeDesktop => "claude-desktop",
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
            Self::Zed => "zed",
            Self::Goose => "goose",
        }
    }

    /// Its name as its makers write it.
    pub fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::OpenCode => "OpenCode",
            Self::Copilot => "Copilot CLI",
            Self::ClaudeDesktop => "Claude Desktop",
            Self::Cursor => "Cursor",
            Self::VsCode => "VS Code",
            Self::Zed => "Zed",
            Self::Goose => "Goose",
        }
    }

    /// The program by which it is run from a shell, if it has one.
    pub fn program(self) -> Option<&'static str> {
        Some(match self {
            Self::ClaudeCode => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::OpenCode => "opencode",
            Self::Copilot => "copilot",
            Self::ClaudeDesktop => return None,
            Self::Cursor => "cursor",
            Self::VsCode => "code",
            Self::Zed => "zed",
            Self::Goose => "goose",
        })
    }

    /// True for the clients with windows. An app that is not started from a shell does not have its `PATH`.
    pub fn is_app(self) -> bool {
        matches!(self, Self::ClaudeDesktop | Self::Cursor | Self::VsCode | Self::Zed | Self::Goose)
    }

    /// The client of that name; `claude` is Claude Code, as hooks of its plugin call it.
    pub fn named(name: &str) -> Result<Self> {
        let name = if name == "claude" { Self::ClaudeCode.name() } else { name };
        Self::ALL.into_iter().find(|client| client.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            Refusal::argument(format!(
                "there is no client {}; known are {names}",
                crate::domain::text::quoted(name, 40)
            ))
        })
    }
}
