//! The watcher of one run: it waits for a place, starts the harness, ends it when it must, looks at what there is, and
//! reports. Must never end before the report is on disk, and never take the harness's word for what happened.

use std::ffi::OsString;
use std::io;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::claim::{self, Held};
use super::file;
use super::folder::{ENDING, OVER, Plan, Progress, RunFolder, Runs, TESTING, WAITING, WORKING};
use super::log::{self, BoundedLog};
use super::output::Output;
use super::process::{Event, Running};
use super::report::{self, Parts};
use super::stop::Stop;
use super::watcher::known_by;
use super::work::shared::{self, Noted};
use super::{VARIABLE, mark, now, tests, work};
use crate::client::harness::version;
use crate::client::harness::{Harness, Input, Launch, Reader, Told, Wanted, launch};
use crate::client::harness::{Meter, Place, Spent};
use crate::domain::run::outcome::{Ending, Seen, decide};
use crate::domain::run::{Exit, Log, Outcome, Program, Report, Test};
use crate::domain::time::Timestamp;
use crate::economics::{Prices, Usage};

/// The file of the brief.
pub const BRIEF: &str = "brief.md";
/// The harness's output.
pub const OUTPUT: &str = "output.log";
/// The variable that names the brief's file.
const BRIEF_VARIABLE: &str = "HEYAIRA_RUN_BRIEF";
/// What a harness does not get: who asked for the run, and what lets one write.
const WITHHELD: [&str; 4] = ["HEYAIRA_SESSION", "HEYAIRA_TOKEN", "HEYAIRA_WRITE_CONTEXT", "OLDPWD"];
/// How often a run looks for a place.
const PLACE_AGAIN: Duration = Duration::from_millis(200);
/// How often it says how far it is, and looks at what it cost.
const TICK: Duration = Duration::from_secs(1);
/// How long room for the report is waited for.
const ROOM: Duration = Duration::from_mins(10);
/// How much too late it looks again where it was stopped itself.
const STOOD_STILL: Duration = Duration::from_secs(2);

/// Watches over one run to its end; none where somebody else has it in hand or has reported on it.
pub fn watch(runs: &Runs, folder: &RunFolder, prices: &Prices, stop: &Stop) -> io::Result<Option<Report>> {
    let Some(owner) = claim::own(folder)? else { return Ok(None) };
    if folder.is_reported() {
        return Ok(None);
    }
    let plan = folder.plan()?;
    let progress = Progress { watcher: known_by(std::process::id()), ..Progress::default() };
    let mut watch = Watch {
        folder: folder.clone(),
        written: None,
        progress,
        stop: stop.clone(),
        problems: Vec::new(),
        plan,
        owner,
        place: None,
    };
    let report = watch.whole(runs, prices);
    // By it the run is found and cleaned.
    watch.write(&report)?;
    watch.progress.outcome = Some(report.outcome);
    watch.phase(OVER);
    folder.remove_second_plan();
    Ok(Some(report))
}

struct Watch {
    folder: RunFolder,
    plan: Plan,
    progress: Progress,
    written: Option<Progress>,
    stop: Stop,
    problems: Vec<String>,
    owner: Held,
    place: Option<Held>,
}

/// What the harness did.
struct Done {
    ending: Ending,
    exit: Exit,
    told: Told,
    spent: Option<Spent>,
    program: Program,
    log: Log,
    processes: i64,
    took: Duration,
}

impl Watch {
    fn whole(&mut self, runs: &Runs, prices: &Prices) -> Report {
        let harness = Harness::named(&self.plan.harness).unwrap_or(Harness::Command);
        self.wait_for_place(runs);
        let before = self.place.as_ref().map(|_| shared::note(&self.plan, &self.folder));
        self.progress.started_micros = now();
        self.progress.active_micros = self.progress.started_micros;
        let done = match &self.place {
            Some(_) => self.harness(harness, prices),
            None => self.not_begun(interrupted()),
        };
        let report = self.look(done, before);
        self.place = None;
        report
    }

