//! Reports as they come in, and as they are listed and shown.

use heyaira::domain::run::Outcome;
use heyaira::error::Code;
use serde_json::json;

use super::{deliver, record, report, run_id, task_with_run};
use crate::house::{House, rows, text};

#[test]
fn a_report_comes_in_once_and_another_one_of_its_run_never() {
    let house = House::new();
    let task = house.client("maria").create("Import bank statements");
    let first = report(1, Some(&task), Outcome::Succeeded);
    let answer = deliver(&house, &first);
    assert_eq!((&answer["existing"], &answer["recorded"]), (&json!(false), &json!(false)), "{answer}");
    assert_eq!(answer["next"], "heyaira run record 00000001 --expected-version 1");
    assert_eq!(deliver(&house, &first)["existing"], true);
    let mut other = first.clone();
    other.outcome = Outcome::Failed;
    let parts = ["another report of run 00000001", "the first one stays"];
    house.person("tomas").refused("run_report", json!({"report": other}), Code::NotAllowed, &parts);
    let shown = house.person("tomas").ok("run_show", json!({"run": "0000"}));
    assert_eq!(shown["report"], json!(first));
    assert_eq!(house.client("maria").version(&task), 1, "a report changes no task");
}

#[test]
fn a_field_that_is_not_known_is_kept() {
    let house = House::new();
    let mut later = json!(report(1, None, Outcome::Succeeded));
    later["phase_of_the_moon"] = json!({"is": "full"});
    house.person("tomas").ok("run_report", json!({"report": later}));
    assert_eq!(house.person("tomas").ok("run_show", json!({"run": run_id(1)}))["report"], later);
}

#[test]
fn counts_that_are_left_out_or_null_are_not_known() {
    let house = House::new();
    let person = house.person("tomas");
    let names = ["commits_total", "files_changed", "insertions", "deletions", "uncommitted_total"];
    for (number, is_null) in [(1, true), (2, false)] {
        let mut one = json!(report(number, None, Outcome::Succeeded));
        let work = one["work"].as_object_mut().expect("an object");
        for name in names {
            if is_null {
                work[name] = json!(null);
            } else {
                work.shift_remove(name);
            }
        }
        let answer = person.ok("run_report", json!({"report": one}));
        assert!(text(&answer["summary"]).contains("commits not known, uncommitted files not known"), "{answer}");
    }
    let mut wrong = json!(report(3, None, Outcome::Succeeded));
    wrong["work"]["commits_total"] = json!("many");
    let parts = ["report.work.commits_total is no integer"];
    person.refused("run_report", json!({"report": wrong}), Code::InvalidArgument, &parts);
}

#[test]
fn everything_that_is_wrong_with_a_report_is_told_at_once() {
    let house = House::new();
    let mut wrong = json!(report(1, None, Outcome::Succeeded));
    wrong["outcome"] = json!("splendid");
    wrong["exit"] = json!("0");
    wrong["started"] = json!(7);
    wrong["tests"][0]["ms"] = json!("long");
    wrong["work"].as_object_mut().expect("an object").shift_remove("commits");
    let parts = [
        "report.outcome is none of succeeded, no_work",
        "report.exit is no object",
        "report.started is no string",
        "report.tests[0].ms is no integer",
        "report.work.commits is missing",
    ];
    let person = house.person("tomas");
    let told = person.refused("run_report", json!({"report": wrong}), Code::InvalidArgument, &parts);
    assert!(!told.contains("splendid"), "no value is repeated: {told}");
    let mut meant = report(1, None, Outcome::Succeeded);
    meant.run_id = "run-1".to_owned();
    meant.ended = "yesterday".to_owned();
    meant.work.base_commit = String::new();
    let parts = ["run_id is no UUID", "ended is no time", "base_commit is empty"];
    person.refused("run_report", json!({"report": meant}), Code::InvalidArgument, &parts);
    let mut newer = json!(report(1, None, Outcome::Succeeded));
    newer["schema_version"] = json!(2);
    person.refused("run_report", json!({"report": newer}), Code::InvalidArgument, &["schema_version is not 1"]);
    person.refused("run_report", json!({"report": {"a": 1}}), Code::InvalidArgument, &["no report of a run"]);
    assert_eq!(person.ok("run_list", json!({}))["total"], 0);
}

#[test]
fn a_report_of_another_project_or_of_no_known_task_is_refused() {
    let house = House::new();
    let mut elsewhere = report(1, None, Outcome::Succeeded);
    elsewhere.project = "atlas".to_owned();
    let person = house.person("tomas");
    person.refused("run_report", json!({"report": elsewhere}), Code::NotAllowed, &["not of project ledger"]);
    let unknown = report(1, Some("3f2b8a1c-5d6e-4f70-8192-a3b4c5d6e7f8"), Outcome::Succeeded);
    person.refused("run_report", json!({"report": unknown}), Code::NotFound, &["no task"]);
}

