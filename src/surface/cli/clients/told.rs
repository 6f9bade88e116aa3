//! What `heyaira setup` tells: which files, what is in their change, what remains to be done. Must never show what others
//! keep in these files.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::client::place::Places;
use crate::client::setup::Scope;
use crate::client::setup::execution::{Ready, Undoing};
use crate::client::setup::record::Record;
use crate::domain::text::visible;
use crate::error::Result;
use crate::surface::cli::clients::connection::Connection;
use crate::surface::cli::clients::{Asked, steps};
use crate::surface::cli::{Session, answer};

/// Tells what was set up, or would be.
pub fn set_up(
    session: &Session,
    asked: &Asked,
    places: &Places,
    connection: &Connection,
    ready: &[Ready],
    record: &Record,
) -> Result<ExitCode> {
    let is_new = !connection.made.is_empty() || ready.iter().any(Ready::changes);
    let steps = steps::next(asked, places, connection, ready, is_new);
    let notes: Vec<String> = connection.notes.iter().cloned().chain(steps).collect();
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
    let verb = if asked.dry_run && is_new { "would be set up" } else { "is set up" };
    let mut text = format!(
        "{} {verb} for project {} ({}).{}\n",
        asked.client.title(),
        connection.project,
        scope_word(asked.scope()),
        if is_new { "" } else { " Nothing to change." }
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

/// Tells what was taken back, or would be; `kept_for` are the repositories for which the person's own files stay.
pub fn undone(
    session: &Session,
    asked: &Asked,
    plan: &[(Ready, Undoing)],
    record: &Record,
    kept_for: &[PathBuf],
) -> Result<ExitCode> {
    let notes = undone_notes(asked, record, kept_for);
    if session.json {
        let files: Vec<Value> = plan.iter().map(|(one, undoing)| undoing_told(asked, one, undoing)).collect();
        let told = json!({
            "client": asked.client.name(),
            "undo": true,
            "dry_run": asked.dry_run,
            "files": files,
            "notes": notes,
        });
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
    for note in notes {
        let _ = writeln!(text, "- {note}");
    }
    answer::write(&visible(&text))?;
    Ok(ExitCode::SUCCESS)
}

/// What stays, and what takes it away.
fn undone_notes(asked: &Asked, record: &Record, kept_for: &[PathBuf]) -> Vec<String> {
    let name = asked.client.name();
    let listed = |roots: &[PathBuf]| roots.iter().map(|root| root.display().to_string()).collect::<Vec<_>>().join(", ");
    let users = || record.files.iter().flat_map(|kept| &kept.users).filter(|user| user.client == name);
    if !kept_for.is_empty() && users().any(|user| user.repository.is_none()) {
        return vec![format!(
            "What is in your own files stays, as it is used in {}: heyaira setup {name} --undo --scope user takes it back.",
            listed(kept_for)
        )];
    }
    let mut roots: Vec<PathBuf> = users().filter_map(|user| user.repository.clone()).collect();
    roots.sort();
    roots.dedup();
    if asked.dry_run || roots.is_empty() {
        return Vec::new();
    }
    vec![format!("Also set up in {}: run heyaira setup {name} --undo there.", listed(&roots))]
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
