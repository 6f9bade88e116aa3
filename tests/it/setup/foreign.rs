//! What stands in files that are not ours, and looks like ours or is what we cannot write.

use std::fs;

use heyaira::client::setup::edit::{Edit, Present};
use serde_json::json;

use crate::program::{Answer, Place};

fn present(text: &str) -> Present<'_> {
    Present { text: Some(text), ..Present::default() }
}

#[test]
fn marks_that_a_person_writes_about_are_no_block() {
    let block = Edit::Block { text: "ours".to_owned() };
    let text = "# Rules\n\nEdit nothing between `<!-- heyaira:begin -->` and `<!-- heyaira:end -->`.\n\n```md\n\
                <!-- heyaira:begin -->\nan example\n<!-- heyaira:end -->\n```\n";
    let with = block.put(present(text)).expect("put in");
    assert_eq!(with, format!("{text}\n<!-- heyaira:begin -->\nours\n<!-- heyaira:end -->\n"));
    assert_eq!(block.put(present(&with)).expect("put in"), with);
    let edited = with.clone() + "More.\n";
    let rest = block.take_out(&edited, Some(text)).expect("taken out").expect("a text");
    assert!(rest.starts_with(text) && rest.ends_with("More.\n") && !rest.contains("ours"), "{rest}");
}

#[test]
fn gemini_goes_on_where_heyaira_is_gone() {
    let place = Place::new();
    let run = |words: &[&str]| -> Answer {
        place
            .command()
            .current_dir(place.folder.path().join("repo"))
            .args(words)
            .output()
            .expect("the program runs")
            .into()
    };
    fs::create_dir_all(place.folder.path().join("repo/.git")).expect("a repository");
    assert_eq!(run(&["setup", "gemini", "--project", "ledger"]).code, 0);
    let settings = place.folder.path().join(".gemini/settings.json");
    let text = fs::read_to_string(&settings).expect("settings");
    let found: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let command = found["hooks"]["BeforeAgent"][0]["hooks"][0]["command"].as_str().expect("a command");
    assert!(command.contains(" hook gemini") && command.ends_with(" || exit 0"), "{command}");
    // A person's own words stay, and the rest is still ours.
    fs::write(&settings, text.replace(" || exit 0", " --without advice || exit 0")).expect("settings");
    assert_eq!(run(&["setup", "gemini", "--project", "ledger"]).code, 0);
    let text = fs::read_to_string(&settings).expect("settings");
    assert_eq!(text.matches(" --without advice || exit 0").count(), 4, "{text}");
    let gone =
        std::process::Command::new("sh").args(["-c", "heyaira-that-is-not-there hook gemini || exit 0"]).status();
    assert_eq!(gone.expect("a shell").code(), Some(0));
}

#[test]
fn what_json_has_not_is_never_written_anew() {
    for member in ["weight: 1.5", "weight: .inf", "weight: 12345678901234567890", "env: {RATE: 0.25}", "1: one"] {
        let text = format!("extensions:\n  heyaira:\n    cmd: /old/heyaira\n    args: [mcp]\n    {member}\n");
        let entry = json!({"cmd": "heyaira", "args": ["mcp"]});
        let edit = Edit::Yaml { list: "extensions".to_owned(), name: "heyaira".to_owned(), entry };
        let problem = edit.put(present(&text)).expect_err(member);
        assert!(problem.what.contains("what cannot be written as it is"), "{}", problem.what);
    }
}

