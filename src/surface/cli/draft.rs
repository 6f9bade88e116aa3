//! `heyaira handoff draft`: what sessions left in this working tree that ended without a handoff, as a beginning for one.
//! Must never be taken for a handoff: nobody said what is done and what comes next.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Value, json};

use crate::client::state::State;
use crate::client::state::draft::{Draft, tree_of};
use crate::domain::text::visible;
use crate::error::{Code, Refusal, Result};
use crate::surface::cli::{Session, answer};

/// The command and its flags.
pub fn command() -> Command {
    Command::new("draft")
        .about("What sessions left in this working tree that ended without a handoff, as the hooks saw it")
        .long_about(
            "What sessions left in this working tree that ended without a handoff, as the hooks saw it: branch, commits, files \
             that are not committed. It is the beginning of a handoff: what is done and what comes next is yours to say. \
             Needs no database.",
        )
        .arg(Arg::new("clear").long("clear").action(ArgAction::SetTrue).help("Forget them"))
}

/// Prints the drafts of the current folder's working tree, the newest first, or forgets them.
pub fn run(session: &Session, matches: &ArgMatches) -> Result<ExitCode> {
    let tree = tree_of(&session.config.folder).ok_or_else(|| {
        Refusal::new(Code::NotFound, "this folder is in no git repository", "Call it in the repository's working tree.")
    })?;
    let state = State::find(|name| std::env::var_os(name)).ok_or_else(|| {
        Refusal::argument(
            "there is no home folder for the state of the hooks, or HEYAIRA_STATE does not name one from the root",
        )
    })?;
    let drafts = state.drafts(&tree);
    if matches.get_flag("clear") {
        for draft in &drafts {
            state.remove_draft(&tree, &draft.session_ref);
        }
        let text = format!("{} forgotten\n", drafts.len());
        return print(session, &json!({"cleared": drafts.len()}), &text);
    }
    let told: Vec<Value> = drafts.iter().map(as_json).collect();
    let text = if drafts.is_empty() {
        "no session ended here without a handoff\n".to_owned()
    } else {
        drafts.iter().map(as_markdown).collect::<Vec<String>>().join("\n")
    };
    print(session, &json!({"drafts": told}), &text)
}

fn print(session: &Session, answer: &Value, text: &str) -> Result<ExitCode> {
    if session.json {
        return answer::print(answer, true);
    }
    answer::write(&visible(text)).map(|()| ExitCode::SUCCESS)
}

/// With a receipt as `task update` takes it.
fn as_json(draft: &Draft) -> Value {
    let parts = [
        ("session_ref", Some(&draft.session_ref)),
        ("branch", draft.branch.as_ref()),
        ("base_commit", draft.base_commit.as_ref()),
        ("result_commit", draft.result_commit.as_ref()),
    ];
    let receipt: serde_json::Map<String, Value> =
        parts.into_iter().filter_map(|(name, text)| Some((name.to_owned(), json!(text?)))).collect();
    json!({
        "ended": draft.ended,
        "folder": draft.folder,
        "commits": draft.commits,
        "uncommitted": draft.uncommitted,
        "untracked": draft.untracked,
        "files": draft.files,
        "work_receipt": receipt,
    })
}

/// A name as code, whatever is in it: it begins no line of its own and ends no code.
fn code(name: &str) -> String {
    let name = visible(&name.replace('\n', "\\n"));
    let runs = name.split(|character| character != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or_default() + 1);
    let space = if fence.len() > 1 { " " } else { "" };
    format!("{fence}{space}{name}{space}{fence}")
}

fn as_markdown(draft: &Draft) -> String {
    let mut text = format!("# Left without a handoff\n\n- Session: {}, ended {}\n", draft.session_ref, draft.ended);
    let named = [
        ("Working tree", Some(&draft.folder)),
        ("Branch", draft.branch.as_ref()),
        ("Base commit", draft.base_commit.as_ref()),
        ("Result commit", draft.result_commit.as_ref()),
    ];
    for (name, value) in named {
        if let Some(value) = value {
            let _ = writeln!(text, "- {name}: {}", code(value));
        }
    }
    if !draft.commits.is_empty() {
        let _ = writeln!(text, "\n## Commits since it began\n");
        for id in &draft.commits {
            let _ = writeln!(text, "- `{id}`");
        }
    }
    if !draft.files.is_empty() {
        let _ = writeln!(text, "\n## Not committed: {} changed, {} new\n", draft.uncommitted, draft.untracked);
        for name in &draft.files {
            let _ = writeln!(text, "- {}", code(name));
        }
        let rest = (draft.uncommitted + draft.untracked).saturating_sub(draft.files.len() as u64);
        if rest > 0 {
            let _ = writeln!(text, "- and {rest} more");
        }
    }
    text
}
