//! What a session leaves that ends without a handoff.

use std::fs;

use serde_json::{Value, json};

use super::repository::{CLAUDE, Repository};

const NEXT: &str = "b07e44d9-15c8-4c6a-8f32-90ab6c1de574";

fn end(here: &Repository, session: &str) {
    let ended = here.claude(session, "SessionEnd", json!({"reason": "prompt_input_exit"}));
    assert_eq!(here.hook("claude", &ended, &[]).out, "");
    assert_eq!(here.log(), "");
}

fn drafts(here: &Repository) -> Value {
    here.run(&["handoff", "draft", "--json"], &[]).json()["drafts"].clone()
}

#[test]
fn a_session_without_a_handoff_leaves_a_draft_that_the_next_one_is_told_of() {
    let here = Repository::new();
    let base = here.git(&["rev-parse", "HEAD"]);
    here.start(CLAUDE);
    here.git(&["checkout", "--quiet", "-b", "feature/totals"]);
    fs::write(here.tree.join("totals.rs"), "fn totals() {}").expect("a file");
    here.git(&["add", "."]);
    here.git(&["commit", "--quiet", "-m", "Add totals"]);
    fs::write(here.tree.join("totals.rs"), "fn totals() -> u64 { 0 }").expect("a file");
    fs::write(here.tree.join("notes.txt"), "later").expect("a file");
    end(&here, CLAUDE);

    let found = drafts(&here);
    let commit = here.git(&["rev-parse", "HEAD"]);
    assert_eq!(found[0]["commits"], json!([commit]));
    assert_eq!((&found[0]["uncommitted"], &found[0]["untracked"]), (&json!(1), &json!(1)));
    assert_eq!(found[0]["files"], json!(["totals.rs", "notes.txt"]));
    let receipt = json!({
        "session_ref": format!("claude-code:{CLAUDE}"), "branch": "feature/totals",
        "base_commit": base, "result_commit": commit,
    });
    assert_eq!(found[0]["work_receipt"], receipt);
    let shown = here.run(&["handoff", "draft"], &[]).out;
    assert!(shown.contains("- Branch: `feature/totals`") && shown.contains("- `notes.txt`"), "{shown}");

    let told = here.start(NEXT);
    assert!(told.contains("without a handoff and left 1 commit and 2 uncommitted files"), "{told}");
    assert!(told.contains("`heyaira handoff draft`"), "{told}");
    for _ in 0..2 {
        assert!(here.start(NEXT).contains("without a handoff"));
    }
    assert!(!here.start(NEXT).contains("without a handoff"), "three times, never a nag");
    assert_eq!(drafts(&here).as_array().map(Vec::len), Some(1), "it is still there to be read");
    assert_eq!(here.run(&["handoff", "draft", "--clear", "--json"], &[]).json(), json!({"cleared": 1}));
    assert_eq!(drafts(&here), json!([]));
}

#[test]
fn a_session_that_never_began_leaves_none() {
    let here = Repository::new();
    fs::write(here.tree.join("notes.txt"), "later").expect("a file");
    end(&here, CLAUDE);
    assert_eq!(drafts(&here), json!([]));
}

#[test]
fn a_session_that_handed_off_or_touched_nothing_leaves_none() {
    let here = Repository::new();
    fs::write(here.tree.join("before.txt"), "there before").expect("a file");
    let old = std::time::SystemTime::now() - std::time::Duration::from_hours(1);
    let file = fs::OpenOptions::new().write(true).open(here.tree.join("before.txt")).expect("a file");
    file.set_modified(old).expect("a time");
    here.start(CLAUDE);
    end(&here, CLAUDE);
    assert_eq!(drafts(&here), json!([]));

    here.start(NEXT);
    fs::write(here.tree.join("work.rs"), "work").expect("a file");
    here.handed_off("Work", &format!("claude-code:{NEXT}"));
    end(&here, NEXT);
    assert_eq!(drafts(&here), json!([]));
}

#[test]
fn the_session_that_ended_last_comes_first_though_others_ended_in_the_same_second() {
    let here = Repository::new();
    let sessions = ["0a", "0f", "0b", "0e", "0c"].map(|begin| format!("{begin}4c9d1e-15c8-4c6a-8f32-90ab6c1de574"));
    for session in &sessions {
        here.start(session);
        fs::write(here.tree.join("notes.txt"), session).expect("a file");
        end(&here, session);
    }
    let found = drafts(&here);
    let found = found.as_array().expect("drafts").iter();
    let order: Vec<&str> = found.filter_map(|draft| draft["work_receipt"]["session_ref"].as_str()).collect();
    let newest: Vec<String> = sessions.iter().rev().map(|id| format!("claude-code:{id}")).collect();
    assert_eq!(order, newest);
}

