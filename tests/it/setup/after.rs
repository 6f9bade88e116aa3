//! What a set-up and its undoing leave to the person, and what stands beside them: plugins, apps, other repositories.

use std::fs;
use std::path::PathBuf;

use crate::program::{Answer, HEYAIRA, Place};

/// A place whose folder is the home, with two repositories, and the program on the path.
struct Desk {
    place: Place,
}

impl Desk {
    fn new() -> Self {
        let desk = Self { place: Place::new() };
        for folder in ["one/.git", "two/.git", "bin"] {
            fs::create_dir_all(desk.path(folder)).expect("a folder");
        }
        std::os::unix::fs::symlink(HEYAIRA, desk.path("bin/heyaira")).expect("a link");
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.place.folder.path()).expect("a path").join(name)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    fn put(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        fs::write(path, text).expect("a file");
    }

    fn run(&self, folder: &str, words: &[&str]) -> Answer {
        let mut command = self.place.command();
        command.current_dir(self.path(folder)).env("PATH", self.path("bin"));
        command.args(words).output().expect("the program runs").into()
    }
}

#[test]
fn beside_a_plugin_nothing_is_set_up_unless_forced() {
    let of_plugin = [
        ("claude-code", ".claude/plugins/installed_plugins.json", "{\"plugins\": {\"heyaira@heyaira\": [{}]}}"),
        ("codex", ".codex/config.toml", "[plugins.\"heyaira@heyaira\"]\nenabled = true\n"),
        ("copilot", ".copilot/settings.json", "{\"enabledPlugins\": {\"heyaira@heyaira\": true}}"),
        ("gemini", ".gemini/extensions/heyaira/gemini-extension.json", "{}"),
    ];
    for (client, file, text) in of_plugin {
        let desk = Desk::new();
        desk.put(file, text);
        for words in [&["--dry-run"][..], &[]] {
            let refused = desk.run("one", &[&["setup", client, "--project", "ledger"][..], words].concat());
            assert_eq!(refused.code, 2, "{refused:?}");
            assert!(
                refused.err.contains("each event would run twice") && refused.err.contains("--force"),
                "{refused:?}"
            );
            assert!(refused.err.contains("uninstall heyaira") || refused.err.contains("remove heyaira"), "{refused:?}");
        }
        assert!(!desk.path("one/heyaira.toml").exists() && !desk.path("one/AGENTS.md").exists());
        assert_eq!(desk.run("one", &["setup", client, "--project", "ledger", "--force"]).code, 0);
        assert_eq!(desk.run("one", &["setup", client, "--undo"]).code, 0);
        assert_eq!(desk.text(file), text);
    }
    let desk = Desk::new();
    desk.put(".codex/config.toml", "[plugins.\"heyaira@heyaira\"]\nenabled = false\n");
    assert_eq!(desk.run("one", &["setup", "codex", "--project", "ledger"]).code, 0, "switched off");
}

#[test]
fn the_last_lines_say_what_remains_and_nothing_else() {
    let desk = Desk::new();
    let first = desk.run("one", &["setup", "claude-code", "--project", "ledger"]).out;
    assert!(first.contains("\"mcp__heyaira\" to permissions.allow") && first.contains("start a new one"), "{first}");
    let again = desk.run("one", &["setup", "claude-code"]).out;
    assert!(again.contains("Nothing to change.") && !again.contains("start a new one"), "{again}");
    let dry = desk.run("one", &["setup", "claude-code", "--dry-run"]).out;
    assert!(dry.contains("Nothing to change.") && !dry.contains("would"), "{dry}");
    desk.put("one/.claude/settings.local.json", "{\"permissions\": {\"allow\": [\"mcp__heyaira\"]}}");
    let allowed = desk.run("one", &["setup", "claude-code"]).out;
    assert!(!allowed.contains("permissions.allow"), "{allowed}");
    let gemini = desk.run("one", &["setup", "gemini"]).out;
    assert!(gemini.contains("in a folder that you do not trust") && gemini.contains("\"trust\": true"), "{gemini}");
    let rules = serde_json::json!({desk.path("one").display().to_string(): "TRUST_FOLDER"});
    desk.put(".gemini/trustedFolders.json", &rules.to_string());
    let settings = desk
        .text(".gemini/settings.json")
        .replace("\"command\": \"heyaira\",", "\"command\": \"heyaira\", \"trust\": true,");
    desk.put(".gemini/settings.json", &settings);
    let gemini = desk.run("one", &["setup", "gemini"]).out;
    assert!(
        gemini.contains("Nothing to change.") && !gemini.contains("trust") && !gemini.contains("start a new one"),
        "{gemini}"
    );
}

