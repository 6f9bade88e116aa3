//! The plugin: its skills and commands are made of the procedures, and its parts agree. `just docs` writes it anew.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// A skill, as its file is made of the procedure of that name.
struct Skill {
    name: &'static str,
    /// When to use it: the only part that costs every session something.
    description: &'static str,
    /// What stands before the procedure, with the place for what the owner wrote behind the name.
    opening: &'static str,
}

const SKILLS: [Skill; 2] = [
    Skill {
        name: "write-session-handoff",
        description: "Save this session's work in its HeyAira task and get the line that a fresh session resumes from. Use \
                      when asked to hand off, wrap up, continue later or elsewhere; propose it when the task is done, the \
                      topic changes, the day ends, or instead of compacting.",
        opening: "What the owner added, such as the task's id (nothing: find the task as step 2 says):",
    },
    Skill {
        name: "take-over-session",
        description: "Resume work that another session handed off. Use when a message holds a line such as `handoff: \
                      8e287857 v7`, or when asked to take over, resume or pick up a HeyAira task or an earlier session.",
        opening: "The handoff line that the owner gave (nothing: see step 3):",
    },
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn procedure(name: &str) -> String {
    fs::read_to_string(root().join("docs/procedures").join(format!("{name}.md"))).expect("the procedure")
}

/// The procedure with a line for the arguments below its heading.
fn body(skill: &Skill, arguments: &str) -> String {
    let text = procedure(skill.name);
    let (heading, rest) = text.split_once('\n').expect("a heading");
    format!("{heading}\n\n{} {arguments}\n{rest}", skill.opening)
}

fn check(file: &str, text: &str) {
    let path = root().join("plugin").join(file);
    if std::env::var_os("HEYAIRA_WRITE_DOCS").is_some() {
        fs::create_dir_all(path.parent().expect("a folder")).expect("the folder can be made");
        fs::write(&path, text).expect("the plugin can be written");
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == text, "plugin/{file} is stale: run `just docs`");
}

#[test]
fn generated_docs_of_the_skills_are_current() {
    for skill in &SKILLS {
        let Skill { name, description, .. } = skill;
        let mut text = String::new();
        // Quoted as JSON, which is YAML: a colon in it would end a plain value.
        let quoted = Value::from(*description);
        let _ = writeln!(text, "---\nname: {name}\ndescription: {quoted}");
        let _ = writeln!(text, "metadata:\n  source: docs/procedures/{name}.md, by `just docs`\n---\n");
        text.push_str(&body(skill, "$ARGUMENTS"));
        for place in ["heyaira", "gemini"] {
            check(&format!("{place}/skills/{name}/SKILL.md"), &text);
        }
    }
}

#[test]
fn generated_docs_of_the_commands_are_current() {
    for skill in &SKILLS {
        let text = body(skill, "{{args}}");
        // Gemini CLI runs what stands in the one and reads the file that stands in the other.
        assert!(!text.contains("!{") && !text.contains("@{") && !text.contains("'''"), "{}", skill.name);
        let source = format!("# Generated from docs/procedures/{}.md by `just docs`.", skill.name);
        let description = Value::from(skill.description);
        check(
            &format!("gemini/commands/{}.toml", skill.name),
            &format!("{source}\ndescription = {description}\nprompt = '''\n{text}'''\n"),
        );
    }
}

/// The rules of <https://agentskills.io/specification>.
#[test]
fn skills_keep_the_rules_of_their_format() {
    for Skill { name, description, .. } in &SKILLS {
        assert!(name.len() <= 64 && name.chars().all(|one| one.is_ascii_lowercase() || one == '-'), "{name}");
        assert!(description.chars().count() <= 1024 && !description.contains("  "), "{name}: {description}");
        let lines = procedure(name).lines().count();
        assert!(lines < 500, "{name} has {lines} lines");
    }
}

#[test]
fn the_plugin_of_opencode_calls_the_program_that_is_set_up() {
    let text =
        heyaira::client::skills::opencode_plugin(&["/opt/my tools/heyaira", "hook", "opencode", "--project", "p"]);
    let line = r#"const [PROGRAM, ...WORDS] = ["/opt/my tools/heyaira","hook","opencode","--project","p"]"#;
    assert!(text.lines().any(|one| one == line), "{text}");
}

#[test]
fn descriptions_and_versions_of_the_plugin_agree() {
    let read = |file: &str| -> Value {
        let text = fs::read_to_string(root().join("plugin").join(file)).expect("the file");
        serde_json::from_str(&text).expect("JSON")
    };
    let plugin = read("heyaira/.claude-plugin/plugin.json");
    let extension = read("gemini/gemini-extension.json");
    let marketplace = read(".claude-plugin/marketplace.json");
    for one in [&plugin, &extension] {
        assert_eq!(one["version"], env!("CARGO_PKG_VERSION"), "{one}");
    }
    for key in ["name", "description"] {
        assert_eq!(plugin[key], extension[key]);
        assert_eq!(plugin[key], marketplace["plugins"][0][key]);
    }
    assert_eq!(read("heyaira/.mcp.json")["mcpServers"], extension["mcpServers"]);
}
