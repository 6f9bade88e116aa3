//! The command line: the same answers as the tools, exit codes, quoting, files, profiles, times.

use heyaira::error::Code;
use serde_json::json;

use crate::program::{Place, write_file};

#[test]
fn text_that_starts_with_a_dash_is_text_and_help_creates_nothing() {
    let place = Place::new();
    place.ask(&["task", "create", "--title", "- [ ] fix parser"]);
    place.ask(&["task", "create", "--title=--help"]);
    let help = place.cli(&["task", "create", "--help"]);
    assert_eq!(help.code, 0);
    assert!(help.out.contains("--completion-criteria"), "{}", help.out);
    let list = place.ask(&["task", "list", "--sort", "created"]);
    let titles: Vec<&str> =
        list["tasks"].as_array().expect("rows").iter().filter_map(|row| row["title"].as_str()).collect();
    assert_eq!(titles, ["--help", "- [ ] fix parser"]);
    assert!(list.is_object(), "the tool's object, never a bare array");
}

#[test]
fn exit_codes_follow_the_contract() {
    let place = Place::new();
    let task = place.task("codes");
    let update =
        |expected: &str| place.cli(&["task", "update", &task, "--expected-version", expected, "--summary", "x"]).code;
    assert_eq!(update("9"), 4);
    assert_eq!(update("x"), 2);
    assert_eq!(update("1"), 0);
    assert_eq!(place.cli(&["task", "get", "ffffffff"]).code, 3);
    assert_eq!(place.cli(&["task", "history", "ffffffff"]).code, 3);
    assert_eq!(place.bare(&["task", "list"]).code, 5, "no project");
    assert_eq!(place.bare(&["task", "list", "--project", "other"]).code, 5, "no such project");
    let wrong = place.cli(&["task", "create", "--title", "t", "--write-context", "other@00000000#aaaaaaaaaaaaaaaa"]);
    assert_eq!(wrong.code, 5);
    assert_eq!(place.bare(&["task", "list", "--database", "nowhere/h.db", "--project", "ledger"]).code, 7);
    assert_eq!(place.bare(&["nonsense"]).code, 2);
}

#[test]
fn errors_are_json_on_request_and_nothing_else_is_printed() {
    let place = Place::new();
    let answer = place.cli(&["task", "get", "ffffffff", "--json"]);
    let body = answer.json();
    assert_eq!(body["error"]["code"], "not_found");
    assert!(body["error"]["message"].is_string() && body["error"]["next"].is_string());
    assert_eq!(answer.err, "");
    let usage = place.cli(&["task", "update", "--statu", "done", "--json"]);
    assert_eq!(usage.json()["error"]["code"], "invalid_argument");
    assert_eq!(usage.code, 2);
}

#[test]
fn long_texts_come_from_files_and_standard_input() {
    let place = Place::new();
    let task = place.task("files");
    let text = "first\r\n\tsecond \\n not a line break\n@third";
    write_file(place.folder.path(), "next.txt", text);
    place.ask(&["task", "update", &task, "--expected-version", "1", "--summary", "s", "--handoff-next", "@next.txt"]);
    assert_eq!(place.ask(&["task", "get", &task])["handoff_next"], text);
    place.ask(&["task", "update", &task, "--expected-version", "2", "--summary", "s", "--description", "@@home"]);
    assert_eq!(place.ask(&["task", "get", &task])["description"], "@home");
    let missing =
        place.cli(&["task", "update", &task, "--expected-version", "3", "--summary", "s", "--description", "@no.txt"]);
    assert_eq!(missing.code, 2);
    assert!(missing.err.contains("no.txt cannot be read"), "{}", missing.err);
    let receipt = r#"{"session_ref": "label:me", "branch": "main"}"#;
    place.ask(&[
        "task",
        "update",
        &task,
        "--expected-version",
        "3",
        "--summary",
        "s",
        "--work-receipt",
        receipt,
        "--receipt-tests",
        "3 passed",
    ]);
    let seen = place.ask(&["task", "get", &task]);
    assert_eq!(seen["receipt"]["branch"], "main");
    assert_eq!(seen["receipt"]["tests"], "3 passed");
}

#[test]
fn the_pinned_file_is_found_upwards_and_compared_with_the_database() {
    let place = Place::new();
    let deep = place.folder.path().join("deep/er");
    std::fs::create_dir_all(&deep).expect("folders");
    assert_eq!(place.bare(&["profile", "ledger", "--write"]).code, 0);
    let identity = |folder: &std::path::Path| {
        place.command().current_dir(folder).args(["identity", "--json"]).output().expect("runs").stdout
    };
    assert_eq!(identity(place.folder.path()), identity(&deep));
    assert!(!identity(&deep).is_empty());

    let other = Place::new();
    let pinned = std::fs::read_to_string(place.folder.path().join("heyaira.toml")).expect("the profile");
    write_file(other.folder.path(), "heyaira.toml", &pinned);
    let refused = other.bare(&["task", "create", "--title", "t"]);
    assert_eq!(refused.code, 5);
    assert!(refused.err.starts_with("identity_mismatch:"), "{}", refused.err);
    assert!(!refused.err.contains(&place.write_context));
}

