//! Commands as they stand in texts: in code, behind a prompt, or at the start of a line. Must never take a sentence that
//! starts with a program's name for a command: "make sure" is none.

use crate::domain::markdown::{Kind, Line};

/// Programs whose names are no words of a sentence, or that are followed by what no sentence has.
const PROGRAMS: [&str; 132] = [
    "alembic",
    "ansible-playbook",
    "apt",
    "apt-get",
    "aws",
    "az",
    "bash",
    "bazel",
    "bazelisk",
    "brew",
    "buck2",
    "bun",
    "bundle",
    "bunx",
    "cabal",
    "cargo",
    "cd",
    "clang",
    "cmake",
    "composer",
    "corepack",
    "ctest",
    "curl",
    "cypress",
    "dart",
    "deno",
    "diff",
    "django-admin",
    "docker",
    "docker-compose",
    "dotnet",
    "dvc",
    "elan",
    "elixir",
    "eslint",
    "ffmpeg",
    "firebase",
    "flake8",
    "flutter",
    "flyctl",
    "gcloud",
    "gh",
    "ghc",
    "git",
    "glab",
    "gradle",
    "grep",
    "hatch",
    "helm",
    "heroku",
    "heyaira",
    "java",
    "javac",
    "jest",
    "journalctl",
    "jq",
    "kubectl",
    "lake",
    "lean",
    "lein",
    "ls",
    "mkdir",
    "mocha",
    "mvn",
    "mypy",
    "mysql",
    "ninja",
    "nix",
    "nix-build",
    "nix-shell",
    "nohup",
    "nox",
    "npm",
    "npx",
    "ollama",
    "php",
    "phpstan",
    "phpunit",
    "pip",
    "pip3",
    "pipenv",
    "pipx",
    "playwright",
    "pnpm",
    "podman",
    "poetry",
    "prettier",
    "prisma",
    "psql",
    "pwsh",
    "pytest",
    "python",
    "python3",
    "rails",
    "rake",
    "rebar3",
    "redis-cli",
    "rg",
    "rm",
    "rspec",
    "rsync",
    "rubocop",
    "ruby",
    "ruff",
    "rustc",
    "rustup",
    "sbt",
    "scp",
    "sed",
    "sh",
    "sqlite3",
    "sqlx",
    "ssh",
    "stripe",
    "sudo",
    "supabase",
    "systemctl",
    "terraform",
    "tofu",
    "tox",
    "tsc",
    "tsx",
    "uv",
    "uvx",
    "vercel",
    "vitest",
    "wget",
    "wrangler",
    "xcodebuild",
    "xcrun",
    "yarn",
    "zsh",
];

/// Programs whose names are words as well, with how what follows them starts in a command.
const WORDS: [(&str, &[&str]); 17] = [
    ("awk", &["'", "-", "\""]),
    ("cat", &["/", "./", "~", "-", "<"]),
    ("env", &["-"]),
    ("find", &["/", "./", ". ", "~", "-"]),
    ("go", &["test", "build", "run ", "mod ", "get ", "vet", "generate", "install ", "fmt", "tool ", "work "]),
    (
        "just",
        &["test", "build", "check", "lint", "ci", "verify", "dev", "deploy", "fmt", "format", "release", "serve", "-"],
    ),
    (
        "make",
        &["test", "build", "check", "lint", "ci", "verify", "dev", "deploy", "all", "install", "clean", "release", "-"],
    ),
    ("mix", &["test", "deps.", "compile", "ecto.", "phx.", "format"]),
    ("node", &["--", "-", "./", "scripts/", "dist/", "src/", "index"]),
    ("source", &["./", ".", "/", "~", "venv"]),
    ("stack", &["test", "build", "exec ", "ghci"]),
    ("swift", &["test", "build", "run", "package "]),
    ("task", &["test", "build", "lint", "--", "dev:", "ci"]),
    ("test", &["-"]),
    ("time", &["cargo ", "go ", "npm ", "make ", "./"]),
    ("timeout", &["1", "2", "3", "4", "5", "6", "7", "8", "9"]),
    ("zig", &["build", "test", "run "]),
];

