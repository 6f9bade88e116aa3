//! Programs of several versions on one database: whose schema serves whom, and who sets it up.

use std::thread;

use heyaira::domain::run::Outcome;
use heyaira::error::Code;
use heyaira::store::backend::work;
use heyaira::store::migration::CURRENT;
use serde_json::json;

use crate::database::TestDatabase;
use crate::house::House;

/// The number of the step after those that this program knows.
const LATER: i64 = CURRENT + 1;

/// What a later version of the program would leave: a step of the schema, which serves the programs from that number on.
fn upgraded(house: &House, serves_from: i64) {
    let step = format!(
        "alter table task add column shade bigint not null default 0; \
         insert into migration (number, digest, serves_from) values ({LATER}, 'later', {serves_from})"
    );
    house.database().damage(&step);
}

#[test]
fn a_step_that_only_adds_goes_on_serving_this_program() {
    let house = House::new();
    let before = house.client("maria").create("before the upgrade");
    upgraded(&house, 1);
    house.client("maria").update(&before, 1, json!({"summary": "beside the newer one"}));
    let house = house.restarted();
    let client = house.client("maria");
    client.update(&before, 2, json!({"summary": "after a restart"}));
    assert_eq!(client.version(&client.create("after a restart")), 1);
    assert_eq!(client.version(&before), 3);
}

#[test]
fn a_step_that_breaks_is_refused_by_programs_that_run_and_by_those_that_start() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("before the upgrade");
    upgraded(&house, LATER);
    let told = format!("serves programs from schema {LATER} on, this one knows up to {CURRENT}");
    let parts = [told.as_str(), "newer heyaira"];
    client.update_refused(&task, 1, json!({"summary": "too late"}), Code::Unavailable, &parts);
    client.refused("task_get", json!({"task_id": task}), Code::Unavailable, &parts);
    let refusal = house.database().opened().err().expect("it is too new");
    assert_eq!(refusal.code, Code::Unavailable);
    assert!(refusal.message.contains(parts[0]), "{refusal}");
}

/// What takes each step of the schema behind the first one back.
const UNDONE: [&str; 6] = [
    "drop table verification",
    "drop table backup",
    "drop table task_grade; alter table project drop column rules",
    "drop table run_report",
    "alter table run_report drop column problems",
    "drop index run_unrecorded; drop index run_unrecorded_by_task; alter table run_report drop column dismissed_at; \
     alter table run_report drop column dismissed_by",
];

#[test]
fn a_database_of_the_first_schema_is_brought_up_to_date() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("before the upgrade");
    client.hand_off(&task, 1, "codex:s-1");
    let before = client.get(&task);
    for step in UNDONE.iter().rev() {
        house.database().damage(step);
    }
    house.database().damage("delete from migration where number > 1");
    let house = house.restarted();
    assert_eq!(house.client("maria").get(&task), before);
    assert_eq!(i64::try_from(UNDONE.len()), Ok(CURRENT - 1), "a step is missing here");
    let sql = "select max(number), max(serves_from) from migration";
    assert_eq!(house.database().texts(sql)[0][0], Some(CURRENT.to_string()));
}

/// A program of the first schema deletes the tasks of a project that is purged, and knows no verifications.
#[test]
fn a_purge_by_an_older_program_leaves_no_verification() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("verified");
    client.hand_off(&task, 1, "codex:s-1");
    let count = || house.database().texts("select count(*) from verification")[0][0].clone();
    house.write(work(|transaction| {
        Box::pin(async move {
            let sql = "insert into verification \
                (task_id, receipt_version, at, caller, connection, verdict, differences, facts) \
                select task_id, version, at, 'maria', 'c', 'verified', '[]', '{}' from receipt";
            transaction.execute(sql, &[]).await
        })
    }));
    assert_eq!(count(), Some("1".to_owned()));
    house.write(work(|transaction| {
        Box::pin(async move { transaction.execute("delete from task where project_id = 1", &[]).await })
    }));
    assert_eq!(count(), Some("0".to_owned()));
}

/// A program of the fourth schema purges a project, and knows no runs.
#[test]
fn a_purge_by_an_older_program_leaves_no_run() {
    let house = House::new();
    let task = house.client("maria").create("worked on");
    for (number, task) in [(1, Some(&*task)), (2, None)] {
        crate::runs::deliver(&house, &crate::runs::report(number, task, Outcome::Succeeded));
    }
    let count = || house.database().texts("select count(*) from run_report")[0][0].clone();
    assert_eq!(count(), Some("2".to_owned()));
    let older = ["task_version", "task_session", "task_count", "idempotency", "token", "task", "project"];
    house.write(work(move |transaction| {
        Box::pin(async move {
            for table in older {
                transaction.execute(&format!("delete from {table} where project_id = 1"), &[]).await?;
            }
            Ok(())
        })
    }));
    assert_eq!(count(), Some("0".to_owned()));
}

#[test]
fn a_migration_that_was_edited_is_refused() {
    let house = House::new();
    house.database().damage("update migration set digest = 'edited' where number = 1");
    let refusal = house.database().opened().err().expect("it is not what this program knows");
    assert!(refusal.message.contains("migration 1 of this database is not the one"), "{refusal}");
}

#[test]
fn many_who_set_up_one_database_at_once_set_it_up_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = TestDatabase::empty(folder.path().join("heyaira.db"));
    thread::scope(|scope| {
        let all: Vec<_> = (0..6).map(|_| scope.spawn(|| database.opened().map(drop))).collect();
        for one in all {
            one.join().expect("no panic").expect("every one opens");
        }
    });
}