    /// Waits for a place to work in; there is none where the run is to end before.
    fn wait_for_place(&mut self, runs: &Runs) {
        self.phase(WAITING);
        while !self.stop.is_asked() {
            match claim::place(runs, &self.folder, &self.plan) {
                Ok(claim::Place::Held(place)) => {
                    self.place = Some(place);
                    break;
                }
                Ok(claim::Place::After(others)) => {
                    if !others.is_empty() {
                        self.progress.waits_for = others;
                    }
                    self.keep();
                    thread::sleep(PLACE_AGAIN);
                }
                Err(error) => {
                    self.problem(format!("How many runs there are could not be found out ({error})."));
                    self.keep();
                    thread::sleep(PLACE_AGAIN * 5);
                }
            }
        }
        self.progress.waits_for.clear();
    }

    fn not_begun(&self, ending: Ending) -> Done {
        let log = Log { path: self.folder.path().join(OUTPUT).display().to_string(), ..Log::default() };
        Done {
            ending,
            exit: Exit::default(),
            told: Told::default(),
            spent: None,
            program: Program { name: self.plan.harness.clone(), ..Program::default() },
            log,
            processes: 0,
            took: Duration::ZERO,
        }
    }

    /// Starts the harness, follows it, and ends it.
    fn harness(&mut self, harness: Harness, prices: &Prices) -> Done {
        let brief = self.folder.path().join(BRIEF);
        let text = file::read(&brief).and_then(|text| String::from_utf8(text).map_err(io::Error::other));
        let text = text.unwrap_or_default();
        let launch = match launch(harness, &wanted(&self.plan, &brief, &text)) {
            Ok(launch) => launch,
            Err(refusal) => return self.not_begun(Ending::NotStarted(refusal.message)),
        };
        // It may have waited long for its place.
        if let Some(why) = work::record::stray(&self.plan) {
            return self.not_begun(Ending::NotStarted(why));
        }
        let program = program(&self.plan, &launch, &text);
        let reader = Arc::new(Mutex::new(Reader::new(harness, self.plan.resume.is_some())));
        let (listener, errors) = (Arc::clone(&reader), Arc::clone(&reader));
        let log = BoundedLog::new(self.folder.path().join(OUTPUT), self.plan.log_limit);
        let output = Output::new(log, move |line| held(&listener).line(line));
        let output = Arc::new(output.hearing_errors(move |line| held(&errors).error_line(line)));
        let started = Instant::now();
        let command = self.command(&launch, &brief);
        let running = command.and_then(|mut command| Running::start(&mut command, &mark(&self.plan.run_id), &output));
        let mut running = match running {
            Ok(running) => running,
            Err(error) => {
                let (log, _) = output.close();
                let shown = crate::domain::text::quoted(&launch.program.to_string_lossy(), 200);
                let ending = Ending::NotStarted(format!("{shown}: {error}"));
                return Done { program, log, ..self.not_begun(ending) };
            }
        };
        self.stop.wake(running.stopper());
        self.progress.group = Some(running.group());
        self.phase(WORKING);
        let since = Timestamp(self.progress.started_micros);
        let meter = Meter::new(harness, since, Place::here(&self.plan.worktree), prices.clone());
        let mut meter = meter.expecting(launch.session_id.or_else(|| self.plan.resume.clone()));
        let ending = self.follow(started, &mut running, &output, &reader, &mut meter);
        let took = started.elapsed();
        self.phase(ENDING);
        let ended = running.end();
        let (log, problems) = output.close();
        self.problems.extend(ended.problems);
        self.problems.extend(problems);
        self.note(&output, &reader, &mut meter);
        let mut told = std::mem::replace(&mut *held(&reader), Reader::new(harness, false)).ended(ended.exit);
        told.version = told.version.or_else(|| version(harness));
        let spent = meter.settled(&told);
        told.session_id = meter.native(&told);
        let ending = self.beyond(ending, spent.as_ref(), &told);
        Done { ending, exit: ended.exit, told, spent, program, log, processes: ended.processes, took }
    }

    fn command(&self, launch: &Launch, brief: &std::path::Path) -> io::Result<Command> {
        let mut command = Command::new(&launch.program);
        command.args(&launch.arguments).current_dir(&self.plan.worktree).env("PWD", &self.plan.worktree);
        for name in WITHHELD {
            command.env_remove(name);
        }
        command.env(VARIABLE, &self.plan.run_id).env(BRIEF_VARIABLE, brief);
        command.envs(launch.environment.iter().map(|(name, value)| (name, value)));
        command.stdin(match launch.input {
            Input::Closed => Stdio::null(),
            Input::Brief => Stdio::from(file::open(brief)?),
        });
        Ok(command)
    }

