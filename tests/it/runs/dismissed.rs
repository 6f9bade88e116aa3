//! Runs that somebody said nobody is to record.

use heyaira::domain::run::Outcome;
use heyaira::error::Code;
use serde_json::{Value, json};

use super::{deliver, record, report, run_id, task_with_run};
use crate::house::{CLAUDE, House, rows};

fn unrecorded(house: &House) -> Value {
    house.person("tomas").ok("run_list", json!({"recorded": false}))["total"].clone()
}

#[test]
fn a_dismissed_run_is_in_no_list_of_what_is_unrecorded_and_says_who_and_when() {
    let house = House::new();
    let (task, one) = task_with_run(&house, Outcome::NoWork);
    deliver(&house, &report(2, None, Outcome::Failed));
    let person = house.person("tomas");
    let both = json!({"runs": [one.run_id, "00000002", "00000001"]});
    let answer = person.ok("run_dismiss", both.clone());
    let told: Vec<_> = rows(&answer["runs"]).iter().map(|row| (&row["run_id"], &row["existing"])).collect();
    let ids = [json!(run_id(1)), json!(run_id(2))];
    assert_eq!(told, [(&ids[0], &json!(false)), (&ids[1], &json!(false))], "each once: {answer}");
    assert_eq!(unrecorded(&house), 0);
    let maria = house.client("maria");
    assert!(maria.ok("continuity_context", json!({})).get("unrecorded_runs").is_none());
    assert!(maria.ok("continuity_context", json!({"handoff": task})).get("unrecorded_runs").is_none());
    let listed = person.ok("run_list", json!({}));
    assert!(rows(&listed["runs"]).iter().all(|row| row["dismissed"] == true), "{listed}");
    let shown = person.ok("run_show", json!({"run": one.run_id}));
    assert_eq!((&shown["recorded"], &shown["dismissed"]["by"]), (&json!(false), &json!("tomas")), "{shown}");
    // Whoever is second changes nothing.
    let again = house.person("ines").ok("run_dismiss", both);
    assert!(rows(&again["runs"]).iter().all(|row| row["existing"] == true && row["dismissed"]["by"] == "tomas"));
    assert_eq!(person.ok("run_show", json!({"run": one.run_id}))["dismissed"], shown["dismissed"]);
    assert_eq!(maria.version(&task), 1, "it changes no task");
}

#[test]
fn recording_takes_a_dismissal_away_and_what_is_recorded_cannot_be_dismissed() {
    let house = House::new();
    let (task, one) = task_with_run(&house, Outcome::Succeeded);
    deliver(&house, &report(2, Some(&task), Outcome::Succeeded));
    let person = house.person("tomas");
    person.ok("run_dismiss", json!({"runs": [run_id(1), run_id(2)]}));
    assert_eq!(record(&person, &one, 1)["existing"], false);
    let receipt = json!({"work_receipt": {"session_ref": format!("run:{}", run_id(2))}});
    house.session("maria", CLAUDE).update(&task, 2, receipt);
    for number in [1, 2] {
        let shown = person.ok("run_show", json!({"run": run_id(number)}));
        assert!(shown["recorded"].is_object() && shown.get("dismissed").is_none(), "{shown}");
    }
    let left = "select count(*) from run_report where dismissed_at is not null or dismissed_by is not null";
    assert_eq!(house.database().texts(left)[0][0].as_deref(), Some("0"));
    let answer = person.ok("run_dismiss", json!({"runs": [run_id(1)]}));
    let row = &answer["runs"][0];
    assert_eq!((&row["recorded"]["version"], row.get("dismissed")), (&json!(2), None), "{answer}");
    assert_eq!(person.ok("run_list", json!({"recorded": true}))["total"], 2);
}

#[test]
fn none_of_several_is_dismissed_where_one_is_not_there() {
    let house = House::new();
    task_with_run(&house, Outcome::Succeeded);
    let person = house.person("tomas");
    let parts = ["no report of a run \"ffffffff\"", "no report of a run \"eeeeeeee\""];
    let named = json!({"runs": ["00000001", "ffffffff", "eeeeeeee"]});
    person.refused("run_dismiss", named, Code::NotFound, &parts);
    assert_eq!(unrecorded(&house), 1);
    person.refused("run_dismiss", json!({"runs": ["0000"]}), Code::InvalidArgument, &["part of an id"]);
    person.refused("run_dismiss", json!({"runs": []}), Code::InvalidArgument, &["runs names none"]);
}
