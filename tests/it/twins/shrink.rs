//! Makes a sequence that differs small: leaves steps out, then arguments, then the middle of texts, as long as the
//! rest still differs somewhere. Must never answer a sequence that was not played and seen to differ.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Game;
use super::pair::{Difference, Pair};
use super::step::Step;

/// For how long it is tried.
const PATIENCE: Duration = Duration::from_secs(120);

/// A sequence that differs, with where.
type Differing = (Vec<Step>, Difference);

/// The smallest sequence found.
pub(super) fn shrink(game: Game, steps: &[Step], difference: Difference) -> Differing {
    let deadline = Instant::now() + PATIENCE;
    let mut best = (steps.to_vec(), difference);
    let mut chunk = best.0.len().div_ceil(2);
    while chunk > 0 && Instant::now() < deadline {
        let smaller = without_chunks(game, &mut best, chunk, deadline);
        // What one pass left out may make room for the next; single steps are tried until none can go.
        if !(chunk == 1 && smaller) {
            chunk /= 2;
        }
    }
    simplify(game, &mut best, deadline);
    best
}

/// Tries to leave out each chunk, from the end; true if any could go.
fn without_chunks(game: Game, best: &mut Differing, chunk: usize, deadline: Instant) -> bool {
    let mut end = best.0.len();
    let mut any = false;
    while end > 0 && Instant::now() < deadline {
        let start = end.saturating_sub(chunk);
        let mut fewer = best.0.clone();
        fewer.drain(start..end);
        if let Some(differing) = played(game, &fewer) {
            *best = differing;
            any = true;
        }
        end = start.min(best.0.len());
    }
    any
}

/// Leaves out arguments and cuts texts.
fn simplify(game: Game, best: &mut Differing, deadline: Instant) {
    let mut position = 0;
    while position < best.0.len() && Instant::now() < deadline {
        let names: Vec<String> = best.0[position].arguments.keys().cloned().collect();
        for name in names {
            let Some(step) = best.0.get(position) else {
                return;
            };
            let mut candidates = vec![None];
            if let Some(text) = step.arguments.get(&name).and_then(Value::as_str) {
                let words: Vec<&str> = text.split(' ').collect();
                candidates.push(Some(json!("x")));
                candidates.push(Some(json!(words[..words.len().div_ceil(2)].join(" "))));
            }
            for value in candidates {
                let mut steps = best.0.clone();
                match value {
                    None => drop(steps[position].arguments.shift_remove(&name)),
                    Some(value) => drop(steps[position].arguments.insert(name.clone(), value)),
                }
                if Instant::now() < deadline
                    && let Some(differing) = played(game, &steps)
                {
                    *best = differing;
                    break;
                }
            }
        }
        position += 1;
    }
}

/// Plays steps on a fresh pair; those up to the first difference, if there is one.
fn played(game: Game, steps: &[Step]) -> Option<Differing> {
    let mut pair = Pair::new(game.seed, game.fault);
    for (position, step) in steps.iter().enumerate() {
        if let Err(difference) = pair.ask(step) {
            return Some((steps[..=position].to_vec(), difference));
        }
    }
    let difference = pair.look_at_everything().err()?;
    Some((steps.to_vec(), difference))
}
