//! History: every version can be read in full for ever, and replays to the present.

use heyaira::domain::session::Observed;
use heyaira::error::Code;
use heyaira::store::backend::work;
use heyaira::store::verify;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::house::{CLAUDE, CODEX, Client, House, rows, short, text};

/// What a version says: the fields that history keeps.
fn content(read: &Value) -> Map<String, Value> {
    let kept = [
        "title",
        "status",
        "summary",
        "priority",
        "owner",
        "parent",
        "tags",
        "depends_on",
        "description",
        "completion_criteria",
        "required_reviews",
        "handoff_next",
        "handoff_blockers",
        "handoff_completed",
    ];
    kept.iter().map(|name| ((*name).to_owned(), read[*name].clone())).collect()
}

/// What the stored task's history lacks, in words.
fn problems(house: &House, task: &str) -> Vec<String> {
    let id: uuid::Uuid = task.parse().expect("a UUID");
    house.read(work(move |transaction| {
        Box::pin(async move {
            let tasks = verify::tasks_behind(transaction, uuid::Uuid::nil()).await?;
            let (_, project_id) = *tasks.iter().find(|(one, _)| *one == id).expect("the task is listed");
            verify::task_problems(transaction, project_id, id).await
        })
    }))
}

#[test]
fn every_version_can_be_read_in_full() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create_with("Import bank statements", json!({"description": "first"}));
    let mut seen = vec![client.get(&task)];
    let changes = [
        json!({"description": "second", "tags": ["a"]}),
        json!({"status": "blocked", "handoff_blockers": "CI; ops; a runner."}),
        json!({"status": "done", "result": "r", "handoff_blockers": ""}),
        json!({"status": "todo", "priority": 0}),
    ];
    for (version, change) in (1..).zip(changes) {
        house.pass_minutes(1);
        client.update(&task, version, change);
        seen.push(client.get(&task));
    }
    for (version, then) in (1..).zip(&seen) {
        let read = client.ok("task_get", json!({"task_id": task, "version": version}));
        assert_eq!(content(&read), content(then), "v{version}");
        assert_eq!((&read["version"], &read["current_version"]), (&json!(version), &json!(5)));
    }
    let old = client.ok("task_get", json!({"task_id": task, "version": 2}));
    assert_eq!((&old["written"], &old["written_by"]), (&json!("2026-11-25T08:01:00Z"), &json!("maria")));
}

#[test]
fn versions_that_do_not_exist_are_told() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    for name in ["version", "since_version"] {
        client.refused("task_get", json!({"task_id": task, name: 2}), Code::NotFound, &["is at version 1"]);
        client.refused("task_get", json!({"task_id": task, name: 0}), Code::InvalidArgument, &[name]);
    }
}

#[test]
fn each_version_records_who_from_where_when_and_what() {
    let house = House::new();
    let observed =
        Observed { harness: Some("codex 0.99".to_owned()), model: None, session_ref: Some(CODEX.to_owned()) };
    let (agent, person) = (house.client("maria").observed(observed), house.person("tomas"));
    let task = agent.create("Import bank statements");
    house.pass_minutes(5);
    person.ok("task_update", json!({"task_id": task, "expected_version": 1, "priority": 0}));
    let history = person.ok("task_history", json!({"task_id": task}));
    assert_eq!((&history["total"], &history["shown"]), (&json!(2), &json!(2)));
    let (last, first) = (&history["versions"][0], &history["versions"][1]);
    let connection = text(&first["connection"]);
    assert!(!connection.is_empty() && connection != text(&last["connection"]));
    let expected = json!({
        "v": 1,
        "at": "2026-11-25T08:00:00Z",
        "act": "create",
        "caller": "maria",
        "session_ref": CODEX,
        "harness": "codex 0.99",
        "connection": connection,
        "fields": ["title", "summary", "priority"],
    });
    assert_eq!(first, &expected);
    let expected = json!({
        "v": 2,
        "at": "2026-11-25T08:05:00Z",
        "act": "update",
        "caller": "tomas",
        "session_ref": null,
        "harness": null,
        "connection": last["connection"],
        "fields": ["priority"],
    });
    assert_eq!(last, &expected);
}

