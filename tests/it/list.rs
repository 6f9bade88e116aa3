//! Lists of tasks: filters, order, totals and cursors.

use std::collections::BTreeSet;

use heyaira::domain::task::Content;
use heyaira::error::Code;
use serde_json::{Value, json};

use crate::house::{CLAUDE, CODEX, Client, House, merged, rows, short, text};

/// Adds that many tasks at once.
fn fill(house: &House, count: usize, handoff: &str) {
    let content = |number: usize| Content {
        title: format!("Task {number:04}"),
        summary: "Waits.".to_owned(),
        priority: 2,
        handoff_completed: handoff.to_owned(),
        ..Content::default()
    };
    let tasks = (0..count).map(|number| (house.draw(), 1, content(number))).collect();
    house.import("ledger", tasks);
}

/// The titles of all pages.
fn all_titles(client: &Client<'_>, arguments: &Value) -> Vec<String> {
    let mut titles = Vec::new();
    let mut cursor = json!(null);
    loop {
        let page = client.ok("task_list", merged(arguments.clone(), json!({"cursor": cursor})));
        titles.extend(titles_of(&page));
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            return titles;
        }
    }
}

fn titles_of(page: &Value) -> Vec<String> {
    rows(&page["tasks"]).iter().map(|row| text(&row["title"]).to_owned()).collect()
}

#[test]
fn a_row_names_the_first_eight_and_leaves_out_defaults() {
    let house = House::new();
    let client = house.client("maria");
    let plain = client.create("Plain");
    let urgent = client.create_with("Urgent", json!({"priority": 0}));
    house.pass_minutes(40);
    client.take_over(&urgent, 1, CLAUDE);
    house.pass_hours(19);
    let list = client.ok("task_list", json!({}));
    let expected = json!({
        "total": 2,
        "shown": 2,
        "tasks": [
            {
                "id": short(&urgent), "v": 2, "status": "in_progress", "p": 0, "title": "Urgent", "summary": "created",
                "owner": "claude-code:0d6a41c8", "age": "19h",
            },
            {"id": short(&plain), "v": 1, "status": "todo", "title": "Plain", "summary": "created", "age": "19h"},
        ],
    });
    assert_eq!(list, expected);
}

#[test]
fn rw_031_a_list_of_large_tasks_is_short_and_says_how_to_go_on() {
    let house = House::new();
    fill(&house, 300, &"handoff text of ten kilobytes ".repeat(340));
    let client = house.client("maria");
    let list = client.ok("task_list", json!({}));
    assert_eq!((&list["total"], &list["shown"]), (&json!(300), &json!(20)));
    assert!(list["next_cursor"].is_string() && list.to_string().len() < 4_000, "{list}");
    let id = &list["tasks"][0]["id"];
    for (name, arguments) in [("continuity_context", json!({})), ("task_get", json!({"task_id": id}))] {
        let answer = client.ok(name, arguments);
        assert!(answer.to_string().len() <= 10_240, "{name}");
    }
    assert_eq!(client.ok("continuity_context", json!({}))["counts"]["todo"], 300);
}

#[test]
fn rw_032_the_total_is_true_and_the_cursor_yields_every_row_once() {
    let house = House::new();
    fill(&house, 120, "");
    let client = house.client("maria");
    let first = client.ok("task_list", json!({"status": "todo"}));
    assert_eq!((&first["total"], &first["shown"]), (&json!(120), &json!(20)));
    let titles = all_titles(&client, &json!({"status": "todo"}));
    assert_eq!(titles.len(), 120);
    assert_eq!(titles.into_iter().collect::<BTreeSet<_>>().len(), 120);
}

#[test]
fn rw_034_pages_stay_right_while_others_write() {
    let house = House::new();
    let (reader, writer) = (house.client("maria"), house.client("tomas"));
    for number in 0..30 {
        writer.create(&format!("Task {number:02}"));
        house.pass_minutes(1);
    }
    let first = reader.ok("task_list", json!({"limit": 10}));
    let second = reader.ok("task_list", json!({"limit": 10, "cursor": first["next_cursor"]}));
    let moved = text(&second["tasks"][3]["id"]).to_owned();
    writer.update(&moved, 1, json!({"summary": "moved"}));
    writer.create("New");
    let mut seen = titles_of(&first);
    let mut cursor = first["next_cursor"].clone();
    while !cursor.is_null() {
        let page = reader.ok("task_list", json!({"limit": 10, "cursor": cursor}));
        seen.extend(titles_of(&page));
        cursor = page["next_cursor"].clone();
    }
    let moved_title = reader.get(&moved)["title"].clone();
    for number in 0..30 {
        let title = format!("Task {number:02}");
        let times = seen.iter().filter(|one| **one == title).count();
        assert!(times == 1 || (json!(title) == moved_title && times == 0), "{title} {times}");
    }
    reader.refused("task_list", json!({"limit": 10, "cursor": "garbage"}), Code::InvalidArgument, &["cursor"]);
}

