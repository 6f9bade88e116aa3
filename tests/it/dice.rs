//! Random numbers from a seed that is printed, so that a run can be told again.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::ground::scattered;

/// A source of numbers.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// The numbers of a seed.
    pub fn new(seed: u64) -> Self {
        Self(scattered(seed))
    }

    /// The seed that an environment variable names, else one of the clock.
    pub fn seed(variable: &str) -> u64 {
        match std::env::var(variable) {
            Ok(named) => named.parse().unwrap_or_else(|error| panic!("{variable} is no seed ({error}): {named}")),
            Err(_) => SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| u64::from(now.subsec_nanos())),
        }
    }

    /// Numbers that are independent of these.
    pub fn split(&mut self) -> Self {
        Self::new(self.number())
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        scattered(self.0)
    }

    /// A number below that one.
    pub fn below(&mut self, sides: usize) -> usize {
        usize::try_from(self.number() % u64::try_from(sides).expect("few")).expect("small")
    }

    /// True in so many of a hundred throws.
    pub fn percent(&mut self, share: usize) -> bool {
        self.below(100) < share
    }

    /// A time between these, to the millisecond.
    pub fn between(&mut self, least: Duration, most: Duration) -> Duration {
        let span = usize::try_from(most.saturating_sub(least).as_millis()).expect("short");
        least + Duration::from_millis(self.below(span + 1).try_into().expect("short"))
    }
}
