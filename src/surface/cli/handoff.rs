//! `heyaira handoff check`: a saved task, a draft, or a file that no database knows. Must never guess which of them is meant,
//! and never open a database for a file.

use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;
use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches};
use serde_json::{Value, json};

use crate::domain::task::reference_problem;
use crate::domain::text::{REQUEST_MAX, grouped, quoted, visible};
use crate::error::{Code, Refusal, Result};
use crate::operations;
use crate::operations::handoff::check_loose;
use crate::surface::cli::{Session, answer, flags};

/// The exit code of a handoff in which something is missing: no refusal has it.
pub const THIN: u8 = 11;
/// The exit code of a handoff that contradicts itself, or that git contradicts: no refusal has it.
pub const MISLEADING: u8 = 12;

/// What the command takes beside what the tool takes.
pub fn language_flag() -> Arg {
    Arg::new("language")
        .long("language")
        .value_name("TAG")
        .action(ArgAction::Set)
        .help("The language that a file should be in, e.g. en; else that of the pinned heyaira.toml, else any")
}

/// Checks what is named: exit code 0 if it is ready, 11 if it is thin, 12 if it is misleading.
pub fn check(session: &Session, matches: &ArgMatches) -> Result<ExitCode> {
    let named = matches.get_one::<String>("task_id").map(String::as_str);
    let answer = match named {
        Some(named) if is_file(named)? => of_file(session, matches, named)?,
        _ => of_task(session, matches)?,
    };
    if session.json {
        answer::print(&answer, true)?;
    } else {
        answer::write(&visible(&report(&answer)))?;
    }
    match answer["grade"].as_str() {
        Some("ready") => Ok(ExitCode::SUCCESS),
        Some("thin") => Ok(ExitCode::from(THIN)),
        Some("misleading") => Ok(ExitCode::from(MISLEADING)),
        _ => Err(Refusal::internal(&"a handoff was checked and has no grade")),
    }
}

/// True for a file or standard input, false for what can only be a task.
fn is_file(named: &str) -> Result<bool> {
    let is_there = named == "-" || Path::new(named).exists();
    match (is_there, reference_problem(named)) {
        (true, Some(_)) => Ok(true),
        (false, None) => Ok(false),
        (true, None) => Err(Refusal::argument(format!(
            "{named} is a file here and could be a task: write ./{named} for the file, or the whole id of the task"
        ))),
        (false, Some(_)) => Err(Refusal::new(
            Code::NotFound,
            format!("there is no file {}, and it is no task id", quoted(named, 120)),
            "Name a Markdown file, a draft as JSON, - for standard input, or a task by at least 4 characters of its id.",
        )),
    }
}

fn of_task(session: &Session, matches: &ArgMatches) -> Result<Value> {
    let entry = operations::named("handoff_check").ok_or_else(|| Refusal::internal(&"handoff_check is not listed"))?;
    session.ask(entry, flags::arguments(entry, matches)?)
}

fn of_file(session: &Session, matches: &ArgMatches, named: &str) -> Result<Value> {
    if matches.contains_id("draft") {
        return Err(Refusal::argument("draft is laid over a task, and a file was named: name one of them"));
    }
    let text = read(named)?;
    let pinned = session.config.found_profile()?.and_then(|profile| profile.language);
    let language = matches.get_one::<String>("language").cloned().or(pinned);
    let found = check_loose(text.trim_start_matches('\u{feff}'), language.as_deref())?;
    let mut answer = json!({"file": named});
    if let (Some(fields), Value::Object(found)) = (answer.as_object_mut(), found) {
        fields.extend(found);
    }
    Ok(answer)
}

fn read(named: &str) -> Result<String> {
    let mut bytes = Vec::new();
    let most = u64::try_from(REQUEST_MAX).unwrap_or(u64::MAX);
    let read = if named == "-" {
        std::io::stdin().lock().take(most + 1).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(named).and_then(|file| file.take(most + 1).read_to_end(&mut bytes))
    };
    let unreadable =
        |what: String| Refusal::new(Code::InvalidArgument, format!("{named} {what}"), "Name a readable UTF-8 file.");
    read.map_err(|error| unreadable(format!("cannot be read: {error}")))?;
    if bytes.len() > REQUEST_MAX {
        return Err(Refusal::new(
            Code::TooLarge,
            format!("{named} has more than {} bytes", grouped(REQUEST_MAX)),
            "A handoff of that size helps nobody: name a shorter file.",
        ));
    }
    String::from_utf8(bytes).map_err(|_| unreadable("is not UTF-8 text".to_owned()))
}

/// The grade, each finding on two lines, and what git contradicts.
fn report(answer: &Value) -> String {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let named = if answer["file"].is_string() { word(&answer["file"]) } else { word(&answer["task_id"]) };
    let mut text = format!("{named}: {}\n", word(&answer["grade"])).trim_start_matches(": ").to_owned();
    for finding in answer["findings"].as_array().into_iter().flatten() {
        let (level, field, rule) = (word(&finding["level"]), word(&finding["field"]), word(&finding["rule"]));
        let _ = writeln!(text, "{level}  {field}  {rule}\n    {}", word(&finding["fix"]));
    }
    if answer["verified"].is_string() {
        let _ = writeln!(text, "error  work_receipt  verified: {}", word(&answer["verified"]));
        for difference in answer["differences"].as_array().into_iter().flatten() {
            let _ = writeln!(text, "    {}", word(difference));
        }
    }
    text
}
