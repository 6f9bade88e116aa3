//! The generated reference is current. `just docs` writes it anew.

mod links;
#[cfg(unix)]
mod runs;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use heyaira::domain::rule::Rule;
use heyaira::operation::{Audience, Effect, Entry, schema};
use heyaira::operations;
use serde_json::Value;

/// Compares a page with what is generated, or writes it.
pub fn check(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name);
    if std::env::var_os("HEYAIRA_WRITE_DOCS").is_some() {
        fs::write(&path, text).expect("docs can be written");
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == text, "docs/{name} is stale: run `just docs`");
}

fn effect(entry: &Entry) -> &'static str {
    match entry.effect {
        Effect::Reads => "reads",
        Effect::Adds => "adds",
        Effect::Changes => "changes at a version",
        Effect::Administers => "administers",
    }
}

fn fields(entry: &Entry, text: &mut String) {
    let rows: Vec<_> = schema::fields(&entry.schema).collect();
    if rows.is_empty() {
        let _ = writeln!(text, "No arguments.");
        return;
    }
    let _ = writeln!(text, "| argument | type | |\n| --- | --- | --- |");
    for (name, field) in rows {
        let mut notes: Vec<String> = Vec::new();
        if schema::is_required(&entry.schema, name, field, true) {
            notes.push("required".to_owned());
        } else if schema::has(field, "x-agents-must") {
            notes.push("required of agents".to_owned());
        }
        if schema::has(field, "x-people") {
            notes.push("command line and plain HTTP only".to_owned());
        }
        let words = schema::words(field);
        if !words.is_empty() {
            notes.push(words.join(", "));
        }
        let comment = field.get("description").and_then(Value::as_str).unwrap_or_default().replace('\n', " ");
        let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) };
        let _ = writeln!(text, "| `{name}` | {} | {}{notes} |", schema::kind(field), comment.replace('|', "\\|"));
    }
}

#[test]
fn generated_docs_of_the_tools_are_current() {
    let mut text = String::from("# Tools\n\nGenerated from the operations by `just docs`.\n");
    for entry in operations::all().iter().filter(|entry| entry.audience == Audience::Everyone) {
        let _ = writeln!(text, "\n## {}\n", entry.name);
        let description = entry.schema.get("description").and_then(Value::as_str).unwrap_or_default();
        let _ = writeln!(
            text,
            "{description}\n\nIt {}; on the command line: `heyaira {}`.\n",
            effect(entry),
            entry.command
        );
        fields(entry, &mut text);
    }
    check("tools.md", &text);
}

#[test]
fn the_schema_of_a_run_report_is_current() {
    let mut text = serde_json::to_string_pretty(&heyaira::domain::run::schema()).expect("JSON");
    text.push('\n');
    check("run-report.schema.json", &text);
}

#[test]
fn generated_docs_of_the_command_line_are_current() {
    let mut text = String::from("# Command line\n\nGenerated from the commands by `just docs`.\n");
    text.push_str("\n## Exit codes\n\n| code | |\n| --- | --- |\n");
    for (exit, meaning) in heyaira::surface::cli::exits::all() {
        let _ = writeln!(text, "| {exit} | {meaning} |");
    }
    // The help has the same list below.
    let mut root = heyaira::surface::cli::commands::all().term_width(100).after_help("");
    root.build();
    describe(&mut root, "heyaira", &mut text);
    check("cli.md", &text);
}

#[test]
fn generated_docs_of_plain_http_are_current() {
    let description = heyaira::surface::http::openapi::description();
    let text = serde_json::to_string_pretty(&description).expect("JSON");
    assert!(!text.contains("\"x-check\"") && !text.contains("\"x-wire\""), "words of our own");
    check("openapi.json", &format!("{text}\n"));
}

fn describe(command: &mut clap::Command, path: &str, text: &mut String) {
    let help = command.render_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    let _ = writeln!(text, "\n## {path}\n\n```text\n{}\n```", lines.join("\n").trim_end());
    let shown = command.get_subcommands().filter(|one| !one.is_hide_set() && one.get_name() != "help");
    let names: Vec<String> = shown.map(|one| one.get_name().to_owned()).collect();
    for name in names {
        if let Some(inner) = command.find_subcommand_mut(&name) {
            describe(inner, &format!("{path} {name}"), text);
        }
    }
}

#[test]
fn generated_docs_of_the_rules_are_current() {
    let mut text = String::from(
        "# The rules of a good handoff\n\nGenerated from the rules by `just docs`. `handoff_check` and `heyaira handoff check` \
         tell all\nthat they find, `task_update` what concerns it (see below). A finding has a rule, a level, a field and a fix: one line that says what to add, \
         with an example from the\ntext itself where it has one.\n\n\
         - `error`: the next session would have to ask or search, or start wrong. Told only of shapes, which no language changes.\n\
         - `warning`: it would be better. Words are read in English and Japanese; in other languages rules about words are silent.\n\n\
         ## Grades\n\n\
         - `ready`: nothing was found; a stranger can start.\n- `thin`: something is missing; the findings say what.\n\
         - `misleading`: it contradicts itself, or git as last verified. That is: another branch or head in the texts than in the \
         receipt; an unknown or\n  superseded memory; blockers on a task that is not blocked, or none on one that is; a \
         deployment, or that it works\n  for its users, by a test alone, or a deployment in the summary where handoff_completed says nothing is deployed; two sessions.\n\n\
         The grade is judged with each write that touches the handoff and kept: lists and the packet show it while the handoff \
         waits and is\nnot ready. `handoff_check` judges anew, so that a memory that was superseded since is found.\n\n\
         ## Settings\n\nA project turns each rule to `off`, `warn` or `refuse`: `heyaira project set NAME --rule RULE=SETTING`. Several go\n\
         with commas between them, or with `--rule` once for each. What is refused is told whole, and nothing is written. A \
         takeover\nis never refused for what the session before wrote.\n\n\
         | rule | asks | default |\n| --- | --- | --- |\n",
    );
    for rule in Rule::ALL {
        let _ = writeln!(text, "| `{}` | {} | {} |", rule.as_str(), rule.asks(), rule.default_setting().as_str());
    }
    text.push_str(
        "\n## Warnings of an update\n\nThe warnings of `task_update` are of the same rules, at most 5, what contradicts first, and fewer \
         than `handoff_check` tells:\n\n\
         - What is wrong in a field is told when the update sets that field. Where either of two fields mends it, as in \
         `repository-named`,\n  the warning names the one that was set.\n\
         - What a handoff lacks is told by the update that completes it, so that from then on the handoff waits: in whatever field, \
         as\n  `handoff_check` tells it. An update that sets `handoff_next` or a receipt and completes nothing is told what is \
         missing in\n  the fields that it sets, any other nothing of what is missing.\n\
         - `text-dropped` is no rule and cannot be set: the update dropped text of a field, and the warning says in which version it \
         still\n  stands. Lines that a takeover added by itself may go unsaid.\n\
         \n## Files\n\n`heyaira handoff check FILE` (or `-`) takes a Markdown file, or a draft as JSON with the fields of `task_update`, \
         and needs no\ndatabase. Sections of a document go by their headings: what comes next (`Next`, `次にやること` and the like), what \
         blocks, and all\nelse is what is done. It has no receipt, so branch, commit and tests are looked for in its text. Exit code 0: \
         ready; 11: thin;\n12: misleading.\n",
    );
    text.push_str(
        "\nA file stands alone. `heyaira handoff check TASK --draft @FILE` lays a draft over a saved task, and saves nothing.\n",
    );
    check("handoff-rules.md", &text);
}
