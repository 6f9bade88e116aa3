//! A server elsewhere: asked before anything is written, its profile from its owner, its token in no file.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::http::served::{Served, token};
use crate::program::{Answer, HEYAIRA, Place};

/// A machine without a database, and a server elsewhere.
struct Away {
    owner: Place,
    served: Served,
    folder: tempfile::TempDir,
    token: String,
}

impl Away {
    fn new() -> Self {
        let owner = Place::new();
        let token = token(&owner, "agent", &["--project", "ledger"]);
        let served = Served::start(&owner, &[]);
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir_all(folder.path().join("repo/.git")).expect("a repository");
        Self { owner, served, folder, token }
    }

    fn repository(&self) -> PathBuf {
        self.folder.path().join("repo")
    }

    /// Hands the profile over, as the owner of the server does.
    fn hand_over(&self, path: &Path) {
        assert_eq!(self.owner.bare(&["profile", "ledger", "--write"]).code, 0);
        fs::copy(self.owner.folder.path().join("heyaira.toml"), path).expect("the profile");
    }

    fn run(&self, words: &[&str], token: Option<&str>) -> Answer {
        let mut command = std::process::Command::new(HEYAIRA);
        command.env_clear().current_dir(self.repository()).env("HOME", self.folder.path());
        if let Some(token) = token {
            command.env("HEYAIRA_TOKEN", token);
        }
        let url = format!("http://{}", self.served.address);
        command.args(words).args(["--remote", &url]).output().expect("the program runs").into()
    }

    /// Runs without naming the server.
    fn bare(&self, words: &[&str], variables: &[(&str, &str)]) -> Answer {
        let mut command = std::process::Command::new(HEYAIRA);
        command.env_clear().current_dir(self.repository()).env("HOME", self.folder.path());
        command.envs(variables.iter().copied()).args(words).output().expect("the program runs").into()
    }

    /// The token in a file for its owner alone.
    #[cfg(unix)]
    fn token_file(&self) -> String {
        use std::os::unix::fs::PermissionsExt;
        let file = self.folder.path().join("token");
        fs::write(&file, &self.token).expect("a token file");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("a mode");
        file.display().to_string()
    }

    /// Every text below the home.
    fn texts(&self) -> Vec<(PathBuf, String)> {
        let mut folders = vec![self.folder.path().to_owned()];
        let mut found = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder").flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    found.push((path.clone(), fs::read_to_string(&path).expect("text")));
                }
            }
        }
        found
    }
}

#[test]
fn the_server_is_asked_first_and_its_token_is_written_nowhere() {
    let away = Away::new();
    let without = away.run(&["setup", "codex"], Some(&away.token));
    assert_eq!(without.code, 5, "{without:?}");
    assert!(without.err.contains("heyaira profile PROJECT --write"), "{without:?}");
    away.hand_over(&away.repository().join("heyaira.toml"));
    let refused = away.run(&["setup", "codex"], None);
    assert_eq!(refused.code, 6, "{refused:?}");
    assert_eq!(away.texts().len(), 1, "only the profile");
    for (client, scope) in
        [("codex", "user"), ("gemini", "user"), ("claude-code", "project"), ("claude-desktop", "user")]
    {
        let done = away.run(&["setup", client, "--scope", scope], Some(&away.token));
        assert_eq!(done.code, 0, "{done:?}");
        assert!(done.out.contains("HEYAIRA_TOKEN"), "{done:?}");
    }
    for (path, text) in away.texts() {
        assert!(!text.contains(&away.token), "{}", path.display());
    }
    let config = fs::read_to_string(away.folder.path().join(".codex/config.toml")).expect("the entry");
    assert!(config.contains("\"--remote\"") && config.contains("env_vars = [\"HEYAIRA_TOKEN\"]"), "{config}");
    let settings = fs::read_to_string(away.folder.path().join(".gemini/settings.json")).expect("the entry");
    assert!(settings.contains("\"HEYAIRA_TOKEN\": \"$HEYAIRA_TOKEN\""), "{settings}");
    let block = fs::read_to_string(away.repository().join("AGENTS.md")).expect("the block");
    assert!(block.contains(&away.owner.write_context), "{block}");
}

