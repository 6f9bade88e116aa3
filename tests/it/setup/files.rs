//! Files of every client in every state that people leave them in: set up, set up again, taken back, byte by byte.

use std::fs;
use std::path::PathBuf;

use heyaira::client::Client;
use heyaira::client::setup::Scope;
use heyaira::client::setup::execution::Undoing;
#[cfg(unix)]
use heyaira::client::setup::file::replace;

use crate::setup::ground::{Ground, Snapshot, put};

/// Clients with the scopes in which they are set up.
fn all() -> Vec<(Client, Scope)> {
    let both = Client::ALL.into_iter().flat_map(|client| [(client, Scope::User), (client, Scope::Project)]);
    // Neither has files of a project.
    both.filter(|(client, scope)| *scope == Scope::User || !matches!(client, Client::ClaudeDesktop | Client::Goose))
        .collect()
}

/// What a file of servers may look like, in its own language.
fn contents(ground: &Ground) -> Vec<(&'static str, Option<Vec<u8>>)> {
    let file = ground.servers();
    let texts: Vec<(&str, String)> = match file.extension().and_then(|ending| ending.to_str()) {
        Some("toml") => toml_texts(),
        Some("yaml") => yaml_texts(),
        _ => json_texts(list_of(ground.client)),
    };
    let mut found: Vec<(&str, Option<Vec<u8>>)> =
        texts.into_iter().map(|(name, text)| (name, Some(text.into_bytes()))).collect();
    found.push(("absent", None));
    found.push(("empty", Some(Vec::new())));
    found
}

fn list_of(client: Client) -> &'static str {
    match client {
        Client::OpenCode => "mcp",
        Client::VsCode => "servers",
        Client::Zed => "context_servers",
        _ => "mcpServers",
    }
}

fn json_texts(list: &str) -> Vec<(&'static str, String)> {
    let commented = format!(
        "// mine\n{{\n    \"theme\": \"dark\", // at night\n    /* the servers */\n    \"{list}\": {{\n        \"other\": {{\"command\": \"x\", \"args\": [1, 2]}}, // last\n    }},\n    \"z\": [\n        1,\n    ],\n}}\n"
    );
    vec![
        ("comments and trailing commas", commented.clone()),
        ("windows line ends", commented.replace('\n', "\r\n")),
        ("byte order mark", "\u{feff}{\n\t\"a\": 1\n}\n".to_owned()),
        ("one line", format!("{{\"b\":1,\"{list}\":{{\"other\":{{\"command\":\"x\"}}}},\"a\":{{}}}}")),
        ("no line end", "{\n  \"k\": \"v\"\n}".to_owned()),
        ("nothing in it", "{}\n".to_owned()),
        (
            "hooks of others",
            "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"notify\"}]}]}}\n".to_owned(),
        ),
        (
            "an older entry of ours",
            format!(
                "{{\"{list}\": {{\"heyaira\": {{\"command\": \"/old/heyaira\", \"args\": [\"mcp\", \"--project\", \"x\"], \"timeout\": 5}}}}}}\n"
            ),
        ),
    ]
}

fn toml_texts() -> Vec<(&'static str, String)> {
    let commented = "# mine\nmodel = \"m\" # the best\n\n[mcp_servers.other] # theirs\ncommand = 'x'\nargs = [\n  \"a\", # one\n]\n\n[projects.\"/home/m/repo\"]\ntrust_level = \"trusted\"\n";
    vec![
        ("comments", commented.to_owned()),
        ("windows line ends", commented.replace('\n', "\r\n")),
        ("two sorts of line ends", commented.replacen('\n', "\r\n", 3)),
        ("byte order mark", format!("\u{feff}{commented}")),
        ("no line end", commented.trim_end().to_owned()),
        ("servers on one line", "mcp_servers = { other = { command = \"x\" } }\n".to_owned()),
        ("servers by dots", "mcp_servers.other.command = \"x\"\n".to_owned()),
        ("an older entry of ours", "[mcp_servers.heyaira]\ncommand = \"/old/heyaira\" # moved\nargs = [\"mcp\", \"--project\", \"x\"]\nstartup_timeout_sec = 9\n\n[tui]\ntheme = \"x\"\n".to_owned()),
    ]
}

