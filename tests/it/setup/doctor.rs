//! What doctor tells of each client.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::program::{Answer, HEYAIRA, Place};

/// A place whose folder is the home and holds a repository, with nothing on the path but what is put there.
struct Desk {
    place: Place,
}

impl Desk {
    fn new() -> Self {
        let place = Place::new();
        for folder in ["repo/.git", "bin"] {
            fs::create_dir_all(place.folder.path().join(folder)).expect("a folder");
        }
        std::os::unix::fs::symlink(HEYAIRA, place.folder.path().join("bin/heyaira")).expect("a link");
        Self { place }
    }

    /// Puts a program on the path that answers as a script says.
    fn program(&self, name: &str, script: &str) {
        use std::os::unix::fs::PermissionsExt;
        let path = self.place.folder.path().join("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a script");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a mode");
    }

    fn home(&self) -> &Path {
        self.place.folder.path()
    }

    fn run(&self, words: &[&str]) -> Answer {
        let mut command = self.place.command();
        command.current_dir(self.home().join("repo")).env("PATH", self.home().join("bin"));
        command.args(words).output().expect("the program runs").into()
    }

    fn client(&self, name: &str) -> Value {
        let told = self.run(&["doctor", "--json"]).json();
        let clients = told["clients"].as_array().expect("clients");
        clients.iter().find(|one| one["client"] == name).expect("the client").clone()
    }
}

#[test]
fn clients_that_are_not_there_are_one_line() {
    let desk = Desk::new();
    let told = desk.run(&["doctor", "--project", "ledger"]).out;
    let lines: Vec<&str> = told.lines().filter(|line| line.contains("Claude Code")).collect();
    assert_eq!(lines.len(), 1, "{told}");
    assert!(lines[0].contains("not installed") && lines[0].contains("Goose"), "{told}");
}

#[test]
fn a_set_up_is_asked_whether_it_serves_and_told_what_is_missing() {
    let desk = Desk::new();
    assert_eq!(desk.run(&["setup", "codex", "--project", "ledger"]).code, 0);
    let codex = desk.client("codex");
    assert_eq!(codex["serves"], "ledger", "{codex}");
    assert_eq!(codex["parts"]["skills"]["state"], "current", "{codex}");
    assert!(codex["problems"].to_string().contains("/hooks"), "{codex}");
    let hooks = desk.home().join(".codex/hooks.json");
    let events = ["session_start", "user_prompt_submit", "stop", "pre_compact", "session_end"];
    let trusted = events
        .map(|event| format!("\n[hooks.state.\"{}:{event}:0:0\"]\ntrusted_hash = \"sha256:0\"\n", hooks.display()));
    let config = desk.home().join(".codex/config.toml");
    let text = fs::read_to_string(&config).expect("text");
    fs::write(&config, text.clone() + &trusted[1..].concat()).expect("trusted");
    assert!(desk.client("codex")["problems"].to_string().contains("1 of its hooks"), "one is missing");
    fs::write(&config, text + &trusted.concat()).expect("trusted");
    assert_eq!(desk.client("codex")["problems"], Value::Array(Vec::new()));
    fs::write(desk.home().join(".agents/skills/take-over-session/SKILL.md"), "older").expect("changed");
    fs::remove_file(desk.home().join("repo/heyaira.toml")).expect("removed");
    let codex = desk.client("codex");
    assert!(codex["problems"].to_string().contains("skills of another version: heyaira setup codex"), "{codex}");
    assert!(codex["problems"].to_string().contains("no_project"), "{codex}");
}

#[test]
fn what_the_client_itself_says_is_read_and_a_plugin_beside_is_told() {
    let desk = Desk::new();
    desk.program(
        "claude",
        "case \"$1\" in --version) echo '2.1.332 (Claude Code)';; *) echo '  Status: ✘ Failed to connect';; esac",
    );
    assert_eq!(desk.client("claude-code")["version"], "2.1.332");
    assert_eq!(desk.client("claude-code")["set_up"], false);
    assert_eq!(desk.run(&["setup", "claude-code", "--project", "ledger"]).code, 0);
    let plugins = desk.home().join(".claude/plugins/installed_plugins.json");
    fs::create_dir_all(plugins.parent().expect("a folder")).expect("a folder");
    fs::write(&plugins, "{\"version\": 2, \"plugins\": {\"heyaira@heyaira\": [{}]}}").expect("a file");
    let claude = desk.client("claude-code");
    let problems = claude["problems"].to_string();
    assert!(problems.contains("it says failed: claude mcp get heyaira"), "{claude}");
    assert!(problems.contains("claude plugin uninstall heyaira@heyaira"), "{claude}");
    desk.program("claude", "echo '  Status: ✔ Connected' >&2");
    assert_eq!(desk.client("claude-code")["client_says"], "connected");
}

#[test]
fn what_a_repository_names_is_not_run() {
    let desk = Desk::new();
    assert_eq!(desk.run(&["setup", "claude-code", "--project", "ledger", "--scope", "project"]).code, 0);
    let claude = desk.client("claude-code");
    assert_eq!((&claude["set_up"], &claude["serves"]), (&Value::Bool(true), &Value::Null), "{claude}");
}
