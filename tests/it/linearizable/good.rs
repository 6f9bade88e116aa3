//! Histories that are good because they are told by a register: every operation takes effect at a moment between its
//! question and its answer.

use super::{Act, History, Moment, NEVER, Operation, Outcome, violations};
use crate::dice::Dice;

/// How far apart the effects are; questions and answers lie up to three effects away, and so overlap.
const APART: Moment = 100;

/// A register that keeps every version.
#[derive(Default)]
pub struct Register {
    /// The marks of its versions, the first one that of version 1.
    pub marks: Vec<String>,
}

impl Register {
    /// The present version, 0 before there is one.
    pub fn version(&self) -> i64 {
        i64::try_from(self.marks.len()).expect("few versions")
    }

    /// Reads.
    pub fn read(&self) -> Act {
        Act::Read { version: self.version(), mark: self.marks.last().cloned().unwrap_or_default() }
    }

    /// Writes, if it is at the expected version.
    pub fn write(&mut self, expected: i64, mark: &str) -> Outcome {
        if expected != self.version() {
            return Outcome::Conflict { current: self.version() };
        }
        self.marks.push(mark.to_owned());
        Outcome::Acknowledged { version: self.version() }
    }
}

/// A good history of so many operations.
pub fn history(dice: &mut Dice, operations: usize) -> History {
    let mut register = Register::default();
    let mut history = History::default();
    for number in 0..operations {
        let effect = APART * (Moment::try_from(number).expect("few") + 4);
        let mut reach = |most: Moment| Moment::try_from(dice.below(usize::try_from(most).expect("few"))).expect("few");
        let (invoked, answered) = (effect - reach(3 * APART), effect + reach(3 * APART));
        let (act, answered) = match dice.below(10) {
            0..=3 => (register.read(), answered),
            4 => {
                let write = write(register.version(), number, Outcome::Refused);
                (write, answered)
            }
            // A refusal by its version would tell whoever has no answer nothing more.
            5 if register.write(register.version(), &mark(number)) != Outcome::Refused && dice.percent(50) => {
                (write(register.version() - 1, number, Outcome::Uncertain), NEVER)
            }
            5 => {
                register.marks.pop();
                (write(register.version(), number, Outcome::Uncertain), NEVER)
            }
            sort => {
                let behind = if sort == 9 { i64::from(register.version() > 0) } else { 0 };
                let expected = register.version() - behind;
                let outcome = register.write(expected, &mark(number));
                (write(expected, number, outcome), answered)
            }
        };
        history.operations.push(Operation { client: number, invoked, answered, act });
    }
    history.stored = (1..).zip(register.marks).collect();
    history
}

fn mark(number: usize) -> String {
    format!("m{number}")
}

fn write(expected: i64, number: usize, outcome: Outcome) -> Act {
    Act::Write { expected, mark: mark(number), outcome }
}

#[test]
fn a_history_that_a_register_told_is_good() {
    let mut dice = Dice::new(1);
    for operations in [0, 1, 2, 10, 100, 1_000, 20_000] {
        let history = history(&mut dice, operations);
        assert_eq!(violations(&history), Vec::<String>::new(), "{operations} operations");
    }
}