#[cfg(unix)]
#[test]
fn rw_058_every_worktree_at_any_depth_is_the_same_project() {
    let place = Place::new();
    let repository = place.folder.path().join("repository");
    std::fs::create_dir(&repository).expect("a folder");
    let git = |words: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", place.folder.path());
        command.current_dir(&repository).args(["-c", "user.name=t", "-c", "user.email=t@t"]);
        let output = command.args(words).output().expect("git runs");
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    git(&["init", "--quiet"]);
    let written = place.command().current_dir(&repository).args(["profile", "ledger", "--write"]).output();
    assert!(written.expect("runs").status.success());
    git(&["add", "heyaira.toml"]);
    git(&["commit", "--quiet", "-m", "pin the project"]);
    git(&["worktree", "add", "--quiet", "../wt-1/deep/er"]);
    let worktree = place.folder.path().join("wt-1/deep/er");
    let inner = worktree.join("src/inner");
    std::fs::create_dir_all(&inner).expect("folders");
    let link = place.folder.path().join("link");
    std::os::unix::fs::symlink(&inner, &link).expect("a link");
    let run = |folder: &std::path::Path, words: &[&str]| {
        let output = place.command().current_dir(folder).args(words).arg("--json").output().expect("runs");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    let identity = run(&repository, &["identity"]);
    for folder in [&worktree, &inner, &link] {
        assert_eq!(run(folder, &["identity"]), identity, "{}", folder.display());
    }
    run(&inner, &["task", "create", "--title", "from worktree"]);
    assert!(run(&repository, &["task", "list"]).contains("from worktree"));
    assert_eq!(git(&["status", "--short"]), "");
    assert_eq!(git(&["-C", "../wt-1/deep/er", "status", "--short"]), "");
}

#[test]
fn a_damaged_profile_is_refused_without_its_contents() {
    let place = Place::new();
    write_file(
        place.folder.path(),
        "heyaira.toml",
        &format!("project = ledger\nwrite_context = \"{}\"\n", place.write_context),
    );
    let refused = place.bare(&["task", "list"]);
    assert_eq!(refused.code, 5);
    assert!(refused.err.contains("heyaira.toml is no profile (line 1)"), "{}", refused.err);
    assert!(!refused.err.contains(&place.write_context));
}

#[test]
fn times_are_local_with_their_offset_in_text_and_utc_in_json() {
    let place = Place::new();
    let task = place.task("times");
    let text = |zone: &str| {
        let output = place.command().env("TZ", zone).args(["task", "get", &task, "--project", "ledger"]).output();
        String::from_utf8(output.expect("runs").stdout).expect("text")
    };
    assert!(text("Asia/Seoul").contains(" +09:00"), "{}", text("Asia/Seoul"));
    assert!(text("America/Los_Angeles").contains(" -08:00") || text("America/Los_Angeles").contains(" -07:00"));
    let created = place.ask(&["task", "get", &task])["created"].as_str().expect("a time").to_owned();
    assert!(created.ends_with('Z') && created.len() == 20, "{created}");
}

#[test]
fn hidden_and_control_characters_are_shown_escaped_and_stored_as_they_are() {
    let place = Place::new();
    let titles =
        ["Access \u{202e}DENIED", "pay\u{200b}load", "red \u{1b}[31m", "می\u{200c}خواهم", "👩\u{200d}💻 build"];
    for title in titles {
        place.ask(&["task", "create", "--title", title]);
    }
    let text = place.cli(&["task", "list", "--sort", "created"]).out;
    for shown in ["Access \\u{202e}DENIED", "pay\\u{200b}load", "red \\u{1b}[31m", titles[3], titles[4]] {
        assert!(text.contains(shown), "{shown}: {text}");
    }
    let list = place.ask(&["task", "list", "--sort", "created"]);
    let stored: Vec<&str> =
        list["tasks"].as_array().expect("rows").iter().rev().filter_map(|row| row["title"].as_str()).collect();
    assert_eq!(stored, titles);
}

#[test]
fn start_sets_up_once_and_changes_nothing_the_second_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path().join("My Project!");
    std::fs::create_dir(&home).expect("a folder");
    let run = || {
        let mut command = std::process::Command::new(crate::program::HEYAIRA);
        command.env_clear().env("HOME", folder.path()).current_dir(&home).args(["start", "--no-serve", "--json"]);
        let output = command.output().expect("runs");
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice::<serde_json::Value>(&output.stdout).expect("JSON")
    };
    let (first, second) = (run(), run());
    assert_eq!(first["project"], "my-project");
    assert_eq!((&first["created"], &second["created"]), (&json!(true), &json!(false)));
    assert_eq!(first["write_context"], second["write_context"]);
    assert_eq!(first["instance"], second["instance"]);
}

