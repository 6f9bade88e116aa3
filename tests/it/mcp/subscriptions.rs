//! Subscriptions: who is told of which task, and when no longer.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use heyaira::surface::mcp::subscriptions::ADDRESSES;
use serde_json::{Value, json};

use super::home::Home;
use super::wire::{LEGACY, MODERN, Wire};

const UPDATED: &str = "notifications/resources/updated";
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
const STREAM: &str = "io.modelcontextprotocol/subscriptionId";

/// Tasks in a home, changed beside every connection.
struct Tasks<'h> {
    home: &'h Home,
    ids: Vec<String>,
}

impl<'h> Tasks<'h> {
    async fn new(home: &'h Home, count: usize) -> Self {
        let mut ids = Vec::new();
        for number in 0..count {
            let task =
                json!({"title": format!("Task {number}"), "summary": "New.", "write_context": home.write_context});
            let task = home.administer("task_create", task).await;
            ids.push(task["task_id"].as_str().expect("an id").to_owned());
        }
        Self { home, ids }
    }

    fn uri(&self, number: usize) -> String {
        format!("heyaira://demo/task/{}", self.ids[number])
    }

    fn short_uri(&self, number: usize) -> String {
        format!("heyaira://demo/task/{}", &self.ids[number][..8])
    }

    /// Makes the next version of a task; answers its number.
    async fn change(&self, number: usize) -> i64 {
        let task = self.home.administer("task_get", json!({"task_id": self.ids[number]})).await;
        let version = task["version"].as_i64().expect("a version");
        let update = json!({
            "task_id": self.ids[number], "expected_version": version, "summary": format!("Seen {version}."),
            "write_context": self.home.write_context,
        });
        self.home.administer("task_update", update).await["version"].as_i64().expect("a version")
    }

    /// How many look at the database for changes.
    fn watchers(&self) -> usize {
        self.home.open().service.store.watchers()
    }

    /// Waits until so many look at the database.
    async fn watched_by(&self, count: usize) {
        let until = Instant::now() + Duration::from_secs(30);
        while self.watchers() != count {
            assert!(Instant::now() < until, "{} watchers, not {count}", self.watchers());
            tokio::task::yield_now().await;
        }
    }
}

fn updated(uri: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": UPDATED, "params": {"uri": uri}})
}

fn updated_on(stream: i64, uri: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": UPDATED, "params": {"uri": uri, "_meta": {STREAM: stream}}})
}

/// Notifications of one change, whose order means nothing.
fn in_order(mut told: [Value; 2]) -> [Value; 2] {
    told.sort_by_key(|one| one["params"]["uri"].to_string());
    told
}

impl Wire {
    async fn two(&mut self) -> [Value; 2] {
        in_order([self.message().await, self.message().await])
    }

    async fn subscribe(&mut self, uri: &str) {
        let answer = self.ask("resources/subscribe", json!({"uri": uri})).await;
        assert_eq!(answer["result"], json!({}), "{answer}");
    }

    /// Sends a request; answers its answer and the notifications before that.
    async fn ask_amid(&mut self, method: &str, params: Value) -> (Value, Vec<Value>) {
        let (id, line) = self.request(method, params);
        self.send(&line).await;
        let mut before = Vec::new();
        loop {
            let message = self.message().await;
            if message["id"] == json!(id) {
                return (message, before);
            }
            assert_eq!(message["method"], json!(UPDATED), "{message}");
            before.push(message);
        }
    }

    async fn unsubscribe(&mut self, uri: &str) -> Vec<Value> {
        let (answer, before) = self.ask_amid("resources/unsubscribe", json!({"uri": uri})).await;
        assert_eq!(answer["result"], json!({}), "{answer}");
        before
    }

    /// Opens a stream and reads its acknowledgement; answers its id.
    async fn listen(&mut self, uris: &[String]) -> i64 {
        let wanted = json!({"resourceSubscriptions": uris});
        let (id, line) = self.request("subscriptions/listen", json!({"notifications": wanted}));
        self.send(&line).await;
        let message = self.message().await;
        let wanted = if uris.is_empty() { json!({}) } else { wanted };
        let params = json!({"_meta": {STREAM: id}, "notifications": wanted});
        assert_eq!(message, json!({"jsonrpc": "2.0", "method": ACKNOWLEDGED, "params": params}));
        id
    }

