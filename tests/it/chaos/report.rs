//! The figures of a run as one table.

use std::time::Duration;

use crate::chaos::client::Log;
use crate::chaos::faults::{FailOver, Fault};
use crate::chaos::stored::Verdict;
use crate::linearizable::Moment;
use crate::program::Answer;

/// How long after a fault it may still be the cause of a gap.
const AFTERMATH: Duration = Duration::from_secs(3);

/// What happened in a run.
pub struct Run {
    /// What the clients did.
    pub log: Log,
    /// The kills of servers.
    pub kills: Vec<Fault>,
    /// The fail-overs.
    pub fail_overs: Vec<FailOver>,
    /// How often a server ended by itself.
    pub ended_by_themselves: u64,
    /// From the last fault until all servers were ready.
    pub ready: Duration,
    /// What `heyaira verify` says.
    pub verified: Answer,
    /// What the check says.
    pub verdict: Verdict,
}

/// A time without any acknowledgement.
#[derive(Clone, Copy, Debug)]
struct Gap {
    from: Moment,
    until: Moment,
}

impl Gap {
    fn length(self) -> Duration {
        Duration::from_nanos(self.until - self.from)
    }
}

fn gaps(acknowledged: &[Moment]) -> Vec<Gap> {
    let mut moments = acknowledged.to_vec();
    moments.sort_unstable();
    moments.windows(2).map(|pair| Gap { from: pair[0], until: pair[1] }).collect()
}

/// The longest of the gaps that a fault at this moment can have made.
fn gap_after(gaps: &[Gap], at: Moment) -> Duration {
    let end = at + u64::try_from(AFTERMATH.as_nanos()).expect("short");
    let near = gaps.iter().filter(|gap| gap.until > at && gap.from < end);
    near.map(|gap| gap.length()).max().unwrap_or_default()
}

impl Run {
    /// How many acknowledged writes are not stored.
    pub fn lost(&self) -> usize {
        self.verdict.violations.iter().filter(|violation| violation.contains(": lost: ")).count()
    }

    /// How often something happened.
    pub fn count(&self, what: &str) -> u64 {
        self.log.counts.get(what).copied().unwrap_or_default()
    }

    /// The fault that a gap began nearest behind.
    fn cause(&self, gap: Gap) -> String {
        let servers = self.kills.iter().map(|fault| (fault.at, format!("kill of {}", fault.what)));
        let primaries = self.fail_overs.iter().map(|one| (one.at, format!("kill of the primary ({:?})", one.death)));
        let before = servers.chain(primaries).filter(|(at, _)| *at < gap.until);
        let last = before.max_by_key(|(at, what)| (what.contains("primary") && *at + 3_000_000_000 > gap.from, *at));
        last.map_or("no fault before it".to_owned(), |(at, what)| format!("{what} at {:.2?}", Duration::from_nanos(at)))
    }

    /// Prints the table.
    pub fn print(&self, title: &str) {
        let gaps = gaps(&self.log.acknowledged);
        let line = |name: &str, value: String| println!("  {name:<58} {value}");
        println!("{title}");
        line("writes acknowledged", self.log.acknowledged.len().to_string());
        line("  of them lost", self.lost().to_string());
        for (what, count) in &self.log.counts {
            line(what, count.to_string());
        }
        let (stored, never) = self.verdict.undecided;
        line("not there yet, and in the end stored / never written", format!("{stored} / {never}"));
        let (versions, most) = self.verdict.versions;
        let tasks = self.verdict.tasks;
        line(
            "versions checked",
            format!("{versions} of {tasks} tasks, {most} of one; {} operations", self.log.operations.len()),
        );
        line("violations", self.verdict.violations.len().to_string());
        if let Some(longest) = gaps.iter().copied().max_by_key(|gap| gap.length()) {
            line("longest gap of acknowledgements", format!("{:.2?}, {}", longest.length(), self.cause(longest)));
        }
        line("longest time until one write was acknowledged", format!("{:.2?}", self.log.longest));
        let worst = self.kills.iter().map(|fault| gap_after(&gaps, fault.at)).max().unwrap_or_default();
        line("kills of servers", format!("{}, longest gap within 3 s {worst:.2?}", self.kills.len()));
        line("servers that ended by themselves", self.ended_by_themselves.to_string());
        line("fail-overs", self.fail_overs.len().to_string());
        for one in &self.fail_overs {
            let FailOver { at, death, promoted, rejoined, how } = one;
            let (at, gap) = (Duration::from_nanos(*at), gap_after(&gaps, *at));
            println!(
                "    at {at:.1?} {death:?}: promoted after {promoted:.2?}, longest gap {gap:.2?}, {how:?} and synchronous after \
                 {rejoined:.1?}"
            );
        }
        line("all servers ready after the last fault in", format!("{:.2?}", self.ready));
        self.log.samples.iter().for_each(|(sort, answer)| println!("  {sort}: {answer}"));
        self.log.unexpected.iter().for_each(|answer| println!("  should not be: {answer}"));
        self.verdict.violations.iter().take(20).for_each(|violation| println!("  VIOLATION {violation}"));
    }
}