#[cfg(unix)]
#[test]
fn the_database_and_its_backups_are_readable_by_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    place.task("private");
    let copy = place.folder.path().join("copy.db");
    assert_eq!(place.bare(&["backup", "copy.db"]).code, 0);
    let folder = place.database.file().parent().expect("a folder").to_owned();
    let mode = |path: &std::path::Path| path.metadata().expect("there").permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    for entry in std::fs::read_dir(&folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
    assert_eq!(mode(&copy), 0o600);
    assert_ne!(place.bare(&["backup", "copy.db"]).code, 0, "a backup never overwrites");
}

#[test]
fn a_backup_is_whole_and_opens_as_the_same_instance() {
    let place = Place::new();
    let task = place.task("kept");
    assert_eq!(place.bare(&["backup", "copy.db"]).code, 0);
    let copy = place.folder.path().join("copy.db");
    let copy = copy.to_str().expect("a path");
    assert_eq!(place.bare(&["verify", "--database", copy]).code, 0);
    let seen = place.ask(&["task", "get", &task, "--database", copy]);
    assert_eq!(seen["title"], "kept");
}

#[test]
fn damage_is_called_damage() {
    let place = Place::new();
    let task = place.task("damaged");
    place.ask(&[
        "task",
        "update",
        &task,
        "--expected-version",
        "1",
        "--summary",
        "s",
        "--description",
        &"text ".repeat(10_000),
    ]);
    assert_eq!(place.bare(&["backup", "whole.db"]).code, 0);
    let path = place.folder.path().join("whole.db");
    let mut bytes = std::fs::read(&path).expect("the copy");
    let middle = bytes.len() / 2;
    bytes[middle..middle + 8192].fill(0xa5);
    std::fs::write(&path, bytes).expect("damage");
    let path = path.to_str().expect("a path");
    assert_eq!(place.bare(&["verify", "--database", path]).code, 8);
    let doctor = place.bare(&["doctor", "--database", path, "--json"]);
    assert_eq!(doctor.code, 8, "{doctor:?}");
}

#[test]
fn a_file_that_is_no_profile_is_never_overwritten() {
    let place = Place::new();
    for text in
        ["[package]\nname = \"mine\"\n", "project = \"other\"\ninstance = \"5b1f09c2-7a64-4d0e-8f3b-c2a91e6d4470\"\n"]
    {
        write_file(place.folder.path(), "heyaira.toml", text);
        let refused = place.bare(&["profile", "ledger", "--write"]);
        assert_eq!(refused.code, 2, "{refused:?}");
        assert_eq!(std::fs::read_to_string(place.folder.path().join("heyaira.toml")).expect("there"), text);
    }
    assert_eq!(place.bare(&["project", "list"]).code, 0, "what names its project is not bound to the pinned one");
}

#[test]
fn standard_input_serves_one_field_and_lists_add_up() {
    let place = Place::new();
    let task = place.task("input");
    let twice = place.cli(&[
        "task",
        "update",
        &task,
        "--expected-version",
        "1",
        "--summary",
        "s",
        "--handoff-next",
        "@-",
        "--description",
        "@-",
    ]);
    assert_eq!(twice.code, 2, "{twice:?}");
    place.ask(&["task", "update", &task, "--expected-version", "1", "--summary", "s", "--tags", "a,b", "--tags", "c"]);
    assert_eq!(place.ask(&["task", "get", &task])["tags"], json!(["a", "b", "c"]));
}

#[cfg(target_os = "linux")]
#[test]
fn an_answer_that_cannot_be_printed_says_that_the_write_was_done() {
    let place = Place::new();
    let full = std::fs::File::options().write(true).open("/dev/full").expect("the full device");
    let mut command = place.command();
    command.args(["task", "create", "--title", "kept", "--project", "ledger"]).stdout(full);
    let output = command.output().expect("runs");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("what was asked for was done"), "{output:?}");
    assert_eq!(place.ask(&["task", "list"])["total"], 1);
}

