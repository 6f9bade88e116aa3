//! The two prompts: the procedures, ready to be followed. Must never hold stored text, nor a word that a client sent:
//! an argument is read as a handoff line and written anew.

use rmcp::model::{ErrorData, GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::Value;

use crate::domain::handoff::{self, Line};
use crate::domain::text;
use crate::surface::mcp::procedures::{self, Procedure};

/// The words of a handoff line. Some clients split what is typed at white space, whatever quotes stand around it, so
/// that `handoff: 8e287857 v7` fills three arguments; others ask for each by name.
const WORDS: [(&str, &str); 3] = [
    ("line", "The handoff line, e.g. handoff: 8e287857 v7; or only its first word, or only the task id"),
    ("task_id", "The task id, if the line is given word by word"),
    ("version", "The version, e.g. v7, if the line is given word by word"),
];

/// The longest line that is read, in characters.
const LINE_MAX: usize = 200;

/// The list of prompts.
pub fn list() -> Vec<Prompt> {
    let words = WORDS.map(|(name, description)| PromptArgument::new(name).with_description(description));
    vec![prompt(&procedures::WRITE, None), prompt(&procedures::TAKE_OVER, Some(words.into()))]
}

fn prompt(procedure: &Procedure, arguments: Option<Vec<PromptArgument>>) -> Prompt {
    Prompt::new(procedure.name, Some(procedure.description), arguments).with_title(procedure.title)
}

/// One prompt, or an error for a name that does not exist and for arguments that are no handoff line.
pub fn get(name: &str, arguments: Option<&JsonObject>) -> Result<GetPromptResult, ErrorData> {
    let procedure = [&procedures::WRITE, &procedures::TAKE_OVER].into_iter().find(|one| one.name == name);
    let Some(procedure) = procedure else {
        let shown = text::quoted(name, 60);
        let known = format!("{} and {}", procedures::WRITE.name, procedures::TAKE_OVER.name);
        return Err(ErrorData::invalid_params(format!("There is no prompt {shown}; there are {known}"), None));
    };
    let mut body = procedure.text.to_owned();
    if name == procedures::TAKE_OVER.name
        && let Some(line) = line(arguments)?
    {
        body.push_str("\nYou were given: ");
        body.push_str(&line);
        body.push('\n');
    }
    let messages = vec![PromptMessage::new_text(Role::User, body)];
    Ok(GetPromptResult::new(messages).with_description(procedure.description))
}

/// The line that the arguments make up, written anew; `None` if there are none.
fn line(arguments: Option<&JsonObject>) -> Result<Option<String>, ErrorData> {
    let mut given = WORDS.map(|(name, _)| arguments.and_then(|given| given.get(name)).map(shown).unwrap_or_default());
    let [.., version] = &mut given;
    if version.starts_with(|first: char| first.is_ascii_digit()) {
        version.insert(0, 'v');
    }
    let words: Vec<&str> = given.iter().map(|word| word.trim()).filter(|word| !word.is_empty()).collect();
    if words.is_empty() {
        return Ok(None);
    }
    if words.iter().all(|word| is_placeholder(word)) {
        return Ok(Some(words.join(" ")));
    }
    let pasted = words.join(" ");
    if text::length(&pasted) > LINE_MAX {
        let message =
            format!("The handoff line is longer than {LINE_MAX} characters; it looks like handoff: 8e287857 v7");
        return Err(ErrorData::invalid_params(message, None));
    }
    let Line { id, version } =
        handoff::parse_line(&pasted).map_err(|problem| ErrorData::invalid_params(problem, None))?;
    Ok(Some(match version {
        Some(version) => format!("`handoff: {id} v{version}`"),
        None => format!("`handoff: {id}`"),
    }))
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

/// OpenCode asks for a prompt with `$1`, `$2`, … and fills in what is typed later; those stay as they are.
fn is_placeholder(word: &str) -> bool {
    word.strip_prefix('$').is_some_and(|rest| rest.len() == 1 && rest.bytes().all(|byte| byte.is_ascii_digit()))
}
