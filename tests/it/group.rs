//! Writes that are committed together: what one of them does to the word index neither outlives it nor undoes another's.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use heyaira::domain::token::Role;
use heyaira::error::Refusal;
use heyaira::operation::Door;
use heyaira::store::backend::work;
use heyaira::store::verify::table_problems;
use serde_json::{Value, json};

use crate::house::{Client, House, pinned};

/// Has these calls committed in one transaction: the writer is held up until all of them wait. In front of them goes a
/// write that puts words off and is then refused.
fn together(house: &House, calls: Vec<(&Client<'_>, &'static str, Value)>) -> Vec<Result<Value, Refusal>> {
    let (release, held) = mpsc::channel::<()>();
    let deadline = Instant::now() + Duration::from_mins(1);
    let refused = house.store().write(
        deadline,
        work(|transaction| {
            let sql = "insert into task_words (rowid, words) values (?1, ?2)";
            transaction.execute_at_commit(sql, vec![9_999.into(), "1pstray".into()]);
            Box::pin(async move { Err::<(), Refusal>(Refusal::argument("refused at its end")) })
        }),
    );
    let hold = house.store().write(
        deadline,
        work(move |_| {
            let _ = held.recv();
            Box::pin(async { Ok(()) })
        }),
    );
    house.block_on(async {
        let calls = join_all(calls.into_iter().map(|(client, name, arguments)| client.asking(name, arguments)));
        // Polled in this order: the hold is queued first, then the calls, and only then is it released.
        let released = async { drop(release) };
        let (hold, refused, answers, ()) = tokio::join!(biased; hold, refused, calls, released);
        hold.expect("nothing was written");
        refused.expect_err("refused at its end");
        answers
    })
}

fn problems(house: &House) -> Vec<String> {
    house.read(work(|transaction| Box::pin(table_problems(transaction))))
}

fn found(client: &Client<'_>, query: &str) -> Value {
    client.ok("task_list", json!({"query": query}))["total"].clone()
}

#[test]
fn a_refused_write_leaves_no_words_and_takes_none_of_the_others() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("plain");
    let create = |title: &str| json!({"title": title, "summary": "s"});
    let key = |title: &str| json!({"title": title, "summary": "s", "idempotency_key": "one"});
    let answers = together(
        &house,
        vec![
            (&client, "task_create", create("quokka")),
            (&client, "task_update", json!({"task_id": task, "expected_version": 9, "summary": "wombat"})),
            (&client, "task_create", key("numbat")),
            (&client, "task_create", key("bilby")),
            (&client, "task_update", json!({"task_id": task, "expected_version": 1, "summary": "potoroo"})),
        ],
    );
    let accepted: Vec<bool> = answers.iter().map(Result::is_ok).collect();
    assert_eq!(accepted, [true, false, true, false, true], "{answers:?}");
    let counts: Vec<Value> =
        ["quokka", "wombat", "numbat", "bilby", "potoroo"].iter().map(|word| found(&client, word)).collect();
    assert_eq!(counts, [1, 0, 1, 0, 1].map(|count| json!(count)));
    assert_eq!(problems(&house), Vec::<String>::new());
}

#[test]
fn a_project_that_is_purged_in_the_same_group_leaves_no_words() {
    let house = House::new();
    house.add_project("other");
    let (client, other) = (house.client("maria"), house.client_in("other", "maria"));
    let owner = house.connected(Ok(pinned("other")), "maria", Role::Admin, Door::CommandLine);
    let answers = together(
        &house,
        vec![
            (&other, "task_create", json!({"title": "gone", "summary": "s"})),
            (&client, "task_create", json!({"title": "kept", "summary": "s"})),
            (&owner, "project_purge", json!({"project": "other"})),
            (&owner, "project_purge", json!({"project": "other", "confirm": "other"})),
            (&client, "memory_add", json!({"kind": "fact", "summary": "kept too"})),
        ],
    );
    let accepted: Vec<bool> = answers.iter().map(Result::is_ok).collect();
    assert_eq!(accepted, [true, true, false, true, true], "{answers:?}");
    assert_eq!(found(&client, "kept"), 1);
    assert_eq!(client.ok("memory_search", json!({"query": "kept"}))["total"], 1);
    assert_eq!(problems(&house), Vec::<String>::new());
}