#[test]
fn a_profile_whose_resource_is_an_address_says_how_to_connect_over_http() {
    let place = Place::new();
    let local = place.bare(&["profile", "ledger", "--json"]).json();
    assert!(local.get("connect_http").is_none(), "{local}");
    let named = place.bare(&["project", "set", "ledger", "--resource", "https://tasks.example.org/"]);
    assert_eq!(named.code, 0, "{named:?}");
    let told = place.bare(&["profile", "ledger"]);
    let line = "claude mcp add --transport http heyaira https://tasks.example.org/mcp/ledger --header \
                \"Authorization: Bearer $(cat TOKEN_FILE)\"";
    assert!(told.out.contains(line), "{told:?}");
    assert!(told.out.contains("heyaira token create NAME --project ledger"), "{told:?}");
    let told = place.bare(&["profile", "ledger", "--json"]).json();
    assert_eq!(told["url"], "https://tasks.example.org/mcp/ledger", "{told}");
    assert_eq!(told["connect_http"]["Claude Code"], line, "{told}");
}

#[test]
fn a_clone_of_a_pinned_repository_is_told_where_its_tasks_can_be() {
    let place = Place::new();
    let other = "project = \"other\"\ninstance = \"5b1f09c2-7a64-4d0e-8f3b-c2a91e6d4470\"\n";
    write_file(place.folder.path(), "heyaira.toml", other);
    let nowhere = place.folder.path().join("none.db");
    let missing = place.bare(&["context", "--database", nowhere.to_str().expect("a path")]);
    let mismatch = place.bare(&["context"]);
    assert_eq!((missing.code, mismatch.code), (7, 5), "{missing:?} {mismatch:?}");
    for refused in [missing, mismatch] {
        for word in ["instance 5b1f09c2", "with --database or HEYAIRA_DATABASE", "heyaira setup CLIENT --remote URL"] {
            assert!(refused.err.contains(word), "{word}: {refused:?}");
        }
        assert!(!refused.err.contains("Run heyaira start"), "{refused:?}");
    }
    assert!(!nowhere.exists());
}

#[test]
fn the_help_lists_every_exit_code_with_what_ends_so() {
    let place = Place::new();
    let help = place.bare(&["--help"]);
    assert_eq!(help.code, 0, "{help:?}");
    for code in Code::ALL {
        let row = help.out.lines().find(|line| line.starts_with(&format!("  {:>2}  ", code.exit())));
        let words = row.map(|row| row.split([' ', ',']).collect::<Vec<_>>()).unwrap_or_default();
        assert!(words.contains(&code.as_str()), "{} is not listed: {}", code.as_str(), help.out);
    }
    for line in ["   0  done", "   9  receipt verify", "  10  receipt verify", "  11  handoff check: thin"] {
        assert!(help.out.contains(line), "{line} in {}", help.out);
    }
}

#[test]
fn a_person_is_told_how_to_check_and_to_take_over_a_handoff_that_waits() {
    let place = Place::new();
    let task = place.task("waits");
    let next = "go on\nPrevious session: label:morning";
    let words = ["--expected-version", "1", "--handoff-next", next, "--receipt-session-ref", "label:morning"];
    place.ask(&[&["task", "update", &task], &words[..]].concat());
    let resume = place.cli(&["resume", "handoff:", &task[..8], "v2"]);
    let short = &task[..8];
    for line in [
        format!("grade: thin (why: heyaira handoff check {short})"),
        format!("to_take_over: heyaira task takeover {short} --expected-version 2 --session-ref label:NAME"),
    ] {
        assert!(resume.out.lines().any(|one| one == line), "{line} in {}", resume.out);
    }
    let as_json = place.ask(&["resume", "handoff:", &task[..8], "v2"]);
    assert_eq!(
        (&as_json["grade"], as_json.get("to_take_over")),
        (&json!("thin"), None),
        "programs get the tool's answer"
    );
    place.ask(&["task", "takeover", &task, "--expected-version", "2", "--session-ref", "label:other"]);
    let taken = place.cli(&["resume", "handoff:", &task[..8], "v2"]);
    assert!(!taken.out.contains("to_take_over") && !taken.out.contains("why:"), "{}", taken.out);
}

#[test]
fn a_project_that_lets_secrets_in_says_so_and_an_empty_list_has_no_label() {
    let place = Place::new();
    let set = |setting: &str| place.bare(&["project", "set", "ledger", "--rule", setting]);
    let open = set("secrets=warn,no-transcript=off");
    assert!(
        open.out.contains("  secrets: warn\n  no-transcript: off\n")
            || open.out.contains("  no-transcript: off\n  secrets: warn\n"),
        "{open:?}"
    );
    assert!(open.out.contains("note: Texts with secrets in them are saved in this project"), "{open:?}");
    let back = place.bare(&["project", "set", "ledger", "--rule", "secrets=refuse", "--rule", "no-transcript=warn"]);
    assert!(back.code == 0 && !back.out.contains("rules:") && !back.out.contains("note:"), "{back:?}");
}
