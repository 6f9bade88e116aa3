//! What clients read as files of ours: the two skills, and the plugin of `OpenCode`. Must never differ from what the
//! plugin folder installs.

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
/// What the plugin runs, as it is written there.
const COMMAND: &str = r#"["heyaira", ["hook", "opencode"]]"#;

/// The plugin by which `OpenCode` calls us, with this program and these words behind the hook's.
pub fn opencode_plugin(program: &str, arguments: &[String]) -> String {
    let words: Vec<&str> = ["hook", "opencode"].into_iter().chain(arguments.iter().map(String::as_str)).collect();
    if program == "heyaira" && arguments.is_empty() {
        return OPENCODE.to_owned();
    }
    OPENCODE.replace(COMMAND, &json!([program, words]).to_string())
}