fn yaml_texts() -> Vec<(&'static str, String)> {
    let commented = "# mine\nGOOSE_MODEL: m # the best\nextensions:\n    # theirs\n    other:\n        enabled: true\n        cmd: 'x'\n\nlast: |\n  text: of\n  several lines\n";
    vec![
        ("comments", commented.to_owned()),
        ("windows line ends", commented.replace('\n', "\r\n")),
        ("byte order mark", format!("\u{feff}{commented}")),
        ("no line end", "a: 1\nextensions:".to_owned()),
        ("no list", "a: 1".to_owned()),
        ("an older entry of ours", "extensions:\n  heyaira:\n    cmd: /old/heyaira\n    args:\n    - mcp\n    - --project\n    - x\n    timeout: 5\n  z:\n    cmd: y\n".to_owned()),
    ]
}

fn each(test: impl Fn(&Ground, &str)) {
    for (client, scope) in all() {
        let names: Vec<&str> = contents(&Ground::new(client, scope)).into_iter().map(|(name, _)| name).collect();
        for (index, name) in names.into_iter().enumerate() {
            let ground = Ground::new(client, scope);
            let file = ground.servers();
            if let Some(bytes) = contents(&ground).swap_remove(index).1 {
                put(&file, &bytes);
            }
            test(&ground, &format!("{} {scope:?}: {name}", client.name()));
        }
    }
}

/// Fails with the files that differ.
fn assert_same(found: &Snapshot, wanted: &Snapshot, told: &str) {
    let names: Vec<_> =
        found.keys().chain(wanted.keys()).filter(|path| found.get(*path) != wanted.get(*path)).collect();
    let texts = |one: &Snapshot| {
        names
            .first()
            .and_then(|path| one.get(*path))
            .map(|(mode, bytes)| format!("{mode}\n{}", String::from_utf8_lossy(bytes)))
    };
    assert!(names.is_empty(), "{told}: {names:?}\n{:?}\n{:?}", texts(found), texts(wanted));
}

#[test]
fn twice_is_once_and_undone_is_as_before() {
    each(|ground, told| {
        let before = ground.snapshot();
        ground.set_up().unwrap_or_else(|refusal| panic!("{told}: {refusal}"));
        let once = ground.snapshot();
        assert_ne!(once, before, "{told}");
        ground.set_up().unwrap_or_else(|refusal| panic!("{told}: {refusal}"));
        assert_same(&ground.snapshot(), &once, told);
        let undone = ground.undo().expect("undone");
        assert!(undone.iter().all(|(_, undoing)| *undoing == Undoing::Restored), "{told}: {undone:?}");
        assert_same(&ground.snapshot(), &before, told);
        assert_eq!(ground.kept(), Vec::<String>::new(), "{told}");
    });
}

#[test]
fn what_was_interrupted_is_finished_or_taken_back() {
    // One for each language of files; the steps are the same for all.
    for (client, scope) in
        [(Client::Codex, Scope::User), (Client::Gemini, Scope::Project), (Client::Goose, Scope::User)]
    {
        let whole = Ground::new(client, scope);
        whole.set_up().expect("set up");
        let steps = whole.prepare(false).expect("a plan").len() * 2;
        for step in 0..steps {
            let told = format!("{} after step {step}", client.name());
            let ground = Ground::new(client, scope);
            let file = ground.servers();
            put(&file, b"");
            let before = ground.snapshot();
            assert!(ground.set_up_until(step).is_err(), "{told}");
            ground.undo().expect("undone");
            assert_same(&ground.snapshot(), &before, &told);
            assert!(ground.set_up_until(step).is_err(), "{told}");
            ground.set_up().expect("finished");
            let finished = ground.snapshot();
            let _ = ground.undo_until(step);
            ground.undo().expect("undone");
            assert_same(&ground.snapshot(), &before, &told);
            ground.set_up().expect("again");
            assert_same(&ground.snapshot(), &finished, &told);
        }
    }
}

