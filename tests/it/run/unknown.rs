//! What could not be found out of a run, as whoever comes next reads it: never as nothing.

use serde_json::{Value, json};

use super::Yard;
use crate::program::Answer;

fn ask(yard: &Yard, words: &[&str]) -> Value {
    let mut command = yard.place.command();
    yard.dress(&mut command);
    let answer: Answer = command.args(words).arg("--json").output().expect("the program runs").into();
    assert_eq!(answer.code, 0, "{words:?}: {answer:?}");
    answer.json()
}

fn short(report: &Value) -> &str {
    &report["run_id"].as_str().expect("an id")[..8]
}

/// A run that was recorded on a task: its report, and the task as the next session resumes it.
fn recorded(yard: &Yard, lines: &str) -> (Value, Value) {
    let task = yard.place.task("Import statements");
    let (report, _) = yard.shell(&["--task", &task], lines);
    let line = ask(yard, &["run", "record", short(&report), "--expected-version", "1"])["line"].clone();
    let resumed = ask(yard, &["resume", line.as_str().expect("a line")]);
    let packet = resumed.get("context").cloned().unwrap_or(resumed);
    // The path of a repository without a remote is all that there is to name.
    let mut command = yard.place.command();
    yard.dress(&mut command);
    let check = command.args(["handoff", "check", &task, "--json"]).output().expect("the program runs");
    let findings = Answer::from(check).json()["findings"].clone();
    let rules: Vec<&Value> = findings.as_array().into_iter().flatten().map(|finding| &finding["rule"]).collect();
    assert_eq!(rules, [&json!("repository-named")], "{findings}");
    (report, packet)
}

fn text<'t>(packet: &'t Value, name: &str) -> &'t str {
    packet[name].as_str().unwrap_or_else(|| panic!("{name} is no text: {packet}"))
}

