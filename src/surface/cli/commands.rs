//! The tree of commands: one for each operation, and those that are no operations.

use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::error::Result;
use crate::operation::{Entry, schema};
use crate::operations;
use crate::surface::cli::{
    Session, clients, connections, doctor, draft, economics, exits, flags, handoff, hook, maintain, mcp, receipt,
    redact, run, serve, setup, start, transfer,
};

type Run = fn(&Session, &ArgMatches) -> Result<ExitCode>;

/// The commands that are no operations, by their words.
const BY_HAND: [(&str, Run); 27] = [
    ("start", start::start),
    ("init", setup::init),
    ("profile", setup::profile),
    ("setup", clients::setup),
    ("mcp", mcp::mcp),
    ("serve", serve::serve),
    ("resume", setup::resume),
    ("context", economics::context),
    ("handoff check", handoff::check),
    ("handoff draft", draft::run),
    ("hook", hook::hook),
    ("doctor", doctor::doctor),
    ("receipt verify", receipt::verify),
    ("verify", maintain::verify),
    ("backup", maintain::backup),
    ("restore", maintain::restore),
    ("move", transfer::run),
    ("redact", redact::run),
    ("run clean", run::clean),
    ("run dismiss", run::dismiss),
    ("run list", run::list),
    ("run record", run::record),
    ("run show", run::show),
    ("run start", run::start),
    ("run stop", run::stop),
    ("run watch", run::watch),
    ("completions", maintain::completions),
];

/// The command of those words, if it is no operation.
pub fn by_hand(path: &str) -> Option<Run> {
    BY_HAND.into_iter().find(|(words, _)| *words == path).map(|(_, run)| run)
}

/// The whole tree.
pub fn all() -> Command {
    let mut root = Command::new("heyaira")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Hand a long agent session over to a fresh one: versioned tasks, handoffs, memories, a small resume packet.")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .after_help(exits::help());
    for command in made_by_hand() {
        root = root.subcommand(with_globals(command));
    }
    root = root.subcommand(run::command());
    for entry in operations::all() {
        let words: Vec<&str> = entry.command.split(' ').collect();
        root = match words.as_slice() {
            [one] if root.find_subcommand(one).is_some() => root,
            [one] => root.subcommand(leaf(one, entry)),
            [group, word] => grouped(root, group, leaf(word, entry)),
            _ => root,
        };
    }
    let root = grouped(root, "receipt", with_globals(receipt::command()));
    let root = grouped(root, "handoff", with_globals(draft::command()));
    let root = root.mut_subcommand("context", economics::with_flags);
    root.mut_subcommand("handoff", |group| group.mut_subcommand("check", with_files))
}

/// What can be checked on the command line beside a task.
fn with_files(command: Command) -> Command {
    command
        .about("What a stranger would miss in a handoff: of a saved task, a Markdown file, or a draft")
        .long_about(
            "What a stranger would miss in a handoff, and its grade. A task is checked as it is saved; with --draft @FILE \
             the draft's fields are laid over it first, and nothing is saved. A file stands alone: a Markdown document, or a \
             draft as JSON with the fields of task update.",
        )
        .mut_arg("task_id", |argument| {
            let help =
                "A task by its id or the beginning of it; or a Markdown file or draft as JSON, - for standard input";
            argument.value_name("TASK|FILE").help(help)
        })
        .after_help(
            "Exit code: 0 if the handoff is ready, 11 if it is thin, 12 if it is misleading. A file needs no database.",
        )
        .arg(handoff::language_flag())
}

fn grouped(root: Command, group: &str, command: Command) -> Command {
    if root.find_subcommand(group).is_some() {
        return root.mut_subcommand(group, |found| found.subcommand(command));
    }
    let about = match group {
        "task" => "Tasks: create, find, read, change, take over, history",
        "memory" => "Memories: what outlives a task",
        "message" => "Messages for the owner of a task or a session",
        "handoff" => "Handoffs: check one, print its line",
        "receipt" => "Receipts: compare one with a git repository, show what came out",
        "run" => "Runs: work that nobody attends, and the report of each",
        "project" => "Projects of this instance",
        "token" => "Tokens: the credentials of the HTTP surface",
        _ => "",
    };
    let parent = Command::new(group.to_owned()).about(about).subcommand_required(true).arg_required_else_help(true);
    root.subcommand(parent.subcommand(command))
}