    /// Waits until it ends or has to. What happened while this process was stopped comes first: what ended then had ended by
    /// itself, and what was said then was said.
    fn follow(
        &mut self,
        started: Instant,
        running: &mut Running,
        output: &Output,
        reader: &Mutex<Reader>,
        meter: &mut Meter,
    ) -> Ending {
        let late = started + Duration::from_millis(self.plan.timeout_ms);
        let (mut tick, mut until) = (started + TICK, started + TICK);
        loop {
            if self.stood_still(until) && running.catch_up().is_some() {
                return Ending::Own;
            }
            let at = Instant::now();
            let silent = self.plan.silence_ms.map(|limit| (output.active() + Duration::from_millis(limit), limit));
            if self.stop.is_asked() {
                return interrupted();
            }
            if at >= late {
                return Ending::TimedOut(self.plan.timeout_ms);
            }
            if let Some((_, limit)) = silent.filter(|(end, _)| at >= *end) {
                return Ending::Silent(limit);
            }
            if at >= tick {
                tick = at + TICK;
                let spent = self.note(output, reader, meter);
                if let Some(ending) = self.over_budget(spent.as_ref()) {
                    return ending;
                }
            }
            until = silent.map_or(late, |(end, _)| late.min(end)).min(tick);
            if let Some(Event::Ended(_)) = running.next(until) {
                self.stood_still(until);
                return Ending::Own;
            }
        }
    }

    /// True where this process looks again much later than it meant to.
    fn stood_still(&mut self, until: Instant) -> bool {
        let late = Instant::now().saturating_duration_since(until);
        if late >= STOOD_STILL {
            let seconds = late.as_secs();
            self.problem(format!("What watches over it was stopped, or got no time, for {seconds} seconds."));
        }
        late >= STOOD_STILL
    }

    /// Writes down how far it is.
    fn note(&mut self, output: &Output, reader: &Mutex<Reader>, meter: &mut Meter) -> Option<Spent> {
        let told = held(reader).told().clone();
        let spent = meter.spent(&told);
        self.progress.active_micros = self.progress.started_micros + output.active_micros();
        self.progress.tokens = spent.as_ref().and_then(|spent| spent.usage).map(Usage::context);
        self.progress.cost_usd = spent.as_ref().and_then(|spent| spent.cost_usd);
        self.progress.native_session_id = meter.native(&told);
        self.keep();
        spent
    }

    /// Why it has to end where it cost more than it may, or nobody can say what it costs.
    fn over_budget(&self, spent: Option<&Spent>) -> Option<Ending> {
        let (budget, spent) = (self.plan.budget_usd?, spent?);
        let why = match spent.cost_usd {
            Some(cost) if cost > budget => format!("It had cost ${cost:.4}, and may cost ${budget:.4}."),
            Some(_) => return None,
            None => "What it costs cannot be known: there is no price of its model.".to_owned(),
        };
        Some(Ending::OverBudget(why))
    }

    /// The same after its end: what it cost last is known only then.
    fn beyond(&self, ending: Ending, spent: Option<&Spent>, told: &Told) -> Ending {
        if ending != Ending::Own {
            return ending;
        }
        let by_itself =
            || told.over_budget.as_ref().map(|said| Ending::OverBudget(format!("It ended itself: {said}.")));
        self.over_budget(spent).or_else(by_itself).unwrap_or(ending)
    }

    fn phase(&mut self, phase: &str) {
        phase.clone_into(&mut self.progress.phase);
        self.keep();
    }

