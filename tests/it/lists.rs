//! Lists of tasks against a plain model of the contract: filter, then sort, then limit; nothing twice, nothing lost.

use std::collections::BTreeSet;

use heyaira::error::Code;
use serde_json::{Value, json};

use crate::ground::{Ground, merge, rows, scattered, text};

const TAGS: [&str; 3] = ["alpha", "beta", "a,b \"quoted\""];
const OWNERS: [&str; 3] = ["maria", "claude-code:0d6a41c8-77b2-4f3e-8a10-2f9e5c7d6b31", "label:night run"];
const STATUSES: [&str; 5] = ["todo", "in_progress", "blocked", "done", "cancelled"];
const HOUR: i64 = 60;

/// What the model knows of a task.
#[derive(Clone, Debug, Default)]
struct Known {
    id: String,
    status: &'static str,
    priority: i64,
    tags: Vec<&'static str>,
    owner: Option<&'static str>,
    parent: Option<String>,
    waits_for: Vec<String>,
    pending: bool,
    words: Vec<&'static str>,
    created: i64,
    updated: i64,
}

impl Known {
    fn is_open(&self) -> bool {
        !matches!(self.status, "done" | "cancelled")
    }

    fn is_ready(&self, all: &[Known]) -> bool {
        self.status == "todo" && all.iter().filter(|one| self.waits_for.contains(&one.id)).all(|one| !one.is_open())
    }

    fn is_stale(&self, now: i64) -> bool {
        self.status == "in_progress" && self.updated < now - 24 * HOUR
    }

    fn matches(&self, filter: &Value, all: &[Known], now: i64) -> bool {
        let text = |name: &str| filter[name].as_str();
        let flag = |name: &str, is: bool| filter[name].as_bool().is_none_or(|wanted| wanted == is);
        text("status").is_none_or(|status| if status == "open" { self.is_open() } else { self.status == status })
            && text("tag").is_none_or(|tag| self.tags.contains(&tag))
            && text("owner").is_none_or(|owner| self.owner == Some(owner))
            && text("parent").is_none_or(|parent| self.parent.as_deref() == Some(parent))
            && text("query").is_none_or(|query| query.split(' ').all(|word| self.words.contains(&word)))
            && flag("ready", self.is_ready(all))
            && flag("pending_handoff", self.pending)
            && flag("stale", self.is_stale(now))
    }

    fn place(&self, sort: &str) -> (i64, i64, String) {
        match sort {
            "created" => (0, -self.created, self.id.clone()),
            "priority" => (self.priority, -self.updated, self.id.clone()),
            _ => (0, -self.updated, self.id.clone()),
        }
    }
}

/// A dice that falls the same way in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: usize) -> usize {
        self.0 = scattered(self.0);
        usize::try_from(self.0 % sides as u64).expect("small")
    }

    fn one_of<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())].clone()
    }
}

/// Tasks of every sort, made in groups at the same moment so that sort keys tie.
struct World {
    ground: Ground,
    tasks: Vec<Known>,
    minute: i64,
}

impl World {
    fn new(count: usize) -> Self {
        let mut world = Self { ground: Ground::new(), tasks: Vec::new(), minute: 0 };
        let mut dice = Dice(7);
        for number in 0..count {
            if number % 4 == 0 {
                world.wait(11 * HOUR / 2);
            }
            world.create(&mut dice);
        }
        for position in 0..count {
            if position % 5 == 0 {
                world.wait(3 * HOUR);
            }
            world.change(position, &mut dice);
        }
        world
    }

    fn wait(&mut self, minutes: i64) {
        self.minute += minutes;
        self.ground.wait_minutes(minutes);
    }

