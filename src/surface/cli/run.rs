//! `heyaira run`: unattended runs, from the command that starts one to the process that watches over it. Must never leave
//! anything behind of a run that was refused.

#[cfg(unix)]
mod ask;
#[cfg(unix)]
mod clean;
#[cfg(unix)]
mod deliver;
#[cfg(not(unix))]
mod elsewhere;
mod flags;
#[cfg(unix)]
mod follow;
#[cfg(unix)]
pub mod local;
#[cfg(unix)]
mod named;
mod reports;
#[cfg(unix)]
mod start;
#[cfg(unix)]
mod stop;
#[cfg(unix)]
mod watch;
#[cfg(unix)]
mod words;

#[cfg(not(unix))]
pub use elsewhere::{clean, start, stop, watch};
pub use reports::{dismiss, list, record, show};
#[cfg(unix)]
pub use {clean::clean, start::start, stop::stop, watch::watch};

use clap::Command;

use crate::client::state::State;
use crate::domain::run::Outcome;
use crate::error::{Refusal, Result};
use crate::operation::Entry;
use crate::operations;
use crate::run::folder::Runs;
use crate::surface::cli::commands::with_globals;
#[cfg(unix)]
use crate::surface::signals::Signals;

/// The exit code of a run without any work.
pub const NO_WORK: u8 = 13;
/// The exit code of a run whose harness failed by an exit code or a signal of its own.
pub const FAILED: u8 = 14;
/// The exit code of a run whose tests failed.
pub const TESTS_FAILED: u8 = 15;
/// The exit code of a run that came to one of its bounds.
pub const BOUND: u8 = 16;
/// The exit code of a run that somebody ended.
pub const INTERRUPTED: u8 = 17;
/// The exit code of a run whose harness did not do its part.
pub const HARNESS_ERROR: u8 = 18;

/// The commands of the group.
pub fn command() -> Command {
    let group = Command::new("run")
        .about("Unattended runs: a coding client in a worktree of its own, watched, ended whole, and reported on")
        .subcommand_required(true)
        .arg_required_else_help(true);
    [flags::start(), flags::stop(), flags::clean(), flags::watch()]
        .into_iter()
        .fold(group, |group, command| group.subcommand(with_globals(command)))
}

/// The exit code that tells how a run ended.
pub fn exit_code(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Succeeded => 0,
        Outcome::NoWork => NO_WORK,
        Outcome::Failed => FAILED,
        Outcome::TestsFailed => TESTS_FAILED,
        Outcome::TimedOut | Outcome::Silent | Outcome::OverBudget => BOUND,
        Outcome::Interrupted => INTERRUPTED,
        Outcome::HarnessError => HARNESS_ERROR,
    }
}

fn operation(name: &str) -> Result<&'static Entry> {
    operations::named(name).ok_or_else(|| Refusal::internal(&format!("{name} is not listed")))
}

/// The runs of this user.
pub fn runs() -> Result<Runs> {
    let state = State::find(|name| std::env::var_os(name)).ok_or_else(|| {
        Refusal::argument("there is no home folder for the runs, or HEYAIRA_STATE does not name one from the root")
    })?;
    Ok(Runs::of(&state))
}

/// Calls something at each signal that is to end this process, for as long as it wants. None is lost once this returns.
#[cfg(unix)]
fn on_signals(mut call: impl FnMut() -> bool + Send + 'static) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Refusal::internal(&error))?;
    let mut signals = {
        let _inside = runtime.enter();
        Signals::catch()
    };
    std::thread::spawn(move || {
        runtime.block_on(async {
            loop {
                signals.next().await;
                if !call() {
                    return;
                }
            }
        });
    });
    Ok(())
}