#[test]
fn of_a_file_that_others_changed_since_only_ours_is_taken_out() {
    each(|ground, told| {
        let file = ground.servers();
        let text = fs::read_to_string(&file).unwrap_or_default();
        ground.set_up().expect("set up");
        let now = fs::read_to_string(&file).expect("text");
        let changed = match file.extension().and_then(|ending| ending.to_str()) {
            Some("toml") => format!("{now}\n[added]\nlater = 1\n"),
            Some("yaml") => format!("{now}\nlater: 1\n"),
            _ => now.replacen('{', "{ \"added\": {\"later\": 1},", 1),
        };
        fs::write(&file, &changed).expect("changed");
        let undone = ground.undo().expect("undone");
        let of_file = undone.iter().find(|(path, _)| fs::canonicalize(path).ok() == fs::canonicalize(&file).ok());
        assert_eq!(of_file.map(|(_, undoing)| undoing), Some(&Undoing::TakenOut), "{told}: {undone:?}");
        let rest = fs::read_to_string(&file).expect("text");
        assert!(rest.contains("later"), "{told}: {rest}");
        assert_eq!(rest.contains("heyaira"), text.contains("heyaira"), "{told}: {rest}");
        for line in text.lines().filter(|line| line.contains("//") || line.contains('#')) {
            assert!(rest.contains(line.trim()), "{told}: {line}: {rest}");
        }
    });
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_its_file_keeps_its_mode() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    for (client, scope) in all() {
        let ground = Ground::new(client, scope);
        let file = ground.servers();
        // A link of a repository may not lead out of it.
        let repository = ground.home().join("repo");
        let place = if file.starts_with(&repository) { repository } else { ground.home() };
        let real = place.join("dotfiles").join("servers");
        let text = if file.extension().is_some_and(|ending| ending == "toml") { "a = 1\n" } else { "{}\n" };
        put(&real, if file.extension().is_some_and(|ending| ending == "yaml") { b"a: 1\n" } else { text.as_bytes() });
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).expect("a mode");
        fs::create_dir_all(file.parent().expect("a folder")).expect("folders");
        symlink(&real, &file).expect("a link");
        let before = ground.snapshot();
        ground.set_up().expect("set up");
        assert!(fs::symlink_metadata(&file).expect("a link").is_symlink(), "{}", client.name());
        assert!(fs::read_to_string(&real).expect("text").contains("heyaira"), "{}", client.name());
        assert_eq!(fs::metadata(&real).expect("metadata").permissions().mode() & 0o777, 0o640);
        ground.undo().expect("undone");
        assert_same(&ground.snapshot(), &before, client.name());
    }
}

/// Expects that nothing is written, and that the refusal names the file and says this.
fn refused(ground: &Ground, told: &str, says: &str) {
    let before = ground.snapshot();
    let refusal = ground.set_up().expect_err(told);
    let text = refusal.to_string();
    let file = ground.servers();
    assert!(text.contains(&file.display().to_string()) && text.contains(says), "{told}: {text}");
    assert!(!text.contains("hunter2"), "{told}: {text}");
    assert_same(&ground.snapshot(), &before, told);
}

#[test]
fn what_cannot_be_edited_safely_is_refused_untouched() {
    for (client, scope) in all() {
        let told = client.name();
        let ground = Ground::new(client, scope);
        let file = ground.servers();
        put(&file, b"{\"a\": \"hunter2\"\n  \"b: }");
        refused(&ground, told, "line");
        put(&file, b"a = \"\xff\xfe\"");
        refused(&ground, told, "UTF-8");
        fs::remove_file(&file).expect("removed");
        fs::create_dir(&file).expect("a folder in its place");
        refused(&ground, told, "regular file");
    }
}

#[cfg(unix)]
#[test]
fn read_only_files_and_links_to_nothing_are_refused_with_the_mend() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    for (client, scope) in all() {
        let ground = Ground::new(client, scope);
        let file = ground.servers();
        put(&file, b"");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).expect("a mode");
        refused(&ground, client.name(), "chmod u+w");
        fs::remove_file(&file).expect("removed");
        symlink("/nowhere/at/all", &file).expect("a link");
        refused(&ground, client.name(), "link");
    }
}

#[test]
fn an_entry_of_another_origin_is_replaced_only_by_force() {
    let ground = Ground::new(Client::ClaudeCode, Scope::User);
    let file = ground.servers();
    put(&file, b"{\"mcpServers\": {\"heyaira\": {\"type\": \"http\", \"url\": \"http://localhost:1/mcp\"}}}");
    refused(&ground, "an entry with a URL", "--force");
    let ready = ground.prepare(true).expect("by force");
    let changed = ready.iter().find(|one| one.path == file).expect("the file");
    let text = String::from_utf8(changed.after.clone().expect("text")).expect("text");
    assert!(!text.contains("localhost") && text.contains("\"mcp\""), "{text}");
    put(&file, b"{\"mcpServers\": {\"heyaira\": {\"command\": \"x\"}, \"heyaira\": {\"command\": \"y\"}}}");
    refused(&ground, "twice", "twice");
    put(&file, b"{\"mcpServers\": [1]}");
    refused(&ground, "a list", "no object");
    let codex = Ground::new(Client::Codex, Scope::User);
    put(&codex.servers(), b"[mcp_servers.heyaira]\nurl = \"http://localhost:1/mcp\"\n");
    refused(&codex, "an entry with a URL", "--force");
}

