//! Whatever fails in a hook, its client sees success and silence, and the log has one line.

use std::fs;
use std::sync::Arc;
use std::thread;

use serde_json::{Value, json};

use super::repository::{CLAUDE, Repository, context};

fn start(here: &Repository) -> Value {
    here.claude(CLAUDE, "SessionStart", json!({"source": "startup"}))
}

/// Silence, and a line of the log with these words.
fn silent(here: &Repository, words: &[&str], input: &[u8], variables: &[(&str, &str)], logged: &str) {
    let before = here.log().lines().count();
    let answer = here.hook_with(words, input, variables);
    assert_eq!((answer.out.as_str(), answer.err.as_str()), ("", ""), "{words:?}");
    let log = here.log();
    let lines: Vec<&str> = log.lines().skip(before).collect();
    assert!(lines.len() == 1 && lines[0].contains(logged), "{logged}: {lines:?}");
}

#[test]
fn a_broken_input_is_logged_and_nothing_else() {
    let here = Repository::new();
    let whole = start(&here).to_string();
    let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let inputs: [(&[u8], &str); 7] = [
        (b"", "the input of 0 bytes is no JSON"),
        (b"MARKER", "is no JSON"),
        (&whole.as_bytes()[..whole.len() - 9], "is no JSON"),
        (b"\xff\xfe{}", "is no JSON"),
        (b"[1, 2]", "is no JSON object"),
        (b"null", "is no JSON object"),
        (nested.as_bytes(), "is no JSON"),
    ];
    for client in ["claude", "codex", "gemini", "opencode", "copilot"] {
        for (input, logged) in inputs {
            silent(&here, &[client], input, &[], logged);
        }
    }
    assert!(!here.log().contains("MARKER"));
}

#[test]
fn a_huge_input_is_read_to_its_end_and_dropped() {
    let here = Repository::new();
    let mut input = start(&here);
    input["last_assistant_message"] = json!("x".repeat(100 * 1024 * 1024));
    silent(&here, &["claude"], input.to_string().as_bytes(), &[], "at most 8388608 are looked at");
    // Below the bound it is an input like others.
    input["last_assistant_message"] = json!("x".repeat(7 * 1024 * 1024));
    assert!(!here.hook("claude", &input, &[]).out.is_empty());
}

#[cfg(unix)]
#[test]
fn a_pipe_that_nobody_empties_is_not_waited_for() {
    let here = Repository::new();
    let pipe = here.place.folder.path().join("pipe");
    let log = here.state().folder().join("hooks.log");
    fs::create_dir_all(here.state().folder()).expect("a folder");
    for place in [&pipe, &log] {
        rustix::fs::mkfifoat(rustix::fs::CWD, place, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR).expect("a pipe");
    }
    let variables = [("CLAUDE_ENV_FILE", pipe.to_str().expect("UTF-8"))];
    assert!(context(&here.hook("claude", &start(&here), &variables)).contains(CLAUDE));
}

#[test]
fn a_pinned_file_that_is_none_is_not_read_to_its_end() {
    let here = Repository::new();
    let profile = fs::OpenOptions::new().write(true).open(here.tree.join("heyaira.toml")).expect("a profile");
    profile.set_len(1 << 40).expect("a file with a hole");
    silent(&here, &["claude"], start(&here).to_string().as_bytes(), &[], "is larger than 65536 bytes");
}

#[test]
fn an_input_of_the_future_is_passed_over() {
    let here = Repository::new();
    let inputs = [
        here.claude(CLAUDE, "WorldPeace", json!({"level": {"deep": [1, 2, {"deeper": null}]}})),
        here.claude(CLAUDE, "", json!({})),
        json!({}),
        json!({"hook_event_name": 7, "session_id": ["x"], "cwd": {"a": 1}, "source": false}),
    ];
    for input in inputs {
        let answer = here.hook("claude", &input, &[]);
        assert_eq!((answer.out.as_str(), answer.err.as_str()), ("", ""), "{input}");
    }
    assert_eq!(here.log(), "", "nothing went wrong");
    // What is known is answered, whatever is new beside it.
    let mut input = start(&here);
    input["source"] = json!("reincarnation");
    input["prompt_cache_likely_expired"] = json!("perhaps");
    input["context_tokens"] = json!(-5);
    input["session_id"] = json!(12);
    let told = context(&here.hook("claude", &input, &[]));
    assert!(told.starts_with("HeyAira: No handoff"), "{told}");
}