    fn create(&mut self, dice: &mut Dice) {
        let words = [dice.one_of(&["import", "export", "report"]), dice.one_of(&["bank", "ledger"])];
        let mut task = Known {
            status: "todo",
            words: words.to_vec(),
            priority: 2,
            created: self.minute,
            updated: self.minute,
            ..Known::default()
        };
        let mut new = json!({"title": words.join(" "), "summary": "a row"});
        if dice.below(2) == 0 {
            task.priority = dice.one_of(&[0, 1, 3]);
            merge(&mut new, json!({"priority": task.priority}));
        }
        task.tags = TAGS.into_iter().filter(|_| dice.below(3) == 0).collect();
        merge(&mut new, json!({"tags": task.tags}));
        if !self.tasks.is_empty() && dice.below(3) == 0 {
            let parent = dice.one_of(&self.tasks).id;
            merge(&mut new, json!({"parent": parent}));
            task.parent = Some(parent);
        }
        if !self.tasks.is_empty() && dice.below(3) == 0 {
            let mut first = vec![dice.one_of(&self.tasks).id, dice.one_of(&self.tasks).id];
            first.dedup();
            merge(&mut new, json!({"depends_on": first}));
            task.waits_for = first;
        }
        task.id = self.ground.task(new);
        self.tasks.push(task);
    }

    fn change(&mut self, position: usize, dice: &mut Dice) {
        let status = dice.one_of(&STATUSES);
        let task = &mut self.tasks[position];
        if status == "todo" {
            return;
        }
        let owner = dice.one_of(&OWNERS);
        let mut change = json!({"status": status, "owner": owner});
        match status {
            "blocked" => merge(&mut change, json!({"handoff_blockers": "no contract; Ines; the annex"})),
            "done" => merge(&mut change, json!({"result": "it works"})),
            _ => {}
        }
        if task.is_open() && matches!(status, "in_progress" | "blocked") && dice.below(2) == 0 {
            merge(
                &mut change,
                json!({"handoff_next": "cargo test\nPrevious session: label:earlier", "work_receipt": {"session_ref": "label:earlier"}}),
            );
            task.pending = true;
        }
        self.ground.update(&task.id, change);
        (task.status, task.owner, task.updated) = (status, Some(owner), self.minute);
    }

    /// The ids that the contract promises for a filter, in order.
    fn expected(&self, filter: &Value) -> Vec<String> {
        let found = self.tasks.iter().filter(|task| task.matches(filter, &self.tasks, self.minute));
        let mut found: Vec<&Known> = found.collect();
        found.sort_by_key(|task| task.place(filter["sort"].as_str().unwrap_or_default()));
        found.into_iter().map(|task| task.id[..8].to_owned()).collect()
    }

    /// The ids that the pages of a list bring.
    fn found(&self, filter: &Value, limit: usize) -> Vec<String> {
        let mut ids = Vec::new();
        let mut call = filter.clone();
        merge(&mut call, json!({"limit": limit}));
        loop {
            let page = self.ground.ask("task_list", call.clone());
            assert_eq!(page["total"], self.expected(filter).len(), "{filter}");
            assert_eq!(page["shown"], rows(&page["tasks"]).len());
            ids.extend(rows(&page["tasks"]).iter().map(|row| text(&row["id"])));
            let Some(cursor) = page.get("next_cursor") else {
                return ids;
            };
            assert_eq!(page["shown"], limit, "a page that is not the last is full");
            merge(&mut call, json!({"cursor": cursor}));
        }
    }

    fn random_filter(&self, dice: &mut Dice) -> Value {
        let mut filter = json!({});
        let mut add = |dice: &mut Dice, one_in: usize, name: &str, value: Value| {
            if dice.below(one_in) == 0 {
                merge(&mut filter, json!({name: value}));
            }
        };
        let status = dice.one_of(&["open", "todo", "in_progress", "blocked", "done", "cancelled"]);
        add(dice, 2, "status", json!(status));
        let tag = dice.one_of(&TAGS);
        add(dice, 4, "tag", json!(tag));
        let owner = dice.one_of(&OWNERS);
        add(dice, 5, "owner", json!(owner));
        let parent = dice.one_of(&self.tasks).parent;
        add(dice, 6, "parent", json!(parent));
        let query = dice.one_of(&["import", "bank", "report ledger", "absent"]);
        add(dice, 4, "query", json!(query));
        for name in ["ready", "pending_handoff", "stale"] {
            let wanted = dice.below(2) == 0;
            add(dice, 4, name, json!(wanted));
        }
        let sort = dice.one_of(&["updated", "created", "priority"]);
        add(dice, 2, "sort", json!(sort));
        filter
    }
}