#[test]
fn what_two_clients_share_stays_until_the_last_is_taken_back() {
    let mut ground = Ground::new(Client::Codex, Scope::User);
    let before = ground.snapshot();
    ground.set_up().expect("set up");
    let of_codex = ground.snapshot();
    ground.client = Client::OpenCode;
    ground.set_up().expect("set up");
    ground.client = Client::Codex;
    let undone = ground.undo().expect("undone");
    let shared = undone.iter().filter(|(_, undoing)| matches!(undoing, Undoing::Shared(_))).count();
    assert_eq!(shared, 4, "two skills, the block and the profile: {undone:?}");
    assert!(ground.home().join(".agents/skills/take-over-session/SKILL.md").is_file());
    ground.set_up().expect("again");
    ground.client = Client::OpenCode;
    ground.undo().expect("undone");
    assert_same(&ground.snapshot(), &of_codex, "only OpenCode's are gone");
    ground.client = Client::Codex;
    ground.undo().expect("undone");
    assert_same(&ground.snapshot(), &before, "all are gone");
}

#[test]
fn a_newer_set_up_is_undone_to_what_was_before_the_first() {
    for (client, scope) in [(Client::Codex, Scope::User), (Client::Gemini, Scope::User), (Client::Goose, Scope::User)] {
        let mut ground = Ground::new(client, scope);
        let file = ground.servers();
        put(&file, &contents(&ground)[0].1.clone().expect("text"));
        let before = ground.snapshot();
        ground.set_up().expect("set up");
        let first = ground.snapshot();
        ground.program = "/opt/heyaira";
        ground.set_up().expect("set up by another program");
        assert_ne!(ground.snapshot(), first, "{}", client.name());
        ground.undo().expect("undone");
        assert_same(&ground.snapshot(), &before, client.name());
        // What others wrote in between stays, and ours of both times goes.
        ground.program = "heyaira";
        ground.set_up().expect("set up");
        let text = fs::read_to_string(&file).expect("text");
        let sign = if file.extension().is_some_and(|ending| ending == "json") { "//" } else { "#" };
        put(&file, format!("{sign} between\n{text}").as_bytes());
        ground.program = "/opt/heyaira";
        ground.set_up().expect("set up by another program");
        ground.undo().expect("undone");
        let rest = fs::read_to_string(&file).expect("text");
        assert!(rest.contains("between") && !rest.contains("heyaira"), "{}: {rest}", client.name());
    }
}

#[test]
fn a_skill_that_was_changed_by_hand_is_neither_overwritten_nor_removed() {
    let ground = Ground::new(Client::ClaudeCode, Scope::User);
    let skill = ground.home().join(".claude/skills/take-over-session/SKILL.md");
    put(&skill, b"mine");
    let refusal = ground.set_up().expect_err("it is somebody's");
    assert!(refusal.to_string().contains("take-over-session"), "{refusal}");
    fs::remove_file(&skill).expect("removed");
    ground.set_up().expect("set up");
    fs::write(&skill, "mine").expect("changed");
    let undone = ground.undo().expect("undone");
    assert!(undone.iter().any(|(path, undoing)| *path == skill && matches!(undoing, Undoing::Left(_))), "{undone:?}");
    assert_eq!(fs::read(&skill).expect("there"), b"mine");
}

#[test]
fn a_large_file_is_edited_within_its_time() {
    let ground = Ground::new(Client::ClaudeCode, Scope::User);
    let file = ground.servers();
    let rows: Vec<String> =
        (0..20_000).map(|row| format!("    \"key{row}\": {{\"value\": [{row}, \"some text\"]}}")).collect();
    let text = format!("{{\n  \"projects\": {{\n{}\n  }}\n}}\n", rows.join(",\n"));
    put(&file, text.as_bytes());
    let began = std::time::Instant::now();
    ground.set_up().expect("set up");
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
    ground.undo().expect("undone");
    assert!(fs::read(&file).expect("text") == text.as_bytes());
}

/// One client for each language of files, with a file of servers that is somebody's.
fn of_each_language() -> Vec<(Ground, PathBuf)> {
    let clients = [Client::ClaudeCode, Client::Codex, Client::Goose];
    let grounds = clients.map(|client| Ground::new(client, Scope::User));
    let with_file = grounds.into_iter().map(|ground| {
        let file = ground.servers();
        put(&file, &contents(&ground)[0].1.clone().expect("text"));
        (ground, file)
    });
    with_file.collect()
}

