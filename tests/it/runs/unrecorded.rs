//! Runs that nobody recorded yet, where somebody starts to work.

use heyaira::domain::run::Outcome;
use serde_json::json;

use super::{deliver, report, run_id};
use crate::house::{House, rows, short};

#[test]
fn the_project_at_a_glance_shows_them_and_is_silent_without_any() {
    let house = House::new();
    let maria = house.client("maria");
    assert!(maria.ok("continuity_context", json!({})).get("unrecorded_runs").is_none());
    let task = maria.create("Import bank statements");
    for number in 1..=7 {
        let mut one = report(number, Some(&task), Outcome::TestsFailed);
        one.ended = format!("2026-11-25T07:{}0:00Z", number % 6);
        deliver(&house, &one);
    }
    let told = maria.ok("continuity_context", json!({}));
    let runs = &told["unrecorded_runs"];
    assert_eq!(runs["count"], 7, "{told}");
    let shown = rows(&runs["rows"]);
    assert!((1..=5).contains(&shown.len()), "{runs}");
    assert_eq!(
        (&shown[0]["run"], &shown[0]["task"], &shown[0]["outcome"], &shown[0]["age"]),
        (&json!("00000005"), &json!(short(&task)), &json!("tests_failed"), &json!("10m")),
        "{runs}"
    );
    assert_eq!(runs["rest"], "heyaira run list --recorded=false");
}

#[test]
fn the_packet_of_a_task_shows_its_own() {
    let house = House::new();
    let maria = house.client("maria");
    let tasks = ["one", "two"].map(|title| maria.create(title));
    deliver(&house, &report(1, Some(&tasks[0]), Outcome::Silent));
    deliver(&house, &report(2, None, Outcome::Silent));
    let packet = |task: &str| maria.ok("continuity_context", json!({"handoff": task}));
    let runs = &packet(&tasks[0])["unrecorded_runs"];
    assert_eq!((&runs["count"], &runs["rows"][0]["run"]), (&json!(1), &json!(short(&run_id(1)))), "{runs}");
    assert!(runs["rows"][0].get("task").is_none() && runs.get("rest").is_none(), "{runs}");
    assert!(packet(&tasks[1]).get("unrecorded_runs").is_none());
}

#[test]
fn how_many_problems_there_are_is_told_where_there_are_any() {
    let house = House::new();
    let maria = house.client("maria");
    let task = maria.create("Import bank statements");
    let mut one = report(1, Some(&task), Outcome::Succeeded);
    one.problems = vec!["History was rewritten: the base is no ancestor of the result.".to_owned(); 2];
    deliver(&house, &one);
    deliver(&house, &report(2, Some(&task), Outcome::Succeeded));
    let counts = |told: &serde_json::Value| {
        let rows = rows(told).iter().map(|row| (row["run"].clone(), row.get("problems").cloned()));
        let mut rows: Vec<_> = rows.collect();
        rows.sort_by_key(|(run, _)| run.to_string());
        rows
    };
    let wanted = vec![(json!("00000001"), Some(json!(2))), (json!("00000002"), None)];
    assert_eq!(counts(&maria.ok("continuity_context", json!({}))["unrecorded_runs"]["rows"]), wanted);
    assert_eq!(counts(&maria.ok("continuity_context", json!({"handoff": task}))["unrecorded_runs"]["rows"]), wanted);
    let person = house.person("tomas");
    assert_eq!(counts(&person.ok("run_list", json!({}))["runs"]), wanted);
    assert_eq!(person.ok("run_show", json!({"run": run_id(1)}))["problems"], 2);
}

#[test]
fn what_to_do_has_the_version_and_of_one_run_is_its_own_call() {
    let house = House::new();
    let maria = house.client("maria");
    let task = maria.create("Import bank statements");
    maria.update(&task, 1, json!({"summary": "at two"}));
    let next = |handoff: Option<&str>| {
        let given = handoff.map_or_else(|| json!({}), |task| json!({"handoff": task}));
        maria.ok("continuity_context", given)["unrecorded_runs"]["next"].clone()
    };
    let of = |call: &str, run: &str| json!(format!("{call}, or task_update with work_receipt.session_ref run:{run}"));
    deliver(&house, &report(1, Some(&task), Outcome::Silent));
    let own = of("heyaira run record 00000001 --expected-version 2", "00000001");
    assert_eq!((next(None), next(Some(&task))), (own.clone(), own));
    deliver(&house, &report(2, Some(&task), Outcome::Silent));
    assert_eq!(next(None), of("heyaira run record RUN --expected-version N", "RUN"));
    assert_eq!(next(Some(&task)), of("heyaira run record RUN --expected-version 2", "RUN"));
    maria.update(&task, 2, json!({"status": "cancelled"}));
    assert_eq!(next(Some(&task)), of("heyaira run record RUN --expected-version 3 --receipt-only", "RUN"));
}