#[test]
fn the_block_stands_where_the_client_reads_it() {
    // A document of the client's own makes it pass AGENTS.md over.
    for (client, own) in
        [("claude-code", "CLAUDE.md"), ("claude-code", "CLAUDE.local.md"), ("codex", "AGENTS.override.md")]
    {
        let place = Place::new();
        let tree = place.folder.path().join("repo");
        fs::create_dir_all(tree.join(".git")).expect("a repository");
        let run = |words: &[&str]| -> Answer {
            place.command().current_dir(&tree).args(words).output().expect("the program runs").into()
        };
        fs::write(tree.join(own), "# Mine\n").expect("a file");
        for _ in 0..2 {
            assert_eq!(run(&["setup", client, "--project", "ledger"]).code, 0);
        }
        for name in ["AGENTS.md", own] {
            let text = fs::read_to_string(tree.join(name)).expect("a file");
            assert_eq!(text.matches("<!-- heyaira:begin -->").count(), 1, "{name}: {text}");
        }
        assert_eq!(run(&["setup", client, "--undo"]).code, 0);
        assert_eq!(fs::read_to_string(tree.join(own)).expect("a file"), "# Mine\n");
        if own == "CLAUDE.md" {
            fs::write(tree.join(own), "@AGENTS.md\n").expect("a file");
            assert_eq!(run(&["setup", client, "--project", "ledger"]).code, 0);
            assert_eq!(fs::read_to_string(tree.join(own)).expect("a file"), "@AGENTS.md\n", "that takes it in");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_document_that_leads_out_of_the_repository_is_written_by_force_alone() {
    let place = Place::new();
    let home = place.folder.path();
    let tree = home.join("repo");
    fs::create_dir_all(tree.join(".git")).expect("a repository");
    fs::write(home.join(".bashrc"), "alias l=ls\n").expect("a file");
    std::os::unix::fs::symlink(home.join(".bashrc"), tree.join("AGENTS.md")).expect("a link");
    let run = |words: &[&str]| -> Answer {
        place.command().current_dir(&tree).args(words).output().expect("the program runs").into()
    };
    let refused = run(&["setup", "codex", "--project", "ledger"]);
    assert!(refused.code == 2 && refused.err.contains("leads out of the repository"), "{refused:?}");
    assert!(refused.err.contains("No file was written."), "{refused:?}");
    assert_eq!(fs::read_to_string(home.join(".bashrc")).expect("a file"), "alias l=ls\n");
    assert_eq!(run(&["setup", "codex", "--project", "ledger", "--force"]).code, 0);
    assert!(fs::read_to_string(home.join(".bashrc")).expect("a file").contains("heyaira:begin"));
}

#[test]
fn what_a_narrower_set_up_left_there_is_taken_back_too() {
    let place = Place::new();
    let tree = place.folder.path().join("repo");
    fs::create_dir_all(tree.join(".git")).expect("a repository");
    let run = |words: &[&str]| -> Answer {
        place.command().current_dir(&tree).args(words).output().expect("the program runs").into()
    };
    assert_eq!(run(&["setup", "gemini", "--project", "ledger"]).code, 0);
    let other = place.folder.path().join("other.db");
    let narrower = ["setup", "gemini", "--without", "hooks,skills,agents-md", "--project", "ledger"];
    assert_eq!(
        run(&[&narrower[..], &["--database", other.to_str().expect("UTF-8")]].concat()).code,
        2,
        "another instance"
    );
    fs::remove_file(tree.join("heyaira.toml")).expect("a profile");
    assert_eq!(run(&[&narrower[..], &["--database", other.to_str().expect("UTF-8")]].concat()).code, 0);
    let settings = place.folder.path().join(".gemini/settings.json");
    let text = fs::read_to_string(&settings).expect("settings");
    fs::write(&settings, text.replacen('{', "{\n  \"theme\": \"dark\",", 1)).expect("settings");
    assert_eq!(run(&["setup", "gemini", "--undo"]).code, 0);
    let rest = fs::read_to_string(&settings).expect("settings");
    assert!(rest.contains("dark") && !rest.contains("heyaira"), "{rest}");
}

#[test]
fn what_is_to_be_put_in_by_hand_has_the_shape_that_clients_take() {
    let handler = json!({"type": "command", "command": "heyaira hook claude-code"});
    let edit = Edit::Hooks { events: vec![("Stop".to_owned(), handler.clone())] };
    let problem = edit.put(present("{\"hooks\": \"none\"}")).expect_err("no list");
    let snippet = problem.next.split_once('\n').expect("a text").1;
    let shown: serde_json::Value = serde_json::from_str(snippet).expect("JSON");
    assert_eq!(shown, json!({"hooks": {"Stop": [{"hooks": [handler]}]}}));
}