    fn problem(&mut self, problem: String) {
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    /// Says that it is there and how far it is, and puts back what a harness took away: by it the run is found, and known to
    /// be in hand.
    fn keep(&mut self) {
        // A run goes on whose folder has no room: its report is tried then.
        if (!self.folder.has_progress() || self.written.as_ref() != Some(&self.progress))
            && self.folder.write_progress(&self.progress).is_ok()
        {
            self.written = Some(self.progress.clone());
        }
        let _ = self.keep_plan();
        for held in std::iter::once(&mut self.owner).chain(&mut self.place) {
            if let Err(error) = held.keep() {
                tracing::warn!(%error, "a lock of the run cannot be held");
            }
        }
    }

    /// Writes the plan and the report. Where there is no room, room is waited for: what was seen of the run nobody sees again.
    fn write(&mut self, report: &Report) -> io::Result<()> {
        let until = Instant::now() + ROOM;
        loop {
            match self.keep_plan().and_then(|()| self.folder.write_report(report)) {
                Err(error) if Instant::now() < until => {
                    tracing::warn!(%error, "the report cannot be written yet");
                    thread::sleep(TICK);
                    self.keep();
                }
                written => return written,
            }
        }
    }

    fn keep_plan(&mut self) -> io::Result<()> {
        let what = match self.folder.own_plan() {
            Ok(plan) if plan == self.plan => return Ok(()),
            Ok(_) => "was changed in its folder, and is written again.".to_owned(),
            Err(error) => format!("is gone from its folder, and is written again ({error})."),
        };
        self.problem(format!("The run's plan {what}"));
        self.folder.write_plan(&self.plan)
    }

    /// What git and the tests say, once nothing of the harness is left.
    ///
    /// `before` is what was noted in the repository before the harness worked, if it did.
    fn look(&mut self, done: Done, before: Option<Result<Noted, String>>) -> Report {
        self.phase(ENDING);
        let (work, problems) = work::facts(&self.plan);
        self.problems.extend(problems);
        let error = done.told.errors.last().cloned();
        let seen = Seen {
            ending: &done.ending,
            exit: done.exit,
            model_failed: done.told.model_failed,
            is_complete: done.told.is_complete,
            error: error.as_deref(),
            is_work: work.is_any(),
            tests: &[],
        };
        let (mut outcome, mut reason) = decide(&seen);
        let mut ran = Vec::new();
        if outcome == Outcome::Succeeded && !self.plan.tests.is_empty() {
            ran = self.test();
            let ending = if self.stop.is_asked() { interrupted() } else { done.ending.clone() };
            (outcome, reason) = decide(&Seen { ending: &ending, tests: &ran, ..seen });
            self.problems.extend(work::tested::changed(&self.plan, &work));
        }
        // Tests run what the harness wrote.
        match before {
            Some(Ok(noted)) => self.problems.extend(shared::changed(&self.plan, &self.folder, Some(&noted))),
            Some(Err(problem)) => self.problems.push(problem),
            None => {}
        }
        self.look_at_logs(&done.log, &ran);
        let parts = Parts {
            outcome,
            reason,
            started_micros: self.progress.started_micros,
            took: done.took,
            exit: done.exit,
            told: done.told,
            spent: done.spent,
            program: done.program,
            work,
            tests: ran,
            log: done.log,
            processes: done.processes,
            problems: std::mem::take(&mut self.problems),
        };
        report::assemble(&self.plan, parts)
    }

    fn test(&mut self) -> Vec<Test> {
        self.phase(TESTING);
        let (plan, folder, stop) = (self.plan.clone(), self.folder.clone(), self.stop.clone());
        let (tests, problems) = tests::run(&plan, &folder, &stop, &mut || self.keep());
        self.problems.extend(problems);
        self.phase(ENDING);
        tests
    }

    /// What is missing of the logs: a harness can do what its user can.
    fn look_at_logs(&mut self, output: &Log, tests: &[Test]) {
        let is_begun = self.progress.group.is_some();
        let logs = is_begun.then_some(output).into_iter().chain(tests.iter().map(|test| &test.log));
        self.problems.extend(logs.filter_map(|one| log::problem(one, self.plan.log_limit)));
    }
}

fn interrupted() -> Ending {
    Ending::Interrupted("It was interrupted.".to_owned())
}

fn held(reader: &Mutex<Reader>) -> MutexGuard<'_, Reader> {
    reader.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a plan asks its harness for.
pub fn wanted<'a>(plan: &'a Plan, brief: &'a std::path::Path, text: &'a str) -> Wanted<'a> {
    Wanted {
        brief,
        text,
        worktree: &plan.worktree,
        git_folder: &plan.git_folder,
        model: plan.model.as_deref(),
        resume: plan.resume.as_deref(),
        session_id: &plan.session_id,
        budget: plan.budget_usd,
        extra: &plan.extra,
    }
}

/// The command as a report has it, without the brief.
fn program(plan: &Plan, launch: &Launch, text: &str) -> Program {
    let words = std::iter::once(&launch.program).chain(&launch.arguments);
    let words = words.filter(|word| text.is_empty() || *word != &OsString::from(text));
    let command = words.map(|word| word.to_string_lossy().into_owned()).collect();
    Program { name: plan.harness.clone(), version: None, command }
}
