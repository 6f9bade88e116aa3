//! Twins: two databases that are asked the same calls at the same times must answer the same, word for word.
//!
//! The calls are drawn from a seed, which every run prints. `HEYAIRA_TWINS_SEED` runs the one sequence of that seed
//! again; `HEYAIRA_TWINS_CALLS` says how many calls a run makes at least, and `HEYAIRA_TWINS_FROM` from which seed the
//! seeds of its sequences come. Where no server is named for the tests both twins are files: then only a few are played.

mod author;
mod draw;
mod pair;
mod shrink;
mod side;
mod step;
mod tally;
mod texts;
mod world;

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use crate::database::server;
use crate::ground::scattered;

use author::{Author, CROWD, WEIGHTS};
use pair::{Difference, Pair};
use shrink::shrink;
use step::Step;
use tally::Tally;

/// The seed of the usual run.
const SEED: u64 = 20_261_129;
/// How many calls the usual run makes at least.
const CALLS: usize = 10_000;
/// The same where both twins are files, so that only the test itself is tried.
const CALLS_OF_FILES: usize = 1_000;
/// How many calls a sequence has.
const LENGTH: usize = 500;
/// How many play at once: each waits for its databases most of the time.
const PLAYERS: usize = 3;
/// Of so many sequences one is played in a project so full that counts end and searches walk.
const CROWDED: u64 = 32;

/// The number in an environment variable, if there is one.
fn given(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is {text:?}, no number")))
}

/// What is played: a sequence, on two databases of which one may have a fault.
#[derive(Clone, Copy)]
struct Game {
    seed: u64,
    /// True if it is played in a project that is filled first.
    crowded: bool,
    /// SQL that spoils the `SQLite` file; empty for none.
    fault: &'static str,
}

impl Game {
    /// Plays it: the calls that were made, and how the last of them differed, if it did.
    fn play(self, tally: &mut Tally) -> (Vec<Step>, Option<Difference>) {
        let mut author = Author::new(self.seed, self.crowded);
        let mut pair = Pair::new(self.seed, self.fault);
        let mut steps = Vec::new();
        let length = LENGTH + if self.crowded { CROWD } else { 0 };
        while steps.len() < length {
            let step = author.next(steps.len());
            let outcome = pair.ask(&step);
            if let Ok(answer) = &outcome {
                tally.note(&step, answer);
                author.learn(&step, answer);
            }
            steps.push(step);
            if let Err(difference) = outcome {
                return (steps, Some(difference));
            }
        }
        let last = pair.look_at_everything().err();
        (steps, last)
    }

    /// Says how the last of these calls differed, and the same in as few calls as were found; then fails.
    #[track_caller]
    fn tell(self, steps: &[Step], difference: &Difference) -> ! {
        let (shrunk, smallest) = shrink(self, steps, difference.clone());
        let Self { seed, crowded, .. } = self;
        panic!(
            "the twins differ at call {} of a sequence. To see it again:\n\
             {}HEYAIRA_TWINS_SEED={seed} tests/postgres/run.sh --nocapture twins::both\n\
             {}\n{difference}\nThe same in {} calls:\n{}{smallest}",
            steps.len(),
            if crowded { "HEYAIRA_TWINS_CROWDED=1 " } else { "" },
            steps.last().map(Step::to_string).unwrap_or_default(),
            shrunk.len(),
            shrunk.iter().map(|step| format!("{step}\n")).collect::<String>(),
        );
    }
}

