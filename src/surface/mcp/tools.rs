//! Operations as MCP tools, and their answers as tool results. Must never send an answer in two forms.

use rmcp::model::{CallToolResult, ContentBlock, MetaObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use crate::error::{Refusal, Result};
use crate::operation::{Audience, Effect, Entry};

/// The operations that agents have, in their order.
pub fn offered(entries: &'static [Entry]) -> impl Iterator<Item = &'static Entry> {
    entries.iter().filter(|entry| entry.audience == Audience::Everyone)
}

/// An operation as a tool.
pub fn tool(entry: &'static Entry) -> Tool {
    let reads = entry.effect == Effect::Reads;
    // All four: what a hint leaves out, clients take for the worst. History is kept, so nothing is destructive.
    let hints = ToolAnnotations::new().read_only(reads).destructive(false).idempotent(reads).open_world(false);
    let tool = Tool::new(entry.name, entry.description(), entry.wire_schema()).with_annotations(hints);
    if entry.always_load {
        let mut meta = MetaObject::new();
        meta.insert("anthropic/alwaysLoad".to_owned(), json!(true));
        return tool.with_meta(meta);
    }
    tool
}

/// One text block: compact JSON, or the refusal in a sentence. Clients differ in which of two forms they show, and
/// some pay for both, so there is one.
pub fn result(answer: Result<Value>) -> CallToolResult {
    let text = answer.and_then(|answer| serde_json::to_string(&answer).map_err(|error| Refusal::internal(&error)));
    match text {
        Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
        Err(refusal) => CallToolResult::error(vec![ContentBlock::text(refusal.to_string())]),
    }
}
