//! The flags of `heyaira run`. Must never look at what is written in them: a wrong word is told with all others.

use clap::{Arg, ArgAction, Command};

fn text(name: &'static str, word: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(word).action(ArgAction::Set).help(help)
}

/// `heyaira run start`.
pub(super) fn start() -> Command {
    Command::new("start")
        .about("Start a run: a coding client, or any command, in a worktree and branch of its own, and report on it")
        .long_about(
            "Start a run: a coding client, or any command, in a worktree and branch of its own. It is watched by a process of \
             its own, which ends it whole when it takes too long, is silent, costs too much or is to stop, asks git what \
             changed, runs the tests, and writes the report. This command follows it; --detach does not. Ctrl-C ends the run; \
             if this command is killed, the run goes on and its report is kept.",
        )
        .args(what())
        .args(bounds())
        .arg(Arg::new("detach").long("detach").action(ArgAction::SetTrue).help("Do not wait for its end"))
        .arg(
            Arg::new("words")
                .value_name("WORDS")
                .num_args(1..)
                .last(true)
                .action(ArgAction::Append)
                .help("A command and its arguments; with another harness, arguments that are added to its own"),
        )
        .after_help(
            "Exit code: 0 if the run succeeded, 13 if there is no work, 14 if the harness failed, 15 if a test did, 16 if it \
             came to a bound, 17 if it was interrupted, 18 if the harness did not do its part.",
        )
}

/// Who works on what, and where.
fn what() -> [Arg; 9] {
    [
        text("task", "ID", "The task that it works on; left out, the run is recorded with one later"),
        text("instructions", "TEXT", "What to do, before the task or without one (or @FILE, or @- for standard input)")
            .allow_hyphen_values(true),
        text("harness", "NAME", "Who works: claude-code, codex, gemini, opencode, copilot, command [default: command]"),
        text("model", "NAME", "The model, as the harness names it"),
        text("resume", "ID", "The harness's own id of a session that goes on"),
        text("branch", "NAME", "The branch, made at the base; one that exists goes on [default: heyaira/run-<id>]"),
        text("base", "REF", "What a new branch begins from [default: HEAD]"),
        text(
            "worktree",
            "DIR",
            "Where to work: a new folder, or a worktree that is on that branch [default: one in the run's folder]",
        ),
        text("test", "CMD", "A command that sh runs there afterwards, and that must pass; may be repeated")
            .action(ArgAction::Append)
            .allow_hyphen_values(true),
    ]
}

/// How much of everything it may take.
fn bounds() -> [Arg; 6] {
    [
        text("timeout", "TIME", "How long it may take: 90, 90s, 30m, 2h").default_value("30m"),
        text("silence", "TIME", "For how long nothing may come from it, or none").default_value("5m"),
        text("test-timeout", "TIME", "How long one test command may take").default_value("10m"),
        text("budget", "USD", "What it may cost, in US dollars").allow_negative_numbers(true),
        text("max", "NUMBER", "How many runs may work at once; one more waits").default_value("4"),
        text("log-limit", "SIZE", "How much of each output is kept: its beginning and its end").default_value("64MiB"),
    ]
}

/// `heyaira run stop`.
pub(super) fn stop() -> Command {
    Command::new("stop").about("End runs that go on; each is reported as interrupted").arg(runs())
}

/// `heyaira run clean`.
pub(super) fn clean() -> Command {
    let flag = |name: &'static str, help: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue).help(help);
    Command::new("clean")
        .about("Take away what runs left that are over: worktree, branch without commits, log and report")
        .long_about(
            "Take away what runs left that are over: the worktree, the branch where it has no commit of its own, and the \
             run's folder with its log and report. A run whose report is not recorded on its task, or that left files which \
             are not committed, is refused; the database keeps every report that it has.",
        )
        .arg(runs().required(false).conflicts_with("all"))
        .arg(flag("all", "All that are over; those that would be refused are kept and told"))
        .arg(flag("force", "Also where the report is not recorded, and where files are not committed: these are lost"))
}

/// `heyaira run watch`, which only `run start` calls.
pub(super) fn watch() -> Command {
    Command::new("watch").about("Watch over a run that was started").hide(true).arg(runs())
}

fn runs() -> Arg {
    Arg::new("run")
        .value_name("RUN")
        .required(true)
        .num_args(1..)
        .action(ArgAction::Append)
        .help("A run by its id or the beginning of it, at least 4 characters")
}