/// True if a text is a command as it would be typed: `FOO=1 cargo test`, `$ make check`, `./run.sh`.
pub(in crate::domain::handoff) fn is_command(text: &str) -> bool {
    let text = text.trim();
    if let Some(typed) = text.strip_prefix("$ ").or_else(|| text.strip_prefix("% ")) {
        return !typed.trim().is_empty();
    }
    let mut rest = text;
    while let Some((word, behind)) = rest.split_once(' ')
        && is_assignment(word)
    {
        rest = behind.trim_start();
    }
    let (program, behind) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let behind = behind.trim_start();
    if program.starts_with("./") || program.starts_with("../") {
        return program.len() > 3;
    }
    let is_script = [".sh", ".py", ".ps1", ".mjs"].iter().any(|end| program.ends_with(end)) && program.contains('/');
    let name = program.rsplit('/').next().unwrap_or(program);
    if is_script {
        return true;
    }
    if program.contains('/') && !(program.starts_with("vendor/bin/") || program.starts_with("bin/")) {
        return false;
    }
    if PROGRAMS.binary_search(&name).is_ok() {
        return alone(name) || looks_typed(behind);
    }
    WORDS.iter().any(|(word, starts)| *word == name && starts.iter().any(|start| behind.starts_with(start)))
}

/// True for what follows a program and is no sentence: "git is broken", "npm/node" and the like are none.
fn looks_typed(behind: &str) -> bool {
    const SPEECH: [&str; 24] = [
        "is", "are", "was", "were", "has", "and", "or", "the", "a", "an", "to", "of", "in", "on", "for", "with",
        "will", "can", "must", "does", "history", "says", "version", "tests",
    ];
    let word = behind.split_whitespace().next().unwrap_or_default();
    let is_ascii = word.chars().next().is_some_and(|first| first.is_ascii() && !matches!(first, ',' | ';' | ':' | ')'));
    is_ascii && !SPEECH.contains(&word)
}

/// True for the name of a program.
pub(super) fn is_known(name: &str) -> bool {
    PROGRAMS.binary_search(&name).is_ok() || WORDS.iter().any(|(word, _)| *word == name)
}

/// Programs that do something without an argument.
pub(super) fn alone(name: &str) -> bool {
    ["pytest", "vitest", "jest", "mocha", "phpunit", "rspec", "ctest", "tox", "nox", "ninja", "tsc"].contains(&name)
}

pub(super) fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
    })
}

/// The command that a line is, or names in its code.
pub(in crate::domain::handoff) fn of_line<'t>(line: &Line<'t>) -> Option<&'t str> {
    all_of_line(line).into_iter().next()
}

/// Words behind a program that only a command has there.
pub(super) const SUBCOMMANDS: [&str; 36] = [
    "add",
    "apply",
    "audit",
    "bench",
    "branch",
    "build",
    "cherry-pick",
    "check",
    "checkout",
    "ci",
    "clippy",
    "clone",
    "commit",
    "compose",
    "deploy",
    "diff",
    "exec",
    "fetch",
    "install",
    "lint",
    "log",
    "merge",
    "migrate",
    "nextest",
    "pr",
    "pull",
    "push",
    "rebase",
    "restore",
    "run",
    "stash",
    "status",
    "switch",
    "sync",
    "test",
    "worktree",
];

/// A command in the middle of a sentence of any language: a program with what only a command has behind it.
pub(super) fn within(text: &str) -> Option<&str> {
    let starts = text.match_indices(' ').map(|(blank, _)| blank + 1);
    starts.filter_map(|start| text.get(start..)).find(|rest| {
        let program = rest.split(' ').next().unwrap_or_default();
        if !program.starts_with(|first: char| first.is_ascii_lowercase()) || !is_known(program) {
            return false;
        }
        let next = rest[program.len()..].split_whitespace().next().unwrap_or_default();
        let next = next.trim_end_matches(['.', ',', ';', ':', ')']);
        let is_argument = next.starts_with('-') || SUBCOMMANDS.contains(&next) || next.contains(['/', '_', '=']);
        (is_argument && is_command(rest)) || (alone(program) && next.is_empty())
    })
}

