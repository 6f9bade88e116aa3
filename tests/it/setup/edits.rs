//! Single edits: what the text looks like afterwards.

use heyaira::client::setup::edit::{Edit, Present};
use serde_json::json;

fn put(edit: &Edit, text: &str) -> String {
    edit.put(Present { text: Some(text), ..Present::default() }).expect("an edit")
}

fn hooks(command: &str) -> Edit {
    let handler = json!({"type": "command", "command": command, "timeout": 10});
    Edit::Hooks { events: vec![("Stop".to_owned(), handler.clone()), ("SessionStart".to_owned(), handler)] }
}

#[test]
fn hooks_stand_beside_those_of_others_once() {
    let text = "{\n  \"hooks\": {\n    // mine\n    \"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"notify\"}]}]\n  }\n}\n";
    let once = put(&hooks("heyaira hook claude-code"), text);
    assert!(once.contains("// mine") && once.contains("notify"), "{once}");
    assert_eq!(once.matches("heyaira hook claude-code").count(), 2, "{once}");
    assert_eq!(put(&hooks("heyaira hook claude-code"), &once), once);
    let moved = put(&hooks("/opt/heyaira hook claude-code"), &once);
    assert_eq!(moved.matches("hook claude-code").count(), 2, "{moved}");
    let rest = hooks("x").take_out(&moved, Some(text)).expect("taken out").expect("the rest");
    let without_space = |text: &str| text.split_whitespace().collect::<String>();
    assert_eq!(without_space(&rest), without_space(text));
}

#[test]
fn a_hook_of_an_event_that_is_no_longer_wanted_goes() {
    let old = "{\"hooks\": {\"PreCompress\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"heyaira hook gemini\"}]}]}}";
    let now = put(&hooks("heyaira hook gemini"), old);
    assert!(!now.contains("PreCompress"), "{now}");
}

#[test]
fn members_that_others_added_to_our_entry_stay() {
    let edit = Edit::Json {
        at: vec!["mcpServers".to_owned(), "heyaira".to_owned()],
        entry: json!({"command": "heyaira", "args": ["mcp"]}),
    };
    let text = "{\"mcpServers\": {\"heyaira\": {\"command\": \"/old/heyaira\", \"args\": [\"mcp\"], \"timeout\": 5 /* slow */}}}";
    assert_eq!(put(&edit, text), text.replace("/old/heyaira", "heyaira"));
}

#[test]
fn a_table_is_written_behind_all_others() {
    let entry = json!({"command": "C:\\Program Files\\heyaira.exe", "args": ["mcp"], "omit_tools_from": ["deferred"]});
    let edit = Edit::Toml { at: vec!["mcp_servers".to_owned(), "heyaira".to_owned()], entry };
    let text = "a = 1 # one\r\n[b]\r\nc = 2";
    let wanted = "\r\n\r\n[mcp_servers.heyaira]\r\ncommand = 'C:\\Program Files\\heyaira.exe'\r\nargs = [\"mcp\"]\r\nomit_tools_from = [\"deferred\"]\r\n";
    assert_eq!(put(&edit, text), format!("{text}{wanted}"));
}

#[test]
fn a_block_is_replaced_where_it_stands() {
    let block = |text: &str| Edit::Block { text: text.to_owned() };
    let text = "# Rules\n\nBe kind.\n";
    let first = put(&block("one"), text);
    assert_eq!(first, "# Rules\n\nBe kind.\n\n<!-- heyaira:begin -->\none\n<!-- heyaira:end -->\n");
    let moved = first.clone() + "\nMore.\n";
    let second = put(&block("two"), &moved);
    assert_eq!(second, moved.replace("one", "two"));
    assert_eq!(block("").take_out(&first, Some(text)).expect("taken out").as_deref(), Some(text));
    let rest = block("").take_out(&second, Some(text)).expect("taken out");
    assert_eq!(rest.as_deref(), Some("# Rules\n\nBe kind.\n\n\nMore.\n"));
    let half = block("x").put(Present { text: Some("<!-- heyaira:begin -->\n"), ..Present::default() });
    assert!(half.is_err());
}

/// A file with this one command for an event.
fn with_command(command: &str) -> String {
    json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command, "timeout": 10}]}]}}).to_string()
}

fn commands(text: &str) -> Vec<String> {
    let whole: serde_json::Value = serde_json::from_str(text).expect("JSON");
    let groups = whole["hooks"]["Stop"].as_array().expect("groups");
    groups.iter().filter_map(|group| group["hooks"][0]["command"].as_str().map(str::to_owned)).collect()
}

#[test]
fn what_a_person_added_to_the_command_of_a_hook_stays() {
    let ours = "heyaira hook claude-code";
    for (present, wanted, then) in [
        ("heyaira hook claude-code --block", ours, "heyaira hook claude-code --block"),
        (
            "heyaira hook claude-code --without 'advice,drafts' 2>&1",
            ours,
            "heyaira hook claude-code --without 'advice,drafts' 2>&1",
        ),
        ("/old/heyaira hook claude --block", ours, "heyaira hook claude-code --block"),
        ("'/my tools/heyaira' hook claude-code --without start", ours, "heyaira hook claude-code --without start"),
        ("heyaira hook claude-code --database /a --block", ours, "heyaira hook claude-code --block"),
        ("heyaira hook claude-code --database /a", ours, ours),
        (
            "heyaira hook claude-code --block --database '/a b'",
            "heyaira hook claude-code --database '/a b'",
            "heyaira hook claude-code --block --database '/a b'",
        ),
    ] {
        let text = with_command(present);
        let once = put(&hooks(wanted), &text);
        assert_eq!(commands(&once), [then], "{present}");
        assert_eq!(put(&hooks(wanted), &once), once, "{present}");
        let rest = hooks(wanted).take_out(&once, None).expect("taken out").unwrap_or_default();
        assert!(!rest.contains("hook claude"), "{present}: {rest}");
    }
}

#[test]
fn a_command_that_does_more_than_ours_is_somebody_elses() {
    let ours = "heyaira hook claude-code";
    for present in [
        "heyaira hook claude; my-notify done",
        "heyaira hook claude-code | tee log",
        "heyaira hook claude-code && my-notify",
        "heyaira hook claude-code\nmy-notify",
        "heyaira hook claude-code --without $(my-parts)",
        "heyaira hook claude-code --without \"`my-parts`\"",
        "my-notify heyaira hook claude-code",
    ] {
        let text = with_command(present);
        let once = put(&hooks(ours), &text);
        assert_eq!(commands(&once), [present, ours], "{present}");
        let rest = hooks(ours).take_out(&once, Some(&text)).expect("taken out").expect("the rest");
        assert_eq!(commands(&rest), [present], "{present}");
    }
}

#[test]
fn an_event_that_stands_there_twice_is_refused() {
    let text = "{\"hooks\": {\"SessionStart\": [], \"SessionStart\": [{\"hooks\": []}]}}";
    let problem = hooks("heyaira hook claude-code").put(Present { text: Some(text), ..Present::default() });
    let problem = problem.expect_err("neither is guessed");
    assert!(problem.what.contains("SessionStart twice"), "{problem:?}");
}