#[test]
fn every_filter_alone_and_in_every_order() {
    let world = World::new(60);
    let parent = world.tasks.iter().find_map(|task| task.parent.clone());
    let mut filters = vec![json!({}), json!({"parent": parent})];
    filters.extend(STATUSES.iter().chain(&["open"]).map(|status| json!({"status": status})));
    filters.extend(TAGS.map(|tag| json!({"tag": tag})));
    filters.extend(OWNERS.map(|owner| json!({"owner": owner})));
    for name in ["ready", "pending_handoff", "stale"] {
        filters.extend([json!({name: true}), json!({name: false})]);
    }
    filters.extend([json!({"query": "import"}), json!({"query": "bank report"})]);
    for filter in filters {
        assert!(!world.expected(&filter).is_empty(), "{filter} tests nothing");
        for sort in ["updated", "created", "priority"] {
            let mut filter = filter.clone();
            merge(&mut filter, json!({"sort": sort}));
            assert_eq!(world.found(&filter, 7), world.expected(&filter), "{filter}");
        }
    }
}

#[test]
fn filters_together() {
    let world = World::new(60);
    let mut dice = Dice(99);
    let mut matched = 0;
    for _ in 0..400 {
        let filter = world.random_filter(&mut dice);
        let expected = world.expected(&filter);
        matched += usize::from(!expected.is_empty());
        let limit = 1 + dice.below(20);
        assert_eq!(world.found(&filter, limit), expected, "{filter} by {limit}");
    }
    assert!(matched > 100, "only {matched} filters found anything");
}

#[test]
fn empty_arguments_are_no_filter() {
    let world = World::new(12);
    let empty = json!({"status": "", "tag": "", "owner": "", "parent": "", "query": "", "cursor": "", "sort": null, "ready": null});
    assert_eq!(world.ground.ask("task_list", empty)["total"], 12);
}

#[test]
fn rows_leave_out_what_is_empty_or_default() {
    let ground = Ground::new();
    ground.task(json!({"title": "t", "summary": "s"}));
    let answer = ground.ask("task_list", json!({}));
    let names: Vec<&String> = answer["tasks"][0].as_object().expect("a row").keys().collect();
    assert_eq!(names, ["id", "v", "status", "title", "summary", "age"]);
    assert!(answer.get("next_cursor").is_none());
}

fn todo(ground: &Ground, count: usize) -> BTreeSet<String> {
    let made = ground.ask_all(
        "task_create",
        (0..count).map(|number| json!({"title": format!("task {number}"), "summary": "one of many"})),
    );
    made.iter().map(|task| text(&task["task_id"])[..8].to_owned()).collect()
}

fn page(ground: &Ground, arguments: Value) -> (Vec<String>, Option<Value>) {
    let page = ground.ask("task_list", arguments);
    (rows(&page["tasks"]).iter().map(|row| text(&row["id"])).collect(), page.get("next_cursor").cloned())
}

/// All ids that the cursor of a list reaches.
fn reached(ground: &Ground, filter: &Value) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    let mut cursor = None;
    loop {
        let mut arguments = json!({"limit": 200, "cursor": cursor});
        merge(&mut arguments, filter.clone());
        let (ids, next) = page(ground, arguments);
        seen.extend(ids);
        cursor = next;
        if cursor.is_none() {
            return seen;
        }
    }
}