#[test]
fn history_is_read_in_pages_back_to_the_first_version() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    for version in 1..30 {
        client.update(&task, version, json!({}));
    }
    let person = house.person("maria");
    let first = person.ok("task_history", json!({"task_id": task}));
    assert_eq!((&first["total"], &first["shown"]), (&json!(30), &json!(20)));
    assert_eq!(first["rest"], format!("heyaira task history {} --before 11", short(&task)));
    let rest = person.ok("task_history", json!({"task_id": task, "before": 11}));
    let versions: Vec<&Value> = rows(&rest["versions"]).iter().map(|row| &row["v"]).collect();
    assert_eq!(versions, [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    assert_eq!(rest.get("rest"), None);
}

#[test]
fn what_changed_since_a_version_shows_both_values() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create_with("t", json!({"required_reviews": "- [ ] Tomas"}));
    client.update(&task, 1, json!({"handoff_completed": "Prepared: the parser."}));
    house.set_time("2026-11-25T09:31:44Z");
    let tomas = house.person("tomas");
    let by_tomas = |version: i64, field: &str, value: Value| {
        tomas.ok("task_update", json!({"task_id": task, "expected_version": version, field: value}));
    };
    by_tomas(2, "required_reviews", json!("- [x] Tomas"));
    by_tomas(3, "priority", json!(1));
    client.update(
        &task,
        4,
        json!({"handoff_completed_append": "Tested: 148 passed.", "work_receipt": {"session_ref": CODEX}}),
    );
    let since = client.ok("task_get", json!({"task_id": task, "since_version": 2}));
    let at = "2026-11-25T09:31:44Z";
    let expected = json!({
        "task_id": task,
        "version": 5,
        "since": 2,
        "changes": [
            {
                "v": 3, "who": "tomas", "session_ref": null, "at": at,
                "fields": {"required_reviews": {"from": "- [ ] Tomas", "to": "- [x] Tomas"}},
            },
            {"v": 4, "who": "tomas", "session_ref": null, "at": at, "fields": {"priority": {"from": 2, "to": 1}}},
            {
                "v": 5, "who": "maria", "session_ref": CODEX, "at": at,
                "fields": {"handoff_completed": {"added": "Tested: 148 passed."}, "receipts": "one more"},
            },
        ],
    });
    assert_eq!(since, expected);
    assert_eq!(client.ok("task_get", json!({"task_id": task, "since_version": 5}))["changes"], json!([]));
}

#[test]
fn many_changes_come_in_parts_with_the_call_for_the_rest() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    for version in 1..60 {
        client.update(&task, version, json!({"handoff_next": format!("{version} {}", "step ".repeat(50))}));
    }
    let (mut since, mut seen) = (1, Vec::new());
    loop {
        let part = client.ok("task_get", json!({"task_id": task, "since_version": since}));
        assert!(part.to_string().len() <= 10_240);
        seen.extend(rows(&part["changes"]).iter().map(|row| row["v"].as_i64().expect("a version")));
        let Some(rest) = part["more"]["rest"].as_str() else { break };
        since = *seen.last().expect("at least one row");
        assert_eq!(rest, format!("task_get task_id={} since_version={since}", short(&task)));
    }
    assert_eq!(seen, (2..=60).collect::<Vec<_>>());
}

