//! One call of a tool.

use serde_json::{Value, json};

/// The tool and its arguments.
pub(crate) struct Asked {
    /// The tool.
    pub(crate) tool: &'static str,
    /// Its arguments.
    pub(crate) arguments: Value,
}

impl Asked {
    /// A call of a reading tool with one argument or none.
    pub(crate) fn reading(tool: &'static str, arguments: Value) -> Self {
        Self { tool, arguments }
    }

    /// A small update at a known version.
    pub(crate) fn update(task_id: &str, version: &Value, write_context: &str, number: usize) -> Self {
        let arguments = json!({
            "task_id": task_id,
            "expected_version": version,
            "write_context": write_context,
            "summary": format!("Step {number} is done, the next one is ready to start."),
            "handoff_next": format!("cargo test -p import step{number}\nPrevious session: label:bench"),
        });
        Self { tool: "task_update", arguments }
    }
}
