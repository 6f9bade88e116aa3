//! The folder of a client's session is what the client says, or none.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use heyaira::client::folder;
use heyaira::client::place::{Places, Platform};

const SESSION: &str = "e221e283-66da-4903-8300-8801d19750e8";

/// What is found in an environment.
fn found(variables: &[(&str, &Path)]) -> Option<PathBuf> {
    let variables: HashMap<&str, OsString> =
        variables.iter().map(|(name, value)| (*name, value.as_os_str().to_owned())).collect();
    let text = |name: &str| variables.get(name).cloned()?.into_string().ok();
    let places = text("HOME").map(|home| Places::new(Platform::HERE, Path::new(&home), text));
    folder::of_session(|name| variables.get(name).cloned(), places.as_ref())
}

/// A home whose Copilot works in a folder, as its own file of the session says it.
fn copilot(line: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().expect("a folder");
    let session = home.path().join(".copilot/session-state").join(SESSION);
    fs::create_dir_all(&session).expect("a folder");
    fs::write(session.join("workspace.yaml"), format!("id: {SESSION}\n{line}\nbranch: main\n")).expect("a file");
    home
}

#[test]
fn claude_code_says_its_folder_itself() {
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(found(&[("CLAUDE_PROJECT_DIR", folder.path())]).as_deref(), Some(folder.path()));
    assert_eq!(found(&[("CLAUDE_PROJECT_DIR", &folder.path().join("gone"))]), None);
    assert_eq!(
        found(&[("CLAUDE_PROJECT_DIR", Path::new("${CLAUDE_PROJECT_DIR}"))]),
        None,
        "a client that expands nothing"
    );
    assert_eq!(found(&[]), None);
}

#[test]
fn a_plugin_of_copilot_works_where_its_session_does() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = copilot(&format!("cwd: {}", folder.path().display()));
    let plugin = ("COPILOT_PLUGIN_ROOT", Path::new("/plugin"));
    let session = ("COPILOT_AGENT_SESSION_ID", Path::new(SESSION));
    let at_home = ("HOME", home.path());
    assert_eq!(found(&[plugin, session, at_home]).as_deref(), Some(folder.path()));
    let moved = home.path().join(".copilot");
    assert_eq!(
        found(&[plugin, session, ("HOME", folder.path()), ("COPILOT_HOME", &moved)]).as_deref(),
        Some(folder.path())
    );
    // A server of the user's own is started in the right folder.
    assert_eq!(found(&[session, at_home]), None);
    for other in ["", "../x", "unknown"] {
        assert_eq!(found(&[plugin, ("COPILOT_AGENT_SESSION_ID", Path::new(other)), at_home]), None, "{other}");
    }
}

#[test]
fn half_a_folder_is_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().display();
    for line in [format!("cwd: \"{path}\""), format!("cwd: {path}/gone"), format!("git_root: {path}")] {
        let home = copilot(&line);
        let variables = [
            ("COPILOT_PLUGIN_ROOT", Path::new("/plugin")),
            ("COPILOT_AGENT_SESSION_ID", Path::new(SESSION)),
            ("HOME", home.path()),
        ];
        assert_eq!(found(&variables), None, "{line}");
    }
}
