//! Whether everything that clients were told about one task fits one order of its versions.
//! Must never call a history good because it was not understood: what no operation explains is a violation.
//!
//! A task is a register with compare-and-set: a write names the version that it expects and makes the next one. So the
//! order of the effects is the order of the versions, and all that a general search for an order (Wing and Gong, Lowe)
//! would have to find is a moment for each version: after the question of the write that made it and of every reading
//! of the version before, before the answers of that write and of every reading of the version itself, and not before
//! the moment of the version before. Such moments exist if and only if none of the earliest is later than the latest;
//! `brute.rs` compares that with the search itself.

mod bad;
mod brute;
mod good;

use std::collections::HashMap;

/// Nanoseconds since the beginning of the run; what has no answer is answered at the end of time.
pub type Moment = u64;

/// The end of time.
pub const NEVER: Moment = Moment::MAX;

/// What one client asked about the task, and what it was told.
#[derive(Clone, Debug)]
pub struct Operation {
    /// The client.
    pub client: usize,
    /// Before the question was sent for the first time.
    pub invoked: Moment,
    /// After the answer was read.
    pub answered: Moment,
    /// What was asked and told.
    pub act: Act,
}

/// What was asked and told.
#[derive(Clone, Debug)]
pub enum Act {
    /// A reading: the version and its mark; version 0 without a mark where there was no such task.
    Read { version: i64, mark: String },
    /// A write of a mark that no other operation writes; a creation expects version 0.
    Write { expected: i64, mark: String, outcome: Outcome },
}

/// What became of a write, as its client was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It made this version.
    Acknowledged { version: i64 },
    /// Nothing was written, because the task was at another version.
    Conflict { current: i64 },
    /// Nothing was written, for another reason.
    Refused,
    /// Nobody knows: it may have taken effect at any time since it was sent, or take it later, or never.
    Uncertain,
}

/// All operations on one task, and the versions that are stored in the end with their marks.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// In any order.
    pub operations: Vec<Operation>,
    /// As the history of the task lists them.
    pub stored: Vec<(i64, String)>,
}

impl Operation {
    /// What it says of the state of the task at one moment between question and answer: a version.
    fn seen(&self) -> Option<i64> {
        match &self.act {
            Act::Read { version, .. } => Some(*version),
            Act::Write { outcome: Outcome::Conflict { current }, .. } => Some(*current),
            Act::Write { .. } => None,
        }
    }

    /// When its effect is there at the latest.
    fn latest(&self) -> Moment {
        match &self.act {
            Act::Write { outcome: Outcome::Uncertain, .. } => NEVER,
            _ => self.answered,
        }
    }
}

impl std::fmt::Display for Operation {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { client, invoked, answered, act } = self;
        match act {
            Act::Read { version, .. } => write!(formatter, "the reading of version {version}")?,
            Act::Write { expected, mark, outcome } => {
                write!(formatter, "the write {mark} to version {expected}, ")?;
                match outcome {
                    Outcome::Acknowledged { version } => write!(formatter, "acknowledged as version {version},")?,
                    Outcome::Conflict { current } => write!(formatter, "refused at version {current},")?,
                    Outcome::Refused => formatter.write_str("refused,")?,
                    Outcome::Uncertain => formatter.write_str("uncertain,")?,
                }
            }
        }
        let until = if *answered == NEVER { "…".to_owned() } else { answered.to_string() };
        write!(formatter, " by client {client} [{invoked}–{until}]")
    }
}

/// What is wrong with a history, in words; empty if it is linearizable and is what is stored.
pub fn violations(history: &History) -> Vec<String> {
    let mut violations = recording_faults(history);
    if !violations.is_empty() {
        return violations;
    }
    let stored = Stored::of(history, &mut violations);
    for operation in &history.operations {
        violations.extend(stored.contradiction(operation));
    }
    let writers = stored.writers(history, &mut violations);
    violations.extend(disorder(history, &writers));
    violations
}

/// What the check cannot work with.
fn recording_faults(history: &History) -> Vec<String> {
    let mut faults = Vec::new();
    let mut marks = HashMap::new();
    for operation in &history.operations {
        if operation.answered < operation.invoked {
            faults.push(format!("badly recorded: {operation} was answered before it was asked"));
        }
        if let Act::Write { mark, .. } = &operation.act
            && let Some(other) = marks.insert(mark, operation)
        {
            faults.push(format!("badly recorded: {operation} has the mark of {other}"));
        }
    }
    faults
}

/// The versions in order, without gaps.
struct Stored<'h>(Vec<&'h str>);

impl<'h> Stored<'h> {
    fn of(history: &'h History, violations: &mut Vec<String>) -> Self {
        let mut rows: Vec<&(i64, String)> = history.stored.iter().collect();
        rows.sort_by_key(|(version, _)| *version);
        for (row, next) in rows.iter().zip(rows.iter().skip(1)) {
            let ((before, _), (after, _)) = (row, next);
            match after - before {
                0 => violations.push(format!("stored twice: version {after}")),
                1 => {}
                _ => violations.push(format!("gap: version {after} is stored behind version {before}")),
            }
        }
        if let Some((first, _)) = rows.first()
            && *first != 1
        {
            violations.push(format!("gap: the first version stored is {first}"));
        }
        let in_place = rows.iter().zip(1..).take_while(|((version, _), place)| version == place);
        Self(in_place.map(|((_, mark), _)| mark.as_str()).collect())
    }

    fn last(&self) -> i64 {
        i64::try_from(self.0.len()).expect("few versions")
    }