/// All commands of a line, the line itself first.
pub(in crate::domain::handoff) fn all_of_line<'t>(line: &Line<'t>) -> Vec<&'t str> {
    let mut found = Vec::new();
    match line.kind {
        Kind::Code => {
            let is_shell =
                matches!(line.language, Some("sh" | "bash" | "zsh" | "shell" | "console" | "fish" | "powershell"));
            let is_note = line.text.starts_with('#');
            if !is_note && (is_command(line.text) || (is_shell && line.text.contains(' '))) {
                found.push(line.text);
            }
        }
        Kind::Text | Kind::Quote | Kind::Row | Kind::Heading(_) => {
            if line.kind == Kind::Row {
                let cells = line.text.split('|').map(str::trim);
                found.extend(cells.filter(|cell| is_command(cell)));
            } else if is_command(line.text) {
                found.push(line.text);
            } else if let Some((_, behind)) = line.text.split_once(": ")
                && line.codes.is_empty()
                && is_command(behind)
            {
                found.push(behind.trim());
            }
            found.extend(line.codes.iter().filter(|code| is_command(code)));
            if found.is_empty() {
                let is_row = line.kind == Kind::Row;
                found.extend(line.text.split(|mark| is_row && mark == '|').find_map(|part| within(part.trim_end())));
            }
        }
        Kind::Fence | Kind::Rule | Kind::Meta => {}
    }
    found
}

/// Words that name a test runner, or a run of it, as a word of a command.
const RUNNERS: [&str; 24] = [
    "test",
    "tests",
    "nextest",
    "pytest",
    "vitest",
    "jest",
    "mocha",
    "ava",
    "phpunit",
    "pest",
    "rspec",
    "minitest",
    "tox",
    "nox",
    "ctest",
    "unittest",
    "playwright",
    "cypress",
    "spec",
    "e2e",
    "test-unit",
    "behave",
    "bats",
    "karma",
];

/// True if a command runs tests.
pub(in crate::domain::handoff) fn is_test(command: &str) -> bool {
    // What stands behind a note is no command any more.
    let command = command.split(" #").next().unwrap_or(command);
    let mut words = command.split([' ', '&', '|', ';', '(', ')']).filter(|word| !word.is_empty()).peekable();
    let program = words.peek().copied().unwrap_or_default();
    if matches!(program, "test" | "git" | "gh" | "ls" | "cat" | "rg" | "grep" | "cd" | "curl" | "sed" | "rm" | "mkdir")
    {
        return command.split("&&").skip(1).any(is_test);
    }
    words.any(|word| {
        let word = word.trim_matches(['"', '\'', '`', '$', ',', '.']);
        let name = word.rsplit('/').next().unwrap_or(word);
        let stem = name.split(['.', ':']).next().unwrap_or(name);
        !word.starts_with("--") && RUNNERS.contains(&stem)
    })
}

/// The tests that a command runs, for comparing: the first words of its part that runs them, without notes.
pub(in crate::domain::handoff) fn test_part(command: &str) -> &str {
    let command = command.split(" #").next().unwrap_or(command);
    let part = command.split("&&").find(|part| is_test(part)).unwrap_or(command);
    let end = part.find([';', ':', ',', '→', '(']).filter(|end| {
        let behind = &part[*end..];
        // A colon is part of a name, as in test:unit and camt::batch.
        !behind.starts_with(':') || behind[1..].starts_with(' ')
    });
    let part = end.map_or(part, |end| &part[..end]);
    let stop =
        [" — ", " - ", " = ", " => ", " -> ", " is ", " gives ", " passed", " passes", " failed", " was ", " with "];
    let end = stop.iter().filter_map(|stop| part.find(stop)).min();
    end.map_or(part, |end| &part[..end]).trim().trim_start_matches("$ ").trim_end_matches(['`', '.'])
}
