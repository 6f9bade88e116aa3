//! Resources: the procedures, and any task by its address. Must never serve another project's task, and reads a task
//! only through its operation.

use rmcp::model::{
    CacheScope, ErrorData, Extensions, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};
use serde_json::json;

use crate::domain::session::Observed;
use crate::domain::text;
use crate::error::{Code, Refusal};
use crate::operation::Entry;
use crate::surface::mcp::calls::Calls;
use crate::surface::mcp::procedures::{self, Procedure};

/// For how long the fixed lists and pages are good, in milliseconds.
pub const FIXED: u64 = 3_600_000;

const SCHEME: &str = "heyaira://";
const MARKDOWN: &str = "text/markdown";
const JSON: &str = "application/json";
/// The operation behind the template.
const READING: &str = "task_get";

/// The list of resources: the pages. Tasks are found with the tools.
pub fn list() -> Vec<Resource> {
    let resource = |page: &&Procedure| {
        Resource::new(address(page), page.name)
            .with_title(page.title)
            .with_description(page.description)
            .with_mime_type(MARKDOWN)
            .with_size(page.text.len() as u64)
    };
    procedures::ALL.iter().map(resource).collect()
}

/// The templates: a task, and a task at a version.
pub fn templates() -> Vec<ResourceTemplate> {
    let template = |rest: &str, name: &str, title: &str, description: &str| {
        ResourceTemplate::new(format!("{SCHEME}{{project}}/task/{{task_id}}{rest}"), name)
            .with_title(title)
            .with_description(description)
            .with_mime_type(JSON)
    };
    vec![
        template("", "task", "Task", "A task of this connection's project as it stands, as task_get gives it."),
        template("/v{version}", "task-version", "Version of a task", "A task as it was at that version."),
    ]
}

fn address(page: &Procedure) -> String {
    format!("{SCHEME}procedures/{}", page.name)
}

/// A task's address, taken apart.
struct TaskAddress<'a> {
    project: &'a str,
    id: &'a str,
    version: Option<&'a str>,
}

/// How a task is read: by its operation, for the caller of this message.
pub struct Way<'w> {
    /// The way to the operations.
    pub calls: &'w dyn Calls,
    /// What the transport attached to the message.
    pub request: &'w Extensions,
    /// The operations.
    pub entries: &'static [Entry],
}

/// Reads one resource.
pub async fn read(way: &Way<'_>, observed: Observed, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    if let Some(page) = procedures::ALL.iter().find(|page| address(page) == uri) {
        let contents = ResourceContents::text(page.text, uri).with_mime_type(MARKDOWN);
        return Ok(ReadResourceResult::new(vec![contents]).with_ttl_ms(FIXED).with_cache_scope(CacheScope::Public));
    }
    let address = task_address(uri).ok_or_else(|| not_found(uri))?;
    let entry = way.entries.iter().find(|entry| entry.name == READING).ok_or_else(|| not_found(uri))?;
    if way.calls.project(way.request).await.map_err(|refusal| error_of(&refusal, uri))? != address.project {
        return Err(not_found(uri));
    }
    let arguments = json!({"task_id": address.id, "version": address.version});
    let task = way.calls.call(way.request, entry, observed, arguments).await;
    let task = task.map_err(|refusal| error_of(&refusal, uri))?;
    let contents = ResourceContents::text(task.to_string(), uri).with_mime_type(JSON);
    Ok(ReadResourceResult::new(vec![contents]).with_ttl_ms(0).with_cache_scope(CacheScope::Private))
}

fn task_address(uri: &str) -> Option<TaskAddress<'_>> {
    let mut parts = uri.strip_prefix(SCHEME)?.split('/');
    let (project, kind, id) = (parts.next()?, parts.next()?, parts.next()?);
    let version = match parts.next() {
        Some(version) => Some(version.strip_prefix('v').filter(|digits| !digits.is_empty())?),
        None => None,
    };
    (kind == "task" && parts.next().is_none()).then_some(TaskAddress { project, id, version })
}

fn not_found(uri: &str) -> ErrorData {
    missing(format!("There is no resource {} here", text::quoted(uri, 120)), uri)
}

/// The error names the address: a client that reads many at once tells them apart by it.
fn missing(message: String, uri: &str) -> ErrorData {
    ErrorData::resource_not_found(message, Some(json!({"uri": uri})))
}

/// A refusal as a protocol error: reading a resource has no other way to fail.
fn error_of(refusal: &Refusal, uri: &str) -> ErrorData {
    let message = refusal.to_string();
    match refusal.code {
        Code::NotFound | Code::AmbiguousId | Code::InvalidArgument => missing(message, uri),
        _ => ErrorData::internal_error(message, None),
    }
}