/// A token as a provider makes them, put together here.
fn token() -> String {
    let letters = |count: usize| -> String { "K7q2ZxB9mWc4RtY1pLd8".chars().cycle().take(count).collect() };
    format!("github{}_{}_{}", "_pat", letters(22), letters(59))
}

#[test]
fn a_secret_that_a_model_said_is_masked_and_told_nowhere() {
    let house = House::new();
    let (token, task) = (token(), house.client("maria").create("Import bank statements"));
    let mut leaking = report(1, Some(&task), Outcome::Succeeded);
    leaking.said.final_message = Some(format!("I used {token} to push."));
    leaking.work.commits[0].subject = format!("Add {token}");
    leaking.said.errors = vec![format!("401 for {token}")];
    let answer = deliver(&house, &leaking);
    assert_eq!(deliver(&house, &leaking)["existing"], true, "what is masked is the same again");
    let shown = house.person("tomas").ok("run_show", json!({"run": leaking.run_id}));
    let recorded = record(&house.person("tomas"), &leaking, 1);
    let read = house.client("maria").get(&task);
    for told in [&answer, &shown, &recorded, &read] {
        assert!(!told.to_string().contains(&token), "{told}");
    }
    assert!(text(&shown["report"]["said"]["final_message"]).contains("[REDACTED:github-token]"), "{shown}");
    assert!(read.to_string().contains("[REDACTED:github-token]"), "{read}");
}

#[test]
fn a_project_that_warns_of_secrets_masks_them_in_a_report_as_well() {
    let house = House::new();
    house.owner().ok("project_set", json!({"project": "ledger", "rule": ["secrets=off"]}));
    let mut leaking = report(1, None, Outcome::Succeeded);
    leaking.said.final_message = Some(token());
    let answer = deliver(&house, &leaking);
    assert!(answer.get("warnings").is_none(), "{answer}");
    let shown = house.person("tomas").ok("run_show", json!({"run": leaking.run_id}));
    assert!(!shown.to_string().contains(&token()), "{shown}");
}

#[test]
fn lists_show_what_ended_last_first_a_page_at_a_time() {
    let house = House::new();
    let task = house.client("maria").create("Import bank statements");
    for number in 1..=5 {
        let mut one = report(number, (number % 2 == 1).then_some(&*task), Outcome::Succeeded);
        one.ended = format!("2026-11-25T07:3{}:00Z", number / 2);
        deliver(&house, &one);
    }
    let person = house.person("tomas");
    record(&person, &report(3, Some(&task), Outcome::Succeeded), 1);
    let (mut found, mut cursor) = (Vec::new(), None);
    loop {
        let page = person.ok("run_list", json!({"limit": 2, "cursor": cursor}));
        assert_eq!(page["total"], 5);
        found.extend(rows(&page["runs"]).iter().map(|row| text(&row["run"]).to_owned()));
        cursor = page.get("next_cursor").cloned();
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(found, ["00000005", "00000004", "00000003", "00000002", "00000001"]);
    let of = |filter| person.ok("run_list", filter);
    assert_eq!(of(json!({"recorded": true}))["runs"][0]["recorded"], "v2");
    assert_eq!(of(json!({"recorded": false}))["total"], 4);
    assert_eq!(of(json!({"task": &task[..8], "recorded": false}))["total"], 2);
    person.refused("run_show", json!({"run": "000"}), Code::InvalidArgument, &["run", "too short"]);
    person.refused("run_show", json!({"run": "0000"}), Code::AmbiguousId, &["several runs start with 0000"]);
    person.refused("run_show", json!({"run": "abcdef"}), Code::NotFound, &["no report of a run"]);
}

#[test]
fn a_purge_takes_the_runs_with_it_and_redaction_reaches_their_reports() {
    let house = House::new();
    let (_, report) = task_with_run(&house, Outcome::Succeeded);
    let answer = house.owner().ok("redact", json!({"passage": "I parsed it"}));
    assert_eq!(answer["rows"]["run_report"], 1, "{answer}");
    let person = house.person("tomas");
    let shown = person.ok("run_show", json!({"run": report.run_id}));
    assert!(text(&shown["report"]["said"]["final_message"]).starts_with("[REDACTED]. All"), "{shown}");
    assert_eq!(deliver(&house, &report)["existing"], true, "what was taken out does not come back");
    let again = person.ok("run_show", json!({"run": report.run_id}));
    assert_eq!(again, shown);
    // A word of ours stays what it is.
    house.owner().ok("redact", json!({"passage": "succeeded"}));
    record(&person, &report, 1);
    house.owner().ok("project_archive", json!({"project": "ledger"}));
    house.owner().ok("project_purge", json!({"project": "ledger", "confirm": "ledger"}));
    assert_eq!(house.database().texts("select count(*) from run_report")[0][0].as_deref(), Some("0"));
}
