//! Which transcript is meant: named, of the session that asks, or the newest of the folder.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use heyaira::client::Client;
use heyaira::client::transcript::{Environment, Found, How, Wanted, all, find};
use heyaira::error::{Code, Refusal};

use super::fixtures;

/// A home folder with our transcripts where the clients keep theirs.
struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let clients = [("claude-code", ".claude"), ("codex", ".codex"), ("gemini", ".gemini"), ("copilot", ".copilot")];
        for (fixture, place) in clients {
            copy(&fixtures().join(fixture), &folder.path().join(place));
        }
        Self(folder)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Says that the file whose name has this in it was written so many seconds after all others.
    fn touch(&self, name: &str, seconds: u64) {
        let mut folders = vec![self.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in folder.read_dir().expect("a folder").map(|entry| entry.expect("an entry").path()) {
                if entry.is_dir() {
                    folders.push(entry);
                } else if entry.to_string_lossy().contains(name) {
                    let file = std::fs::File::options().append(true).open(&entry).expect("a file");
                    file.set_modified(SystemTime::now() + Duration::from_secs(seconds)).expect("a time");
                }
            }
        }
    }

    fn ask(&self, wanted: Wanted, folder: &str, variables: &[(&str, &str)]) -> Result<Found, Refusal> {
        let variable =
            |name: &str| variables.iter().find(|(one, _)| *one == name).map(|(_, value)| (*value).to_owned());
        let home = Some(self.path().to_owned());
        find(wanted, &Environment { folder: PathBuf::from(folder), home, variable: &variable })
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in from.read_dir().expect("a folder").map(|entry| entry.expect("an entry")) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("a copy");
        }
    }
}

const CLAUDE: &str = "5f0c1a52-7b0e-4c55-9d5e-2f6a0d3b1c01";
const CODEX: &str = "01a22c00-0000-7000-8000-000000000001";
const GEMINI: &str = "7d3f9a10-1111-4222-8333-944445555666";
const COPILOT: &str = "c0b11071-0000-4000-8000-000000000001";
const ANY: Wanted = Wanted { session: None, client: None };

#[test]
fn the_session_that_asks_is_found_by_each_clients_variable() {
    let home = Home::new();
    let variables = [
        ("CLAUDE_CODE_SESSION_ID", CLAUDE, Client::ClaudeCode),
        ("CODEX_SESSION_ID", CODEX, Client::Codex),
        ("CODEX_THREAD_ID", CODEX, Client::Codex),
        ("GEMINI_SESSION_ID", GEMINI, Client::Gemini),
        ("COPILOT_AGENT_SESSION_ID", COPILOT, Client::Copilot),
    ];
    for (variable, id, client) in variables {
        let found = home.ask(ANY, "/somewhere/else", &[(variable, id)]).unwrap_or_else(|refusal| panic!("{refusal}"));
        assert_eq!((found.client, found.id.as_deref(), found.how), (client, Some(id), How::Environment), "{variable}");
        let session = found.read(heyaira::client::transcript::Part::All).expect("a session");
        assert_eq!(session.id.as_deref(), Some(id));
    }
}

#[test]
fn of_two_clients_that_both_say_a_session_the_one_that_wrote_last_is_meant() {
    let home = Home::new();
    let both = [("CLAUDE_CODE_SESSION_ID", CLAUDE), ("CODEX_SESSION_ID", CODEX)];
    home.touch(CODEX, 60);
    assert_eq!(home.ask(ANY, "/x", &both).expect("one").client, Client::Codex);
    home.touch(CLAUDE, 120);
    assert_eq!(home.ask(ANY, "/x", &both).expect("one").client, Client::ClaudeCode);
    let only = Wanted { client: Some(Client::Codex), ..ANY };
    assert_eq!(home.ask(only, "/x", &both).expect("one").client, Client::Codex);
}

#[test]
fn a_session_that_the_environment_names_and_nobody_wrote_is_refused_and_no_other_is_taken() {
    let home = Home::new();
    let refusal = home.ask(ANY, "/home/dev/ledger", &[("CLAUDE_CODE_SESSION_ID", "0000-none")]).expect_err("not there");
    assert_eq!(refusal.code, Code::NotFound);
    assert!(refusal.message.contains("0000-none") && refusal.message.contains(".claude/projects"), "{refusal}");
}