/// The first of the next steps, typed into a shell somewhere else.
fn first_step(yard: &Yard, packet: &Value) -> String {
    let first = text(packet, "handoff_next").lines().next().expect("a step");
    let mut command = std::process::Command::new("sh");
    yard.dress(&mut command);
    let path = std::env::join_paths(
        std::path::Path::new(crate::program::HEYAIRA)
            .parent()
            .map(std::path::Path::to_owned)
            .into_iter()
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    command.env("PATH", path.expect("folders")).args(["-c", first]).current_dir("/");
    let output = command.output().expect("a shell");
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

const COMMIT: &str = "echo n >n; git add n; git commit --quiet -m n";

#[test]
fn commits_of_a_worktree_that_git_does_not_open_are_not_all_there_is() {
    let yard = Yard::new();
    let lines =
        format!("{COMMIT}; echo more >dirty; echo m >>n; rm -r \"$(git rev-parse --git-common-dir)\"/worktrees");
    let (report, packet) = recorded(&yard, &lines);
    assert_eq!((&report["outcome"], &report["work"]["commits_total"]), (&json!("succeeded"), &json!(1)), "{report}");
    assert!(report["work"].get("uncommitted_total").is_none(), "{report}");
    assert!(text(&packet, "summary").contains("uncommitted files not known"), "{packet}");
    assert!(text(&packet, "summary").contains("1 problem."), "{packet}");
    let next = text(&packet, "handoff_next");
    assert!(!next.contains("left no work") && !next.contains("Review it, then merge it"), "{next}");
    let (problem, merge) = (next.find("git does not open the worktree"), next.find("merge"));
    assert!(problem.is_some() && problem < merge, "the problem stands before the advice: {next}");
    let completed = text(&packet, "handoff_completed");
    assert!(completed.contains("Not committed: not known") && completed.contains("git does not open"), "{completed}");
    let branch = format!("heyaira/run-{}", short(&report));
    assert!(packet.to_string().contains(&branch), "{packet}");
    let found = first_step(&yard, &packet);
    assert_eq!(found.lines().collect::<Vec<_>>(), ["? dirty", "C n"], "{next}");
}

#[test]
fn a_repository_that_is_gone_is_no_run_without_work() {
    let yard = Yard::new();
    let before = yard.git(&["rev-parse", "HEAD"]);
    let (report, packet) = recorded(&yard, &format!("{COMMIT}; rm -r \"$(git rev-parse --git-common-dir)\""));
    assert_eq!(report["outcome"], "failed", "{report}");
    assert!(report["reason"].as_str().is_some_and(|reason| reason.contains("could not say")), "{report}");
    for name in ["commits_total", "uncommitted_total", "insertions", "files_changed", "result_commit"] {
        assert!(report["work"].get(name).is_none(), "{name}: {report}");
    }
    assert!(text(&packet, "summary").contains("commits not known, uncommitted files not known"), "{packet}");
    let next = text(&packet, "handoff_next");
    assert!(!next.contains("left no work") && !next.contains("merge"), "{next}");
    assert!(next.contains("Whether the run left work is not known"), "{next}");
    assert!(!packet.to_string().contains("nothing changed"), "{packet}");
    let found = first_step(&yard, &packet);
    assert!(found.contains(" n\n") && found.contains("not a git repository"), "{found}");
    assert_eq!(report["work"]["base_commit"], before.trim());
    let mut told = yard.command(&["list"]);
    let told: Answer = told.output().expect("the program runs").into();
    assert!(told.out.contains("problems"), "{told:?}");
}

/// A run by a user who may not read everything, also where the tests run as one who may.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_git_cannot_look_into_is_not_empty() {
    let yard = Yard::new();
    let less = "-dac_override,-dac_read_search";
    let words = ["--bounding-set", less, "--inh-caps", less];
    let can = |words: &[&str]| {
        std::process::Command::new("setpriv").args(words).arg("true").status().is_ok_and(|status| status.success())
    };
    let is_root = rustix::process::getuid().is_root();
    if is_root && !can(&words) {
        println!("not tested: this user may read everything, and setpriv cannot change that");
        return;
    }
    let mut command = if is_root {
        let mut command = std::process::Command::new("setpriv");
        command.args(words).arg(crate::program::HEYAIRA);
        command
    } else {
        std::process::Command::new(crate::program::HEYAIRA)
    };
    yard.dress(&mut command);
    command.args(["run", "start", "--json", "--test", "true", "--", "sh", "-c"]);
    command.arg("mkdir hidden; echo x >hidden/file; chmod 000 hidden");
    let report = Answer::from(command.output().expect("the program runs")).json();
    let hidden = std::path::Path::new(report["work"]["worktree"].as_str().expect("a path")).join("hidden");
    std::fs::set_permissions(hidden, std::os::unix::fs::PermissionsExt::from_mode(0o700)).expect("a right");
    assert_eq!((&report["outcome"], report["work"].get("uncommitted_total")), (&json!("failed"), None), "{report}");
    let problems = report["problems"].to_string();
    assert!(problems.contains("could not open 'hidden/'"), "{report}");
    assert!(!problems.contains("not run"), "{report}");
    assert_eq!(
        (&report["tests"][0]["command"], &report["tests"][0]["not_run"]),
        (&json!("true"), &json!(true)),
        "{report}"
    );
}

#[test]
fn what_changed_beside_the_branch_stands_in_the_handoff() {
    let yard = Yard::new();
    let repository = yard.repository.display().to_string();
    let lines = format!(
        "git -C {repository} commit --quiet --allow-empty -m Sneaky; git config core.hooksPath x; \
         git branch one; git tag two; {COMMIT}"
    );
    let (report, packet) = recorded(&yard, &lines);
    assert_eq!(report["outcome"], "succeeded", "{report}");
    let next = text(&packet, "handoff_next");
    for part in ["branch main moved (", "branch one appeared (", "tag two appeared (", "core.hooksPath", "has main at"]
    {
        let part = if part == "core.hooksPath" { "core.hookspath" } else { part };
        assert!(next.contains(part), "{part}: {next}");
    }
    assert!(next.contains("Only when that is seen to"), "{next}");
    let shown = ask(&yard, &["run", "show", short(&report)]);
    assert_eq!(shown["problems"], report["problems"].as_array().map_or(0, Vec::len), "{shown}");
}

#[test]
fn runs_beside_each_other_tell_nothing_of_each_other() {
    let yard = Yard::new();
    let lines = "touch $TOLD/$HEYAIRA_RUN; until test \"$(ls $TOLD | wc -l)\" -ge 3; do sleep 0.02; done; \
                 git commit --quiet --allow-empty -m Work";
    yard.git(&["branch", "feat/own"]);
    let runs = [
        yard.detached(&[], lines),
        yard.detached(&["--branch", "feat/new"], lines),
        yard.detached(&["--branch", "feat/own"], lines),
    ];
    for run in &runs {
        let report = run.ended();
        assert_eq!((&report["outcome"], &report["problems"]), (&json!("succeeded"), &json!([])), "{report}");
    }
}

const AGAIN: &str = "The log was taken away or replaced while it was written; it was written again.";

#[test]
fn a_log_or_a_plan_that_was_taken_away_is_told() {
    let yard = Yard::new();
    let folder = "\"$(dirname $HEYAIRA_RUN_BRIEF)\"";
    let rows = [
        (format!("rm {folder}/output.log"), vec![AGAIN]),
        (format!("rm {folder}/output.log; mkdir {folder}/output.log"), vec![AGAIN]),
        (format!(": >{folder}/output.log"), vec!["output.log is not whole: of 6 bytes 0 are there"]),
        (format!("rm {folder}/run.json"), vec!["The run's plan is gone"]),
        (format!("sed -i s/heyaira.run-/x-/ {folder}/run.json"), vec!["The run's plan was changed"]),
        (format!("rm {folder}/* 2>/dev/null || true"), vec![AGAIN, "The run's plan is gone", "could not be found out"]),
    ];
    for (spoil, parts) in rows {
        let (report, code) = yard.shell(&[], &format!("{COMMIT}; echo hello; sleep 0.2; {spoil}"));
        assert_eq!((&report["outcome"], code), (&json!("succeeded"), 0), "{spoil}: {report}");
        let problems = report["problems"].to_string();
        for part in parts {
            assert!(problems.contains(part), "{spoil}: {part}: {problems}");
        }
        let kept = ask(&yard, &["run", "show", short(&report)]);
        assert_eq!(kept["report"]["problems"], report["problems"], "{spoil}");
        let log = report["log"]["path"].as_str().expect("a path");
        let is_emptied = spoil.starts_with(": >");
        assert_eq!(std::fs::read_to_string(log).expect("a log"), if is_emptied { "" } else { "hello\n" }, "{spoil}");
        assert_eq!(yard.run(&["clean", short(&report), "--force"]).code, 0, "{spoil}");
    }
}

#[test]
fn a_test_that_takes_its_log_away_is_told() {
    let yard = Yard::new();
    let test = "rm \"$HEYAIRA_RUNS\"/*/test-1.log";
    let runs = yard.state().join("runs");
    let test = test.replace("\"$HEYAIRA_RUNS\"", runs.to_str().expect("UTF-8"));
    let (report, _) = yard.shell(&["--test", &test], COMMIT);
    assert!(report["problems"].to_string().contains(AGAIN), "{report}");
}
