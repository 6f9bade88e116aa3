//! `heyaira context --economics`: what a session costs and whether a fresh one would be cheaper. Must never open a database
//! of ours, and never print a word that a session said.

pub mod plot;
pub mod report;
pub mod svg;
mod watch;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use serde_json::{Value, json};

use crate::client::Client;
use crate::client::transcript::{self, Environment, Found, Part, Wanted};
use crate::config;
use crate::domain::text::{quoted, visible};
use crate::economics::{Outlook, Plan, Prices, Session};
use crate::error::{Code, Refusal, Result};
use crate::operations;
use crate::surface::cli::{self, answer, flags};

/// The file of the user's own prices, in the folder of settings.
const OWN_PRICES: &str = "prices.toml";

/// The built-in prices with the user's laid over them: those of the file that is named, else of the folder of settings.
pub fn prices(named: Option<&Path>) -> Result<Prices> {
    let usual = || config::settings_folder().map(|folder| folder.join(OWN_PRICES)).filter(|path| path.exists());
    let Some(path) = named.map(Path::to_owned).or_else(usual) else {
        return Prices::built_in();
    };
    let name = quoted(&path.to_string_lossy(), 200);
    let text = std::fs::read_to_string(&path).map_err(|error| {
        Refusal::new(
            Code::InvalidArgument,
            format!("the prices in {name} cannot be read: {error}"),
            "Name a readable UTF-8 file with --prices, or move that one away.",
        )
    })?;
    Prices::built_in()?.with(&name, &text)
}

/// Where the transcripts of this machine are looked for, from a folder that is worked in.
pub fn environment(folder: PathBuf) -> Environment<'static> {
    Environment { folder, home: etcetera::home_dir().ok(), variable: &|name| std::env::var(name).ok() }
}

/// What the command takes beside what the tool takes.
pub fn with_flags(command: Command) -> Command {
    let flag = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).help(help).help_heading(HEADING).requires("economics")
    };
    let switch = |name, help| flag(name, help).action(ArgAction::SetTrue);
    let value = |name, shown: &'static str, help| flag(name, help).value_name(shown).action(ArgAction::Set);
    let number = |name, shown, help| value(name, shown, help).value_parser(value_parser!(u64));
    let economics = Arg::new("economics")
        .long("economics")
        .action(ArgAction::SetTrue)
        .conflicts_with_all(["handoff", "session_ref"])
        .help("What this session costs and when to hand off, from its client's transcript, without a database")
        .help_heading(HEADING);
    command
        .arg(economics)
        .arg(value("session", "ID|FILE", "Another session: its id, the start of it, or its transcript"))
        .arg(value("client", "CLIENT", "Of this client only: claude-code, codex, gemini, opencode or copilot"))
        .arg(switch("all", "A line for each session of this folder").conflicts_with_all(OF_ONE))
        .arg(switch("watch", "Show it again with each change, until Ctrl-C").conflicts_with("plot"))
        .arg(
            value(
                "plot",
                "FILE.svg",
                "Draw the context over the session with its cache misses, as SVG if a file is named",
            )
            .num_args(0..=1)
            .default_missing_value(""),
        )
        .arg(value(
            "prices",
            "FILE",
            "Prices to lay over the built-in ones; else prices.toml in the folder of settings",
        ))
        .arg(number("pause", "MINUTES", "How long the session will pause now"))
        .arg(number("requests", "NUMBER", "How many more requests to the model are expected"))
}

const HEADING: &str = "What a session costs";

/// What is asked of one session.
const OF_ONE: [&str; 5] = ["session", "watch", "plot", "pause", "requests"];

/// `heyaira context`: the operation, or what the session costs.
pub fn context(session: &cli::Session, matches: &ArgMatches) -> Result<ExitCode> {
    if matches.get_flag("economics") {
        return economics(session, matches);
    }
    let entry = operations::named("continuity_context")
        .ok_or_else(|| Refusal::internal(&"continuity_context is not listed"))?;
    let found = session.ask(entry, flags::arguments(entry, matches)?)?;
    answer::print(&found, session.json)
}

