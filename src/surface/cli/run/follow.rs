//! What `run start` does while a run goes on: it tells how far it is, passes on that it is to end, and tells the report.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::process::{Child, ExitCode};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::deliver::{self, shorts};
use super::{exit_code, on_signals};
use crate::domain::run::Report;
use crate::domain::text::{grouped, visible};
use crate::domain::time::Timestamp;
use crate::error::{Code, Refusal, Result};
use crate::run::ending;
use crate::run::folder::{Plan, Progress, REPORT, RunFolder, WORKING};
use crate::run::watcher::Watcher;
use crate::surface::cli::{Session, answer, now};

/// How often it is looked how far it is.
const LOOKS: Duration = Duration::from_secs(1);
/// How often that is told where nobody sees a line change.
const TELLS: Duration = Duration::from_secs(10);

/// What happens while a run goes on.
pub(super) enum Event {
    /// Somebody wants the run to end.
    Stop,
    /// The watcher is gone.
    Over,
    /// The run was ended, or could not be.
    Ended(Box<std::result::Result<Report, String>>),
}

/// Hears from now on that a run is to end, also before it has begun.
pub(super) struct Events {
    tell: Sender<Event>,
    events: Receiver<Event>,
}

impl Events {
    /// Catches the signals.
    pub(super) fn listen() -> Result<Self> {
        let (tell, events) = channel();
        let stop = tell.clone();
        on_signals(move || stop.send(Event::Stop).is_ok())?;
        Ok(Self { tell, events })
    }

    /// Passes on to a watcher that nobody follows what was heard until now.
    pub(super) fn pass_on(&self, watcher: &Child) {
        if self.events.try_recv().is_ok() {
            stop(watcher.id());
        }
    }
}

/// Asks a watcher to end its run.
fn stop(watcher: u32) {
    if let Some(id) = i32::try_from(watcher).ok().and_then(Pid::from_raw) {
        // It may have come to its end in this moment.
        let _ = kill_process(id, Signal::TERM);
    }
}

/// Follows a run to its end.
pub(super) fn follow(
    session: &Session,
    folder: &RunFolder,
    plan: &Plan,
    watcher: Child,
    events: Events,
) -> Result<ExitCode> {
    let tell = events.tell.clone();
    wait(watcher, events.tell);
    let mut line = Line::new(plan);
    let mut is_asked = false;
    let ended = loop {
        match events.events.recv_timeout(LOOKS) {
            // Once is enough: from then on it is seen to that it ends.
            Ok(Event::Stop) if is_asked => line.say("it is being ended"),
            Ok(Event::Stop) => {
                is_asked = true;
                end(folder.clone(), tell.clone());
            }
            Ok(Event::Ended(ended)) => break *ended,
            Ok(Event::Over) if is_asked => {}
            Ok(Event::Over) | Err(RecvTimeoutError::Disconnected) => break ending::reported(folder),
            Err(RecvTimeoutError::Timeout) => line.tell(folder),
        }
    };
    line.end();
    let report = ended.map_err(|keeps| {
        let name = &plan.run_id[..8];
        let next = format!("heyaira run list tells how far it is; heyaira run stop {name} ends it.");
        Refusal::new(Code::Unavailable, format!("the run {name} {keeps}"), next)
    })?;
    tell_report(session, folder, &report)?;
    Ok(ExitCode::from(exit_code(report.outcome)))
}

/// Ends a run, its watcher too where that does not answer.
fn end(folder: RunFolder, tell: Sender<Event>) {
    thread::spawn(move || {
        let _ = tell.send(Event::Ended(Box::new(ending::end(&folder))));
    });
}

fn wait(mut watcher: Child, tell: Sender<Event>) {
    thread::spawn(move || {
        // However it ended: the report says what there is to say.
        let _ = watcher.wait();
        let _ = tell.send(Event::Over);
    });
}

/// The line that says how far a run is.
struct Line {
    name: String,
    is_terminal: bool,
    told: Option<Instant>,
    state: String,
}

