//! What clients are started with, and what of it cannot be chosen.

use std::fs;
use std::path::Path;

use heyaira::client::Client;
use heyaira::client::harness::{Harness, Launch, Wanted, launch_in, refused};
use heyaira::client::transcript::Environment;
use heyaira::error::Result;
use serde_json::{Value, json};

const SESSION: &str = "0d6a41c8-77b2-4f3e-8a10-2f9e5c7d6b31";

/// A launch in a home and a folder of its own, with these words after the `--`.
fn launch(
    harness: Harness,
    home: &Path,
    extra: &[&str],
    resume: Option<&str>,
    settings: Option<&str>,
) -> Result<Launch> {
    let extra: Vec<String> = extra.iter().map(|&word| word.to_owned()).collect();
    let wanted = Wanted {
        brief: Path::new("/brief.md"),
        text: "Do it.",
        worktree: home,
        git_folder: Path::new("/repository/.git"),
        model: Some("a-model"),
        resume,
        session_id: SESSION,
        budget: None,
        extra: &extra,
    };
    let settings = settings.map(str::to_owned);
    let variable = move |name: &str| settings.clone().filter(|_| name == "OPENCODE_CONFIG_CONTENT");
    launch_in(
        harness,
        &wanted,
        &Environment { folder: home.to_owned(), home: Some(home.to_owned()), variable: &variable },
    )
}

fn words(launch: &Launch) -> Vec<String> {
    launch.arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect()
}

#[test]
fn what_the_run_says_itself_is_refused_after_the_dashes() {
    let home = tempfile::tempdir().expect("a folder");
    for harness in Harness::ALL {
        for group in refused(harness) {
            for name in group.names {
                let given = [(*name).to_owned(), format!("{name}=x")];
                for word in given.iter().filter(|word| *word == name || name.starts_with("--")) {
                    let problem = launch(harness, home.path(), &[word], None, None).expect_err("it is refused").message;
                    assert!(problem.contains(word.as_str()) && problem.contains(group.instead), "{problem}");
                }
            }
        }
    }
}

/// docs/runs.md says of each client what cannot be given to it.
#[test]
fn the_page_has_what_is_refused() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/runs.md")).expect("the page");
    let (_, rest) = page.split_once("| client | refused after `--` |\n| --- | --- |\n").expect("the table");
    let mut rows = rest.lines();
    for harness in Harness::ALL {
        let Harness::Client(client) = harness else { continue };
        let names: Vec<String> =
            refused(harness).iter().flat_map(|group| group.names).map(|name| format!("`{name}`")).collect();
        let row = format!("| {} | {} |", client.title(), names.join(", "));
        assert_eq!(rows.next(), Some(row.as_str()), "docs/runs.md is stale: this row of the table is another one");
    }
    assert_eq!(rows.next(), Some(""), "docs/runs.md has a row of a client that is none");
}

#[test]
fn a_session_is_new_or_goes_on() {
    let home = tempfile::tempdir().expect("a folder");
    for client in [Client::ClaudeCode, Client::Gemini, Client::Copilot] {
        let new = launch(Harness::Client(client), home.path(), &[], None, None).expect("a launch");
        assert!(words(&new).contains(&format!("--session-id={SESSION}")), "{new:?}");
        assert_eq!(new.session_id.as_deref(), Some(SESSION));
        let resumed = launch(Harness::Client(client), home.path(), &[], Some("earlier"), None).expect("a launch");
        assert!(words(&resumed).contains(&"--resume=earlier".to_owned()), "{resumed:?}");
        assert_eq!(resumed.session_id.as_deref(), Some("earlier"));
    }
}

/// What its user refuses stays refused, so that nothing of ours may stand where their rules do.
#[test]
fn open_code_keeps_the_permissions_of_its_user() {
    let home = tempfile::tempdir().expect("a folder");
    let settings = |own: Option<&str>| {
        let launch = launch(Harness::Client(Client::OpenCode), home.path(), &[], None, own).expect("a launch");
        assert!(words(&launch).contains(&"--auto".to_owned()), "what would be asked is allowed: {launch:?}");
        let (_, text) = launch.environment.first().expect("settings").clone();
        serde_json::from_str::<Value>(&text.to_string_lossy()).expect("JSON")
    };
    assert_eq!(settings(None).get("permission"), None);
    let own = json!({"permission": {"bash": {"git push*": "deny"}}});
    assert_eq!(settings(Some(&own.to_string())).get("permission"), own.get("permission"));
}

#[test]
fn codex_has_no_tool_to_ask_with() {
    let home = tempfile::tempdir().expect("a folder");
    let launch = launch(Harness::Client(Client::Codex), home.path(), &[], None, None).expect("a launch");
    assert!(words(&launch).contains(&"tools.experimental_request_user_input.enabled=false".to_owned()), "{launch:?}");
}
