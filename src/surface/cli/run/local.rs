//! The runs of this machine, as their folders tell. Must never show a run as going on whose watcher is gone.

use std::io;

use crate::domain::run::Outcome;
use crate::domain::text::quoted;
use crate::error::{Code, Refusal, Result};
use crate::run::ending::over;
use crate::run::folder::{Plan, Progress, RunFolder, Runs};
use crate::run::recover;
use crate::run::watcher::Watcher;

/// How many characters of an id are needed.
const PREFIX: usize = 4;

/// A run of this machine.
#[derive(Clone, Debug)]
pub struct Local {
    /// Its folder.
    pub folder: RunFolder,
    /// What was asked for.
    pub plan: Plan,
    /// How far it is.
    pub progress: Progress,
    /// How it ended, once it has.
    pub outcome: Option<Outcome>,
}

impl Local {
    /// The beginning of its id.
    pub fn short(&self) -> &str {
        self.plan.run_id.get(..8).unwrap_or(&self.plan.run_id)
    }

    /// True if its id begins so, with hyphens or without.
    pub fn is_named(&self, name: &str) -> bool {
        let plain = |id: &str| id.replace('-', "").to_ascii_lowercase();
        plain(&self.plan.run_id).starts_with(&plain(name))
    }

    /// `waiting`, `working`, `testing`, `over`; `starting` before its watcher is there.
    pub fn phase(&self) -> &str {
        match (&self.outcome, self.progress.phase.as_str()) {
            (Some(_), _) => "over",
            (None, "") => "starting",
            (None, phase) => phase,
        }
    }
}

impl Local {
    /// Why its watcher cannot be waited for, in words that follow "its watcher"; none where there is none, or it works.
    pub fn trouble(&self) -> Option<String> {
        Watcher::of(&self.folder).filter(|_| self.outcome.is_none())?.trouble()
    }
}

/// All runs of this machine. Those whose watcher is gone are reported on first.
pub fn all(runs: &Runs) -> io::Result<Vec<Local>> {
    recover::all(runs)?;
    let readable = |folder: RunFolder| {
        let path = folder.path().to_owned();
        let found = of(folder);
        if let (Err(error), true) = (&found, path.exists()) {
            tracing::error!(folder = %path.display(), %error, "a run cannot be read");
        }
        found.ok()
    };
    Ok(runs.all()?.into_iter().filter_map(readable).collect())
}

fn of(folder: RunFolder) -> io::Result<Local> {
    let outcome = over(&folder).map(|report| report.outcome);
    Ok(Local { plan: folder.plan()?, progress: folder.progress().unwrap_or_default(), outcome, folder })
}

/// The run whose id begins so.
pub fn find(runs: &[Local], named: &str) -> Result<Local> {
    let shown = quoted(named, 40);
    if named.len() < PREFIX {
        return Err(Refusal::argument(format!("{shown} is too short for a run: at least {PREFIX} characters")));
    }
    let found: Vec<&Local> = runs.iter().filter(|run| run.is_named(named)).collect();
    match found.as_slice() {
        [one] => Ok((*one).clone()),
        [] => Err(Refusal::not_found(
            format!("there is no run {shown} on this machine"),
            "heyaira run list shows the runs; check the id. Nothing was done.",
        )),
        several => {
            let ids: Vec<String> = several.iter().map(|run| run.plan.run_id.clone()).collect();
            let message = format!("{shown} fits several runs: {}", ids.join(", "));
            Err(Refusal::new(Code::AmbiguousId, message, "Name more of its id.").with("candidates", ids))
        }
    }
}
