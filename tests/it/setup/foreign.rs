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
