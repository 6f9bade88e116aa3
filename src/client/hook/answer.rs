//! What a hook answers, in each client's own form. Must never have a client go on by force, or stop what was not asked to
//! be stopped.

use serde_json::{Map, Value, json};

use super::{Event, Input};
use crate::client::Client;

/// What there is to say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// For the model.
    pub context: Option<String>,
    /// For the person.
    pub notice: Option<String>,
    /// Why what is about to happen should not, for clients that can be stopped.
    pub block: Option<String>,
}

impl Answer {
    /// The client's form of it; `None` where there is nothing to say, or this client has no way to say it here.
    pub fn rendered(&self, input: &Input) -> Option<Value> {
        let mut fields = Map::new();
        match input.client {
            Client::Copilot | Client::OpenCode => {
                // Copilot reads context when a session starts alone. A plugin of OpenCode gives what is said to whom the
                // event concerns: at a stop to the person.
                let is_read = input.client == Client::OpenCode || input.event == Event::SessionStart;
                let said = self.context.as_ref().or(self.notice.as_ref());
                put(&mut fields, "additionalContext", said.filter(|_| is_read));
            }
            Client::Cursor => {
                put(&mut fields, "additional_context", self.context.as_ref());
                // At a stop it has a follow-up alone, which goes on by force.
                put(&mut fields, "user_message", self.notice.as_ref().filter(|_| input.event != Event::Stop));
            }
            _ => self.as_claude(input, &mut fields),
        }
        (!fields.is_empty()).then_some(Value::Object(fields))
    }

    /// The form of Claude Code, which Codex, Gemini CLI and VS Code took over with differences.
    fn as_claude(&self, input: &Input, fields: &mut Map<String, Value>) {
        put(fields, "systemMessage", self.notice.as_ref());
        if let Some(context) = &self.context {
            let inner = json!({"hookEventName": input.event_name, "additionalContext": context});
            fields.insert("hookSpecificOutput".to_owned(), inner);
        }
        let Some(reason) = &self.block else { return };
        match input.client {
            Client::ClaudeCode => {
                fields.insert("decision".to_owned(), json!("block"));
                put(fields, "reason", Some(reason));
            }
            // It knows no decision before a compaction, but it can be told not to go on.
            Client::Codex => {
                fields.insert("continue".to_owned(), json!(false));
                put(fields, "stopReason", Some(reason));
            }
            // What cannot be stopped is told at least.
            _ => put(fields, "systemMessage", Some(reason)),
        }
    }
}

fn put(fields: &mut Map<String, Value>, name: &str, text: Option<&String>) {
    if let Some(text) = text {
        fields.insert(name.to_owned(), json!(text));
    }
}