#[test]
fn a_file_that_is_broken_for_a_moment_can_be_taken_back_once_it_is_mended() {
    for (ground, file) in of_each_language() {
        let told = ground.client.name();
        let before = ground.snapshot();
        ground.set_up().expect("set up");
        let whole = fs::read(&file).expect("a file");
        fs::write(&file, [&whole[..], b"\xff"].concat()).expect("broken");
        let undone = ground.undo().expect("undone");
        let says = |(path, undoing): &(PathBuf, Undoing)| match undoing {
            Undoing::Left(why) => *path == file && why.contains("UTF-8") && why.contains("state"),
            _ => false,
        };
        assert!(undone.iter().any(says), "{told}: {undone:?}");
        assert_eq!(ground.kept().len(), 2, "{told}: the list and the copy");
        fs::write(&file, &whole).expect("mended");
        ground.undo().expect("undone");
        assert_same(&ground.snapshot(), &before, told);
        assert_eq!(ground.kept(), Vec::<String>::new(), "{told}");
    }
}

#[test]
fn a_file_that_is_gone_comes_back_as_it_was_before() {
    for (ground, file) in of_each_language() {
        let told = ground.client.name();
        let before = fs::read(&file).expect("a file");
        ground.set_up().expect("set up");
        fs::remove_file(&file).expect("removed");
        let undone = ground.undo().expect("undone");
        assert!(undone.contains(&(file.clone(), Undoing::Restored)), "{told}: {undone:?}");
        assert_eq!(fs::read(&file).expect("it is back"), before, "{told}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(&file).expect("metadata").permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{told}: its mode is not known any more");
        }
        fs::remove_file(&file).expect("removed");
        let empty = ground.snapshot();
        ground.set_up().expect("set up");
        fs::remove_file(&file).expect("removed");
        let undone = ground.undo().expect("undone");
        assert!(undone.contains(&(file.clone(), Undoing::Nothing)), "{told}: {undone:?}");
        assert_same(&ground.snapshot(), &empty, told);
    }
}

#[cfg(unix)]
#[test]
fn a_file_is_its_owners_alone_until_it_is_written() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let target = folder.path().join("settings.json");
    put(&target, b"{}");
    fs::set_permissions(&target, fs::Permissions::from_mode(0o644)).expect("a mode");
    let bytes = vec![b' '; 16 << 20];
    let deadline = std::time::Instant::now() + std::time::Duration::from_mins(1);
    let mut seen = Vec::new();
    while seen.len() < 20 {
        assert!(std::time::Instant::now() < deadline, "no file was seen while it was written");
        let writing = std::thread::scope(|scope| {
            let writing = scope.spawn(|| replace(&target, &bytes));
            while !writing.is_finished() {
                let beside = fs::read_dir(folder.path()).expect("a folder").flatten();
                let parts = beside.filter(|entry| entry.path() != target).filter_map(|entry| entry.metadata().ok());
                let unfinished = parts.filter(|found| found.len() < bytes.len() as u64);
                seen.extend(unfinished.map(|found| found.permissions().mode() & 0o777));
            }
            writing.join().expect("no panic")
        });
        writing.expect("written");
    }
    assert!(seen.iter().all(|mode| *mode == 0o600), "{seen:?}");
    assert_eq!(fs::metadata(&target).expect("metadata").permissions().mode() & 0o777, 0o644);
}

#[test]
fn a_difference_shows_nothing_of_what_others_keep_in_texts_and_comments_of_several_lines() {
    let secret = ["c2Vjcm", "V0LXRva2Vu"].concat();
    let texts = [
        (
            Client::Goose,
            format!("key: |\n  {secret}==\n  {secret}: x\nlist:\n- a\nlast: |\n  {secret}: 1\n  {secret}=="),
        ),
        (Client::Codex, format!("text = \"\"\"\n[{secret}]\n{secret} = 1\n{secret}==\n\"\"\"")),
        (
            Client::ClaudeCode,
            format!("/* one\n \"{secret}\": 1,\n {{{secret}: {secret}==\n*/\n{{\"a\": {{\"{secret}\": 1}}}}"),
        ),
    ];
    for (client, text) in texts {
        let ground = Ground::new(client, Scope::User);
        let file = ground.servers();
        put(&file, text.as_bytes());
        let ready = ground.prepare(false).expect("a plan");
        let shown = ready.iter().find(|one| one.path == file).expect("the file").difference();
        assert!(!shown.contains(&secret), "{}: {shown}", client.name());
        let ours = shown.lines().filter(|line| line.starts_with('+') && line.contains("heyaira")).count();
        assert!(ours >= 2 && shown.contains("…"), "{}: {shown}", client.name());
    }
}
