//! What whoever started runs does with them: sees them, records them, and cleans up.

use serde_json::{Value, json};

use super::{Yard, processes_of, wait_until};
use crate::program::Answer;

/// The command line in the repository, with this place's runs.
fn cli(yard: &Yard, words: &[&str]) -> Answer {
    let mut command = yard.place.command();
    yard.dress(&mut command);
    command.args(words).output().expect("the program runs").into()
}

fn ask(yard: &Yard, words: &[&str]) -> Value {
    let answer = cli(yard, &[words, &["--json"]].concat());
    assert_eq!(answer.code, 0, "{words:?}: {answer:?}");
    answer.json()
}

fn short(id: &Value) -> String {
    id.as_str().expect("an id")[..8].to_owned()
}

fn worktrees(yard: &Yard) -> usize {
    yard.git(&["worktree", "list", "--porcelain"]).lines().filter(|line| line.starts_with("worktree ")).count()
}

const WORK: &str = "echo $HEYAIRA_RUN >work.txt; git add work.txt; git commit --quiet -m Work";

#[test]
fn a_report_is_unrecorded_until_it_is_on_its_task() {
    let yard = Yard::new();
    yard.git(&["remote", "add", "origin", "https://ada:word@example.org/acme/ledger.git"]);
    let task = yard.place.task("Import statements");
    let (report, code) = yard.shell(&["--task", &task, "--test", "echo 'Tests: 2 passed, 2 total'"], WORK);
    assert_eq!((code, &report["outcome"], &report["task_version"]), (0, &json!("succeeded"), &json!(1)));
    assert_eq!(report["work"]["remote"], "https://example.org/acme/ledger.git");
    let run = short(&report["run_id"]);

    let context = ask(&yard, &["context"]);
    assert_eq!(context["unrecorded_runs"]["rows"][0]["run"], run.as_str(), "{context}");
    assert_eq!(ask(&yard, &["task", "get", &task])["version"], 1, "the run wrote nothing to it");

    let refused = cli(&yard, &["run", "record", &run, "--expected-version", "9", "--json"]);
    assert_eq!(refused.code, 4, "{refused:?}");
    let recorded = ask(&yard, &["run", "record", &run, "--expected-version", "1"]);
    assert_eq!((&recorded["version"], &recorded["existing"]), (&json!(2), &json!(false)));
    let again = ask(&yard, &["run", "record", &run, "--expected-version", "1"]);
    assert_eq!((&again["version"], &again["existing"]), (&json!(2), &json!(true)));

    assert!(ask(&yard, &["context"])["unrecorded_runs"].is_null());
    let packet = ask(&yard, &["resume", recorded["line"].as_str().expect("a line")]);
    let packet = packet.get("context").unwrap_or(&packet).clone();
    let receipt = packet.to_string();
    assert!(receipt.contains(report["work"]["result_commit"].as_str().expect("a commit")), "{packet}");
    assert!(receipt.contains("2 passed"), "{packet}");
    assert_eq!(ask(&yard, &["handoff", "check", &task])["grade"], "ready");
}

#[test]
fn a_receipt_of_the_coordinator_with_the_runs_session_records_it() {
    let yard = Yard::new();
    let task = yard.place.task("Import statements");
    let (report, _) = yard.shell(&["--task", &task], WORK);
    let session = format!("run:{}", report["run_id"].as_str().expect("an id"));
    let update =
        ["task", "update", &task, "--expected-version", "1", "--summary", "Looked through.", "--receipt-session-ref"];
    ask(&yard, &[&update[..], &[&session]].concat());
    let shown = ask(&yard, &["run", "show", &short(&report["run_id"])]);
    assert_eq!(shown["recorded"]["version"], 2, "{shown}");
}

