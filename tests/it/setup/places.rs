//! Where files are, on the three platforms.

use std::path::Path;

use heyaira::client::place::{Places, Platform};

#[test]
fn each_platform_has_its_folders() {
    let home = Path::new("/home/maria");
    let linux = Places::new(Platform::Linux, home, |_| None);
    assert_eq!(linux.claude_desktop_servers(), home.join(".config/Claude/claude_desktop_config.json"));
    assert_eq!(linux.vscode(), home.join(".config/Code/User/mcp.json"));
    assert_eq!(linux.claude_state, home.join(".claude.json"));
    assert_eq!(linux.opencode, home.join(".config/opencode"));
    let mac = Places::new(Platform::Mac, home, |_| None);
    assert_eq!(
        mac.claude_desktop_servers(),
        home.join("Library/Application Support/Claude/claude_desktop_config.json")
    );
    assert_eq!(mac.zed, home.join(".config/zed"));
    assert_eq!(mac.goose, home.join(".config/goose"));
    let windows = Places::new(Platform::Windows, home, |name| (name == "APPDATA").then(|| "/roaming".to_owned()));
    assert_eq!(windows.claude_desktop_servers(), Path::new("/roaming/Claude/claude_desktop_config.json"));
    assert_eq!(windows.zed, Path::new("/roaming/Zed"));
    assert_eq!(windows.goose, Path::new("/roaming/Block/goose/config"));
    assert_eq!(windows.codex, home.join(".codex"));
}

#[test]
fn the_environment_moves_them() {
    let places = Places::new(Platform::Linux, Path::new("/h"), |name| Some(format!("/env/{name}")));
    assert_eq!(places.claude_state, Path::new("/env/CLAUDE_CONFIG_DIR/.claude.json"));
    assert_eq!(places.codex, Path::new("/env/CODEX_HOME"));
    assert_eq!(places.gemini, Path::new("/env/GEMINI_CLI_HOME/.gemini"));
    assert_eq!(places.opencode, Path::new("/env/XDG_CONFIG_HOME/opencode"));
    assert_eq!(places.opencode_data, Path::new("/env/XDG_DATA_HOME/opencode"));
    assert_eq!(places.copilot, Path::new("/env/COPILOT_HOME"));
}

#[test]
fn a_relative_folder_of_the_desktop_standard_is_none() {
    let places =
        Places::new(Platform::Linux, Path::new("/h"), |name| name.starts_with("XDG_").then(|| "here".to_owned()));
    assert_eq!(places.opencode, Path::new("/h/.config/opencode"));
    assert_eq!(places.opencode_data, Path::new("/h/.local/share/opencode"));
    assert_eq!(places.claude_desktop(), Path::new("/h/.config/Claude"));
}