    async fn cancel(&mut self, stream: i64) {
        let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": stream}});
        self.send(&cancel.to_string()).await;
    }
}

#[tokio::test]
async fn a_client_with_a_handshake_is_told_by_the_address_it_used_and_nothing_else() {
    let home = Home::new().await;
    let tasks = Tasks::new(&home, 2).await;
    let mut wire = Wire::legacy(home.handler()).await;
    let (long, short) = (tasks.uri(0), tasks.short_uri(0));
    wire.subscribe(&long).await;
    wire.subscribe(&short).await;
    tasks.change(1).await;
    tasks.change(0).await;
    assert_eq!(wire.two().await, in_order([updated(&long), updated(&short)]));
    assert_eq!(wire.finish().await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_stream_is_acknowledged_first_and_every_notification_names_it() {
    let home = Home::new().await;
    let tasks = Tasks::new(&home, 3).await;
    let mut wire = Wire::modern(home.handler());
    let one = wire.listen(&[tasks.uri(0), tasks.uri(1)]).await;
    let two = wire.listen(&[tasks.short_uri(1)]).await;
    tasks.change(2).await;
    tasks.change(0).await;
    assert_eq!(wire.message().await, updated_on(one, &tasks.uri(0)));
    tasks.change(1).await;
    let expected = [updated_on(one, &tasks.uri(1)), updated_on(two, &tasks.short_uri(1))];
    assert_eq!(wire.two().await, in_order(expected));
    // One stream ends, the other goes on.
    wire.cancel(one).await;
    assert_eq!(wire.answer("task_list", json!({})).await["total"], json!(3));
    tasks.change(1).await;
    assert_eq!(wire.message().await, updated_on(two, &tasks.short_uri(1)));
    // The end of the server is told on the stream that is still open.
    let rest = wire.finish().await;
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert_eq!((&rest[0]["id"], &rest[0]["result"]["resultType"]), (&json!(two), &json!("complete")), "{rest:?}");
    assert_eq!(rest[0]["result"]["_meta"][STREAM], json!(two), "{rest:?}");
}

#[tokio::test]
async fn lists_never_change_so_a_stream_that_asks_for_them_is_acknowledged_without() {
    let home = Home::new().await;
    let tasks = Tasks::new(&home, 1).await;
    let mut wire = Wire::modern(home.handler());
    let wanted = json!({"toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
        "resourceSubscriptions": [tasks.uri(0)]});
    let (id, line) = wire.request("subscriptions/listen", json!({"notifications": wanted}));
    wire.send(&line).await;
    let message = wire.message().await;
    assert_eq!(message["params"]["notifications"], json!({"resourceSubscriptions": [tasks.uri(0)]}), "{message}");
    tasks.change(0).await;
    assert_eq!(wire.message().await, updated_on(id, &tasks.uri(0)));
}

#[tokio::test]
async fn the_own_writes_of_a_connection_are_told_too() {
    let home = Home::new().await;
    let tasks = Tasks::new(&home, 1).await;
    for version in [LEGACY, MODERN] {
        let mut wire = Wire::of_era(home.handler(), version).await;
        let expected = if version == LEGACY {
            wire.subscribe(&tasks.uri(0)).await;
            updated(&tasks.uri(0))
        } else {
            updated_on(wire.listen(&[tasks.uri(0)]).await, &tasks.uri(0))
        };
        let write = json!({"to": tasks.ids[0], "text": "Mind the seal.", "write_context": home.write_context});
        let (id, line) = wire.request("tools/call", json!({"name": "message_send", "arguments": write}));
        wire.send(&line).await;
        let (first, second) = (wire.message().await, wire.message().await);
        let (answer, told) = if first["id"] == json!(id) { (first, second) } else { (second, first) };
        assert_eq!((&answer["result"]["isError"], &told), (&json!(false), &expected), "{answer}");
    }
}

#[tokio::test]
async fn a_message_that_comes_and_one_that_was_read_change_what_is_shown() {
    let home = Home::new().await;
    let tasks = Tasks::new(&home, 1).await;
    let mut wire = Wire::legacy(home.handler()).await;
    wire.subscribe(&tasks.uri(0)).await;
    let context = &home.write_context;
    let message = json!({"to": tasks.ids[0], "text": "Mind the seal.", "write_context": context});
    home.administer("message_send", message).await;
    assert_eq!(wire.message().await, updated(&tasks.uri(0)));
    let task = home.administer("task_get", json!({"task_id": tasks.ids[0]})).await;
    let message = &task["messages"][0]["id"];
    home.administer("message_send", json!({"ack": [message], "write_context": context})).await;
    assert_eq!(wire.message().await, updated(&tasks.uri(0)));
    assert_eq!(wire.finish().await, Vec::<Value>::new());
}

#[tokio::test]
async fn what_was_unsubscribed_is_told_no_more() {
    let home = Home::new().await;
    let tasks = Tasks::new(&home, 2).await;
    let mut wire = Wire::legacy(home.handler()).await;
    wire.subscribe(&tasks.uri(0)).await;
    wire.subscribe(&tasks.uri(1)).await;
    assert_eq!(wire.unsubscribe(&tasks.uri(0)).await, Vec::<Value>::new());
    tasks.change(0).await;
    tasks.change(1).await;
    assert_eq!(wire.message().await, updated(&tasks.uri(1)));
    // By another address there is no subscription, and that is said.
    for uri in [tasks.uri(0), tasks.short_uri(1), "heyaira://demo/task/ffffffff".to_owned()] {
        let answer = wire.ask("resources/unsubscribe", json!({"uri": uri})).await;
        assert_eq!(answer["error"]["code"], json!(-32602), "{answer}");
        assert!(answer["error"]["message"].as_str().expect("a message").contains("no subscription"), "{answer}");
    }
    tasks.change(1).await;
    assert_eq!(wire.message().await, updated(&tasks.uri(1)));
    assert_eq!(wire.unsubscribe(&tasks.uri(1)).await, Vec::<Value>::new());
    tasks.change(1).await;
    assert_eq!(wire.finish().await, Vec::<Value>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_is_told_before_the_subscription_is_answered_nor_after_its_end_is() {
    let home = Home::new().await;
    let tasks = Tasks::new(&home, 1).await;
    let mut wire = Wire::legacy(home.handler()).await;
    let uri = tasks.uri(0);
    let over = Arc::new(AtomicBool::new(false));
    let changing = async {
        let mut changes = 0;
        while !over.load(Ordering::Relaxed) {
            tasks.change(0).await;
            changes += 1;
        }
        changes
    };
    let subscribing = async {
        let mut told = 0;
        for round in 0..40 {
            // Asserts that its answer is the next message.
            wire.subscribe(&uri).await;
            // Some end before anything was told, some right after.
            if round % 2 == 0 {
                assert_eq!(wire.message().await, updated(&uri));
                told += 1;
            }
            told += wire.unsubscribe(&uri).await.len();
        }
        over.store(true, Ordering::Relaxed);
        (wire, told)
    };
    let (changes, (wire, told)) = tokio::join!(changing, subscribing);
    assert!((20..=changes).contains(&told), "{told} of {changes}");
    assert_eq!(wire.finish().await, Vec::<Value>::new());
}

#[tokio::test]
async fn what_cannot_be_read_cannot_be_subscribed_to_in_the_same_words() {
    let home = Home::new().await;
    let tasks = Tasks::new(&home, 2).await;
    let id = &tasks.ids[0];
    let bad = [
        format!("heyaira://other/task/{id}"),
        format!("heyaira://nowhere/task/{id}"),
        format!("heyaira://demo/task/{id}/v3"),
        format!("heyaira://demo/memory/{id}"),
        "heyaira://demo/task/ffffffff".to_owned(),
        "heyaira://procedures/nothing".to_owned(),
        "file:///etc/passwd".to_owned(),
        String::new(),
    ];
    for version in [LEGACY, MODERN] {
        let mut wire = Wire::of_era(home.handler(), version).await;
        for uri in &bad {
            let read = wire.ask("resources/read", json!({"uri": uri})).await;
            let answer = if version == LEGACY {
                wire.ask("resources/subscribe", json!({"uri": uri})).await
            } else {
                // All of it is refused, unacknowledged.
                let wanted = json!({"resourceSubscriptions": [tasks.uri(1), uri]});
                wire.ask("subscriptions/listen", json!({"notifications": wanted})).await
            };
            assert_eq!(answer["error"], read["error"], "{uri}");
            assert!(answer["error"]["code"].is_i64(), "{answer}");
        }
        assert_eq!(tasks.watchers(), 0);
    }
}

#[tokio::test]
async fn a_task_of_another_project_is_refused_like_one_that_is_not_there() {
    let home = Home::new().await;
    let profile = home.administer("profile_show", json!({"project": "other"})).await;
    let task = json!({"title": "Theirs", "summary": "New.", "write_context": profile["write_context"]});
    let theirs = home.administer_in("other", "task_create", task).await;
    let theirs = theirs["task_id"].as_str().expect("an id");
    let mut wire = Wire::legacy(home.handler()).await;
    let mut words = BTreeSet::new();
    for id in [theirs, "0d6a0000-0000-4000-8000-000000000000"] {
        let uri = format!("heyaira://demo/task/{id}");
        let answer = wire.ask("resources/subscribe", json!({"uri": uri})).await;
        words.insert(answer["error"].to_string().replace(id, "ID").replace(&id[..8], "ID"));
    }
    assert_eq!(words.len(), 1, "{words:?}");
}

#[tokio::test]
async fn each_era_has_its_own_way_only() {
    let home = Home::new().await;
    let tasks = Tasks::new(&home, 1).await;
    let mut wire = Wire::legacy(home.handler()).await;
    let wanted = json!({"notifications": {"resourceSubscriptions": [tasks.uri(0)]}});
    assert_eq!(wire.ask("subscriptions/listen", wanted).await["error"]["code"], json!(-32601));
    let mut wire = Wire::modern(home.handler());
    for method in ["resources/subscribe", "resources/unsubscribe"] {
        assert_eq!(wire.ask(method, json!({"uri": tasks.uri(0)})).await["error"]["code"], json!(-32601));
    }
    // Without parameters it is no unknown method, but a wrong call of a known one.
    assert_eq!(wire.ask("subscriptions/listen", json!({})).await["error"]["code"], json!(-32602));
}

#[tokio::test]
async fn what_never_changes_may_be_subscribed_to_and_costs_no_look() {
    let home = Home::new().await;
    let tasks = Tasks::new(&home, 1).await;
    let fixed = [format!("{}/v1", tasks.uri(0)), "heyaira://procedures/work-contract".to_owned()];
    let mut wire = Wire::legacy(home.handler()).await;
    for uri in &fixed {
        wire.subscribe(uri).await;
    }
    let mut stream = Wire::modern(home.handler());
    stream.listen(&fixed).await;
    assert_eq!(tasks.watchers(), 0);
    wire.subscribe(&tasks.uri(0)).await;
    tasks.change(0).await;
    assert_eq!(wire.message().await, updated(&tasks.uri(0)));
    assert_eq!(wire.finish().await, Vec::<Value>::new());
}

#[tokio::test]
async fn nobody_looks_at_the_database_unless_somebody_wants_to_be_told() {
    let home = Home::new().await;
    let tasks = Tasks::new(&home, 2).await;
    let mut wire = Wire::legacy(home.handler()).await;
    wire.answer("task_list", json!({})).await;
    assert_eq!(tasks.watchers(), 0);
    // One look for all subscriptions of a connection.
    wire.subscribe(&tasks.uri(0)).await;
    wire.subscribe(&tasks.uri(1)).await;
    tasks.watched_by(1).await;
    wire.unsubscribe(&tasks.uri(0)).await;
    assert_eq!(tasks.watchers(), 1);
    wire.unsubscribe(&tasks.uri(1)).await;
    tasks.watched_by(0).await;
    // A client that leaves without a word.
    wire.subscribe(&tasks.uri(1)).await;
    tasks.watched_by(1).await;
    wire.hang_up().await;
    assert_eq!(tasks.watchers(), 0);
    let mut wire = Wire::modern(home.handler());
    let one = wire.listen(&[tasks.uri(0)]).await;
    let two = wire.listen(&[tasks.uri(0)]).await;
    tasks.watched_by(1).await;
    wire.cancel(one).await;
    wire.cancel(two).await;
    tasks.watched_by(0).await;
    wire.listen(&[tasks.uri(1)]).await;
    tasks.watched_by(1).await;
    wire.end.begin();
    let rest = wire.rest().await;
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert_eq!(tasks.watchers(), 0);
}

#[tokio::test]
async fn subscriptions_are_bounded_and_streams_leave_room_for_calls() {
    let home = Home::new().await;
    let tasks = Tasks::new(&home, ADDRESSES + 1).await;
    let mut wire = Wire::legacy(home.handler()).await;
    for number in 0..ADDRESSES {
        wire.subscribe(&tasks.uri(number)).await;
    }
    // One that exists is no further one.
    wire.subscribe(&tasks.uri(0)).await;
    let answer = wire.ask("resources/subscribe", json!({"uri": tasks.uri(ADDRESSES)})).await;
    assert_eq!(answer["error"]["code"], json!(-32602));
    let message = answer["error"]["message"].as_str().expect("a message");
    assert!(message.starts_with("too_large: ") && message.contains("101") && message.contains("100"), "{message}");
    wire.unsubscribe(&tasks.uri(7)).await;
    wire.subscribe(&tasks.uri(ADDRESSES)).await;
    tasks.change(ADDRESSES).await;
    assert_eq!(wire.message().await, updated(&tasks.uri(ADDRESSES)));

    let mut wire = Wire::modern(home.handler());
    let all: Vec<String> = (0..=ADDRESSES).map(|number| tasks.uri(number)).collect();
    let wanted = json!({"notifications": {"resourceSubscriptions": all}});
    let answer = wire.ask("subscriptions/listen", wanted).await;
    assert!(answer["error"]["message"].as_str().expect("a message").starts_with("too_large: "), "{answer}");
    // Streams that ask for nothing count as well; more of them are open than calls are worked on at a time.
    for number in 0..ADDRESSES {
        wire.listen(if number % 2 == 0 { &[] } else { std::slice::from_ref(&all[0]) }).await;
    }
    let answer = wire.ask("subscriptions/listen", json!({"notifications": {}})).await;
    assert!(answer["error"]["message"].as_str().expect("a message").starts_with("too_large: "), "{answer}");
    assert_eq!(wire.answer("task_list", json!({"limit": 1})).await["total"], json!(ADDRESSES + 1));
    let rest = wire.finish().await;
    assert_eq!(rest.len(), ADDRESSES, "each stream is ended");
}

#[tokio::test]
async fn a_burst_is_told_so_that_its_last_change_is_known_and_never_more_often_than_it_changed() {
    let home = Home::new().await;
    let tasks = Tasks::new(&home, 1).await;
    let mut wire = Wire::legacy(home.handler()).await;
    let uri = tasks.uri(0);
    wire.subscribe(&uri).await;
    let changing = async {
        for _ in 0..50 {
            tasks.change(0).await;
        }
    };
    let reading = async {
        let mut told = 0;
        let mut known = 1;
        // A client that reads whenever it is told, and at no other time, ends up with the last version.
        while known < 51 {
            assert_eq!(wire.message().await, updated(&uri));
            let (answer, before) = wire.ask_amid("resources/read", json!({"uri": uri})).await;
            told += 1 + before.len();
            let text = answer["result"]["contents"][0]["text"].as_str().expect("a text").to_owned();
            let task: Value = serde_json::from_str(&text).expect("JSON");
            known = task["version"].as_i64().expect("a version");
        }
        told + wire.finish().await.len()
    };
    let ((), told) = tokio::join!(changing, reading);
    assert!((1..=50).contains(&told), "told {told} times");
}

#[tokio::test]
async fn a_client_that_does_not_read_is_told_once_of_all_that_it_missed() {
    let home = Home::new().await;
    let tasks = Tasks::new(&home, 1).await;
    let uri = tasks.uri(0);
    let mut deaf = Wire::legacy(home.handler()).await;
    deaf.subscribe(&uri).await;
    // Each answer has many times the size of its question, so the output is soon full.
    for _ in 0..100 {
        let (_, line) = deaf.request("tools/list", json!({}));
        deaf.send(&line).await;
    }
    let mut other = Wire::legacy(home.handler()).await;
    other.subscribe(&uri).await;
    for _ in 0..20 {
        tasks.change(0).await;
        assert_eq!(other.message().await, updated(&uri));
    }
    let mut answers = 0;
    let mut told = 0;
    while answers < 100 {
        let message = deaf.message().await;
        if message["method"] == json!(UPDATED) { told += 1 } else { answers += 1 }
    }
    told += deaf.unsubscribe(&uri).await.len();
    assert!((1..=5).contains(&told), "told {told} times of 20 changes");
    assert_eq!(deaf.finish().await, Vec::<Value>::new());
}