#[test]
fn a_report_waits_for_a_database_that_cannot_be_reached() {
    let yard = Yard::new();
    let away = yard.place.folder.path().join("away").join("none.db");
    let mut command =
        yard.command(&["start", "--json", "--detach", "--", "sh", "-c", "until test -e $TOLD/go; do sleep 0.02; done"]);
    let told = Answer::from(command.output().expect("the program runs")).json();
    let id = told["run_id"].as_str().expect("an id").to_owned();
    let folder = std::path::PathBuf::from(told["folder"].as_str().expect("a folder"));
    let listed = ask(&yard, &["run", "list"]);
    assert_eq!((&listed["working"][0]["run"], &listed["total"]), (&json!(id[..8]), &json!(0)), "{listed}");
    // As if the database had not been there when the run ended.
    let report = |progress: &mut Value| progress["is_delivered"] = json!(false);
    std::fs::write(yard.told().join("go"), "").expect("a file");
    wait_until("delivery", || {
        super::json_of(&folder.join("progress.json")).is_some_and(|found| found["is_delivered"] == true)
    });
    let mut progress = super::json_of(&folder.join("progress.json")).expect("progress");
    report(&mut progress);
    std::fs::write(folder.join("progress.json"), progress.to_string()).expect("a file");
    let nowhere = yard.command(&["list"]).env("HEYAIRA_DATABASE", &away).output().expect("the program runs");
    assert!(!nowhere.status.success());
    let listed = ask(&yard, &["run", "list"]);
    assert_eq!(
        (listed["total"].clone(), listed["runs"][0]["run"].clone()),
        (json!(1), json!(id[..8])),
        "once: {listed}"
    );
    assert!(super::json_of(&folder.join("progress.json")).is_some_and(|found| found["is_delivered"] == true));
}

#[test]
fn runs_that_work_have_a_heading_of_their_own() {
    let yard = Yard::new();
    let (over, _) = yard.shell(&[], WORK);
    let blocked = ["start", "--json", "--detach", "--", "sh", "-c", "until test -e $TOLD/go; do sleep 0.02; done"];
    let working = yard.run(&blocked).json();
    let listed = yard.run(&["list"]).out;
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!((lines[0], lines[2], lines[lines.len() - 1]), ("working:", "runs:", "showing 1 of 1"), "{listed}");
    assert!(lines[1].starts_with(&format!("run: {}  phase: ", short(&working["run_id"]))), "{listed}");
    assert!(lines[3].starts_with(&format!("run: {}  ", short(&over["run_id"]))), "{listed}");
    std::fs::write(yard.told().join("go"), "").expect("a file");
    // With one list there is nothing to be told apart.
    wait_until("its end", || yard.run(&["list"]).out.ends_with("showing 2 of 2\n"));
    assert!(yard.run(&["list"]).out.starts_with("run: "));
}

#[test]
fn cleaning_takes_nothing_that_is_nowhere_else() {
    let yard = Yard::new();
    let task = yard.place.task("Import statements");
    let (unrecorded, _) = yard.shell(&["--task", &task], WORK);
    let (untidy, _) = yard.shell(&["--task", &task], "echo x >left.txt");
    let (astray, _) =
        yard.shell(&["--task", &task], "git checkout --quiet --detach; git commit --quiet --allow-empty -m Astray");
    let going = yard.detached(&[], "sleep 60");
    let ids = [&unrecorded, &untidy, &astray].map(|report| short(&report["run_id"]));
    let named: Vec<&str> = ids.iter().map(String::as_str).chain([&going.id[..8]]).collect();
    let refused = cli(&yard, &[&["run", "clean"], &named[..]].concat());
    assert_eq!(refused.code, 2, "{refused:?}");
    for part in [
        format!("the report of run {} is not recorded", ids[0]),
        format!("run {} left files in", ids[1]),
        "(\"left.txt\")".to_owned(),
        format!("run {} left 1 commits in", ids[2]),
        format!("run {} is not over", &going.id[..8]),
    ] {
        assert!(refused.err.contains(&part), "{part}\n{}", refused.err);
    }
    assert_eq!((worktrees(&yard), yard.runs().len()), (5, 4), "nothing was taken away");

    ask(&yard, &["run", "record", &ids[0], "--expected-version", "1"]);
    let cleaned = ask(&yard, &["run", "clean", &ids[0]]);
    let branch = format!("heyaira/run-{}", ids[0]);
    assert_eq!(cleaned["cleaned"][0]["branch_kept"], branch, "{cleaned}");
    let why = format!(
        "it has 1 commit that is nowhere else: git merge {branch}, or git branch -D {branch} to lose what it holds"
    );
    assert_eq!(cleaned["cleaned"][0]["branch_kept_because"], why, "{cleaned}");
    let all = ask(&yard, &["run", "clean", "--all", "--force"]);
    assert_eq!(all["cleaned"].as_array().map(Vec::len), Some(2), "{all}");
    assert!(all["kept"][0].as_str().is_some_and(|kept| kept.contains("is not over")), "{all}");
    assert_eq!(ask(&yard, &["run", "stop", &going.id])["runs"][0]["outcome"], "interrupted");
    ask(&yard, &["run", "clean", "--all", "--force"]);
    assert_eq!((worktrees(&yard), yard.runs().len()), (1, 0));
    let branches = yard.git(&["branch", "--format=%(refname:short)"]);
    assert_eq!(branches.lines().collect::<Vec<_>>(), [format!("heyaira/run-{}", ids[0]).as_str(), "main"]);
    assert_eq!(ask(&yard, &["run", "list"])["total"], 4, "the database keeps the reports");
}