#[test]
fn commits_that_the_session_did_not_make_are_not_its_own() {
    let here = Repository::new();
    here.git(&["checkout", "--quiet", "-b", "other"]);
    for day in ["2025-03-01T10:00:00Z", "2025-03-02T10:00:00Z"] {
        here.git_at(&["commit", "--quiet", "--allow-empty", "-m", "Of before"], Some(day));
    }
    here.git(&["checkout", "--quiet", "main"]);
    here.start(CLAUDE);
    here.git(&["merge", "--quiet", "--ff-only", "other"]);
    end(&here, CLAUDE);
    assert_eq!(drafts(&here), json!([]));
}

#[test]
fn what_came_after_a_handoff_is_left_without_one() {
    let here = Repository::new();
    here.start(CLAUDE);
    here.handed_off("Work", &format!("claude-code:{CLAUDE}"));
    here.git_at(&["commit", "--quiet", "--allow-empty", "-m", "The next topic"], Some("2099-01-01T10:00:00Z"));
    end(&here, CLAUDE);
    assert_eq!(drafts(&here)[0]["commits"], json!([here.git(&["rev-parse", "HEAD"])]));
}

#[test]
fn a_draft_that_was_not_said_is_not_taken_for_told() {
    let here = Repository::new();
    here.start(CLAUDE);
    fs::write(here.tree.join("work.rs"), "work").expect("a file");
    end(&here, CLAUDE);
    let foreign = here.place.folder.path().join("foreign.db");
    fs::write(&foreign, "no database").expect("a file");
    let next = here.claude(NEXT, "SessionStart", json!({"source": "startup"}));
    for _ in 0..4 {
        let damaged = [("HEYAIRA_DATABASE", foreign.to_str().expect("UTF-8"))];
        assert_eq!(here.hook("claude", &next, &damaged).out, "");
        assert_eq!(here.hook("claude", &next, &[("HEYAIRA_HOOKS_WITHOUT", "start")]).out, "");
    }
    assert!(here.start(NEXT).contains("without a handoff"));
}

#[test]
fn a_session_that_goes_on_takes_its_draft_back() {
    let here = Repository::new();
    here.start(CLAUDE);
    fs::write(here.tree.join("work.rs"), "work").expect("a file");
    end(&here, CLAUDE);
    assert_eq!(drafts(&here).as_array().map(Vec::len), Some(1));
    let resumed = here.claude(CLAUDE, "SessionStart", json!({"source": "resume"}));
    assert!(!here.hook("claude", &resumed, &[]).out.contains("without a handoff"));
    assert_eq!(drafts(&here), json!([]));
}

#[test]
fn without_git_a_repository_or_a_project_there_is_none() {
    let here = Repository::new();
    here.start(CLAUDE);
    fs::write(here.tree.join("work.rs"), "work").expect("a file");
    let ended = here.claude(CLAUDE, "SessionEnd", json!({"reason": "other"}));
    here.hook("claude", &ended, &[("HEYAIRA_HOOKS_WITHOUT", "drafts")]);
    assert_eq!(here.log(), "");
    here.hook("claude", &ended, &[("PATH", "/nowhere")]);
    assert!(here.log().contains("git did not say what the session left"), "{}", here.log());
    assert_eq!(drafts(&here), json!([]));
    assert_eq!(here.place.bare(&["handoff", "draft"]).code, 3, "no repository");

    let bare = Repository::without_project();
    fs::write(bare.tree.join("work.rs"), "work").expect("a file");
    bare.hook("claude", &bare.claude(CLAUDE, "SessionEnd", json!({"reason": "other"})), &[]);
    assert_eq!(drafts(&bare), json!([]));
}

#[test]
fn names_of_files_and_branches_steer_no_terminal() {
    let here = Repository::new();
    here.start(CLAUDE);
    fs::write(here.tree.join("red\u{1b}[31m.txt"), "work").expect("a file");
    end(&here, CLAUDE);
    let shown = here.run(&["handoff", "draft"], &[]).out;
    assert!(shown.contains("red") && !shown.contains('\u{1b}'), "{shown:?}");
    fs::write(here.tree.join("a\nb` and `c"), "work").expect("a file");
    here.start(NEXT);
    end(&here, CLAUDE);
    let shown = here.run(&["handoff", "draft"], &[]).out;
    assert!(shown.contains("- `` a\\nb` and `c ``\n"), "{shown}");
}

#[test]
fn a_session_that_ends_elsewhere_leaves_its_draft_where_it_began() {
    let here = Repository::new();
    let other = Repository::new();
    here.start(CLAUDE);
    fs::write(here.tree.join("work.rs"), "work").expect("a file");
    fs::write(other.tree.join("theirs.rs"), "work").expect("a file");
    let mut ended = here.claude(CLAUDE, "SessionEnd", json!({"reason": "other"}));
    ended["cwd"] = json!(other.tree);
    // The project is pinned in both; the database is the one of the first.
    fs::copy(here.tree.join("heyaira.toml"), other.tree.join("heyaira.toml")).expect("a profile");
    here.hook("claude", &ended, &[]);
    assert_eq!(drafts(&here)[0]["files"], json!(["work.rs"]));
}
