//! The description of plain HTTP in `OpenAPI` 3.1, made from the list of operations. Must never say anything that the
//! operations do not.

use std::sync::LazyLock;

use axum::response::Response;
use http::StatusCode;
use serde_json::{Map, Value, json};

use crate::domain::session::SESSION_REF_MAX;
use crate::error::Code;
use crate::operation::{Effect, Entry, schema};
use crate::surface::http::{answer, api};
use crate::surface::mcp::observed::{PROGRAM_MAX, WORD_MAX};

static DESCRIPTION: LazyLock<String> = LazyLock::new(|| description().to_string());

/// `GET /openapi.json`.
pub async fn served() -> Response {
    answer::json(StatusCode::OK, DESCRIPTION.as_str())
}

/// The whole description.
pub fn description() -> Value {
    let mut paths: Map<String, Value> =
        api::served().map(|entry| (format!("/api/{{project}}/{}", entry.name), json!({"post": call(entry)}))).collect();
    paths.insert("/healthz".to_owned(), json!({"get": health("The process runs.")}));
    paths.insert("/readyz".to_owned(), json!({"get": health("The database answers, and the server is not stopping.")}));
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "HeyAira",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Tasks with versions, handoffs, memories and messages, for people who run AI coding agents.",
            "description": "Each operation is a POST with its arguments as one JSON object; the answer is JSON. MCP \
                (Streamable HTTP, stateless) is at /mcp/{project} and has the same tools, arguments and answers.",
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
        },
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {
                "type": "http",
                "scheme": "bearer",
                "description": "heyaira token create NAME --project PROJECT. Not asked for by a server with --auth none.",
            }},
            "parameters": {
                "project": {
                    "name": "project", "in": "path", "required": true,
                    "description": "The project's name in its connection profile.",
                    "schema": {"type": "string", "pattern": "^[a-z0-9][a-z0-9-]{0,62}$"},
                },
                "session": header("HeyAira-Session", &text(SESSION_REF_MAX), "The caller's session, <harness>:<native id>; fills a receipt that names none."),
                "harness": header("HeyAira-Harness", &text(PROGRAM_MAX), "The caller's program and version; else the first product of User-Agent."),
                "model": header("HeyAira-Model", &text(WORD_MAX), "The caller's model."),
                "instance": header("HeyAira-Instance", &json!({"type": "string", "format": "uuid"}), "The instance of the caller's profile; another one is identity_mismatch."),
                "key": header("Idempotency-Key", &text(200), "A word of the caller's own: the same call with the same key happens once."),
            },
            "schemas": {"Error": error()},
            "responses": refusals(),
        },
    })
}

fn header(name: &str, schema: &Value, description: &str) -> Value {
    json!({"name": name, "in": "header", "required": false, "description": description, "schema": schema})
}

fn text(longest: usize) -> Value {
    json!({"type": "string", "minLength": 1, "maxLength": longest})
}

fn call(entry: &Entry) -> Value {
    let about = entry.schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let refused = |status: &u16| (status.to_string(), json!({"$ref": format!("#/components/responses/{status}")}));
    let mut responses = Map::new();
    responses.insert(
        "200".to_owned(),
        json!({"description": "Done.", "content": {"application/json": {"schema": {"type": "object"}}}}),
    );
    responses.extend(STATUSES.iter().map(|(status, _)| status).map(refused));
    let key = matches!(entry.effect, Effect::Adds | Effect::Changes).then_some("key");
    let parameters = ["project", "session", "harness", "model", "instance"].into_iter().chain(key);
    let parameters: Vec<Value> =
        parameters.map(|name| json!({"$ref": format!("#/components/parameters/{name}")})).collect();
    json!({
        "operationId": entry.name,
        "summary": schema::wire_text(&entry.schema).unwrap_or_default(),
        "description": about,
        "x-changes": entry.effect != Effect::Reads,
        "parameters": parameters,
        "requestBody": {
            // Always: its media type must be said, so that a page's form cannot send one.
            "required": true,
            "content": {"application/json": {"schema": body(entry)}},
        },
        "responses": responses,
    })
}

fn body(entry: &Entry) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (name, field) in schema::fields(&entry.schema) {
        if schema::is_required(&entry.schema, name, field, false) {
            required.push(json!(name));
        }
        properties.insert(name.clone(), plain(field));
    }
    let mut answer = json!({"type": "object", "properties": properties, "additionalProperties": false});
    if !required.is_empty() {
        answer["required"] = Value::Array(required);
    }
    answer
}

/// A schema without the words that only this program knows.
fn plain(field: &Value) -> Value {
    match field {
        Value::Object(words) => {
            let known = words.iter().filter(|(word, _)| !word.starts_with("x-") && *word != "default");
            Value::Object(known.map(|(word, value)| (word.clone(), plain(value))).collect())
        }
        Value::Array(items) => items.iter().map(plain).collect(),
        other => other.clone(),
    }
}

fn health(description: &str) -> Value {
    json!({"summary": description, "security": [], "responses": {
        "200": {"description": "It is so.", "content": {"application/json": {"schema": {"type": "object"}}}},
        "503": {"$ref": "#/components/responses/503"},
    }})
}

/// The codes that a caller over HTTP can be told; there the address names the project.
fn codes() -> impl Iterator<Item = Code> {
    Code::ALL.into_iter().filter(|code| *code != Code::NoProject)
}

/// What HTTP itself refuses, beside what the codes say.
const STATUSES: [(u16, &str); 14] = [
    (400, "The body is no JSON or broke off, the address has a query, or a header comes twice."),
    (401, "No valid token was sent."),
    (403, "The role does not allow it, or the host or origin is not served."),
    (404, "No such thing for this caller."),
    (405, "Another method is served here."),
    (406, "Answers are JSON, which is not accepted."),
    (408, "The body came too slowly."),
    (409, "The version or the profile is not the current one, or an id fits several things."),
    (413, "Over a limit."),
    (415, "The body is not said to be JSON, or is encoded."),
    (422, "An argument, a secret or a rule; all problems are listed."),
    (429, "Too many tries without a valid token, or large bodies at a time; see Retry-After."),
    (500, "The database is damaged, or the server failed."),
    (503, "Busy or out of reach; see Retry-After."),
];

fn refusals() -> Value {
    let one = |(status, description): &(u16, &str)| {
        let codes: Vec<&str> = codes().filter(|code| code.http() == *status).map(Code::as_str).collect();
        let codes = if codes.is_empty() { "invalid_argument".to_owned() } else { codes.join(", ") };
        let content = json!({"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}});
        (status.to_string(), json!({"description": format!("{description} Codes: {codes}."), "content": content}))
    };
    Value::Object(STATUSES.iter().map(one).collect())
}

fn error() -> Value {
    json!({
        "type": "object",
        "required": ["error"],
        "properties": {"error": {
            "type": "object",
            "required": ["code", "message", "next", "details"],
            "properties": {
                "code": {"type": "string", "enum": codes().map(Code::as_str).collect::<Vec<_>>(), "description": "Stable."},
                "message": {"type": "string", "description": "What is wrong."},
                "next": {"type": "string", "description": "What to do next."},
                "details": {"type": "object", "description": "Values for a program, e.g. current_version, problems, retry_after_seconds."},
            },
        }},
    })
}