fn economics(session: &cli::Session, matches: &ArgMatches) -> Result<ExitCode> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let client = text("client").map(Client::named).transpose()?;
    let environment = environment(session.config.folder.clone());
    let prices = prices(text("prices").map(Path::new))?;
    let pause = matches.get_one::<u64>("pause").map(|minutes| minutes.saturating_mul(60));
    let plan = Plan { requests: matches.get_one("requests").copied(), pause_seconds: pause, has_handoff: None };
    if matches.get_flag("all") {
        return of_folder(session, client, &environment, &prices);
    }
    let found = transcript::find(Wanted { session: text("session"), client }, &environment)?;
    let view = View { found, prices, plan, json: session.json };
    if matches.get_flag("watch") {
        return watch::watch(&view);
    }
    match text("plot") {
        Some(file) => view.plot(Some(file).filter(|file| !file.is_empty())),
        None => view.show(),
    }
}

/// One session, as it is shown.
struct View {
    found: Found,
    prices: Prices,
    plan: Plan,
    json: bool,
}

impl View {
    fn read(&self) -> Result<(Session, Outlook)> {
        let session = self.found.read(Part::All)?;
        let outlook = Outlook::planned(&session, &self.prices, cli::now(), self.plan);
        Ok((session, outlook))
    }

    /// The figures as they are printed.
    fn text(&self) -> Result<String> {
        let (session, outlook) = self.read()?;
        let report = report::of(&self.found, &session, &outlook, &self.prices);
        Ok(if self.json {
            report::json_text(&report)
        } else {
            visible(&report::text(&self.found, &session, &outlook, &self.prices))
        })
    }

    fn show(&self) -> Result<ExitCode> {
        answer::write(&self.text()?)?;
        Ok(ExitCode::SUCCESS)
    }

    fn plot(&self, file: Option<&str>) -> Result<ExitCode> {
        let (session, outlook) = self.read()?;
        let plot = plot::Plot::of(&session, &outlook);
        let Some(file) = file else {
            if self.json {
                return Err(Refusal::argument(
                    "a plot is a picture and no JSON: name a file for it, or leave --json out",
                ));
            }
            answer::write(&plot.text())?;
            return Ok(ExitCode::SUCCESS);
        };
        std::fs::write(file, svg::draw(&plot)).map_err(|error| {
            Refusal::argument(format!("the plot cannot be written to {}: {error}", quoted(file, 200)))
        })?;
        answer::print(&json!({"file": file, "requests": plot.points.len(), "misses": outlook.misses.len()}), self.json)
    }
}

/// A line for each session of the folder.
fn of_folder(
    session: &cli::Session,
    client: Option<Client>,
    environment: &Environment,
    prices: &Prices,
) -> Result<ExitCode> {
    let found = transcript::all(client, environment)?;
    let rows: Vec<Value> = found.iter().map(|found| row(found, prices)).collect();
    let unreadable = transcript::unreadable_places(client, environment);
    let folder = environment.folder.to_string_lossy();
    let answer = json!({"folder": folder, "sessions": rows, "unreadable": unreadable});
    if session.json {
        answer::write(&report::json_text(&answer))?;
        return Ok(ExitCode::SUCCESS);
    }
    answer::write(&visible(&report::table(&answer)))?;
    Ok(ExitCode::SUCCESS)
}

/// A session in short, or why it cannot be read.
fn row(found: &Found, prices: &Prices) -> Value {
    match found.read(Part::All) {
        Ok(session) => report::row(found, &session, &Outlook::of(&session, prices, cli::now())),
        Err(refusal) => json!({
            "client": found.client.name(),
            "session_id": found.id,
            "transcript": found.path.to_string_lossy(),
            "error": refusal.message,
        }),
    }
}