impl Line {
    fn new(plan: &Plan) -> Self {
        answer::note(&visible(&format!(
            "run {}: on branch {} in {}",
            plan.run_id,
            plan.branch,
            plan.worktree.display()
        )));
        let is_terminal = std::io::stderr().is_terminal();
        Self { name: plan.run_id[..8].to_owned(), is_terminal, told: None, state: String::new() }
    }

    fn tell(&mut self, folder: &RunFolder) {
        let Ok(progress) = folder.progress() else { return };
        let trouble = Watcher::of(folder).and_then(|watcher| watcher.trouble());
        let state = format!("{} {}", progress.phase, trouble.is_some());
        let is_due = self.is_terminal || self.told.is_none_or(|at| at.elapsed() >= TELLS);
        if !is_due && state == self.state {
            return;
        }
        self.state = state;
        let mut text = sentence(&progress, now());
        if let Some(trouble) = trouble {
            let name = &self.name;
            let _ = write!(text, "; its watcher {trouble}: Ctrl-C or heyaira run stop {name} ends it");
        }
        self.say(&text);
    }

    fn say(&mut self, text: &str) {
        self.told = Some(Instant::now());
        let text = visible(&format!("run {}: {text}", self.name));
        if self.is_terminal {
            // Whoever closed the terminal sees no line.
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K{text}");
        } else {
            answer::note(&text);
        }
    }

    fn end(&self) {
        if self.is_terminal && self.told.is_some() {
            answer::note("");
        }
    }
}

/// How far a run is, in one line.
fn sentence(progress: &Progress, now: Timestamp) -> String {
    if progress.started_micros == 0 {
        let others = shorts(&progress.waits_for).join(", ");
        let after = if others.is_empty() { String::new() } else { format!(", behind {others}") };
        return format!("{} for a place{after}", progress.phase);
    }
    let age = |micros: i64| Timestamp(micros).age(now);
    let mut text = format!("{} for {}", progress.phase, age(progress.started_micros));
    if progress.phase == WORKING {
        let _ = write!(text, ", last output {} ago", age(progress.active_micros));
    }
    if let Some(tokens) = progress.tokens {
        let _ = write!(text, ", {} tokens", grouped(usize::try_from(tokens).unwrap_or(usize::MAX)));
    }
    if let Some(cost) = progress.cost_usd {
        let _ = write!(text, ", ${cost:.2}");
    }
    text
}

/// Prints the report: whole as JSON, in short as text.
fn tell_report(session: &Session, folder: &RunFolder, report: &Report) -> Result<()> {
    if session.json {
        let whole = serde_json::to_value(report).map_err(|error| Refusal::internal(&error))?;
        return answer::print(&whole, true).map(drop);
    }
    let known = |count: Option<i64>| count.map_or_else(|| json!("not known"), |count| json!(count));
    let mut told = json!({
        "run": report.run_id,
        "outcome": report.outcome,
        "reason": report.reason,
        "branch": report.work.branch,
        "commits": known(report.work.commits_total),
        "uncommitted": known(report.work.uncommitted_total),
    });
    for (place, test) in report.tests.iter().enumerate() {
        told[format!("test_{}", place + 1)] = json!(format!("{}: {}", test.word(), test.command));
    }
    if let Some(cost) = report.cost.usd {
        told["cost_usd"] = json!(cost);
    }
    if !report.problems.is_empty() {
        told["problems"] = json!(report.problems);
    }
    told["report"] = json!(folder.path().join(REPORT));
    told["log"] = json!(report.log.path);
    if let Some(next) = next(session, folder) {
        told["next"] = next;
    }
    answer::print(&told, false).map(drop)
}

/// What to do with the report. Its watcher has put it into the database, or could not.
fn next(session: &Session, folder: &RunFolder) -> Option<Value> {
    match deliver::one(session, folder) {
        Ok(mut kept) => kept.as_object_mut()?.shift_remove("next"),
        Err(refusal) => {
            answer::note(&format!("the report is not in the database yet: {}", refusal.of_owner()));
            Some(json!("heyaira run list puts the report into the database"))
        }
    }
}
