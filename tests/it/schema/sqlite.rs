//! The schema as `SQLite` tells it: its pragmas, and for checks the statement that made a table.

use super::{condition, list};
use crate::database::TestDatabase;

/// Keys that the program gives, although the database would number them.
const GIVEN: [&str; 1] = ["instance.only_row"];

/// Everything that the schema says.
pub(super) fn sentences(database: &TestDatabase) -> Vec<String> {
    let ask = |sql: &str| -> Vec<Vec<String>> {
        let rows = database.texts(sql);
        rows.into_iter().map(|row| row.into_iter().map(Option::unwrap_or_default).collect()).collect()
    };
    let tables = ask("select name, sql from sqlite_master where type = 'table' and name not like 'sqlite_%'");
    let mut told = Vec::new();
    for table in tables {
        let [table, made] = &table[..] else { unreachable!("two columns") };
        told.push(format!("{table} is a table"));
        told.extend(columns(table, made, &ask));
        told.extend(checks(made).into_iter().map(|check| format!("{table} checks {}", condition(check))));
        told.extend(indexes(table, &ask));
        let keys = format!("select \"from\", \"table\", \"to\", on_delete from pragma_foreign_key_list('{table}')");
        for key in ask(&keys) {
            let end = if key[3] == "CASCADE" { " and goes with it" } else { "" };
            told.push(format!("{table}.{} is one of {}.{}{end}", key[0], key[1], key[2]));
        }
    }
    told
}

fn columns(table: &str, made: &str, ask: &impl Fn(&str) -> Vec<Vec<String>>) -> Vec<String> {
    let columns = ask(&format!(
        "select name, type, \"notnull\", coalesce(dflt_value, ''), pk from pragma_table_info('{table}') order by cid"
    ));
    let mut key: Vec<(&str, &str)> = columns
        .iter()
        .filter(|column| column[4] != "0")
        .map(|column| (column[4].as_str(), column[0].as_str()))
        .collect();
    key.sort_unstable();
    let names = list(columns.iter().map(|column| &column[0]));
    let mut told = vec![format!("{table} has the columns {names}")];
    if !key.is_empty() {
        told.push(format!("{table} has the primary key {}", list(key.iter().map(|(_, name)| name))));
    }
    for column in &columns {
        let [name, kind, not_null, default, place] = &column[..] else { unreachable!("five columns") };
        let lower = kind.to_lowercase();
        let kind = match lower.as_str() {
            "integer" | "bigint" => "a whole number",
            "text" => "text",
            "blob" => "bytes",
            other => other,
        };
        told.push(format!("{table}.{name} is {kind}"));
        // A key is never null here either: numbered by the database, or in a table that is its own key.
        if not_null == "1" || place != "0" {
            told.push(format!("{table}.{name} is never null"));
        }
        if !default.is_empty() {
            told.push(format!("{table}.{name} is {default} by default"));
        }
        let is_numbered = key.len() == 1 && place == "1" && lower == "integer" && !made.contains("without rowid");
        if is_numbered && !GIVEN.contains(&format!("{table}.{name}").as_str()) {
            told.push(format!("{table}.{name} is numbered by the database"));
        }
    }
    told
}

fn indexes(table: &str, ask: &impl Fn(&str) -> Vec<Vec<String>>) -> Vec<String> {
    let found = ask(&format!(
        "select l.name, l.\"unique\", l.origin, coalesce(m.sql, '') from pragma_index_list('{table}') l \
         left join sqlite_master m on m.name = l.name"
    ));
    let mut told = Vec::new();
    for index in found {
        let [name, is_unique, origin, made] = &index[..] else { unreachable!("four columns") };
        let columns = ask(&format!("select name, desc from pragma_index_xinfo('{name}') where key = 1 order by seqno"));
        let columns = list(
            columns
                .iter()
                .map(|column| if column[1] == "1" { format!("{} desc", column[0]) } else { column[0].clone() }),
        );
        match origin.as_str() {
            "pk" => {}
            "u" => told.push(format!("{table} has one row at most for each {columns}")),
            _ => {
                let unique = if is_unique == "1" { "unique " } else { "" };
                let only = made.split_once(" where ").map(|(_, only)| format!(" where {}", condition(only)));
                told.push(format!("{table} has the {unique}index {name} on {columns}{}", only.unwrap_or_default()));
            }
        }
    }
    told
}

/// The conditions of a table's checks: what stands in the brackets behind each.
fn checks(made: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (start, word) in made.match_indices("check (") {
        let rest = &made[start + word.len()..];
        let mut depth = 1;
        let end = rest.char_indices().find_map(|(place, character)| {
            depth += match character {
                '(' => 1,
                ')' => -1,
                _ => 0,
            };
            (depth == 0).then_some(place)
        });
        found.push(&rest[..end.expect("a bracket that closes")]);
    }
    found
}
