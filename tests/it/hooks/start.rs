//! What a session is told when it starts.

use std::fs;

use serde_json::{Value, json};

use super::repository::{CLAUDE, Repository, context};

const OTHER: &str = "b07e44d9-15c8-4c6a-8f32-90ab6c1de574";

#[test]
fn it_is_told_who_it_is_what_waits_and_what_to_call() {
    let here = Repository::new();
    let told = here.start(CLAUDE);
    assert_eq!(
        told,
        format!(
            "HeyAira: this session's session_ref is claude-code:{CLAUDE}. No handoff and no message waits in this project; \
             continuity_context tells its state."
        )
    );
    let lines: Vec<String> =
        (1..=5).map(|number| here.handed_off(&format!("Task {number}"), &format!("codex:{number}"))).collect();
    let id = &lines[0]["handoff: ".len()..][..8];
    here.place.ask(&["message", "send", "--to", id, "--text", "late news"]);
    let told = here.start(OTHER);
    assert!(told.contains("This project has 5 pending handoffs and 1 waiting message ("), "{told}");
    assert!(told.contains(" and 2 more): call continuity_context, with a line"), "{told}");
    assert_eq!(lines.iter().filter(|line| told.contains(line.as_str())).count(), 3, "{told}");
    assert!(told.contains(&lines[4]), "the last one comes first: {told}");
}

#[test]
fn a_repository_without_a_project_is_told_nothing() {
    let here = Repository::without_project();
    let input = here.claude(CLAUDE, "SessionStart", json!({"source": "startup"}));
    assert_eq!(here.hook("claude", &input, &[]).out, "");
    assert_eq!(here.log(), "");
    // One named by the environment counts.
    let answer = here.hook("claude", &input, &[("HEYAIRA_PROJECT", "ledger")]);
    assert!(context(&answer).contains(CLAUDE), "{answer:?}");
}

#[test]
fn a_session_in_a_project_that_is_elsewhere_is_told_who_it_is() {
    let here = Repository::new();
    let pinned = fs::read_to_string(here.tree.join("heyaira.toml")).expect("a profile");
    let line = pinned.lines().find(|line| line.starts_with("instance")).expect("an instance");
    let other = pinned.replace(line, "instance = \"11111111-2222-4333-8444-555555555555\"");
    fs::write(here.tree.join("heyaira.toml"), other).expect("a profile");
    let input = here.claude(CLAUDE, "SessionStart", json!({"source": "startup"}));
    let nowhere = here.tree.join("nowhere.db");
    for variables in [vec![], vec![("HEYAIRA_DATABASE", nowhere.to_str().expect("UTF-8"))]] {
        let told = context(&here.hook("claude", &input, &variables));
        assert_eq!(told, format!("HeyAira: this session's session_ref is claude-code:{CLAUDE}."));
    }
    assert_eq!(here.log(), "");
    assert!(!nowhere.exists());
}

#[test]
fn a_cold_resume_is_told_what_the_client_reckons() {
    let here = Repository::new();
    let resumed = |tokens: u64, usd: Value| {
        let more = json!({
            "source": "resume", "seconds_since_last_response": 43_260, "context_tokens": tokens,
            "prompt_cache_likely_expired": true, "estimated_cache_write_usd": usd,
        });
        here.hook("claude", &here.claude(CLAUDE, "SessionStart", more), &[])
    };
    let large = resumed(311_842, json!(2.4947));
    for told in [context(&large), large.json()["systemMessage"].as_str().expect("a notice").to_owned()] {
        assert!(told.contains("12 hours old") && told.contains("311,842 tokens anew, about $2.49"), "{told}");
        assert!(told.contains("a fresh session that starts from its line costs less"), "{told}");
    }
    let small = resumed(3_120, json!(0.0156));
    assert!(context(&small).contains("going on here is fine"), "{small:?}");
    assert_eq!(small.json()["systemMessage"], Value::Null);
    // A cost that is no number is left out.
    assert!(!context(&resumed(200_000, json!("a lot"))).contains('$'));
    let warm = json!({"source": "resume", "context_tokens": 311_842, "prompt_cache_likely_expired": false});
    let warm = here.hook("claude", &here.claude(CLAUDE, "SessionStart", warm), &[]);
    assert!(!context(&warm).contains("expired"), "{warm:?}");
}