#[test]
fn both_databases_give_equal_answers_to_the_same_calls() {
    let (began, mut tally) = (Instant::now(), Tally::default());
    if let Some(seed) = given("HEYAIRA_TWINS_SEED") {
        let game = Game { seed, crowded: given("HEYAIRA_TWINS_CROWDED").is_some(), fault: "" };
        let (steps, difference) = game.play(&mut tally);
        if let Some(difference) = difference {
            game.tell(&steps, &difference);
        }
        println!("twins: seed {seed}, {} calls, equal answers", steps.len());
        return;
    }
    let usual = if server().is_some() { CALLS } else { CALLS_OF_FILES };
    let wanted = given("HEYAIRA_TWINS_CALLS").and_then(|calls| usize::try_from(calls).ok()).unwrap_or(usual);
    let (calls, sequences) = (AtomicUsize::new(0), AtomicU64::new(0));
    let players: Vec<Tally> = thread::scope(|scope| {
        let players: Vec<_> = (0..PLAYERS).map(|_| scope.spawn(|| play_until(wanted, &calls, &sequences))).collect();
        players.into_iter().map(|player| player.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    for other in players {
        tally.add(other);
    }
    let (calls, sequences) = (calls.into_inner(), sequences.into_inner());
    println!("{tally}twins: {calls} calls in {sequences} sequences, equal answers, {:.1?}", began.elapsed());
    if calls >= CALLS {
        tally.must_have_met_everything();
    }
}

/// Plays sequences beside other players until so many calls were made by all.
fn play_until(wanted: usize, calls: &AtomicUsize, sequences: &AtomicU64) -> Tally {
    let mut tally = Tally::default();
    let from = given("HEYAIRA_TWINS_FROM").unwrap_or(SEED);
    while calls.load(Ordering::Relaxed) < wanted {
        let number = sequences.fetch_add(1, Ordering::Relaxed);
        let game =
            Game { seed: scattered(from.wrapping_add(number)), crowded: number.is_multiple_of(CROWDED), fault: "" };
        println!("twins: sequence {number}, seed {}{}", game.seed, if game.crowded { ", crowded" } else { "" });
        let (steps, difference) = game.play(&mut tally);
        calls.fetch_add(steps.len(), Ordering::Relaxed);
        if let Some(difference) = difference {
            // So that the other players begin no more sequences.
            calls.fetch_add(wanted, Ordering::Relaxed);
            game.tell(&steps, &difference);
        }
    }
    tally
}

/// Faults of one database: what a statement could do wrong, done by a trigger.
const FAULTS: [(&str, &str); 4] = [
    (
        "a wrong count",
        "create trigger fault after insert on task when new.priority = 0 begin \
         update task_count set tasks = tasks + 1 where project_id = new.project_id and status = 'todo'; end",
    ),
    (
        "a session that history forgets",
        "create trigger fault after insert on task_version when new.act = 'takeover' begin \
         update task_version set session_ref = null where task_id = new.task_id and version = new.version; end",
    ),
    (
        "a key that is not kept",
        "create trigger fault after insert on idempotency begin \
         delete from idempotency where idempotency_key = new.idempotency_key; end",
    ),
    (
        "a message that never waits",
        "create trigger fault after insert on message when new.to_session is not null begin \
         update message set acknowledged_at = 1 where message_key = new.message_key; end",
    ),
];

/// Plants a fault, plays until it is found, and has it told in few calls.
#[track_caller]
fn must_be_found((what, fault): (&str, &'static str)) {
    const FEW: usize = 8;
    // One sequence need not have a call that meets it.
    const SEQUENCES: u64 = 4;
    let games = (0..SEQUENCES).map(|number| Game { seed: scattered(SEED + number), crowded: false, fault });
    let found = games.map(|game| (game, game.play(&mut Tally::default())));
    let mut found = found.filter_map(|(game, (steps, difference))| Some((game, steps, difference?)));
    let (game, steps, difference) = found.next().unwrap_or_else(|| panic!("{what} was not found"));
    let (shrunk, difference) = shrink(game, &steps, difference);
    let told: String = shrunk.iter().map(|step| format!("{step}\n")).collect();
    println!("twins: {what} was found at call {}, told in {}:\n{told}{difference}", steps.len(), shrunk.len());
    assert!(shrunk.len() <= FEW, "{what} is told in {} calls:\n{told}", shrunk.len());
}

#[test]
fn a_fault_of_one_database_is_found_and_told_in_few_calls() {
    must_be_found(FAULTS[0]);
}

#[test]
#[ignore = "takes minutes"]
fn faults_of_other_sorts_are_found_as_well() {
    FAULTS[1..].iter().for_each(|fault| must_be_found(*fault));
}

#[test]
fn every_operation_is_called() {
    let missing: Vec<&str> = heyaira::operations::all()
        .iter()
        .map(|entry| entry.name)
        .filter(|name| !WEIGHTS.iter().any(|(known, _)| known == name))
        .collect();
    assert!(missing.is_empty(), "no twin ever calls {missing:?}: add them to the author");
}
