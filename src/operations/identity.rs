//! `server_identity`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::Result;
use crate::operation::{Context, Effect, Operation};
use crate::operations::project::by_name;

/// The program's name and version, as clients see it.
pub const SERVER: &str = concat!("heyaira ", env!("CARGO_PKG_VERSION"));

/// Which server and project this connection writes to, and your role. Before writing compare with your connection profile; stop if instance, resource or project differ.
#[derive(Deserialize, JsonSchema)]
pub struct ServerIdentity {}

impl Operation for ServerIdentity {
    const NAME: &'static str = "server_identity";
    const COMMAND: &'static str = "identity";
    const EFFECT: Effect = Effect::Reads;
    const ALWAYS_LOAD: bool = true;

    async fn run(self, context: &mut Context<'_>) -> Result<Value> {
        let project = context.project()?;
        let mut answer = json!({
            "resource": context.instance.resource,
            "instance": context.instance.id,
            "project": project.slug,
            "language": project.language,
            "server": SERVER,
            "caller": context.connection.caller,
            "role": context.connection.role.as_str(),
        });
        if !project.rules.is_default() {
            answer["rules"] = by_name(project.rules.changed());
        }
        Ok(answer)
    }
}
