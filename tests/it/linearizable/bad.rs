//! Bad histories: each is a good one with one thing wrong, and is refused with the words that say what.

use super::good::history;
use super::{Act, History, Moment, NEVER, Operation, Outcome, violations};
use crate::dice::Dice;

fn write(client: usize, at: (Moment, Moment), (expected, mark): (i64, &str), outcome: Outcome) -> Operation {
    let (invoked, answered) = at;
    Operation { client, invoked, answered, act: Act::Write { expected, mark: mark.to_owned(), outcome } }
}

fn read(client: usize, (invoked, answered): (Moment, Moment), version: i64, mark: &str) -> Operation {
    Operation { client, invoked, answered, act: Act::Read { version, mark: mark.to_owned() } }
}

const fn made(version: i64) -> Outcome {
    Outcome::Acknowledged { version }
}

const fn at(current: i64) -> Outcome {
    Outcome::Conflict { current }
}

/// Places in the list of operations of `sound`.
mod place {
    pub const B: usize = 1;
    pub const C_REFUSED: usize = 2;
    pub const EARLY_READING: usize = 3;
    pub const E_REFUSED: usize = 6;
    pub const F: usize = 7;
    pub const LAST_READING: usize = 10;
}

/// Four versions: a, b, d (by a write without an answer) and f.
fn sound() -> History {
    let operations = vec![
        write(0, (0, 10), (0, "a"), made(1)),
        write(1, (20, 40), (1, "b"), made(2)),
        write(2, (25, 50), (1, "c"), at(2)),
        read(3, (22, 30), 1, "a"),
        read(3, (45, 55), 2, "b"),
        write(2, (60, NEVER), (2, "d"), Outcome::Uncertain),
        write(1, (70, 90), (2, "e"), at(3)),
        write(1, (100, 120), (3, "f"), made(4)),
        write(4, (110, 140), (4, "g"), Outcome::Refused),
        write(4, (150, NEVER), (4, "h"), Outcome::Uncertain),
        read(0, (160, 170), 4, "f"),
    ];
    History { operations, stored: (1..).zip(["a", "b", "d", "f"].map(str::to_owned)).collect() }
}

fn told(history: &mut History, place: usize) -> &mut Outcome {
    match &mut history.operations[place].act {
        Act::Write { outcome, .. } => outcome,
        Act::Read { .. } => panic!("a reading"),
    }
}

fn saw(history: &mut History, place: usize, version: i64, mark: &str) {
    history.operations[place].act = Act::Read { version, mark: mark.to_owned() };
}

fn when(history: &mut History, place: usize, invoked: Moment, answered: Moment) {
    let operation = &mut history.operations[place];
    (operation.invoked, operation.answered) = (invoked, answered);
}

fn store(history: &mut History, place: usize, mark: &str) {
    mark.clone_into(&mut history.stored[place].1);
}

/// What is done to the sound history, and how the refusal begins or what it holds.
type Case = (&'static str, fn(&mut History), &'static str);

const LOST: [Case; 7] = [
    ("the last acknowledged write is not stored", |one| drop(one.stored.pop()), "lost: the write f to version 3"),
    ("an acknowledged write was overwritten", |one| store(one, 1, "c"), "lost: the write b to version 1"),
    ("nothing is stored", |one| one.stored.clear(), "lost: the write a to version 0"),
    (
        "a version in the middle is missing",
        |one| drop(one.stored.remove(1)),
        "gap: version 3 is stored behind version 1",
    ),
    ("the first version is missing", |one| drop(one.stored.remove(0)), "gap: the first version stored is 2"),
    (
        "the task is not found after its creation",
        |one| saw(one, place::LAST_READING, 0, ""),
        "stale: the reading of version 0 by client 0 [160–170] was asked after the answer to the write a",
    ),
    (
        "what an uncertain write had made was seen and is gone",
        |one| {
            one.stored.truncate(2);
            *told(one, place::F) = Outcome::Refused;
            saw(one, place::LAST_READING, 2, "b");
        },
        "never was: the write e to version 2, refused at version 3",
    ),
];

const DOUBLED: [Case; 7] = [
    (
        "two writes made one version",
        |one| *told(one, place::C_REFUSED) = made(2),
        "acknowledged twice: version 2, by the write b",
    ),
    ("a version is stored twice", |one| one.stored.push((4, "f".to_owned())), "stored twice: version 4"),
    ("an uncertain write took effect twice", |one| one.stored.push((5, "d".to_owned())), "applied twice: the write d"),
    (
        "an acknowledged write took effect twice",
        |one| one.stored.push((5, "f".to_owned())),
        "applied twice: the write f",
    ),
    ("a refused write took effect", |one| one.stored.push((5, "g".to_owned())), "refused and yet stored: the write g"),
    (
        "a write refused by its version took effect",
        |one| one.stored.push((5, "e".to_owned())),
        "refused and yet stored: the write e",
    ),
    (
        "an uncertain write took effect on a version that it did not expect",
        |one| {
            one.stored.push((5, "z".to_owned()));
            one.stored.push((6, "h".to_owned()));
        },
        "wrong version: the write h to version 4, uncertain, by client 4 [150–…] is stored as version 6",
    ),
];

