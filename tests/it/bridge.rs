//! The bridge: the real program as a server, and the real program as the bridge to it.

mod answers;
mod credential;
mod failures;
mod front;
mod headers;
mod tls;

use std::path::Path;
use std::process::Command;

use crate::program::{HEYAIRA, Server};

/// A bridge to be, in a folder of its own and without a database.
pub struct Bridge {
    command: Command,
    folder: tempfile::TempDir,
}

impl Bridge {
    /// A bridge to a server on this machine.
    pub fn to(address: &str) -> Self {
        Self::to_url(&format!("http://{address}"))
    }

    /// A bridge to a server anywhere.
    pub fn to_url(url: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut command = Command::new(HEYAIRA);
        command.env_clear().current_dir(folder.path()).env("HOME", folder.path());
        command.env("HEYAIRA_DATABASE", folder.path().join("none.db"));
        command.args(["mcp", "--remote", url]);
        Self { command, folder }
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// With a token in its environment.
    pub fn with_token(mut self, token: &str) -> Self {
        self.command.env("HEYAIRA_TOKEN", token);
        self
    }

    /// With a project named.
    pub fn in_project(self, project: &str) -> Self {
        self.with(&["--project", project])
    }

    /// With these further words on the command line.
    pub fn with(mut self, words: &[&str]) -> Self {
        self.command.args(words);
        self
    }

    /// With a variable of its environment.
    pub fn with_variable(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// The command, for tests that want its streams.
    pub fn into_command(self) -> (Command, tempfile::TempDir) {
        (self.command, self.folder)
    }

    /// Starts it and shakes hands. The folder goes away; nothing is kept there.
    pub fn start(self, write_context: &str) -> Server {
        let mut server = Server::start(self.command, write_context);
        server.keep(self.folder);
        server
    }
}