fn leaf(word: &str, entry: &Entry) -> Command {
    let about = entry.schema.get("description").and_then(serde_json::Value::as_str).unwrap_or_default();
    let command = Command::new(word.to_owned())
        .about(schema::wire_text(&entry.schema).unwrap_or_default().replace('`', ""))
        .long_about(about.replace('`', ""))
        .args(flags::of(entry));
    with_globals(command)
}

/// The flags that every command has.
pub(super) fn with_globals(command: Command) -> Command {
    let flag = |name: &'static str, long: &'static str| {
        Arg::new(name).long(long).value_name("VALUE").action(ArgAction::Set).help_heading("Where")
    };
    // An operation's own flag of the same name comes first.
    let taken = |name: &str| command.get_arguments().any(|argument| argument.get_long() == Some(name));
    let mut globals =
        vec![flag("database", "database").help("The database: a file, or postgres://… [env: HEYAIRA_DATABASE]")];
    if !taken("project") {
        globals.push(
            flag("project-name", "project").help("The project [env: HEYAIRA_PROJECT; else the pinned heyaira.toml]"),
        );
    }
    if !taken("profile") {
        globals.push(flag("profile", "profile").help("A connection profile, as heyaira profile --write makes it"));
    }
    globals.push(
        Arg::new("json")
            .long("json")
            .action(ArgAction::SetTrue)
            .help("Print JSON, and only that")
            .help_heading("Where"),
    );
    command.args(globals)
}

fn made_by_hand() -> Vec<Command> {
    let text = |name: &'static str| Arg::new(name).value_name(name.to_uppercase()).action(ArgAction::Set);
    vec![
        Command::new("start")
            .about("Set everything up (database, project, profile, token), print how to connect a client, and serve")
            .args(serve::flags())
            .arg(
                Arg::new("no-serve")
                    .long("no-serve")
                    .action(ArgAction::SetTrue)
                    .help("Only set up: clients that start heyaira mcp themselves need no server"),
            ),
        Command::new("init")
            .about("Create the database")
            .arg(text("resource").long("resource").value_name("URL").help("The canonical URI of the service")),
        Command::new("profile")
            .about("Print a project's connection profile and the lines that connect a client, or start a new generation of it")
            .args_conflicts_with_subcommands(true)
            .arg(text("project").help("Which project"))
            .arg(
                Arg::new("write")
                    .long("write")
                    .action(ArgAction::SetTrue)
                    .help(
                        "Write it as heyaira.toml into the current folder; the profile of another project or instance there \
                         is not replaced: move it away first",
                    ),
            ),
        clients::command(),
        Command::new("mcp").about("Serve MCP on standard input and output, for an agent's client").args(mcp::flags()),
        Command::new("serve")
            .about("Serve MCP and plain HTTP on the network, for callers with a token")
            .args(serve::flags())
            .arg(serve::auth_flag()),
        Command::new("resume")
            .about("Read everything that is needed to go on from a handoff line")
            .arg(text("line").num_args(1..).action(ArgAction::Append).help("The line, e.g. handoff: 8e287857 v7"))
            .args(receipt::flags()),
        Command::new("doctor")
            .about("Check the set-up: database, settings, permissions, project")
            .arg(connections::flag()),
        Command::new("verify").about("Check the whole database, its history and its indexes; reads only"),
        Command::new("backup")
            .about("Write a consistent copy of the database, also while it is in use")
            .arg(text("file").help("The new file")),
        Command::new("restore")
            .about("Put a backup in the place of the whole database, also while it is in use; what was there is kept beside")
            .arg(text("file").help("The backup"))
            .arg(Arg::new("same-instance").long("same-instance").action(ArgAction::SetTrue).help(
                "Stay the instance that it was, so that profiles go on; else it becomes another one, and old ones are refused",
            )),
        transfer::command(),
        redact::command(),
        hook::command(),
        Command::new("completions")
            .about("Print the completions of a shell")
            .arg(text("shell").help("bash, zsh, fish, elvish or powershell")),
    ]
}