const CONTENT: [Case; 6] = [
    ("a version that nobody wrote", |one| one.stored.push((5, "z".to_owned())), "unexplained: version 5 holds \"z\""),
    ("a reading of what never was", |one| saw(one, place::LAST_READING, 5, "h"), "never was: the reading of version 5"),
    (
        "a reading of a version below all",
        |one| saw(one, place::LAST_READING, -1, ""),
        "never was: the reading of version -1",
    ),
    (
        "a reading of another content",
        |one| saw(one, place::LAST_READING, 4, "g"),
        "wrong content: the reading of version 4 by client 0 [160–170] saw \"g\", stored is \"f\"",
    ),
    ("a conflict with what never was", |one| *told(one, place::E_REFUSED) = at(7), "never was: the write e"),
    ("a write told another version than it made", |one| *told(one, place::B) = made(3), "wrong version: the write b"),
];

const ORDER: [Case; 9] = [
    (
        "a stale reading",
        |one| saw(one, place::LAST_READING, 3, "d"),
        "stale: the reading of version 3 by client 0 [160–170] was asked after the answer to the write f",
    ),
    (
        "a reading goes back behind another one, though the write between has no answer",
        |one| {
            saw(one, place::LAST_READING, 2, "b");
            one.operations.remove(place::F);
            one.stored.truncate(3);
        },
        "stale: the reading of version 2 by client 0 [160–170] was asked after the answer to the write e",
    ),
    (
        "a reading before the write began",
        |one| saw(one, place::EARLY_READING, 4, "f"),
        "out of order: the write f to version 3, acknowledged as version 4, by client 1 [100–120] was asked after the answer to \
         the reading of version 4",
    ),
    (
        "a reading before the uncertain write began",
        |one| saw(one, place::EARLY_READING, 3, "d"),
        "out of order: the write d to version 2, uncertain, by client 2 [60–…] was asked after the answer to",
    ),
    (
        "a stale conflict",
        |one| *told(one, place::E_REFUSED) = at(1),
        "stale: the write e to version 2, refused at version 1",
    ),
    (
        "a conflict with a version to come",
        |one| *told(one, place::C_REFUSED) = at(4),
        "out of order: the write f to version 3, acknowledged as version 4",
    ),
    ("a conflict with the expected version", |one| *told(one, place::E_REFUSED) = at(2), "false conflict: the write e"),
    (
        "a later version was made before an earlier one was asked for",
        |one| when(one, place::B, 130, 140),
        "out of order: the write b to version 1",
    ),
    (
        "two writes are stored the other way round",
        |one| {
            let later = write(1, (100, 120), (2, "f"), made(3));
            let earlier = write(2, (60, 80), (3, "d"), made(4));
            one.operations = vec![one.operations[0].clone(), one.operations[1].clone(), earlier, later];
            store(one, 2, "f");
            store(one, 3, "d");
        },
        "out of order: the write f to version 2, acknowledged as version 3, by client 1 [100–120] was asked after the answer to \
         the write d",
    ),
];

const RECORDING: [Case; 2] = [
    ("an answer before its question", |one| when(one, place::B, 41, 40), "was answered before it was asked"),
    (
        "two operations with one mark",
        |one| one.operations.push(write(5, (180, 190), (4, "f"), Outcome::Refused)),
        "has the mark of the write f",
    ),
];

#[test]
fn a_sound_history_is_good() {
    assert_eq!(violations(&sound()), Vec::<String>::new());
}

#[test]
fn every_bad_history_is_refused_with_what_is_wrong() {
    let cases = [LOST.as_slice(), &DOUBLED, &CONTENT, &ORDER, &RECORDING].concat();
    for (name, spoil, words) in &cases {
        let mut history = sound();
        spoil(&mut history);
        let found = violations(&history);
        assert!(found.iter().any(|violation| violation.contains(words)), "{name}: {words}\n{found:#?}");
    }
    println!("{} bad histories refused", cases.len());
}

/// One wrong operation among thousands is found, wherever it is.
#[test]
fn one_stale_reading_or_lost_write_among_thousands_is_found() {
    let mut dice = Dice::new(3);
    for round in 0..50 {
        let good = history(&mut dice, 3_000);
        let mut stale = good.clone();
        let version = 1 + dice.below(good.stored.len() - 10);
        let (number, mark) = good.stored[version - 1].clone();
        let end = good.operations.iter().map(|one| one.invoked).max().expect("operations") + 1_000;
        stale.operations.push(read(9, (end, end + 1), number, &mark));
        let found = violations(&stale);
        assert!(found.len() == 1 && found[0].starts_with("stale: "), "round {round}: {found:?}");
        let mut lost = good.clone();
        let acknowledged =
            |one: &&Operation| matches!(&one.act, Act::Write { outcome: Outcome::Acknowledged { .. }, .. });
        let writes: Vec<&Operation> = good.operations.iter().filter(acknowledged).collect();
        let Act::Write { expected, .. } = &writes[dice.below(writes.len())].act else { unreachable!("a write") };
        lost.stored[usize::try_from(*expected).expect("few")].1 = "another".to_owned();
        let found = violations(&lost);
        assert!(found.iter().any(|one| one.starts_with("lost: ")), "round {round}: {found:?}");
    }
}
