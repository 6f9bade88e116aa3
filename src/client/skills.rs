//! What a client reads of HeyAira beside the server: the two skills, and the plugin of `OpenCode`. Must never differ from the
//! plugin folder, whose skills are made of the procedures.

use serde_json::json;

/// A skill: a folder of its name with one file.
#[derive(Clone, Copy, Debug)]
pub struct Skill {
    /// Its name, which is its folder's.
    pub name: &'static str,
    /// The whole file.
    pub text: &'static str,
}

/// Both.
pub const ALL: [Skill; 2] = [
    Skill {
        name: "write-session-handoff",
        text: include_str!("../../plugin/heyaira/skills/write-session-handoff/SKILL.md"),
    },
    Skill { name: "take-over-session", text: include_str!("../../plugin/heyaira/skills/take-over-session/SKILL.md") },
];

const OPENCODE: &str = include_str!("../../plugin/opencode/heyaira.js");
/// What it calls where nobody says otherwise.
const OPENCODE_COMMAND: &str = r#"["heyaira", "hook", "opencode"]"#;

/// The plugin by which `OpenCode` calls hooks: its one file, calling this program with these words.
pub fn opencode_plugin(command: &[&str]) -> String {
    OPENCODE.replacen(OPENCODE_COMMAND, &json!(command).to_string(), 1)
}