#[test]
fn a_damaged_or_foreign_cursor_is_an_error() {
    let house = House::new();
    fill(&house, 30, "");
    let client = house.client("maria");
    let cursor = text(&client.ok("task_list", json!({"limit": 10}))["next_cursor"]).to_owned();
    let damaged =
        [cursor[..cursor.len() - 1].to_owned(), format!("{cursor}0"), cursor.to_uppercase(), "c1::".to_owned()];
    for cursor in damaged {
        client.refused("task_list", json!({"limit": 10, "cursor": cursor}), Code::InvalidArgument, &["cursor"]);
    }
    let other_list = json!({"limit": 10, "cursor": cursor, "sort": "priority"});
    client.refused("task_list", other_list, Code::InvalidArgument, &["cursor"]);
    client.refused("memory_search", json!({"cursor": cursor}), Code::InvalidArgument, &["cursor"]);
    client.ok("task_list", json!({"limit": 7, "cursor": cursor}));
}

#[test]
fn totals_are_exact_to_a_thousand_and_counts_by_status_always() {
    let house = House::new();
    let client = house.client("maria");
    fill(&house, 1_000, "");
    assert_eq!(client.ok("task_list", json!({}))["total"], 1_000);
    client.create("One more");
    assert_eq!(client.ok("task_list", json!({}))["total"], "1000+");
    assert_eq!(client.ok("continuity_context", json!({}))["counts"]["todo"], 1_001);
    assert_eq!(client.ok("task_list", json!({"query": "task"}))["total"], 1_000);
    assert_eq!(rows(&client.ok("task_list", json!({"limit": 200}))["tasks"]).len(), 200);
    client.refused("task_list", json!({"limit": 201}), Code::InvalidArgument, &["limit is 201", "1 to 200"]);
    client.refused("task_list", json!({"limit": 0}), Code::InvalidArgument, &["limit is 0"]);
}

#[test]
fn every_filter_must_match() {
    let house = House::new();
    let client = house.client("maria");
    let parent = client.create("Parent");
    let task = client.create_with("Import statements", json!({"tags": ["import", "bank"], "parent": parent}));
    client.create_with("Export statements", json!({"tags": ["export"]}));
    client.take_over(&task, 1, CODEX);
    let matching = [
        json!({"tag": "import"}),
        json!({"owner": CODEX}),
        json!({"parent": short(&parent)}),
        json!({"query": "impor"}),
        json!({"query": "statements bank"}),
        json!({"status": "in_progress"}),
        json!({"status": "in_progress", "tag": "bank", "owner": CODEX, "parent": parent, "query": "import"}),
    ];
    for arguments in matching {
        assert_eq!(titles_of(&client.ok("task_list", arguments.clone())), ["Import statements"], "{arguments}");
    }
    for arguments in
        [json!({"status": "todo", "tag": "import"}), json!({"tag": "impor"}), json!({"owner": "codex:01a2f6de"})]
    {
        assert_eq!(client.ok("task_list", arguments.clone())["total"], 0, "{arguments}");
    }
}

#[test]
fn open_is_everything_that_is_not_finished() {
    let house = House::new();
    let client = house.client("maria");
    let changes = [
        json!({"status": "todo"}),
        json!({"status": "in_progress"}),
        json!({"status": "blocked", "handoff_blockers": "b"}),
        json!({"status": "done", "result": "r"}),
        json!({"status": "cancelled"}),
    ];
    for change in changes {
        let task = client.create(text(&change["status"]));
        client.update(&task, 1, change);
    }
    let mut open = titles_of(&client.ok("task_list", json!({"status": "open"})));
    open.sort();
    assert_eq!(open, ["blocked", "in_progress", "todo"]);
    let expected = json!({"todo": 1, "in_progress": 1, "blocked": 1, "done": 1, "cancelled": 1});
    assert_eq!(client.ok("continuity_context", json!({}))["counts"], expected);
}

#[test]
fn ready_is_todo_with_everything_before_it_finished() {
    let house = House::new();
    let client = house.client("maria");
    let (first, second) = (client.create("First"), client.create("Second"));
    let third = client.create_with("Third", json!({"depends_on": [first, second]}));
    let ready = || {
        let mut titles = titles_of(&client.ok("task_list", json!({"ready": true})));
        titles.sort();
        titles
    };
    assert_eq!(ready(), ["First", "Second"]);
    client.update(&first, 1, json!({"status": "done", "result": "r"}));
    assert_eq!(ready(), ["Second"]);
    client.update(&second, 1, json!({"status": "cancelled"}));
    assert_eq!(ready(), ["Third"]);
    client.update(&second, 2, json!({"status": "todo"}));
    assert_eq!(ready(), ["Second"]);
    client.update(&third, 1, json!({"depends_on": []}));
    assert_eq!(ready(), ["Second", "Third"]);
    assert_eq!(titles_of(&client.ok("task_list", json!({"ready": false}))), ["First"]);
}