#[cfg(unix)]
#[test]
fn a_token_file_is_named_in_the_persons_own_files_alone() {
    let away = Away::new();
    let profile = away.folder.path().join("team.toml");
    away.hand_over(&profile);
    let (profile, file) = (profile.display().to_string(), away.token_file());
    let flags = ["--profile", &profile, "--token-file", &file, "--json"];
    let done = away.run(&[&["setup", "opencode"][..], &flags].concat(), None);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(away.repository().join("heyaira.toml").is_file());
    let entry = fs::read_to_string(away.folder.path().join(".config/opencode/opencode.jsonc")).expect("the entry");
    assert!(entry.contains(&file), "{entry}");
    let shared = away.run(&[&["setup", "opencode", "--scope", "project"][..], &flags].concat(), None);
    assert_eq!(shared.code, 0, "{shared:?}");
    let entry = fs::read_to_string(away.repository().join("opencode.json")).expect("the entry");
    assert!(!entry.contains("token") && entry.contains("--remote"), "{entry}");
}

#[test]
fn a_profile_of_another_server_is_refused() {
    let away = Away::new();
    let other = Place::new();
    assert_eq!(other.bare(&["profile", "ledger", "--write"]).code, 0);
    fs::copy(other.folder.path().join("heyaira.toml"), away.repository().join("heyaira.toml")).expect("a profile");
    let refused = away.run(&["setup", "codex", "--json"], Some(&away.token));
    assert_eq!(refused.code, 5, "{refused:?}");
    let body: Value = refused.json();
    assert_eq!(body["error"]["code"], "identity_mismatch", "{body}");
    assert!(!away.folder.path().join(".codex").exists());
}

#[cfg(unix)]
#[test]
fn clients_of_a_server_elsewhere_need_no_database_here() {
    let away = Away::new();
    away.hand_over(&away.repository().join("heyaira.toml"));
    let nothing = away.bare(&["doctor"], &[]);
    assert_eq!(nothing.code, 7, "{nothing:?}");
    let file = away.token_file();
    assert_eq!(away.run(&["setup", "opencode", "--token-file", &file], None).code, 0);
    let told = away.bare(&["doctor"], &[]);
    assert_eq!(told.code, 0, "{told:?}");
    let address = format!("http://{}", away.served.address);
    let line = format!("ok       database: none here; the clients use the server at {address}");
    assert!(told.out.contains(&line) && told.out.contains("serves project ledger"), "{told:?}");
    // What mends a set-up leads to the same server.
    fs::write(away.folder.path().join(".agents/skills/take-over-session/SKILL.md"), "older").expect("changed");
    let told = away.bare(&["doctor"], &[]);
    let mend = format!("heyaira setup opencode --remote {address} --token-file {file}");
    assert!(told.out.contains(&mend), "{told:?}");
    // A database that somebody names is one that is wanted, and so is one for a client that uses none elsewhere.
    let named = away.bare(&["doctor"], &[("HEYAIRA_DATABASE", "/nowhere/heyaira.db")]);
    assert_eq!(named.code, 7, "{named:?}");
    let local = r#"{"mcpServers": {"heyaira": {"command": "heyaira", "args": ["mcp", "--project", "ledger"]}}}"#;
    fs::create_dir_all(away.repository().join(".cursor")).expect("a folder");
    fs::write(away.repository().join(".cursor/mcp.json"), local).expect("an entry");
    assert_eq!(away.bare(&["doctor"], &[]).code, 7);
}

#[cfg(unix)]
#[test]
fn a_token_that_is_not_there_is_told_and_so_is_the_file_that_is_not_named() {
    let away = Away::new();
    away.hand_over(&away.repository().join("heyaira.toml"));
    let file = away.token_file();
    let done = away.run(&["setup", "cursor", "--token-file", &file], None);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.out.contains(&format!("The token file {file} was not written")), "{done:?}");
    assert!(done.out.contains("heyaira setup cursor --scope user"), "{done:?}");
    let cursor = |variables: &[(&str, &str)]| {
        let told = away.bare(&["doctor", "--json"], variables).json();
        let clients = told["clients"].as_array().expect("clients");
        clients.iter().find(|one| one["client"] == "cursor").expect("the client")["problems"].to_string()
    };
    assert!(cursor(&[]).contains("HEYAIRA_TOKEN is not in this environment"), "{}", cursor(&[]));
    assert_eq!(cursor(&[("HEYAIRA_TOKEN", &away.token)]), "[]");
}
