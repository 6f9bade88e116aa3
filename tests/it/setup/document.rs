//! The generated page on what is written where.

use std::fmt::Write as _;
use std::path::Path;

use heyaira::client::Client;
use heyaira::client::place::{Places, Platform};
use heyaira::client::setup::server::Server;
use heyaira::client::setup::{Part, Repository, Request, Scope, plan};

const HEAD: &str = "# Setting a client up

Generated from the set-up by `just docs`.

```sh
cd your/repository
heyaira setup claude-code --project ledger     # or codex, gemini, opencode, copilot, claude-desktop, cursor, vscode, zed, goose
heyaira setup claude-code --dry-run            # shows the difference of each file, and writes nothing
heyaira setup claude-code --undo               # puts back what was there before
heyaira doctor                                 # how each client stands, and what mends it
```

`--project` makes the database and the project where they are not there yet, and says so. Without it the project is that of
the pinned `heyaira.toml`. Five parts are written; `--without hooks,skills,agents-md` leaves parts out:

| part | what it is |
| --- | --- |
| `profile` | `heyaira.toml` in the repository's root: the connection profile. It is no credential: commit it. Another one that is there is refused, never overwritten |
| `agents-md` | a block between `<!-- heyaira:begin -->` and `<!-- heyaira:end -->` with the profile, in the document that the client's agents are shown |
| `skills` | `write-session-handoff` and `take-over-session` |
| `hooks` | `heyaira hook CLIENT` at the start and the end of a session, with each prompt and answer, and before the client compacts (not in Gemini CLI, which says so with every turn) |
| `mcp` | the entry that starts `heyaira mcp` |

`--scope user` writes your own files: one entry for all your repositories, each of which has its `heyaira.toml`. `--scope
project` writes files of the repository, to be committed: they name `heyaira` by its name and no place of your machine, so
everyone has it on the `PATH`. `--remote URL` writes the bridge to a server elsewhere, which is asked first; its profile comes
from its owner, and its token from `HEYAIRA_TOKEN` or, in your own files alone, from `--token-file FILE`. No token is ever
written.

## What is written where

The home is `~`, the repository `.`; names are those of Linux. `CLAUDE_CONFIG_DIR`, `CODEX_HOME`, `GEMINI_CLI_HOME`,
`COPILOT_HOME` and `XDG_CONFIG_HOME` move them as they move the client.

";

const TAIL: &str = "
Gemini CLI reads the document that its setting `context.fileName` names; `GEMINI.md` stands for that. Where a repository has
a `CLAUDE.md` (or `CLAUDE.local.md`) without `@AGENTS.md`, Claude Code reads that alone, and Codex an `AGENTS.override.md`:
then the block is put there as well. Claude Desktop, Cursor,
VS Code, Zed and Goose are written from their documentation; they were not tested with the programs themselves. Their entries
name the project (`--project`), as it is not known in which folder they start a server, and in your own files the whole path of
`heyaira`, as an app does not have your shell's `PATH`.

Some of it is yours to say, and is not done for you; the set-up ends with what is still to be said. Gemini CLI starts nothing in
a folder that you do not trust; Codex and Copilot CLI read files of a repository only where you trust it. Codex skips hooks until
you trust them. Claude Code asks before it starts a server of a repository. Claude Code and Gemini CLI ask before they call a
tool, unless `permissions.allow` holds `mcp__heyaira`, or the entry `\"trust\": true`.

Where the plugin (or the extension) of HeyAira is installed in a client, it is not set up as well without `--force`: each event
would run twice.

## What is kept

- A file is edited in place: comments, order, unknown keys, trailing commas, indentation, line ends, a byte order mark, its
  mode, and a link to it stay. It is replaced whole, so that nobody reads half of it.
- What was there before is copied into the folder `setup` of HeyAira's state folder (`~/.local/state/heyaira`, or
  `HEYAIRA_STATE`), readable by you alone. `--undo` puts these bytes back, and removes what was not there, with folders that
  were made for it. Where somebody changed a file since, only what is ours is taken out, and that is said.
