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
    assert!(codex["remarks"].to_string().contains("serves no project from here"), "{codex}");
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

#[test]
fn a_folder_that_gemini_does_not_trust_is_told() {
    let desk = Desk::new();
    desk.program(
        "gemini",
        "case \"$1\" in --version) echo 0.61.0;; *) echo '○ heyaira: heyaira mcp (stdio) - Disabled' >&2;; esac",
    );
    assert_eq!(desk.run(&["setup", "gemini", "--project", "ledger"]).code, 0);
    let problems = || desk.client("gemini")["problems"].to_string();
    let untrusted = "this folder is not trusted in Gemini CLI";
    assert!(problems().contains(untrusted), "{}", problems());
    let trust = |word: &str, folder: &str| {
        let rules = serde_json::json!({desk.home().join(folder).display().to_string(): word}).to_string();
        fs::write(desk.home().join(".gemini/trustedFolders.json"), rules).expect("rules");
    };
    trust("DO_NOT_TRUST", "repo");
    assert!(problems().contains(untrusted), "{}", problems());
    for (word, folder) in [("TRUST_FOLDER", "repo"), ("TRUST_FOLDER", ""), ("TRUST_PARENT", "other")] {
        trust(word, folder);
        assert!(!problems().contains(untrusted), "{word} {folder}: {}", problems());
        assert!(problems().contains("it says disabled: gemini mcp list"), "{}", problems());
    }
    desk.program("gemini", "echo '✓ heyaira: heyaira mcp (stdio) - Connected' >&2");
    let gemini = desk.client("gemini");
    assert_eq!((&gemini["client_says"], gemini["problems"].to_string()), (&"connected".into(), "[]".to_owned()));
}

#[test]
fn what_is_not_run_is_asked_for_its_trust_in_its_files() {
    for (client, folder, file) in [
        ("codex", ".codex", "config.toml"),
        ("copilot", ".copilot", "config.json"),
        ("gemini", ".gemini", "trustedFolders.json"),
    ] {
        let desk = Desk::new();
        let done = desk.run(&["setup", client, "--project", "ledger", "--scope", "project"]);
        assert_eq!(done.code, 0, "{done:?}");
        let start = format!("start {client} here");
        assert!(done.out.contains(&start), "{done:?}");
        assert!(desk.client(client)["problems"].to_string().contains("is not trusted in"), "{client}");
        let repository = desk.home().join("repo").display().to_string();
        let text = match client {
            "codex" => format!("[projects.\"{repository}\"]\ntrust_level = \"trusted\"\n"),
            "copilot" => serde_json::json!({"trustedFolders": [repository]}).to_string(),
            _ => serde_json::json!({repository: "TRUST_FOLDER"}).to_string(),
        };
        fs::create_dir_all(desk.home().join(folder)).expect("a folder");
        fs::write(desk.home().join(folder).join(file), text).expect("trusted");
        assert!(!desk.client(client)["problems"].to_string().contains("is not trusted in"), "{client}");
        let again = desk.run(&["setup", client, "--project", "ledger", "--scope", "project"]);
        assert!(!again.out.contains(&start), "{again:?}");
    }
}

#[test]
fn a_plugin_alone_is_told_with_its_version_and_whether_it_connects() {
    let desk = Desk::new();
    assert_eq!(desk.run(&["profile", "ledger", "--write"]).code, 0);
    desk.program(
        "claude",
        "case \"$*\" in --version) echo '2.1.332 (Claude Code)';; 'mcp list') echo 'plugin:heyaira:heyaira: heyaira mcp - ✔ Connected';; esac",
    );
    let plugins = desk.home().join(".claude/plugins/installed_plugins.json");
    fs::create_dir_all(plugins.parent().expect("a folder")).expect("a folder");
    fs::write(&plugins, "{\"plugins\": {\"heyaira@heyaira\": [{\"version\": \"0.1.0\"}]}}").expect("a file");
    let extension = desk.home().join(".gemini/extensions/heyaira");
    fs::create_dir_all(&extension).expect("a folder");
    fs::write(extension.join("gemini-extension.json"), "{\"name\": \"heyaira\", \"version\": \"0.2.0\"}")
        .expect("a file");
    let told = desk.run(&["doctor"]).out;
    let line =
        |title: &str| told.lines().find(|line| line.contains(title)).unwrap_or_else(|| panic!("{title}: {told}"));
    let claude = line("Claude Code: ");
    assert!(claude.starts_with("ok") && claude.contains("plugin heyaira 0.1.0"), "{told}");
    assert!(claude.ends_with("serves project ledger; connected"), "{told}");
    let gemini = line("Gemini CLI: ");
    assert!(gemini.contains("plugin heyaira 0.2.0") && gemini.contains("serves project ledger"), "{told}");
}

#[test]
fn each_thing_is_told_once() {
    let desk = Desk::new();
    for name in ["codex", "opencode"] {
        desk.program(name, "echo 1.0.0");
    }
    assert_eq!(desk.run(&["setup", "claude-code", "--project", "ledger"]).code, 0);
    assert_eq!(desk.run(&["setup", "copilot"]).code, 0);
    assert_eq!(desk.run(&["setup", "cursor"]).code, 0);
    fs::remove_file(desk.home().join("repo/heyaira.toml")).expect("removed");
    let told = desk.run(&["doctor"]).out;
    assert_eq!(told.matches("no_project").count(), 1, "{told}");
    assert!(told.contains("heyaira setup CLIENT --project NAME"), "{told}");
    let idle =
        "ok       clients: installed and not set up: Codex (heyaira setup codex), OpenCode (heyaira setup opencode)\n";
    assert!(told.contains(idle), "{told}");
    assert_eq!(told.matches("OpenCode").count(), 1, "{told}");
    let cursor = told.lines().find(|line| line.contains("Cursor: ")).expect("a line");
    assert!(!cursor.contains("PATH"), "{told}");
}
