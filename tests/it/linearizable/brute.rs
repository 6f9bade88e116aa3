//! The same question answered by trying every order (Wing and Gong): slow, simple, and what the check must agree with.

use super::good::{Register, history};
use super::{Act, History, Operation, Outcome, violations};
use crate::dice::Dice;

/// True if some order of all operations, each between its question and its answer, makes what is stored.
fn some_order_explains(history: &History) -> bool {
    let acts = |operation: &&Operation| !matches!(operation.act, Act::Write { outcome: Outcome::Refused, .. });
    let waiting: Vec<&Operation> = history.operations.iter().filter(acts).collect();
    let stored: Vec<&str> = history.stored.iter().map(|(_, mark)| mark.as_str()).collect();
    search(&waiting, &mut Register::default(), &stored)
}

fn search(waiting: &[&Operation], register: &mut Register, stored: &[&str]) -> bool {
    let is_uncertain = |one: &&Operation| matches!(one.act, Act::Write { outcome: Outcome::Uncertain, .. });
    if waiting.iter().all(is_uncertain) && register.marks == stored {
        return true;
    }
    (0..waiting.len()).any(|place| {
        let next = waiting[place];
        if waiting.iter().any(|other| other.latest() < next.invoked) {
            return false;
        }
        let before = register.marks.len();
        let goes = takes_effect(next, register)
            && search(&[&waiting[..place], &waiting[place + 1..]].concat(), register, stored);
        register.marks.truncate(before);
        goes
    })
}

/// True if the register would have answered this now.
fn takes_effect(operation: &Operation, register: &mut Register) -> bool {
    match &operation.act {
        Act::Read { version, mark } => {
            *version == register.version() && *mark == register.marks.last().cloned().unwrap_or_default()
        }
        Act::Write { expected, mark, outcome } => {
            let told = register.write(*expected, mark);
            told == *outcome || (*outcome == Outcome::Uncertain && matches!(told, Outcome::Acknowledged { .. }))
        }
    }
}

/// Changes one thing; the history may stay good.
fn disturb(history: &mut History, dice: &mut Dice) {
    let versions = history.stored.len();
    let at = dice.below(history.operations.len());
    let by = u64::try_from(dice.below(600)).expect("few");
    let last = i64::try_from(versions).expect("few");
    let operation = &mut history.operations[at];
    match dice.below(6) {
        0 => (operation.invoked, operation.answered) = (operation.invoked + by, operation.answered.saturating_add(by)),
        1 => {
            let by = by.min(operation.invoked);
            (operation.invoked, operation.answered) = (operation.invoked - by, operation.answered - by);
        }
        2 => {
            if let Act::Read { version, mark } = &mut operation.act {
                let other = dice.below(versions + 1);
                *version = i64::try_from(other).expect("few");
                *mark = other.checked_sub(1).map(|place| history.stored[place].1.clone()).unwrap_or_default();
            }
        }
        3 => {
            if let Act::Write { outcome, .. } = &mut operation.act {
                *outcome = match dice.below(4) {
                    0 => Outcome::Uncertain,
                    1 => Outcome::Refused,
                    2 => Outcome::Conflict { current: i64::try_from(dice.below(versions + 1)).expect("few") },
                    _ => Outcome::Acknowledged { version: i64::try_from(dice.below(versions + 1)).expect("few") + 1 },
                };
            }
        }
        4 if versions > 1 => {
            let place = dice.below(versions - 1);
            let (left, right) = history.stored.split_at_mut(place + 1);
            std::mem::swap(&mut left[place].1, &mut right[0].1);
        }
        4 => {}
        _ if dice.percent(50) => drop(history.stored.pop()),
        _ => history.stored.push((last + 1, format!("m{}", dice.below(8)))),
    }
}

#[test]
fn the_check_agrees_with_trying_every_order() {
    let mut dice = Dice::new(2);
    let (mut good, mut bad) = (0, 0);
    for round in 0..40_000 {
        let operations = 1 + dice.below(7);
        let mut history = history(&mut dice, operations);
        for _ in 0..dice.below(4) {
            disturb(&mut history, &mut dice);
        }
        let found = violations(&history);
        let explained = some_order_explains(&history);
        assert_eq!(found.is_empty(), explained, "round {round}: {found:#?} {history:#?}");
        *(if explained { &mut good } else { &mut bad }) += 1;
    }
    println!("40000 small histories: {good} good, {bad} bad");
    assert!(good > 5_000 && bad > 5_000, "both sorts are tried: {good} good, {bad} bad");
}