#[test]
fn after_a_compaction_it_is_told_to_read_its_task_again() {
    let here = Repository::new();
    let id = here.place.task("Mine");
    let session_ref = format!("claude-code:{CLAUDE}");
    here.place.ask(&["task", "takeover", &id, "--expected-version", "1", "--session-ref", &session_ref]);
    let compacted = here.claude(CLAUDE, "SessionStart", json!({"source": "compact"}));
    let told = context(&here.hook("claude", &compacted, &[]));
    assert!(
        told.contains(&format!("This session owns {} (version 2): read it again with task_get", &id[..8])),
        "{told}"
    );
    assert!(!here.start(CLAUDE).contains("read it again"), "only then");
}

#[test]
fn shell_commands_of_claude_code_know_their_session() {
    let here = Repository::new();
    let file = here.place.folder.path().join("sessionstart-hook-0.sh");
    fs::write(&file, "export OTHER=1\n").expect("a file");
    let name = file.display().to_string();
    let input = here.claude(CLAUDE, "SessionStart", json!({"source": "startup"}));
    here.hook("claude", &input, &[("CLAUDE_ENV_FILE", &name)]);
    let written = fs::read_to_string(&file).expect("a file");
    assert_eq!(written, format!("export OTHER=1\nexport HEYAIRA_SESSION=claude-code:{CLAUDE}\n"));
    here.hook("claude", &input, &[("CLAUDE_ENV_FILE", &name)]);
    assert_eq!(fs::read_to_string(&file).expect("a file"), written, "once");
    // A line that was not ended is not changed.
    fs::write(&file, "export OTHER=1").expect("a file");
    here.hook("claude", &input, &[("CLAUDE_ENV_FILE", &name)]);
    assert_eq!(fs::read_to_string(&file).expect("a file"), written);
    // An id that a shell would not take as it is is none.
    let input = here.claude("$(touch x)", "SessionStart", json!({"source": "startup"}));
    here.hook("claude", &input, &[("CLAUDE_ENV_FILE", &name)]);
    assert_eq!(fs::read_to_string(&file).expect("a file"), written);
}

#[test]
fn claude_desktop_s_id_is_told_beside_claude_code_s() {
    let here = Repository::new();
    let config = if cfg!(target_os = "macos") { "Library/Application Support" } else { ".config" };
    let folder = here.place.folder.path().join(config).join("Claude/claude-code-sessions/account/organization");
    fs::create_dir_all(&folder).expect("a folder");
    let mapping = |id: &str, cli: &str| {
        let text = json!({"sessionId": id, "cliSessionId": cli, "title": "MARKER", "cwd": here.tree}).to_string();
        fs::write(folder.join(format!("{id}.json")), text).expect("a file");
    };
    mapping("local_9a2e51c7-0d3b-4f86-b7e9-5c14d8f6a023", CLAUDE);
    mapping("local_00000000-0d3b-4f86-b7e9-5c14d8f6a023", OTHER);
    fs::write(folder.join("local_broken.json"), "{").expect("a file");
    let input = here.claude(CLAUDE, "SessionStart", json!({"source": "startup"}));
    let told = context(&here.hook("claude", &input, &[("CLAUDE_CODE_ENTRYPOINT", "claude-desktop")]));
    let desktop = "desktop:local_9a2e51c7-0d3b-4f86-b7e9-5c14d8f6a023";
    assert!(told.contains(&format!("claude-code:{CLAUDE} (in Claude Desktop {desktop})")), "{told}");
    let kept = here.state().session(&format!("claude-code:{CLAUDE}")).expect("a session");
    assert_eq!(kept.desktop.as_deref(), Some(desktop));
}

#[test]
fn parts_and_the_whole_can_be_left_out() {
    let here = Repository::new();
    let input = here.claude(CLAUDE, "SessionStart", json!({"source": "startup"}));
    for variables in [&[("HEYAIRA_HOOKS", "off")], &[("HEYAIRA_HOOKS_WITHOUT", "advice, start")]] {
        assert_eq!(here.hook("claude", &input, variables).out, "", "{variables:?}");
    }
    let words = ["claude", "--without", "start,drafts"];
    assert_eq!(here.hook_with(&words, input.to_string().as_bytes(), &[]).out, "");
    assert_eq!(here.log(), "");
    let answer = here.hook("claude", &input, &[("HEYAIRA_HOOKS_WITHOUT", "strat")]);
    assert!(!answer.out.is_empty());
    assert!(here.log().contains("there is no part \"strat\" to leave out"), "{}", here.log());
}
