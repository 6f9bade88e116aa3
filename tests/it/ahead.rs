//! What is asked ahead, together with who may ask it, changes no answer: neither one that is out of date by then nor one
//! of a project that the caller is not in.

use heyaira::error::Code;
use heyaira::store::backend::{Ahead, Statement, work};
use heyaira::store::cell::Cell;
use heyaira::store::project;
use serde_json::json;

use crate::house::{Client, House};

const NAME: &str = "select name from project where slug = ?1";

fn slug() -> Vec<Cell> {
    vec!["ledger".into()]
}

fn number_of(house: &House, slug: &'static str) -> i64 {
    let found = house.read(work(move |transaction| Box::pin(project::identity(transaction, Some(slug)))));
    found.1.expect("the project").project_id
}

#[test]
fn what_was_asked_ahead_is_asked_anew_after_a_write() {
    let house = House::new();
    let names = house.write(work(|transaction| {
        Box::pin(async move {
            let mut names = Vec::new();
            for name in ["one", "other"] {
                transaction.ask_ahead(&|| Ahead { statements: vec![Statement::new(NAME, slug())], is_all: true });
                transaction.row("select 1 from instance", &[]).await?;
                transaction.execute("update project set name = ?1 where slug = 'ledger'", &[name.into()]).await?;
                names.push(transaction.row(NAME, &slug()).await?.expect("the project").text(0)?);
                transaction.ask_ahead(&|| Ahead { statements: vec![Statement::new(NAME, slug())], is_all: true });
                transaction.row("select 1 from instance", &[]).await?;
                let sql = "update project set name = 'last' where slug = 'ledger'";
                transaction.execute_later(Statement::new(sql, []))?;
                names.push(transaction.row(NAME, &slug()).await?.expect("the project").text(0)?);
            }
            Ok(names)
        })
    }));
    assert_eq!(names, ["one", "last", "other", "last"]);
}

#[test]
fn a_read_that_asks_more_than_its_last_question_has_all_of_it_answered() {
    let house = House::new();
    let answers = house.read(work(|transaction| {
        Box::pin(async move {
            let mut answers = Vec::new();
            transaction.end_with_next();
            for slug in ["ledger", "nowhere", "ledger"] {
                answers.push(transaction.row(NAME, &[slug.into()]).await?.is_some());
            }
            Ok(answers)
        })
    }));
    assert_eq!(answers, [true, false, true]);
}

#[test]
fn a_project_of_another_number_than_it_was_seen_with_is_asked_again() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    for seen in [number_of(&house, "ledger"), 4_711] {
        client.having_seen(seen);
        assert_eq!(client.get(&task)["title"], "Import bank statements");
        client.having_seen(seen);
        let version = client.get(&task)["version"].as_i64().expect("a version");
        client.having_seen(seen);
        assert_eq!(
            client.update(&task, version, json!({"idempotency_key": format!("k-{seen}")}))["version"],
            version + 1
        );
        client.having_seen(seen);
        let again = Client::update_arguments(&task, version, json!({"idempotency_key": format!("k-{seen}")}));
        assert_eq!(client.ok("task_update", again)["replayed"], true);
    }
}

#[test]
fn who_asks_ahead_in_a_foreign_project_is_told_nothing_of_it() {
    let house = House::new();
    house.add_project("other");
    let elsewhere = house.client_in("other", "tomas");
    let task = elsewhere.create("A secret of the other project");
    let client = house.client("maria");
    for reference in [task.as_str(), &task[..8]] {
        client.having_seen(number_of(&house, "other"));
        client.refused("task_get", json!({"task_id": reference}), Code::NotFound, &["no task"]);
        client.having_seen(number_of(&house, "other"));
        let update = Client::update_arguments(reference, 1, json!({"title": "Mine"}));
        client.refused("task_update", update, Code::NotFound, &["no task"]);
    }
    assert_eq!(elsewhere.get(&task)["version"], 1);
}
