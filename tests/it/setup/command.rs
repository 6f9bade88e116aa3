//! The command: the project it makes or finds, what it shows without writing, and what it never writes.

use std::fs;
use std::path::PathBuf;

use crate::program::{Answer, Place};

/// A place whose folder is the home, with a repository in it.
struct Desk {
    place: Place,
}

impl Desk {
    fn new() -> Self {
        let place = Place::new();
        fs::create_dir_all(place.folder.path().join("repo/.git")).expect("a repository");
        Self { place }
    }

    fn repository(&self) -> PathBuf {
        self.place.folder.path().join("repo")
    }

    fn run(&self, words: &[&str]) -> Answer {
        self.place.command().current_dir(self.repository()).args(words).output().expect("the program runs").into()
    }
}

#[test]
fn a_project_is_made_where_it_is_named_and_never_guessed() {
    let desk = Desk::new();
    let refused = desk.run(&["setup", "codex"]);
    assert_eq!(refused.code, 5, "{refused:?}");
    assert!(refused.err.contains("--project"), "{refused:?}");
    let dry = desk.run(&["setup", "codex", "--project", "fresh", "--dry-run"]);
    assert!(dry.out.contains("would make  project fresh"), "{dry:?}");
    for file in ["heyaira.toml", "AGENTS.md"] {
        let line = format!("would write {}", desk.repository().join(file).display());
        assert!(dry.out.contains(&line), "{file}: {dry:?}");
        assert!(!desk.repository().join(file).exists(), "{file}");
    }
    assert!(dry.out.contains("+write_context = \"(made with the project)\""), "{dry:?}");
    let made = desk.run(&["setup", "codex", "--project", "fresh"]);
    assert_eq!(made.code, 0, "{made:?}");
    assert!(made.out.contains("project fresh") && made.out.contains("/hooks"), "{made:?}");
    let profile = fs::read_to_string(desk.repository().join("heyaira.toml")).expect("the profile");
    assert!(profile.contains("project = \"fresh\""), "{profile}");
    let again = desk.run(&["setup", "codex", "--json"]);
    assert!(
        again.json()["files"].as_array().expect("files").iter().all(|file| file["state"] == "unchanged"),
        "{again:?}"
    );
    let other = desk.run(&["setup", "codex", "--project", "ledger"]);
    assert_eq!(other.code, 2, "{other:?}");
    assert!(other.err.contains("heyaira.toml"), "{other:?}");
    assert_eq!(fs::read_to_string(desk.repository().join("heyaira.toml")).expect("the profile"), profile);
}

#[test]
fn a_dry_run_shows_the_change_without_what_others_keep_there() {
    let desk = Desk::new();
    let settings = desk.place.folder.path().join(".gemini/settings.json");
    fs::create_dir_all(settings.parent().expect("a folder")).expect("a folder");
    let secret = ["correct", "horse", "battery"].join("-");
    let text = format!(
        "{{\n  \"mcpServers\": {{\n    // {secret}\n    \"other\": {{\"env\": {{\"API\": \"{secret}\"}}, \"n\": 4711}} // {secret}\n  }}\n}}\n"
    );
    fs::write(&settings, &text).expect("settings");
    let shown = desk.run(&["setup", "gemini", "--project", "ledger", "--dry-run"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(!shown.out.contains(&secret) && !shown.out.contains("4711"), "{}", shown.out);
    assert!(shown.out.contains("+    \"heyaira\": {") && !shown.out.contains("\"other\""), "{}", shown.out);
    assert!(!shown.out.contains(&desk.place.write_context), "{}", shown.out);
    assert_eq!(fs::read_to_string(&settings).expect("settings"), text);
    assert!(!desk.repository().join("heyaira.toml").exists() && !desk.place.folder.path().join(".local").exists());
    assert_eq!(desk.run(&["setup", "gemini", "--project", "ledger"]).code, 0);
    assert!(desk.repository().join("GEMINI.md").is_file());
    let undone = desk.run(&["setup", "gemini", "--undo"]);
    assert_eq!(undone.code, 0, "{undone:?}");
    assert_eq!(fs::read_to_string(&settings).expect("settings"), text);
    assert!(!desk.repository().join("GEMINI.md").exists());
}

#[test]
fn files_of_the_project_name_no_place_of_this_machine() {
    for client in ["claude-code", "codex", "gemini", "opencode", "copilot", "cursor", "vscode", "zed"] {
        let desk = Desk::new();
        let done = desk.run(&["setup", client, "--project", "ledger", "--scope", "project"]);
        assert_eq!(done.code, 0, "{done:?}");
        let mut folders = vec![desk.repository()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder").flatten() {
                if entry.path().is_dir() {
                    folders.push(entry.path());
                } else {
                    let text = fs::read_to_string(entry.path()).expect("text");
                    let home = desk.place.folder.path().display().to_string();
                    assert!(!text.contains(&home) && !text.contains("target/"), "{}: {text}", entry.path().display());
                }
            }
        }
        assert!(!desk.place.folder.path().join(".claude.json").exists());
    }
}

#[test]
fn a_client_without_files_of_a_project_is_not_set_up_for_one() {
    let desk = Desk::new();
    let refused = desk.run(&["setup", "goose", "--project", "ledger", "--scope", "project"]);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(!desk.place.folder.path().join(".config").exists() && !desk.repository().join("AGENTS.md").exists());
}

#[test]
fn parts_can_be_left_out_and_the_home_is_no_repository() {
    let desk = Desk::new();
    let done = desk
        .run(&["setup", "claude-code", "--project", "ledger", "--without", "hooks,skills,agents-md", "--json"])
        .json();
    let files: Vec<&str> =
        done["files"].as_array().expect("files").iter().filter_map(|file| file["parts"][0].as_str()).collect();
    assert_eq!(files, ["profile", "mcp"]);
    let home = desk.place.bare(&["setup", "codex", "--project", "ledger", "--json"]).json();
    assert!(home["files"].as_array().expect("files").iter().all(|file| file["parts"][0] != "profile"), "{home}");
    let entry = fs::read_to_string(desk.place.folder.path().join(".codex/config.toml")).expect("the entry");
    assert!(entry.contains("\"--project\", \"ledger\""), "{entry}");
}