#[test]
fn a_revert_writes_an_old_state_as_a_new_version() {
    let house = House::new();
    let (client, person) = (house.client("maria"), house.person("tomas"));
    let task = client.create_with("Import bank statements", json!({"description": "first", "tags": ["a"]}));
    client.update(&task, 1, json!({"description": "second", "tags": [], "priority": 0}));
    client.ok("memory_add", json!({"kind": "decision", "summary": "stays", "task_id": task}));
    client.update(&task, 2, json!({"work_receipt": {"session_ref": CODEX}}));
    let answer = person.ok("task_revert", json!({"task_id": task, "to": 1}));
    assert_eq!((&answer["version"], &answer["reverted_to"]), (&json!(4), &json!(1)));
    let (then, now) = (client.ok("task_get", json!({"task_id": task, "version": 1})), client.get(&task));
    assert_eq!(content(&then), content(&now));
    assert_eq!(client.ok("task_get", json!({"task_id": task, "version": 2}))["description"], "second");
    assert_eq!(
        (&now["receipts"], client.ok("memory_search", json!({"task_id": task}))["total"].clone()),
        (&json!(1), json!(1))
    );
    assert_eq!(person.ok("task_history", json!({"task_id": task}))["versions"][0]["act"], "revert");
    person.refused("task_revert", json!({"task_id": task, "to": 9}), Code::NotFound, &["no version 9", "at 4"]);
    let stale = json!({"task_id": task, "to": 2, "expected_version": 3});
    person.refused("task_revert", stale, Code::VersionConflict, &["is at version 4, you sent 3"]);
    assert_eq!(problems(&house, &task), Vec::<String>::new());
}

#[derive(Clone, Debug)]
enum Step {
    Update(Value),
    TakeOver(&'static str),
    Revert(u64),
    Restart,
}

fn step() -> impl Strategy<Value = Step> {
    let word = "[a-zé🔧\\r\\n\"\\\\ -]{0,12}";
    let texts = ["handoff_next", "handoff_completed", "handoff_completed_append", "description", "required_reviews"];
    let change = prop_oneof![
        (prop::sample::select(texts.to_vec()), word).prop_map(|(field, value)| json!({field: value})),
        prop::sample::select(vec!["todo", "in_progress", "blocked", "done", "cancelled"])
            .prop_map(|status| json!({"status": status})),
        (0_i64..5).prop_map(|priority| json!({"priority": priority})),
        prop::collection::vec("[a-c]", 0..3).prop_map(|tags| json!({"tags": tags})),
        word.prop_map(|owner| json!({"owner": owner})),
        word.prop_map(|blockers| json!({"handoff_blockers": blockers, "status": "blocked"})),
        word.prop_map(|result| json!({"result": result, "status": "done"})),
        word.prop_map(|tests| json!({"work_receipt": {"session_ref": CODEX, "tests": tests}})),
    ];
    prop_oneof![
        8 => change.prop_map(Step::Update),
        2 => prop::sample::select(vec![CODEX, CLAUDE]).prop_map(Step::TakeOver),
        1 => (1_u64..20).prop_map(Step::Revert),
        1 => Just(Step::Restart),
    ]
}

/// Does one step over a fresh connection; true if it was accepted.
fn take(house: &House, task: &str, version: i64, step: &Step) -> bool {
    let client = house.client("maria");
    match step {
        Step::Update(more) => client.call("task_update", Client::update_arguments(task, version, more.clone())).is_ok(),
        Step::TakeOver(session_ref) => {
            let arguments =
                json!({"task_id": task, "expected_version": version, "session_ref": session_ref, "force": true});
            client.call("task_takeover", arguments).is_ok()
        }
        Step::Revert(to) => house.person("tomas").call("task_revert", json!({"task_id": task, "to": to})).is_ok(),
        Step::Restart => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn history_replays_to_the_present(steps in prop::collection::vec(step(), 1..16)) {
        let mut house = House::new();
        let task = house.client("maria").create("Import bank statements");
        let mut seen = vec![content(&house.client("maria").get(&task))];
        for step in &steps {
            if matches!(step, Step::Restart) {
                house = house.restarted();
                continue;
            }
            house.pass_minutes(1);
            let version = i64::try_from(seen.len()).expect("few");
            let accepted = take(&house, &task, version, step);
            let read = house.client("maria").get(&task);
            prop_assert_eq!(&read["version"], &json!(version + i64::from(accepted)));
            if accepted {
                seen.push(content(&read));
            } else {
                prop_assert_eq!(seen.last(), Some(&content(&read)));
            }
        }
        for (version, then) in (1..).zip(&seen) {
            let read = house.client("maria").ok("task_get", json!({"task_id": task, "version": version}));
            prop_assert_eq!(&content(&read), then);
        }
        prop_assert_eq!(problems(&house, &task), Vec::<String>::new());
    }
}