- Skills, block and profile belong to every client that was set up here; they go with the last one. Your own files stay while
  another repository that was set up uses them; `--undo --scope user` takes them back all the same.
- A file that is broken, read-only, not UTF-8, or has an entry `heyaira` that does not start `heyaira mcp`, is refused before
  anything is written; `--force` replaces such an entry.
- Interrupted at any point, every file is whole; the same command goes on, and `--undo` takes back what there is.
- A file that is gone comes back by `--undo` as it was before, readable by you alone. One that is broken is left, its copy is
  kept, and `--undo` can be run again once it is mended.
- What you add to the command of a hook, such as `--block`, stays. A command that does more than call the hook is not ours.
- In a `--dry-run`, what others keep in a file, and what it is called there, stands as `…`.
- Hard links are not kept (the other name keeps the old content), nor access control lists or extended attributes.

## Looking

`heyaira doctor` tells of each client its version, the command of its entry or the plugin, whether that serves a project from
here, what the client itself says of it (Claude Code, Gemini CLI and OpenCode connect to say it), parts that are older than the
program, a folder or hooks that the client was not told to trust, a token that is not there, and a plugin beside a set-up. What
a repository names is not run. Where all clients use a server elsewhere, no database is missed here. Every question ends after
10 seconds. Clients are asked by running them, and some of them write files of their own then.
";

fn paths(client: Client, scope: Scope, platform: Platform, part: Part) -> String {
    let root = Path::new("/repo").to_owned();
    let profile = Some((root.join("heyaira.toml"), String::new()));
    let repository = Repository { root, block: Some(String::new()), profile };
    let server = Server {
        program: "heyaira".to_owned(),
        arguments: Vec::new(),
        variables: Vec::new(),
        hook_arguments: Vec::new(),
    };
    let appdata = |name: &str| (name == "APPDATA" && platform == Platform::Windows).then(|| "%APPDATA%".to_owned());
    let places = Places::new(platform, Path::new("/home"), appdata);
    let changes = plan(&Request {
        client,
        scope,
        places: &places,
        repository: Some(&repository),
        server: &server,
        without: &[],
        read: &|_| None,
    });
    let of_part = changes.into_iter().filter(|change| change.part == part);
    let shown = of_part.map(|change| {
        let text = change.path.display().to_string();
        let text = text.replace("/home/", "~/").replace("/repo/", "").replace('\\', "/");
        format!("`{}`", text.replace("write-session-handoff", "*").replace("take-over-session", "*"))
    });
    let mut all: Vec<String> = shown.collect();
    all.dedup();
    all.join(", ")
}

#[test]
fn generated_docs_of_the_setup_are_current() {
    let mut text = HEAD.to_owned();
    text.push_str("| client | part | user | project |\n| --- | --- | --- | --- |\n");
    for client in Client::ALL {
        for part in Part::ALL.into_iter().filter(|part| *part != Part::Profile) {
            let of = |scope| paths(client, scope, Platform::Linux, part);
            let (user, mut project) = (of(Scope::User), of(Scope::Project));
            if user == project {
                "the same".clone_into(&mut project);
            }
            if matches!(client, Client::ClaudeDesktop | Client::Goose) && part == Part::Server {
                "none".clone_into(&mut project);
            }
            if !user.is_empty() {
                let _ = writeln!(text, "| {} | {} | {user} | {project} |", client.title(), part.as_str());
            }
        }
    }
    text.push_str("\nThe entry elsewhere:\n\n| client | macOS | Windows |\n| --- | --- | --- |\n");
    for client in Client::ALL {
        let of = |platform| paths(client, Scope::User, platform, Part::Server);
        let (linux, mac, windows) = (of(Platform::Linux), of(Platform::Mac), of(Platform::Windows));
        if linux != mac || linux != windows {
            let _ = writeln!(text, "| {} | {mac} | {windows} |", client.title());
        }
    }
    text.push_str(TAIL);
    crate::docs::check("setup.md", &text);
}