#[test]
fn rw_032_the_total_is_true_and_the_cursor_reaches_all() {
    let ground = Ground::new();
    let made = todo(&ground, 120);
    let first = ground.ask("task_list", json!({"status": "todo"}));
    assert_eq!((&first["total"], &first["shown"]), (&json!(120), &json!(20)));
    let (mut all, mut cursor) = page(&ground, json!({"status": "todo"}));
    while let Some(next) = cursor {
        let (ids, following) = page(&ground, json!({"status": "todo", "cursor": next}));
        all.extend(ids);
        cursor = following;
    }
    assert_eq!(all.len(), 120);
    assert_eq!(all.into_iter().collect::<BTreeSet<_>>(), made);
    let (whole, cursor) = page(&ground, json!({"status": "todo", "limit": 200}));
    assert_eq!((whole.len(), cursor), (120, None));
}

#[test]
fn rw_034_pages_stay_right_while_others_write() {
    for sort in ["updated", "created", "priority"] {
        let ground = Ground::new();
        let before = todo(&ground, 30);
        ground.wait_minutes(5);
        let list = |cursor: Value| page(&ground, json!({"limit": 10, "sort": sort, "cursor": cursor}));
        let (first, cursor) = list(Value::Null);
        let second = list(cursor.clone().expect("more")).0;
        // One of page 2 moves to the front, one of page 1 is finished, and a new one comes.
        ground.update(&second[4], json!({"summary": "moved", "priority": 0}));
        ground.update(&first[2], json!({"status": "cancelled"}));
        ground.task(json!({"title": "new", "summary": "came in between", "priority": 0}));
        let (mut seen, mut cursor) = (first, cursor);
        while let Some(next) = cursor {
            let (ids, following) = list(next);
            seen.extend(ids);
            cursor = following;
        }
        for id in before.iter().filter(|id| **id != second[4]) {
            assert_eq!(seen.iter().filter(|one| *one == id).count(), 1, "{sort}: {id}");
        }
        assert!(seen.iter().filter(|one| **one == second[4]).count() <= 1, "{sort}");
    }
}

#[test]
fn damaged_and_foreign_cursors_are_refused() {
    let ground = Ground::new();
    todo(&ground, 30);
    ground.ask_all("memory_add", (0..30).map(|number| json!({"kind": "fact", "summary": format!("fact {number}")})));
    let cursor = text(&ground.ask("task_list", json!({"status": "todo"}))["next_cursor"]);
    let refused = |arguments: Value| {
        assert_eq!(ground.refused("task_list", arguments.clone()), Code::InvalidArgument, "{arguments}");
    };
    let changed = |at: usize, to: &str| format!("{}{to}{}", &cursor[..at], &cursor[at + 1..]);
    for at in 0..cursor.len() {
        let to = if &cursor[at..=at] == "0" { "1" } else { "0" };
        refused(json!({"status": "todo", "cursor": changed(at, to)}));
    }
    for damaged in [
        "garbage",
        "c1:",
        "c1::",
        "2",
        "ü",
        &cursor[1..],
        &cursor[..cursor.len() - 1],
        &format!("{cursor}0"),
        &format!(" {cursor}"),
    ] {
        refused(json!({"status": "todo", "cursor": damaged}));
    }
    for other in [
        json!({}),
        json!({"status": "open"}),
        json!({"status": "todo", "sort": "created"}),
        json!({"status": "todo", "query": "task"}),
    ] {
        let mut other = other;
        merge(&mut other, json!({"cursor": cursor}));
        refused(other);
    }
    let memories = ground.ask("memory_search", json!({}));
    refused(json!({"cursor": memories["next_cursor"]}));
    assert_eq!(ground.refused("memory_search", json!({"cursor": cursor})), Code::InvalidArgument);
    // Another page size is the reader's own affair.
    assert_eq!(ground.ask("task_list", json!({"status": "todo", "cursor": cursor, "limit": 3}))["shown"], 3);
    let other = ground.project("other");
    let answer = ground.call_as(&other, "task_list", json!({"status": "todo", "cursor": cursor}));
    assert_eq!(answer.expect_err("refused").code, Code::InvalidArgument);
}