    /// The mark of a version; an empty one before the task was there.
    fn mark(&self, version: i64) -> Option<&'h str> {
        match usize::try_from(version) {
            Ok(0) => Some(""),
            Ok(version) => self.0.get(version - 1).copied(),
            Err(_) => None,
        }
    }

    /// What one operation was told that what is stored denies, whatever the time.
    fn contradiction(&self, operation: &Operation) -> Option<String> {
        let last = self.last();
        match &operation.act {
            Act::Read { version, mark } => match self.mark(*version) {
                None => Some(format!("never was: {operation} saw what is not stored, whose last version is {last}")),
                Some(kept) if kept != mark => {
                    Some(format!("wrong content: {operation} saw {mark:?}, stored is {kept:?}"))
                }
                Some(_) => None,
            },
            Act::Write { expected, outcome: Outcome::Acknowledged { version }, mark } => {
                if *version != expected + 1 {
                    return Some(format!("wrong version: {operation} must have made version {}", expected + 1));
                }
                match self.mark(*version) {
                    None => Some(format!("lost: {operation} is not stored, whose last version is {last}")),
                    Some(kept) if kept != mark => Some(format!("lost: {operation}, stored there is {kept:?}")),
                    Some(_) => None,
                }
            }
            Act::Write { expected, outcome: Outcome::Conflict { current }, .. } => {
                if current == expected {
                    return Some(format!("false conflict: {operation} expected just that version"));
                }
                let known = self.mark(*current).is_some();
                (!known).then(|| format!("never was: {operation} was told of what is not stored, {last} is the last"))
            }
            Act::Write { outcome: Outcome::Refused | Outcome::Uncertain, .. } => None,
        }
    }

    /// The operation that made each version.
    fn writers<'o>(&self, history: &'o History, violations: &mut Vec<String>) -> Vec<Option<&'o Operation>> {
        let mut marks = HashMap::new();
        let mut acknowledged = HashMap::new();
        for operation in &history.operations {
            if let Act::Write { mark, outcome, .. } = &operation.act {
                marks.insert(mark.as_str(), operation);
                if let Outcome::Acknowledged { version } = outcome
                    && let Some(other) = acknowledged.insert(*version, operation)
                {
                    violations.push(format!("acknowledged twice: version {version}, by {other} and {operation}"));
                }
            }
        }
        let mut made: HashMap<&str, i64> = HashMap::new();
        let mut explain = |(mark, version): (&&'h str, i64)| {
            let Some(writer) = marks.get(*mark).copied() else {
                violations.push(format!("unexplained: version {version} holds {mark:?}, which nobody wrote"));
                return None;
            };
            if let Some(other) = made.insert(mark, version) {
                violations.push(format!("applied twice: {writer} is stored as version {other} and version {version}"));
                return None;
            }
            match misplaced(writer, version) {
                None => Some(writer),
                Some(violation) => {
                    violations.push(violation);
                    None
                }
            }
        };
        self.0.iter().zip(1..).map(&mut explain).collect()
    }
}

/// Why a write cannot have made the version that is stored with its mark.
fn misplaced(writer: &Operation, version: i64) -> Option<String> {
    let Act::Write { expected, outcome, .. } = &writer.act else {
        return None;
    };
    match outcome {
        Outcome::Refused | Outcome::Conflict { .. } => {
            Some(format!("refused and yet stored: {writer} is version {version}"))
        }
        _ if *expected + 1 != version => {
            Some(format!("wrong version: {writer} is stored as version {version}, on one that it did not expect"))
        }
        _ => None,
    }
}

/// What a moment is bound by: a time, and the operation that says so.
type Bound<'o> = Option<(Moment, &'o Operation)>;

/// The versions for which there is no moment.
fn disorder(history: &History, writers: &[Option<&Operation>]) -> Vec<String> {
    // By version; beside the stored ones there is what lies behind the last, which never happened.
    let mut earliest: Vec<Bound<'_>> = vec![None; writers.len() + 2];
    let mut latest: Vec<Bound<'_>> = vec![None; writers.len() + 1];
    let later = |bound: &mut Bound<'_>, time: Moment| bound.is_none_or(|(one, _)| time > one);
    let sooner = |bound: &mut Bound<'_>, time: Moment| bound.is_none_or(|(one, _)| time < one);
    let made = writers.iter().zip(1..).filter_map(|(writer, version)| Some((version, (*writer)?)));
    for (version, writer) in made {
        earliest[version] = Some((writer.invoked, writer));
        latest[version] = Some((writer.latest(), writer));
    }
    for operation in &history.operations {
        let seen = operation.seen().and_then(|version| usize::try_from(version).ok());
        let Some(version) = seen.filter(|version| *version <= writers.len()) else {
            continue;
        };
        if later(&mut earliest[version + 1], operation.invoked) {
            earliest[version + 1] = Some((operation.invoked, operation));
        }
        if version > 0 && sooner(&mut latest[version], operation.latest()) {
            latest[version] = Some((operation.latest(), operation));
        }
    }
    let mut violations = Vec::new();
    let mut so_far: Bound<'_> = None;
    let mut told: Bound<'_> = None;
    for version in 1..=writers.len() {
        if let Some((time, _)) = earliest[version]
            && later(&mut so_far, time)
        {
            so_far = earliest[version];
        }
        // Each that came too late is told once, with the first answer that it came after.
        if let (Some((from, first)), Some((until, last))) = (so_far, latest[version])
            && from > until
            && told.is_none_or(|(_, one)| !std::ptr::eq(one, first))
        {
            told = so_far;
            let sort = if first.seen().is_some() { "stale" } else { "out of order" };
            violations.push(format!("{sort}: {first} was asked after the answer to {last}"));
        }
    }
    violations
}