#[test]
fn cleaning_says_why_something_stays_and_what_cannot_be_taken_away_keeps_nothing_else() {
    let yard = Yard::new();
    let beside = yard.place.folder.path().join("beside");
    let named = beside.to_str().expect("UTF-8");
    yard.git(&["worktree", "add", "--quiet", "-b", "beside", named]);
    let (there, _) = yard.shell(&["--branch", "beside", "--worktree", named], WORK);
    let (merged, _) = yard.shell(&[], WORK);
    yard.git(&["merge", "--quiet", merged["work"]["branch"].as_str().expect("a branch")]);
    let (broken, _) = yard.shell(&[], "true");
    // Nothing can be asked of a folder that is no repository.
    let plan = yard.state().join("runs").join(broken["run_id"].as_str().expect("an id")).join("run.json");
    let mut planned = super::json_of(&plan).expect("a plan");
    planned["git_folder"] = json!(yard.told());
    std::fs::write(&plan, planned.to_string()).expect("a file");
    let refused = cli(&yard, &["run", "clean", "--all", "--force", "--json"]);
    assert_ne!(refused.code, 0, "{refused:?}");
    let told = refused.json()["error"]["details"].clone();
    let problems = told["problems"].to_string();
    assert!(problems.contains(&short(&broken["run_id"])) && problems.contains("cannot be taken away"), "{told}");
    let rows = told["cleaned"].as_array().expect("rows");
    let row = |report: &Value| rows.iter().find(|row| row["run"] == short(&report["run_id"])).expect("a row");
    assert_eq!(row(&there)["branch_kept_because"], "it was there before the run");
    let why = row(&there)["worktree_kept_because"].as_str().expect("why");
    assert!(why.starts_with("it was there before the run: git worktree remove "), "{why}");
    let why = row(&merged)["branch_kept_because"].as_str().expect("why");
    assert!(why.starts_with("it has commits, which are elsewhere too: git branch -D "), "{why}");
}

#[test]
fn after_ten_runs_at_once_nothing_is_left_behind() {
    let yard = Yard::new();
    let lines = "mkdir $TOLD/$HEYAIRA_RUN; until test \"$(ls $TOLD | wc -l)\" -ge 10; do sleep 0.05; done; (setsid sleep 300 &)";
    let runs: Vec<_> = (0..10).map(|_| yard.detached(&["--max", "10"], lines)).collect();
    for run in &runs {
        assert_eq!(run.ended()["outcome"], "no_work");
    }
    wait_until("all are over", || runs.iter().all(|run| run.progress()["is_delivered"] == true));
    let cleaned = ask(&yard, &["run", "clean", "--all", "--force"]);
    assert_eq!(cleaned["cleaned"].as_array().map(Vec::len), Some(10), "{cleaned}");
    assert_eq!((worktrees(&yard), yard.runs().len()), (1, 0));
    assert_eq!(yard.git(&["branch", "--format=%(refname:short)"]).trim(), "main");
    let locks = std::process::Command::new("find").arg(yard.repository.join(".git")).args(["-name", "*.lock"]).output();
    assert_eq!(String::from_utf8(locks.expect("find runs").stdout).expect("text"), "");
    assert!(!yard.repository.join(".git").join("worktrees").exists());
    for run in &runs {
        assert_eq!(processes_of(&run.id), [0; 0]);
    }
}

#[test]
fn a_harness_that_takes_its_runs_folder_away_loses_no_report() {
    let yard = Yard::new();
    let folder = "\"$(dirname $HEYAIRA_RUN_BRIEF)\"";
    for spoiled in [
        format!("mkdir -p {folder}/run-report.json/x"),
        format!("rm {folder}/run.json"),
        format!("cp -r . $TOLD/copy; cd /; rm -rf {folder}"),
    ] {
        let (report, _) = yard.shell(&[], &format!("git commit --quiet --allow-empty -m Work; {spoiled}"));
        assert_eq!(report["outcome"], "succeeded", "{spoiled}: {report}");
        let run = short(&report["run_id"]);
        assert_eq!(ask(&yard, &["run", "show", &run])["outcome"], "succeeded", "{spoiled}");
        assert_eq!(ask(&yard, &["run", "clean", &run, "--force"])["cleaned"][0]["run"], run.as_str(), "{spoiled}");
    }
    assert_eq!(worktrees(&yard), 1);
}
