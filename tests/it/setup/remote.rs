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
    use std::os::unix::fs::PermissionsExt;
    let away = Away::new();
    let profile = away.folder.path().join("team.toml");
    away.hand_over(&profile);
    let file = away.folder.path().join("token");
    fs::write(&file, &away.token).expect("a token file");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("a mode");
    let (profile, file) = (profile.display().to_string(), file.display().to_string());
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
