//! Makes a sequence that differs small: leaves steps out, then arguments, then the middle of texts, as long as the
//! rest still differs somewhere. Must never answer a sequence that was not played and seen to differ.

use serde_json::{Value, json};

use super::Game;
use super::pair::{Difference, Pair};
use super::step::Step;

/// How often a sequence is played again at most.
const PLAYS: usize = 400;

/// The smallest sequence found that differs, with where.
pub(super) fn shrink(game: Game, steps: &[Step], difference: Difference) -> (Vec<Step>, Difference) {
    let mut shrinker = Shrinker { game, steps: steps.to_vec(), difference, left: PLAYS };
    let mut chunk = steps.len().div_ceil(2);
    while chunk > 0 {
        let is_smaller = shrinker.leave_out_chunks(chunk);
        // What one pass left out may make room for the next; single steps are tried until none can go.
        if !(chunk == 1 && is_smaller) {
            chunk /= 2;
        }
    }
    shrinker.simplify();
    (shrinker.steps, shrinker.difference)
}

/// The smallest sequence so far.
struct Shrinker {
    game: Game,
    steps: Vec<Step>,
    difference: Difference,
    /// How often it may still be played.
    left: usize,
}

impl Shrinker {
    /// Takes these steps for the smallest ones, up to their first difference; false if they do not differ.
    fn takes(&mut self, mut steps: Vec<Step>) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        let mut pair = Pair::new(self.game.seed, self.game.fault);
        let found = steps.iter().enumerate().find_map(|(position, step)| Some((position, pair.ask(step).err()?)));
        let difference = match found {
            Some((position, difference)) => {
                steps.truncate(position + 1);
                Some(difference)
            }
            None => pair.look_at_everything().err(),
        };
        let differs = difference.is_some();
        if let Some(difference) = difference {
            (self.steps, self.difference) = (steps, difference);
        }
        differs
    }

    /// Tries to leave out each chunk, from the end; true if any could go.
    fn leave_out_chunks(&mut self, chunk: usize) -> bool {
        let mut end = self.steps.len();
        let mut any = false;
        while end > 0 {
            let start = end.saturating_sub(chunk);
            let mut fewer = self.steps.clone();
            fewer.drain(start..end);
            any |= self.takes(fewer);
            end = start.min(self.steps.len());
        }
        any
    }

    /// Tries to leave out each argument, else to make its text short.
    fn simplify(&mut self) {
        let mut position = 0;
        while let Some(step) = self.steps.get(position).cloned() {
            for (name, value) in &step.arguments {
                let mut without = self.steps.clone();
                let Some(place) = without.get_mut(position) else {
                    return;
                };
                place.arguments.shift_remove(name);
                if self.takes(without) || !value.is_string() {
                    continue;
                }
                let mut shorter = self.steps.clone();
                if let Some(place) = shorter.get_mut(position) {
                    place.arguments.insert(name.clone(), simpler(value));
                    self.takes(shorter);
                }
            }
            position += 1;
        }
    }
}

/// A short text in place of a long one.
fn simpler(value: &Value) -> Value {
    let is_short = value.as_str().is_some_and(|text| text.chars().count() < 8);
    if is_short { value.clone() } else { json!("x") }
}
