//! From an operation's schema to its flags, and from flags back to its arguments.
//! Must never check a value: that is done once, for every surface, in `operation/arguments.rs`.
//!
//! A field named `project` that is no position makes a `--project` of its own, which takes the place of the flag that
//! every other command has for its connection's project.

use std::io::Read;

use clap::{Arg, ArgAction, ArgMatches};
use serde_json::{Map, Value, json};

use crate::domain::secret::masked;
use crate::error::{Code, Refusal, Result};
use crate::operation::{Entry, schema};

/// The arguments of an operation's command.
pub fn of(entry: &Entry) -> Vec<Arg> {
    let mut flags = Vec::new();
    for (name, field) in schema::fields(&entry.schema) {
        flags.push(flag(name, field));
        for (inner_name, inner) in receipt_fields(field) {
            flags.push(text_flag(&inner_flag(name, inner_name), help(inner, "")));
        }
    }
    flags
}

fn flag(name: &str, field: &Value) -> Arg {
    let words = schema::words(field);
    let hint = match schema::kind(field) {
        "object" => " (JSON, or @FILE, or @- for standard input)".to_owned(),
        _ if takes_file(field) => " (or @FILE, or @- for standard input)".to_owned(),
        _ if !words.is_empty() => format!(" [{}]", words.join(", ")),
        _ => String::new(),
    };
    let help = help(field, &hint);
    if schema::has(field, "x-position") {
        let several = !takes_id(field);
        return Arg::new(name.to_owned())
            .value_name(name.to_uppercase())
            .help(help)
            .num_args(1..=if several { usize::MAX } else { 1 })
            .action(if several { ArgAction::Append } else { ArgAction::Set });
    }
    let kebab = name.replace('_', "-");
    match schema::kind(field) {
        "boolean" => Arg::new(name.to_owned())
            .long(kebab)
            .help(help)
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
            .value_name("true|false")
            .action(ArgAction::Set),
        "array" => text_flag(name, help).long(kebab).action(ArgAction::Append),
        _ => text_flag(name, help).long(kebab),
    }
}

fn text_flag(name: &str, help: String) -> Arg {
    // A text that starts with a dash is text: no flag of ours is ever a value.
    Arg::new(name.to_owned())
        .long(name.replace('_', "-"))
        .help(help)
        .value_name("VALUE")
        .allow_hyphen_values(true)
        .action(ArgAction::Set)
}

fn help(field: &Value, hint: &str) -> String {
    let text = field.get("description").and_then(Value::as_str).unwrap_or_default();
    format!("{}{hint}", text.replace('\n', " ").replace('`', ""))
}

fn takes_id(field: &Value) -> bool {
    let check = field.get("x-check").and_then(Value::as_str);
    check.is_some_and(|check| !matches!(check, "handoff" | "query"))
}

/// Long texts may come from a file.
fn takes_file(field: &Value) -> bool {
    schema::kind(field) == "string"
        && schema::words(field).is_empty()
        && field.get("maxLength").is_none()
        && field.get("x-check").is_none()
        && field.get("x-position").is_none()
        && field.get("x-agents-must").is_none()
}

/// The fields of an object that holds nothing but texts; each has a flag of its own.
fn receipt_fields(field: &Value) -> Vec<(&String, &Value)> {
    if schema::kind(field) != "object" {
        return Vec::new();
    }
    let fields: Vec<_> = field.as_object().into_iter().flat_map(schema::fields).collect();
    let plain = fields.iter().all(|(_, inner)| schema::kind(inner) == "string" && schema::words(inner).is_empty());
    if plain { fields } else { Vec::new() }
}

/// `work_receipt` and `branch` make `receipt_branch`.
fn inner_flag(name: &str, inner: &str) -> String {
    let last = name.rsplit('_').next().unwrap_or(name);
    format!("{last}_{inner}")
}

