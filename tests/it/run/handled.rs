//! What is said of runs that have no report yet, or nothing left but a report, and whether the next step works as it is told.

use serde_json::{Value, json};

use super::{Yard, wait_until};
use crate::program::Answer;

fn short(id: &Value) -> String {
    id.as_str().expect("an id")[..8].to_owned()
}

fn told(answer: &Answer) -> (i32, String, String) {
    let error = answer.json()["error"].clone();
    assert!(error.is_object(), "{answer:?}");
    let text = |name: &str| error[name].as_str().expect("text").to_owned();
    (answer.code, text("message"), text("next"))
}

/// `heyaira run …`, which must be done.
fn ask(yard: &Yard, words: &[&str]) -> Value {
    let answer = yard.run(&[words, &["--json"]].concat());
    assert_eq!(answer.code, 0, "{words:?}: {answer:?}");
    answer.json()
}

/// The words of a call of `heyaira run` that somebody is told.
fn words(call: &str) -> Vec<&str> {
    call.strip_prefix("heyaira run ").expect("a call").split(' ').collect()
}

#[test]
fn of_a_run_that_works_it_is_said_that_it_does() {
    let yard = Yard::new();
    let run = yard.detached(&[], "until test -e $TOLD/go; do sleep 0.02; done");
    wait_until("work", || run.progress()["phase"] == "working");
    let name = &run.id[..8];
    let calls: [&[&str]; 3] = [
        &["show", name, "--json"],
        &["record", name, "--expected-version", "1", "--json"],
        &["dismiss", name, "--json"],
    ];
    for call in calls {
        let refused = yard.run(call);
        assert_eq!(refused.json()["error"]["code"], "not_allowed", "{call:?}: {refused:?}");
        let (_, message, next) = told(&refused);
        assert!(message.contains(&format!("run {name} is working, so that there is no report")), "{message}");
        assert!(next.contains(&format!("heyaira run stop {name} ends it")) && next.contains("run list"), "{next}");
    }
    let (_, message, _) = told(&yard.run(&["dismiss", name, "ffffffff", "--json"]));
    assert!(message.contains("\"ffffffff\"") && message.contains(&format!("run {name} is working")), "{message}");
    let unknown = yard.run(&["show", "ffffffff", "--json"]);
    assert_eq!(unknown.json()["error"]["code"], "not_found", "{unknown:?}");
    std::fs::write(yard.told().join("go"), "").expect("a file");
    run.ended();
    assert_eq!(ask(&yard, &["show", name])["outcome"], "no_work");
}

#[test]
fn a_run_that_was_cleaned_is_known_by_its_report() {
    let yard = Yard::new();
    let (first, _) = yard.shell(&[], "true");
    let (second, _) = yard.shell(&[], "true");
    let (first, second) = (short(&first["run_id"]), short(&second["run_id"]));
    ask(&yard, &["clean", &first, "--force"]);
    let stopped = ask(&yard, &["stop", &first]);
    let row = &stopped["runs"][0];
    assert_eq!((&row["outcome"], &row["was_over"]), (&json!("no_work"), &json!(true)), "{stopped}");
    assert_eq!(row["next"], format!("heyaira run show {first} has its report"));
    assert!(row["gone"].as_str().is_some_and(|gone| gone.contains("cleaned already")), "{row}");
    // One that is not known keeps all from being done.
    for word in ["stop", "clean"] {
        let (code, message, _) = told(&yard.run(&[word, &first, &second, "ffffffff", "eeeeeeee", "--json"]));
        assert_eq!(code, 3, "{message}");
        assert!(message.contains("ffffffff") && message.contains("eeeeeeee") && !message.contains(&first), "{message}");
    }
    assert_eq!(yard.runs().len(), 1, "nothing was taken away");
    let cleaned = ask(&yard, &["clean", &first, &second, "--force"]);
    assert_eq!(
        (&cleaned["cleaned"][0]["run"], &cleaned["gone"][0]["run"]),
        (&json!(second), &json!(first)),
        "{cleaned}"
    );
    assert_eq!(cleaned["gone"][0]["next"], format!("heyaira run show {first} has its report"));
}

