//! What remains for the person to do after a set-up, as far as it differs from client to client. Must never tell to do
//! what is done already.

use crate::client::Client;
use crate::client::place::Places;
use crate::client::setup::consent::{asks_for_tools, trusts};
use crate::client::setup::examination::untrusted_hooks;
use crate::client::setup::execution::Ready;
use crate::client::setup::{Part, Scope};
use crate::surface::cli::clients::Asked;
use crate::surface::cli::clients::connection::Connection;

/// All of it; `is_new`: something was changed, or would be.
pub fn next(asked: &Asked, places: &Places, connection: &Connection, ready: &[Ready], is_new: bool) -> Vec<String> {
    let title = asked.client.title();
    let mut steps: Vec<String> =
        untrusted(asked, places, connection).into_iter().chain(asked_again(asked, places, connection)).collect();
    let hooks = ready.iter().find(|one| one.parts.contains(&Part::Hooks)).filter(|_| asked.client == Client::Codex);
    // Its trust is for the hooks as they are.
    if hooks.is_some_and(|hooks| hooks.changes() || untrusted_hooks(places, &hooks.path) > 0) {
        steps.push(
            "Codex skips hooks until you trust them as they are now: start codex and trust all when it asks, or enter /hooks."
                .to_owned(),
        );
    }
    if asked.client.is_app() && asked.scope() == Scope::User {
        let project = &connection.project;
        steps.push(format!(
            "It serves project {project} wherever it works: a set-up for another project takes its place."
        ));
    }
    if asked.client.is_app() {
        steps.push(format!("Written from the documentation of {title}; it was not tested with {title} itself."));
    }
    if is_new {
        steps.push(format!("Sessions of {title} that run already do not see it: start a new one."));
    }
    steps.extend(to_paste(asked, connection));
    steps
}

/// Where the client starts nothing before the person has trusted the folder.
fn untrusted(asked: &Asked, places: &Places, connection: &Connection) -> Option<String> {
    let root = &connection.repository.as_ref()?.root;
    let of_project = asked.scope() == Scope::Project;
    if trusts(asked.client, places, root, |name| std::env::var(name).ok()) {
        return None;
    }
    match asked.client {
        Client::Gemini => Some(
            "Gemini CLI starts no server and no hook in a folder that you do not trust, yours neither: start gemini here \
             and trust it (in a headless run: GEMINI_CLI_TRUST_WORKSPACE=true)."
                .to_owned(),
        ),
        Client::Codex if of_project => {
            Some("Codex reads .codex in projects that you trust alone: start codex here and say so.".to_owned())
        }
        Client::Copilot if of_project => Some(
            "Copilot CLI reads .github in folders that you trust alone: start copilot here and trust it (in a headless \
             run: --trust-folder)."
                .to_owned(),
        ),
        _ => None,
    }
}

/// Where the client asks the person each time, unless told otherwise once; that is not done for them.
fn asked_again(asked: &Asked, places: &Places, connection: &Connection) -> Vec<String> {
    let root = connection.repository.as_ref().map(|repository| repository.root.as_path());
    let mut steps = Vec::new();
    if asked.client == Client::ClaudeCode && asked.scope() == Scope::Project {
        steps.push("Claude Code asks each person once whether this repository's server may be started.".to_owned());
    }
    if !asks_for_tools(asked.client, places, root) {
        return steps;
    }
    match asked.client {
        Client::ClaudeCode => steps.push(format!(
            "Claude Code asks before it calls a tool of heyaira. To be asked no more, add \"mcp__heyaira\" to \
             permissions.allow in {}.",
            places.claude.join("settings.json").display()
        )),
        Client::Gemini => steps.push(
            "Gemini CLI asks before it calls a tool of heyaira. To be asked no more, set \"trust\": true in its entry."
                .to_owned(),
        ),
        _ => {}
    }
    steps
}

/// What an agent has to be told by hand, because its client reads no file of the repository.
fn to_paste(asked: &Asked, connection: &Connection) -> Option<String> {
    let is_told = asked.client == Client::ClaudeDesktop && !asked.dry_run;
    is_told.then(|| {
        format!(
            "A chat of Claude Desktop reads no AGENTS.md, and without write_context it reads tasks but writes none. Put this \
             into the instructions of a project in Claude Desktop:\n\n{}",
            connection.block
        )
    })
}