#[test]
fn the_orders_are_updated_created_and_priority() {
    let house = House::new();
    let client = house.client("maria");
    let mut ids = Vec::new();
    for (title, priority) in [("a", 3), ("b", 0), ("c", 2)] {
        ids.push(client.create_with(title, json!({"priority": priority})));
        house.pass_minutes(1);
    }
    client.update(&ids[0], 1, json!({}));
    let sorted = |sort: Value| titles_of(&client.ok("task_list", json!({"sort": sort})));
    assert_eq!(sorted(json!(null)), ["a", "c", "b"]);
    assert_eq!(sorted(json!("updated")), ["a", "c", "b"]);
    assert_eq!(sorted(json!("created")), ["c", "b", "a"]);
    assert_eq!(sorted(json!("priority")), ["b", "c", "a"]);
}

#[test]
fn equal_keys_are_ordered_by_id_over_pages() {
    let house = House::new();
    fill(&house, 25, "");
    let client = house.client("maria");
    for sort in ["updated", "created", "priority"] {
        let list = client.ok("task_list", json!({"sort": sort, "limit": 200}));
        let ids: Vec<&str> = rows(&list["tasks"]).iter().map(|row| text(&row["id"])).collect();
        assert!(ids.is_sorted(), "{sort}");
        assert_eq!(all_titles(&client, &json!({"sort": sort, "limit": 4})), titles_of(&list), "{sort}");
    }
}

#[test]
fn a_tag_is_found_by_words_after_an_update_of_tags_alone() {
    let house = House::new();
    let person = house.person("tomas");
    let task = person.create("Import bank statements");
    person.ok("task_update", json!({"task_id": task, "expected_version": 1, "tags": ["settlement"]}));
    assert_eq!(person.ok("task_list", json!({"tag": "settlement"}))["total"], 1);
    assert_eq!(person.ok("task_list", json!({"query": "settlement"}))["total"], 1);
}

#[test]
fn words_of_an_old_version_do_not_find_the_task() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    client.update(&task, 1, json!({"title": "Export invoices"}));
    assert_eq!(client.ok("task_list", json!({"query": "bank"}))["total"], 0);
    assert_eq!(client.ok("task_list", json!({"query": "invoices"}))["total"], 1);
    assert_eq!(client.ok("task_list", json!({"query": short(&task)}))["total"], 1);
}

#[test]
fn no_query_of_a_list_is_an_error_of_the_search_engine() {
    let house = House::new();
    let client = house.client("maria");
    client.create("The multi-agent queue in src/main.rs:42, don't use C++; 銀行明細の取り込み");
    let queries = ["multi-agent", "src/main.rs:42", "don't", "C++", "銀行", "明細の", "取り込み"];
    for query in queries {
        assert_eq!(client.ok("task_list", json!({"query": query}))["total"], 1, "{query}");
    }
    for query in
        ["\"unclosed", "queue AND", "NOT", "*", "(", "a:b", "🔧", "  ", "NEAR(a b)", "^queue", "{scope}:p1", "p1"]
    {
        client.ok("task_list", json!({"query": query}));
    }
}

#[test]
fn rw_088_a_list_is_fresh_and_holds_only_the_pinned_project() {
    let house = House::new();
    house.add_project("other");
    let (client, person) = (house.client("maria"), house.person("tomas"));
    assert_eq!(client.ok("task_list", json!({}))["total"], 0);
    person.create("by cli");
    assert_eq!(titles_of(&client.ok("task_list", json!({}))), ["by cli"]);
    let content = |title: &str| Content { title: title.to_owned(), ..Content::default() };
    let (here, there) = ("1a2b3c4d-0000-4000-8000-000000000001", "1a2b3c4d-ffff-4000-8000-000000000002");
    house.import("ledger", vec![(here.parse().expect("a UUID"), 1, content("here"))]);
    house.import("other", vec![(there.parse().expect("a UUID"), 1, content("there"))]);
    let mut titles = titles_of(&client.ok("task_list", json!({})));
    titles.sort();
    assert_eq!(titles, ["by cli", "here"]);
    assert_eq!(client.get("1a2b3c4d")["title"], "here");
    assert_eq!(client.ok("task_list", json!({"query": "there"}))["total"], 0);
    assert_eq!(client.ok("continuity_context", json!({}))["counts"]["todo"], 2);
}

#[test]
fn a_pending_handoff_is_listed_with_its_age_and_who_went_on() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    client.create("Plain");
    client.hand_off(&task, 1, CLAUDE);
    let list = client.ok("task_list", json!({"pending_handoff": true}));
    assert_eq!((&list["total"], &list["tasks"][0]["handoff"]), (&json!(1), &json!("pending")));
    assert_eq!(list["tasks"][0].get("continued_by"), None);
    house.session("tomas", CODEX).update(&task, 2, json!({"summary": "went on"}));
    let row = client.ok("task_list", json!({"pending_handoff": true}))["tasks"][0].clone();
    assert_eq!((&row["handoff"], &row["continued_by"]), (&json!("pending"), &json!("codex:01a2f6de-5c1b")));
    assert_eq!(titles_of(&client.ok("task_list", json!({"pending_handoff": false}))), ["Plain"]);
}
