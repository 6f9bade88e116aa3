//! Resources: the procedures, and any task by its address. Must never serve another project's task, and reads a task
//! only through its operation.

use rmcp::model::{
    CacheScope, ErrorData, Extensions, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::domain::secret::masked;
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

/// What an address names.
enum Found {
    Page(&'static Procedure),
    /// A task's answer, and whether that is the task as it stands or one version of it.
    Task {
        answer: Value,
        at_version: bool,
    },
}

/// Finds what an address names, if this caller may read it.
async fn find(way: &Way<'_>, observed: Observed, uri: &str) -> Result<Found, ErrorData> {
    if let Some(page) = procedures::ALL.iter().find(|page| address(page) == uri) {
        return Ok(Found::Page(page));
    }
    let address = task_address(uri).ok_or_else(|| not_found(uri))?;
    let entry = way.entries.iter().find(|entry| entry.name == READING).ok_or_else(|| not_found(uri))?;
    if way.calls.project(way.request).await.map_err(|refusal| error_of(&refusal, uri))? != address.project {
        return Err(not_found(uri));
    }
    let arguments = json!({"task_id": address.id, "version": address.version});
    let answer = way.calls.call(way.request, entry, observed, arguments).await;
    let answer = answer.map_err(|refusal| error_of(&refusal, uri))?;
    Ok(Found::Task { answer, at_version: address.version.is_some() })
}

/// Reads one resource.
pub async fn read(way: &Way<'_>, observed: Observed, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let (text, mime, ttl, scope) = match find(way, observed, uri).await? {
        Found::Page(page) => (page.text.to_owned(), MARKDOWN, FIXED, CacheScope::Public),
        Found::Task { answer, .. } => (answer.to_string(), JSON, 0, CacheScope::Private),
    };
    let contents = ResourceContents::text(text, uri).with_mime_type(mime);
    Ok(ReadResourceResult::new(vec![contents]).with_ttl_ms(ttl).with_cache_scope(scope))
}

/// The task that changes what is read at an address; none where that stays as it is: a page, a version of a task.
pub async fn changing(way: &Way<'_>, observed: Observed, uri: &str) -> Result<Option<Uuid>, ErrorData> {
    match find(way, observed, uri).await? {
        Found::Page(_) | Found::Task { at_version: true, .. } => Ok(None),
        Found::Task { answer, .. } => {
            let id = answer["task_id"].as_str().and_then(|id| id.parse().ok());
            id.map(Some).ok_or_else(|| error_of(&Refusal::internal(&"a task was answered without its id"), uri))
        }
    }
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
    ErrorData::resource_not_found(message, Some(json!({"uri": masked(uri)})))
}

/// A refusal as a protocol error: reading a resource has no other way to fail.
fn error_of(refusal: &Refusal, uri: &str) -> ErrorData {
    let message = refusal.to_string();
    match refusal.code {
        Code::NotFound | Code::AmbiguousId | Code::InvalidArgument => missing(message, uri),
        // The address is at fault, not the server; and it is not said again.
        Code::SecretRefused | Code::TooLarge => ErrorData::invalid_params(message, None),
        _ => ErrorData::internal_error(message, None),
    }
}