#[test]
fn what_is_cleaned_unrecorded_is_dismissed_and_can_still_be_recorded() {
    let yard = Yard::new();
    let task = yard.place.task("Import statements");
    let reports: Vec<Value> = (0..3).map(|_| yard.shell(&["--task", &task], "true").0).collect();
    let ids: Vec<String> = reports.iter().map(|report| short(&report["run_id"])).collect();
    ask(&yard, &["record", &ids[2], "--expected-version", "1"]);
    let one = ask(&yard, &["clean", &ids[0], "--force"]);
    assert_eq!(one["cleaned"][0]["dismissed"], true, "{one}");
    let all = ask(&yard, &["clean", "--all", "--force"]);
    let rows = all["cleaned"].as_array().expect("rows");
    for row in rows {
        let is_dismissed = (row["run"] == ids[1].as_str()).then(|| json!(true));
        assert_eq!(row.get("dismissed").cloned(), is_dismissed, "{all}");
    }
    assert_eq!(rows.len(), 2, "{all}");
    assert_eq!(ask(&yard, &["list", "--recorded=false"])["total"], 0);
    let shown = ask(&yard, &["show", &ids[0]]);
    assert!(shown["dismissed"]["by"].is_string() && shown["dismissed"]["at"].is_string(), "{shown}");
    ask(&yard, &words(shown["next"].as_str().expect("a call")));
    assert!(ask(&yard, &["show", &ids[0]]).get("dismissed").is_none());
}

#[test]
fn what_a_refused_cleaning_says_works_as_it_is_told() {
    let yard = Yard::new();
    let tasks = ["one", "two"].map(|title| yard.place.task(title));
    yard.place.ask(&["task", "update", &tasks[1], "--expected-version", "1", "--summary", "At two."]);
    let bare = yard.shell(&[], "true").0;
    let open = yard.shell(&["--task", &tasks[1]], "true").0;
    let closed = yard.shell(&["--task", &tasks[0]], "true").0;
    yard.place.ask(&["task", "update", &tasks[0], "--expected-version", "1", "--status", "cancelled"]);
    let [bare, open, closed] = [bare, open, closed].map(|report| short(&report["run_id"]));
    let refused = yard.run(&["clean", &bare, &open, &closed, "--json"]);
    let problems = refused.json()["error"]["details"]["problems"].clone();
    let call = |name: &str| {
        let problem =
            problems.as_array().expect("problems").iter().filter_map(Value::as_str).find(|one| one.contains(name));
        let problem = problem.unwrap_or_else(|| panic!("{name}: {problems}"));
        let (_, call) = problem.split_once("is not recorded: ").expect("a call");
        call.split(", or ").next().expect("a call").replace("TASK", &tasks[1][..8])
    };
    assert_eq!(call(&bare), format!("heyaira run record {bare} --task-id {} --expected-version N", &tasks[1][..8]));
    ask(&yard, &words(&call(&bare).replace(" N", " 2")));
    assert_eq!(call(&open), format!("heyaira run record {open} --expected-version 2"));
    ask(&yard, &words(&call(&closed)));
    assert_eq!(yard.place.ask(&["task", "get", &tasks[0]])["status"], "cancelled");
    ask(&yard, &["dismiss", &open]);
    assert_eq!(ask(&yard, &["clean", &bare, &open, &closed])["cleaned"].as_array().map(Vec::len), Some(3));
}

#[test]
fn a_start_ends_with_the_next_step() {
    let yard = Yard::new();
    let task = yard.place.task("Import statements");
    let answer = yard.run(&["start", "--task", &task, "--", "true"]);
    let last = answer.out.lines().last().expect("a line").to_owned();
    let listed = ask(&yard, &["list"]);
    let run = listed["runs"][0]["run"].as_str().expect("an id");
    assert_eq!(last, format!("next: heyaira run record {run} --expected-version 1"), "{answer:?}");
    assert_eq!(ask(&yard, &["show", run])["next"], last["next: ".len()..]);
    let (report, _) = yard.shell(&["--task", &task], "true");
    assert!(report.get("next").is_none(), "the report alone: {report}");
    let detached = yard.run(&["start", "--detach", "--json", "--", "true"]).json();
    let wanted = format!("heyaira run list; heyaira run stop {}", short(&detached["run_id"]));
    assert_eq!(detached["next"], wanted, "{detached}");
    let detached = yard.run(&["start", "--detach", "--", "true"]).out;
    assert!(detached.lines().last().is_some_and(|line| line.starts_with("next: heyaira run list; heyaira run stop ")));
}