/// The arguments that the flags of a command line give.
pub fn arguments(entry: &Entry, matches: &ArgMatches) -> Result<Value> {
    let mut arguments = Map::new();
    check_standard_input(entry, matches)?;
    for (name, field) in schema::fields(&entry.schema) {
        if let Some(value) = given(name, field, matches)? {
            arguments.insert(name.clone(), value);
        }
        let mut inner = Map::new();
        for (inner_name, _) in receipt_fields(field) {
            if let Some(text) = matches.get_one::<String>(&inner_flag(name, inner_name)) {
                inner.insert(inner_name.clone(), json!(text));
            }
        }
        if !inner.is_empty() {
            add_inner(&mut arguments, name, inner)?;
        }
    }
    Ok(Value::Object(arguments))
}

/// Standard input can be read once: a second field that asks for it would get nothing, and be cleared.
fn check_standard_input(entry: &Entry, matches: &ArgMatches) -> Result<()> {
    let asks = |name: &&String| matches.get_many::<String>(name).into_iter().flatten().any(|value| value == "@-");
    let names: Vec<String> = schema::fields(&entry.schema).map(|(name, _)| name).filter(asks).cloned().collect();
    if names.len() < 2 {
        return Ok(());
    }
    Err(Refusal::argument(format!(
        "only one field can come from standard input, not {}",
        crate::domain::text::listed(&names)
    )))
}

/// Lays single fields over an object that was given whole.
fn add_inner(arguments: &mut Map<String, Value>, name: &str, inner: Map<String, Value>) -> Result<()> {
    let whole = match arguments.get(name) {
        None => Map::new(),
        Some(Value::String(json)) => {
            serde_json::from_str(json).map_err(|_| Refusal::argument(format!("{name} is no JSON object")))?
        }
        Some(Value::Object(whole)) => whole.clone(),
        Some(_) => return Err(Refusal::argument(format!("{name} is no JSON object"))),
    };
    let merged: Map<String, Value> = whole.into_iter().chain(inner).collect();
    arguments.insert(name.to_owned(), Value::Object(merged));
    Ok(())
}

fn given(name: &str, field: &Value, matches: &ArgMatches) -> Result<Option<Value>> {
    let Some(values) = matches.get_many::<String>(name) else {
        return Ok(None);
    };
    let values: Vec<&String> = values.collect();
    let reads_file = takes_file(field) || schema::kind(field) == "object";
    Ok(Some(match (schema::kind(field), values.as_slice()) {
        ("boolean", [word]) => match word.as_str() {
            "true" => json!(true),
            "false" => json!(false),
            other => json!(other),
        },
        ("array", [one]) => json!(one),
        ("array", several) => {
            let words = several.iter().flat_map(|value| value.split(',')).map(str::trim);
            json!(words.filter(|word| !word.is_empty()).collect::<Vec<_>>())
        }
        (_, [one]) if reads_file => json!(content(name, one)?),
        (_, several) => json!(several.iter().map(|word| word.as_str()).collect::<Vec<_>>().join(" ")),
    }))
}

/// The text of a value: as it stands, of a file (`@FILE`) or of standard input (`@-`); `@@` starts a text with `@`.
pub(super) fn content(name: &str, value: &str) -> Result<String> {
    let Some(rest) = value.strip_prefix('@') else {
        return Ok(value.to_owned());
    };
    if rest.starts_with('@') {
        return Ok(rest.to_owned());
    }
    let mut bytes = Vec::new();
    let read = if rest == "-" {
        std::io::stdin().lock().read_to_end(&mut bytes).map(drop)
    } else {
        std::fs::read(rest).map(|read| bytes = read)
    };
    let unreadable = |what: String| {
        // A password may start with an @.
        let rest = masked(rest);
        Refusal::new(
            Code::InvalidArgument,
            format!("{name}: {what}"),
            format!("Name a readable UTF-8 file; a text that starts with @ is written @@{rest}. Nothing was written."),
        )
    };
    read.map_err(|error| unreadable(format!("{} cannot be read: {error}", masked(rest))))?;
    String::from_utf8(bytes).map_err(|_| unreadable(format!("{} is not UTF-8 text", masked(rest))))
}