#[test]
fn a_wrong_command_line_is_no_order_to_the_client() {
    let here = Repository::new();
    let input = start(&here).to_string();
    silent(&here, &["claude", "--blok"], input.as_bytes(), &[], "the command line is wrong");
    silent(&here, &[], input.as_bytes(), &[], "the command line is wrong");
    // Also with a flag in front, which other commands take there or refuse with a code that clients obey.
    let flagged = super::repository::give(&mut here.command(&["--json", "hook", "claude"], &[]), input.as_bytes());
    assert_eq!((flagged.code, flagged.out.as_str()), (0, ""), "{flagged:?}");
    silent(&here, &["netscape"], input.as_bytes(), &[], "there is no client");
    silent(&here, &["claude"], input.as_bytes(), &[("HEYAIRA_DATABASE", "postgres://")], "invalid_argument");
    assert!(here.run(&["hook", "--help"], &[]).out.contains("heyaira hook [OPTIONS] <CLIENT> [EVENT]"));
}

#[test]
fn a_database_that_is_not_there_is_not_made() {
    let here = Repository::new();
    let missing = here.place.folder.path().join("none").join("heyaira.db");
    let variables = [("HEYAIRA_DATABASE", missing.to_str().expect("UTF-8"))];
    let told = here.hook("claude", &start(&here), &variables).out;
    assert!(told.contains("this session's session_ref is") && !told.contains("wait"), "{told}");
    assert!(!missing.parent().expect("a folder").exists());
    // A server that nobody runs.
    let variables = [("HEYAIRA_DATABASE", "postgres://maria@127.0.0.1:1/heyaira"), ("HEYAIRA_HOOK_WAIT_MS", "300")];
    silent(&here, &["claude"], start(&here).to_string().as_bytes(), &variables, "");
}

#[test]
fn a_database_that_is_something_else_is_logged_and_left() {
    let here = Repository::new();
    let foreign = here.place.folder.path().join("foreign.db");
    for content in
        ["", "no database at all, but long enough to have a header of one hundred bytes ".repeat(40).as_str()]
    {
        fs::write(&foreign, content).expect("a file");
        let variables = [("HEYAIRA_DATABASE", foreign.to_str().expect("UTF-8"))];
        silent(&here, &["claude"], start(&here).to_string().as_bytes(), &variables, "");
        assert_eq!(fs::read_to_string(&foreign).expect("a file"), content);
    }
}

#[test]
fn a_database_in_a_file_that_somebody_locks_is_waited_for_until_the_deadline() {
    let here = Repository::new();
    let file = here.place.folder.path().join("locked.db");
    let address = file.to_str().expect("UTF-8");
    let named = [("HEYAIRA_DATABASE", address)];
    assert_eq!(here.run(&["init"], &named).code, 0);
    assert_eq!(here.run(&["project", "create", "ledger"], &named).code, 0);
    fs::remove_file(here.tree.join("heyaira.toml")).expect("a profile");
    let wait = |milliseconds| [named[0], ("HEYAIRA_PROJECT", "ledger"), ("HEYAIRA_HOOK_WAIT_MS", milliseconds)];
    let input = start(&here);
    assert!(!here.hook("claude", &input, &wait("20000")).out.is_empty(), "it is a good database");
    let lock = rusqlite::Connection::open(&file).expect("a database");
    let held = "pragma locking_mode = exclusive; begin immediate; update instance set resource = resource; commit";
    lock.execute_batch(held).expect("a lock");
    silent(&here, &["claude"], input.to_string().as_bytes(), &wait("200"), "");
}

#[test]
fn a_state_folder_that_cannot_be_written_takes_nothing_away() {
    let here = Repository::new();
    let file = here.place.folder.path().join("a-file");
    fs::write(&file, "").expect("a file");
    let under_a_file = file.join("state");
    for folder in [under_a_file.to_str().expect("UTF-8"), "/proc/heyaira"] {
        let answer = here.hook("claude", &start(&here), &[("HEYAIRA_STATE", folder)]);
        assert!(context(&answer).contains(CLAUDE), "{answer:?}");
        assert_eq!(answer.err, "");
        // What could not be remembered is not said at all: it would be said every time.
        let answer = here.hook_with(
            &["claude", "--block"],
            here.claude(CLAUDE, "PreCompact", json!({"trigger": "auto"})).to_string().as_bytes(),
            &[("HEYAIRA_STATE", folder)],
        );
        assert_eq!(answer.out, "");
        let ended = here.claude(CLAUDE, "SessionEnd", json!({"reason": "other"}));
        assert_eq!(here.hook("claude", &ended, &[("HEYAIRA_STATE", folder)]).out, "");
    }
}

