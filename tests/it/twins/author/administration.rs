//! The arguments of calls about projects, profiles and tokens.

use serde_json::json;

use super::{Given, PROJECTS};
use crate::twins::texts;

const TOKENS: [&str; 8] = ["ci", "maria-laptop", "night", "日本", "o'brien \"x\"", "50%_off", "anonymous", " spaced "];
const EXPIRIES: [&str; 9] = [
    "30d",
    "12h",
    "90m",
    "1d",
    "2027-01-31T18:00:00Z",
    "2020-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z",
    "99999999d",
    "soon",
];

/// Words that stand in some texts, of several scripts.
const LEAKED: [&str; 6] = ["src/store/list.rs", "2026-11-25", "a@b.example", "क्षेत्र", "foo_bar", "ΣΊΣΥΦΟΣ"];

pub(super) fn arguments(operation: &str, given: &mut Given<'_>) {
    match operation {
        "server_identity" | "project_list" | "token_list" => {}
        "project_create" => {
            let slug = slug(given);
            given.put("project", slug);
            settings(given);
        }
        "project_show" | "profile_show" | "profile_rotate" => {
            let slug = slug(given);
            given.put("project", slug);
        }
        "project_set" => {
            let slug = slug(given);
            given.put("project", slug);
            settings(given);
            given.maybe(50, "stale_hours", |given| json!(given.draw.between(0, 72)));
            given.maybe(15, "resource", |given| match given.draw.below(3) {
                0 => json!(texts::odd(given.draw)),
                number => json!(format!("https://heyaira.example.org/{number}")),
            });
        }
        "project_archive" => {
            let slug = slug(given);
            given.put("project", slug);
            given.maybe(40, "undo", |given| json!(given.draw.percent(70)));
        }
        "project_purge" => purge(given),
        "redact" => redact(given),
        "token_create" => token_create(given),
        "token_revoke" => token_name(given),
        "token_rotate" => {
            token_name(given);
            given.maybe(40, "expires", |given| json!(given.draw.pick(&EXPIRIES)));
        }
        other => unreachable!("the author does not know {other}"),
    }
}

fn slug(given: &mut Given<'_>) -> String {
    match given.draw.below(20) {
        0 => texts::odd(given.draw),
        1 => "nowhere-else".to_owned(),
        2 => "Ledger".to_owned(),
        _ => (*given.draw.pick(&PROJECTS)).to_owned(),
    }
}

fn settings(given: &mut Given<'_>) {
    given.maybe(40, "name", |given| given.short(200));
    given.maybe(30, "language", |given| json!(given.draw.pick(&["en", "ja", "pt-BR", "x", "日本語", "de-1996"])));
}

/// Only the last project is ever really purged: the others are to grow.
fn purge(given: &mut Given<'_>) {
    let slug = if given.draw.percent(80) { "scratch".to_owned() } else { slug(given) };
    let confirm = if slug == "scratch" { "scratch" } else { "ledgers" };
    given.put("project", slug);
    given.maybe(85, "confirm", |_| json!(confirm));
}

fn redact(given: &mut Given<'_>) {
    let passage = if given.draw.percent(15) { texts::odd(given.draw) } else { (*given.draw.pick(&LEAKED)).to_owned() };
    given.put("passage", passage);
    given.maybe(30, "dry_run", |given| json!(given.draw.percent(70)));
}

fn token_create(given: &mut Given<'_>) {
    let name = match given.draw.below(10) {
        0 => texts::short(given.draw, 64),
        1..4 => format!("agent {}", given.draw.below(40)),
        _ => (*given.draw.pick(&TOKENS)).to_owned(),
    };
    given.put("name", name);
    if given.draw.percent(70) {
        let slug = slug(given);
        given.put("project", slug);
    }
    if given.draw.percent(30) {
        given.put("all_projects", given.arguments.get("project").is_none());
    }
    given.maybe(60, "role", |given| json!(given.draw.pick(&["read", "write", "admin", "owner"])));
    given.maybe(50, "expires", |given| json!(given.draw.pick(&EXPIRIES)));
}

fn token_name(given: &mut Given<'_>) {
    let name = match given.draw.any(&given.world.tokens) {
        Some(name) if given.draw.percent(85) => name.clone(),
        _ => (*given.draw.pick(&TOKENS)).to_owned(),
    };
    given.put("name", name);
}