#[test]
fn totals_are_exact_up_to_a_thousand() {
    let ground = Ground::new();
    todo(&ground, 999);
    let totals = || {
        [
            json!({}),
            json!({"status": "todo"}),
            json!({"status": "open"}),
            json!({"ready": true}),
            json!({"query": "task"}),
            json!({"query": "many", "status": "todo"}),
        ]
        .map(|filter| ground.ask("task_list", filter)["total"].clone())
    };
    assert_eq!(totals(), [(); 6].map(|()| json!(999)));
    todo(&ground, 1);
    assert_eq!(totals(), [(); 6].map(|()| json!(1_000)));
    todo(&ground, 1);
    assert_eq!(totals(), [(); 6].map(|()| json!("1000+")));
    assert_eq!(ground.ask("continuity_context", json!({}))["counts"]["todo"], 1_001, "counts are exact at any size");
    assert_eq!(ground.ask("task_list", json!({"query": "7 task"}))["total"], 1, "a single digit is a word");
    assert_eq!(
        reached(&ground, &json!({"query": "many"})).len(),
        1_001,
        "the cursor reaches what the total does not count"
    );
}

#[test]
fn totals_are_exact_among_many_tasks() {
    let ground = Ground::new();
    let made =
        |words: &'static str| (0..).map(move |number| json!({"title": format!("{words} {number}"), "summary": "s"}));
    let total = |query: &str| ground.ask("task_list", json!({"query": query}))["total"].clone();
    ground.ask_all("task_create", made("half every").take(1_000).chain(made("every").take(1_600)));
    assert_eq!((total("half"), total("half every")), (json!(1_000), json!(1_000)));
    assert_eq!((total("every"), total("every half absent")), (json!("1000+"), json!(0)));
    ground.ask_all("task_create", made("half").take(1));
    assert_eq!((total("half"), total("half every")), (json!("1000+"), json!(1_000)));
}

#[test]
fn a_frequent_tag_finds_what_a_rare_one_would() {
    let ground = Ground::new();
    let odd = "a \"b\" \\ é";
    let with = |tags: &[&str]| json!({"title": "t", "summary": "s", "tags": tags});
    let many = ground.ask_all("task_create", (0..1_100).map(|_| with(&[",", odd])));
    // A list of two tags shows a comma between quotes, as that of the tag above does.
    ground.ask_all("task_create", [with(&["a", "b"]), with(&["A \"b\" \\ é"]), with(&[",,"])]);
    let made: BTreeSet<String> = many.iter().map(|answer| text(&answer["task_id"])[..8].to_owned()).collect();
    for tag in [",", odd] {
        let first = ground.ask("task_list", json!({"tag": tag}));
        assert_eq!(first["total"], "1000+");
        assert_eq!(reached(&ground, &json!({"tag": tag})), made, "{tag}");
        assert_eq!(ground.ask("task_list", json!({"tag": tag, "status": "done"}))["total"], 0);
        assert_eq!(ground.ask("task_list", json!({"tag": tag, "query": "t"}))["total"], "1000+");
    }
}

#[test]
fn rw_031_two_thousand_long_tasks_give_short_answers() {
    let ground = Ground::new();
    let made = todo(&ground, 2_000);
    let texts = made.iter().map(|id| {
        let text = format!("what task {id} has done so far; ").repeat(250);
        json!({"task_id": id, "expected_version": 1, "summary": "half done", "status": "in_progress", "handoff_completed": text})
    });
    ground.ask_all("task_update", texts);
    let task_id = made.first().expect("a task");
    for (operation, arguments) in
        [("task_list", json!({})), ("continuity_context", json!({})), ("task_get", json!({"task_id": task_id}))]
    {
        let answer = ground.ask(operation, arguments);
        assert!(answer.to_string().len() <= 10_240, "{operation}: {} bytes", answer.to_string().len());
    }
    let list = ground.ask("task_list", json!({}));
    assert_eq!((&list["total"], &list["shown"]), (&json!("1000+"), &json!(20)));
    assert!(list.get("next_cursor").is_some());
}