#[test]
fn without_a_name_the_newest_of_the_folder_is_taken_and_says_so() {
    let home = Home::new();
    home.touch(GEMINI_FILE, 60);
    let found = home.ask(ANY, "/home/dev/ledger", &[]).expect("one");
    assert_eq!((found.client, found.how), (Client::Gemini, How::Newest));
    home.touch(CODEX, 120);
    assert_eq!(home.ask(ANY, "/home/dev/ledger/src/deep", &[]).expect("one").client, Client::Codex);
    home.touch(COPILOT, 180);
    assert_eq!(home.ask(ANY, "/home/dev/ledger", &[]).expect("one").client, Client::Copilot);
    let only = Wanted { client: Some(Client::ClaudeCode), ..ANY };
    assert_eq!(home.ask(only, "/home/dev/ledger", &[]).expect("one").client, Client::ClaudeCode);
}

const GEMINI_FILE: &str = "session-2026-11-30T08-00-7d3f9a10.jsonl";

#[test]
fn another_folders_sessions_are_none_of_this_one() {
    let home = Home::new();
    let refusal = home.ask(ANY, "/home/dev/ledgers", &[]).expect_err("none");
    assert_eq!(refusal.code, Code::NotFound);
    for place in [".claude/projects", ".codex/sessions", ".gemini/tmp", "opencode.db", ".copilot/session-state"] {
        assert!(refusal.message.contains(place), "{place}: {refusal}");
    }
}

#[test]
fn all_sessions_of_a_folder_are_listed_the_newest_first() {
    let home = Home::new();
    home.touch(CODEX, 60);
    let variable = |_: &str| None;
    let environment =
        Environment { folder: "/home/dev/ledger".into(), home: Some(home.path().to_owned()), variable: &variable };
    let found = all(None, &environment).expect("a list");
    let ids: Vec<&str> = found.iter().filter_map(|found| found.id.as_deref()).collect();
    assert_eq!(ids[0], CODEX);
    for id in [CLAUDE, GEMINI, COPILOT] {
        assert!(ids.contains(&id), "{id}: {ids:?}");
    }
    assert_eq!(ids.len(), 6, "{ids:?}");
}

#[test]
fn a_session_is_named_by_its_id_the_start_of_it_or_its_file() {
    let home = Home::new();
    let named = |session: &'static str| home.ask(Wanted { session: Some(session), client: None }, "/", &[]);
    assert_eq!(named("01a22c00").expect("one").client, Client::Codex);
    assert_eq!(named(COPILOT).expect("one").how, How::Named);
    let several = named("5f0c1a52").expect_err("two");
    assert_eq!(several.code, Code::AmbiguousId);
    assert_eq!(named("5f0").expect_err("too short").code, Code::NotFound);
    let file = fixtures().join("opencode/export.json");
    let file = file.to_str().expect("a path");
    let found = home.ask(Wanted { session: Some(file), client: None }, "/", &[]).expect("one");
    assert_eq!(found.client, Client::OpenCode);
    let other = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let other = other.to_str().expect("a path");
    let refusal = home.ask(Wanted { session: Some(other), client: None }, "/", &[]).expect_err("no transcript");
    assert!(refusal.message.contains("--client"), "{refusal}");
}

#[test]
fn variables_name_other_places() {
    let (home, other) = (Home::new(), Home::new());
    let elsewhere = |name: &str| other.path().join(name).to_str().expect("a path").to_owned();
    for place in [".claude", ".codex", ".gemini", ".copilot"] {
        std::fs::remove_dir_all(home.path().join(place)).expect("gone");
    }
    // Gemini's variable names what its folder is in.
    let named = [
        ("CLAUDE_CONFIG_DIR", elsewhere(".claude")),
        ("CODEX_HOME", elsewhere(".codex")),
        ("GEMINI_CLI_HOME", elsewhere("")),
        ("COPILOT_HOME", elsewhere(".copilot")),
    ];
    let variables: Vec<(&str, &str)> = named.iter().map(|(name, value)| (*name, value.as_str())).collect();
    for id in [CLAUDE, CODEX, GEMINI, COPILOT] {
        let found = home.ask(Wanted { session: Some(id), client: None }, "/", &variables).expect("one");
        assert!(found.path.starts_with(other.path()), "{found:?}");
    }
}