#[test]
fn a_state_folder_is_named_from_the_root_or_there_is_none() {
    let here = Repository::new();
    let answer = here.hook("claude", &start(&here), &[("HEYAIRA_STATE", "state")]);
    assert!(context(&answer).contains(CLAUDE), "{answer:?}");
    assert!(!here.state().folder().exists(), "and no other is taken");
    let refused = here.run(&["handoff", "draft"], &[("HEYAIRA_STATE", "state")]);
    assert!(refused.code == 2 && refused.err.contains("from the root"), "{refused:?}");
}

#[test]
fn failures_are_told_on_standard_error_to_whoever_asks() {
    let here = Repository::new();
    for (words, variables) in [(&["claude", "--verbose"][..], &[][..]), (&["claude"][..], &[("RUST_LOG", "debug")][..])]
    {
        let answer = here.hook_with(words, b"{", variables);
        assert!(answer.out.is_empty() && answer.err.contains("is no JSON"), "{answer:?}");
    }
}

#[test]
fn the_log_stays_small() {
    let here = Repository::new();
    let state = here.state();
    for _ in 0..3_000 {
        state.log(&"x".repeat(5_000));
    }
    let size = |name: &str| fs::metadata(state.folder().join(name)).map_or(0, |found| found.len());
    assert!(size("hooks.log") > 0 && size("hooks.log") < 300_000, "{}", size("hooks.log"));
    assert!(size("hooks.log.1") > 0 && size("hooks.log.1") < 300_000, "{}", size("hooks.log.1"));
}

#[cfg(unix)]
#[test]
fn what_is_kept_is_its_owner_s_alone() {
    use std::os::unix::fs::PermissionsExt as _;

    let here = Repository::new();
    here.start(CLAUDE);
    here.hook_with(&["claude"], b"{", &[]);
    let mut folders = vec![here.state().folder().to_owned()];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        let mode = |path: &std::path::Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
        assert_eq!(mode(&folder), 0o700, "{}", folder.display());
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files += 1;
                assert_eq!(mode(&path), 0o600, "{}", path.display());
            }
        }
    }
    assert!(files >= 3, "a session, a process, a log: {files}");
}

#[test]
fn hooks_at_the_same_time_say_what_is_said_once_once() {
    let here = Arc::new(Repository::new());
    here.start(CLAUDE);
    let compact = here.claude(CLAUDE, "PreCompact", json!({"trigger": "auto"}));
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let (here, compact) = (Arc::clone(&here), compact.clone());
            thread::spawn(move || here.hook("claude", &compact, &[]).out)
        })
        .collect();
    let said: Vec<String> = threads.into_iter().map(|thread| thread.join().expect("no panic")).collect();
    assert_eq!(said.iter().filter(|out| !out.is_empty()).count(), 1, "{said:?}");
    assert_eq!(here.log(), "");
}

#[test]
fn opencode_s_plugin_tells_the_model_of_a_compaction() {
    let here = Repository::new();
    let input = json!({"hook_event_name": "PreCompact", "session_id": "ses_1", "cwd": here.tree});
    for _ in 0..2 {
        let told = here.hook("opencode", &input, &[]);
        let again = here.hook("opencode", &input, &[]);
        assert!(told.json()["additionalContext"].as_str().is_some_and(|told| told.contains("handoff")), "{told:?}");
        assert_eq!(again.out, "");
        let start = json!({"hook_event_name": "SessionStart", "session_id": "ses_1", "cwd": here.tree});
        here.hook("opencode", &start, &[]);
    }
}

#[test]
fn a_compaction_can_be_stopped_once_where_the_client_can() {
    let here = Repository::new();
    let expected = |client: &str, answer: &Value| match client {
        "claude" => {
            answer["decision"] == "block" && answer["reason"].as_str().is_some_and(|why| why.contains("handoff"))
        }
        "codex" => answer["continue"] == false && answer["stopReason"].as_str().is_some(),
        _ => answer["systemMessage"].as_str().is_some(),
    };
    for client in ["claude", "codex", "gemini"] {
        here.hook(client, &start(&here), &[]);
        let mut compact = here.claude(CLAUDE, "PreCompact", json!({"trigger": "manual"}));
        compact["transcript_path"] = Value::Null;
        let block = || here.hook_with(&[client, "--block"], compact.to_string().as_bytes(), &[]).out;
        let first: Value = serde_json::from_str(&block()).expect("JSON");
        assert!(expected(client, &first), "{client}: {first}");
        assert_eq!(block(), "", "{client}: nobody is stuck");
        // The next one, after this one is done, is another.
        here.hook(client, &here.claude(CLAUDE, "SessionStart", json!({"source": "compact"})), &[]);
        assert!(!block().is_empty(), "{client}");
    }
}
