//! What `heyaira setup` tells: which files, what is in their change, what remains to be done. Must never show what others
//! keep in these files.

use std::fmt::Write as _;
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::client::Client;
use crate::client::setup::execution::{Ready, Undoing};
use crate::client::setup::record::Record;
use crate::client::setup::{Part, Scope};
use crate::domain::text::visible;
use crate::error::Result;
use crate::surface::cli::clients::Asked;
use crate::surface::cli::clients::connection::Connection;
use crate::surface::cli::{Session, answer};

/// Tells what was set up, or would be.
pub fn set_up(
    session: &Session,
    asked: &Asked,
    connection: &Connection,
    ready: &[Ready],
    record: &Record,
) -> Result<ExitCode> {
    let notes: Vec<String> = connection.notes.iter().cloned().chain(next_steps(asked, ready)).collect();
    if session.json {
        let files: Vec<Value> = ready.iter().map(|one| file_told(asked, one, record)).collect();
        let told = json!({
            "client": asked.client.name(),
            "scope": scope_word(asked.scope()),
            "project": connection.project,
            "dry_run": asked.dry_run,
            "made": connection.made,
            "files": files,
            "notes": notes,
        });
        return answer::print(&told, true);
    }
    let verb = if asked.dry_run { "would be set up" } else { "is set up" };
    let mut text = format!(
        "{} {verb} for project {} ({}).\n",
        asked.client.title(),
        connection.project,
        scope_word(asked.scope())
    );
    for made in &connection.made {
        let _ = writeln!(text, "  {:11} {made}", if asked.dry_run { "would make" } else { "made" });
    }
    for one in ready {
        let _ = writeln!(text, "  {:11} {} ({})", state(asked, one), one.path.display(), parts(one).join(", "));
    }
    if asked.dry_run {
        text.extend(ready.iter().map(Ready::difference));
    }
    for note in &notes {
        let _ = writeln!(text, "- {note}");
    }
    answer::write(&visible(&text))?;
    Ok(ExitCode::SUCCESS)
}

fn scope_word(scope: Scope) -> &'static str {
    match scope {
        Scope::User => "user",
        Scope::Project => "project",
    }
}

fn state(asked: &Asked, one: &Ready) -> &'static str {
    match (one.changes(), asked.dry_run) {
        (false, _) => "unchanged",
        (true, true) => "would write",
        (true, false) => "written",
    }
}

fn parts(one: &Ready) -> Vec<&'static str> {
    one.parts.iter().map(|part| part.as_str()).collect()
}

fn file_told(asked: &Asked, one: &Ready, record: &Record) -> Value {
    let mut told = json!({
        "file": one.path.display().to_string(),
        "parts": parts(one),
        "state": state(asked, one).replace(' ', "_"),
    });
    if let Some(copy) = record.of(&one.target).and_then(|kept| record.copy(kept)) {
        told["backup"] = json!(copy.display().to_string());
    }
    if asked.dry_run {
        told["diff"] = json!(one.difference());
    }
    told
}

/// What the person has to do, as far as it differs from client to client.
fn next_steps(asked: &Asked, ready: &[Ready]) -> Vec<String> {
    let has_hooks = ready.iter().any(|one| one.parts.contains(&Part::Hooks));
    let of_project = asked.scope() == Scope::Project;
    let mut steps: Vec<String> = match asked.client {
        Client::ClaudeCode if of_project => {
            vec!["Claude Code asks each person once whether this repository's server may be started.".to_owned()]
        }
        Client::Codex if has_hooks => vec![
            "Codex skips hooks until you trust them: start codex, enter /hooks, and trust those of heyaira.".to_owned(),
        ],
        Client::Gemini => vec![
            "Gemini CLI asks before it calls a tool of heyaira. To be asked no more, set \"trust\": true in its entry."
                .to_owned(),
        ],
        Client::ClaudeDesktop | Client::Cursor | Client::VsCode | Client::Zed | Client::Goose => vec![format!(
            "Written from the documentation of {0}; it was not tested with {0} itself.",
            asked.client.title()
        )],
        _ => Vec::new(),
    };
    steps.push(format!("Sessions of {} that run already do not see it: start a new one.", asked.client.title()));
    steps
}

/// Tells what was taken back, or would be.
pub fn undone(session: &Session, asked: &Asked, plan: &[(Ready, Undoing)], record: &Record) -> Result<ExitCode> {
    if session.json {
        let files: Vec<Value> = plan.iter().map(|(one, undoing)| undoing_told(asked, one, undoing)).collect();
        let told = json!({"client": asked.client.name(), "undo": true, "dry_run": asked.dry_run, "files": files});
        return answer::print(&told, true);
    }
    let title = asked.client.title();
    let mut text = if plan.is_empty() {
        format!("Nothing of a set-up of {title} is recorded here.\n")
    } else {
        format!("The set-up of {title} {} taken back.\n", if asked.dry_run { "would be" } else { "is" })
    };
    for (one, undoing) in plan {
        let _ = writeln!(text, "  {} {}", one.path.display(), undoing_words(one, undoing));
    }
    if asked.dry_run {
        text.extend(plan.iter().map(|(one, _)| one.difference()));
    }
    let elsewhere = record.files.iter().flat_map(|kept| &kept.users).filter(|user| user.client == asked.client.name());
    let mut roots: Vec<String> =
        elsewhere.filter_map(|user| user.repository.as_ref()).map(|root| root.display().to_string()).collect();
    roots.sort();
    roots.dedup();
    if !asked.dry_run && !roots.is_empty() {
        let _ = writeln!(
            text,
            "- Also set up in {}: run heyaira setup {} --undo there.",
            roots.join(", "),
            asked.client.name()
        );
    }
    answer::write(&visible(&text))?;
    Ok(ExitCode::SUCCESS)
}

fn undoing_words(one: &Ready, undoing: &Undoing) -> String {
    match undoing {
        Undoing::Restored if one.after.is_none() => "removed: it was not there before".to_owned(),
        Undoing::Restored => "as before".to_owned(),
        Undoing::TakenOut if one.after.is_none() => "removed: nothing but ours was left in it".to_owned(),
        Undoing::TakenOut => "changed since by others: only what is ours taken out".to_owned(),
        Undoing::Nothing => "nothing of ours left in it".to_owned(),
        Undoing::Shared(users) => {
            let names: Vec<&str> = users.iter().map(|user| user.client.as_str()).collect();
            format!("left: still used by {}", names.join(", "))
        }
        Undoing::Left(why) => format!("left: it {why}"),
    }
}

fn undoing_told(asked: &Asked, one: &Ready, undoing: &Undoing) -> Value {
    let state = match undoing {
        Undoing::Restored if one.after.is_none() => "removed",
        Undoing::Restored => "restored",
        Undoing::TakenOut => "taken_out",
        Undoing::Nothing => "nothing",
        Undoing::Shared(_) => "shared",
        Undoing::Left(_) => "left",
    };
    let mut told = json!({"file": one.path.display().to_string(), "state": state, "told": undoing_words(one, undoing)});
    if asked.dry_run {
        told["diff"] = json!(one.difference());
    }
    told
}