#[test]
fn apps_find_the_program_by_its_place() {
    let desk = Desk::new();
    let place = desk.path("bin/heyaira").display().to_string();
    for (client, file) in [
        ("claude-desktop", ".config/Claude/claude_desktop_config.json"),
        ("cursor", ".cursor/mcp.json"),
        ("vscode", ".config/Code/User/mcp.json"),
        ("zed", ".config/zed/settings.json"),
        ("goose", ".config/goose/config.yaml"),
    ] {
        let done = desk.run("one", &["setup", client, "--project", "ledger", "--scope", "user"]);
        assert_eq!(done.code, 0, "{done:?}");
        let text = if cfg!(target_os = "macos") { continue } else { desk.text(file) };
        assert!(text.contains(&format!("\"{place}\"")), "{client}: {text}");
        assert!(done.out.contains("It serves project ledger wherever it works"), "{done:?}");
    }
    assert_eq!(desk.run("one", &["setup", "cursor", "--scope", "project"]).code, 0);
    assert!(desk.text("one/.cursor/mcp.json").contains("\"command\": \"heyaira\""));
    assert_eq!(desk.run("one", &["setup", "codex"]).code, 0);
    assert!(desk.text(".codex/config.toml").contains("command = \"heyaira\""));
}

#[test]
fn what_another_repository_uses_is_taken_back_by_its_scope_alone() {
    let desk = Desk::new();
    for folder in ["one", "two"] {
        assert_eq!(desk.run(folder, &["setup", "claude-code", "--project", "ledger"]).code, 0);
    }
    let entry = desk.text(".claude.json");
    for words in [&["setup", "claude-code", "--undo", "--dry-run"][..], &["setup", "claude-code", "--undo"]] {
        let undone = desk.run("one", words);
        assert_eq!(undone.code, 0, "{undone:?}");
        let two = desk.path("two").display().to_string();
        assert!(undone.out.contains("stays") && undone.out.contains(&two), "{undone:?}");
        assert!(undone.out.contains("heyaira setup claude-code --undo --scope user"), "{undone:?}");
        assert_eq!(desk.text(".claude.json"), entry);
    }
    assert!(!desk.path("one/heyaira.toml").exists() && desk.path("two/heyaira.toml").exists());
    // The last one takes it away, and so does whoever says so.
    assert_eq!(desk.run("one", &["setup", "claude-code", "--project", "ledger"]).code, 0);
    let asked = desk.run("one", &["setup", "claude-code", "--undo", "--scope", "user"]);
    assert!(!desk.path(".claude.json").exists() && asked.out.contains("Also set up in"), "{asked:?}");
    assert_eq!(desk.run("one", &["setup", "claude-code", "--project", "ledger"]).code, 0);
    assert_eq!(desk.run("two", &["setup", "claude-code", "--undo"]).code, 0);
    assert!(desk.path(".claude.json").exists());
    assert_eq!(desk.run("one", &["setup", "claude-code", "--undo"]).code, 0);
    assert!(!desk.path(".claude.json").exists());
}

#[test]
fn a_set_up_of_the_project_elsewhere_uses_nothing_of_the_person() {
    let desk = Desk::new();
    assert_eq!(desk.run("one", &["setup", "claude-code", "--project", "ledger"]).code, 0);
    assert_eq!(desk.run("two", &["setup", "claude-code", "--project", "ledger", "--scope", "project"]).code, 0);
    assert_eq!(desk.run("one", &["setup", "claude-code", "--undo"]).code, 0);
    assert!(!desk.path(".claude.json").exists() && desk.path("two/.mcp.json").exists());
}

#[test]
fn what_a_chat_has_to_be_told_is_shown() {
    let desk = Desk::new();
    let dry = desk.run("one", &["setup", "claude-desktop", "--project", "ledger", "--dry-run"]).out;
    assert!(!dry.contains(&desk.place.write_context), "{dry}");
    let done = desk.run("one", &["setup", "claude-desktop", "--project", "ledger"]).out;
    assert!(done.contains("instructions of a project in Claude Desktop"), "{done}");
    assert!(done.contains(&format!("- write_context: `{}`", desk.place.write_context)), "{done}");
}
