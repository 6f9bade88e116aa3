//! Chance from a seed: the same seed draws the same, in every run and on every machine.

use crate::ground::scattered;

/// A stream of chance.
pub(super) struct Draw(u64);

impl Draw {
    /// The stream of a seed.
    pub(super) fn new(seed: u64) -> Self {
        Self(scattered(seed))
    }

    /// 64 random bits.
    pub(super) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        scattered(self.0)
    }

    /// A number from 0 to `count` - 1.
    pub(super) fn below(&mut self, count: usize) -> usize {
        let count = u64::try_from(count).expect("small");
        usize::try_from(self.bits() % count).expect("small")
    }

    /// A number from `least` to `most`.
    pub(super) fn between(&mut self, least: i64, most: i64) -> i64 {
        let width = u64::try_from(most - least + 1).expect("in order");
        least + i64::try_from(self.bits() % width).expect("small")
    }

    /// True in so many of a hundred cases.
    pub(super) fn percent(&mut self, chance: u64) -> bool {
        self.bits() % 100 < chance
    }

    /// One of these.
    pub(super) fn pick<'t, T>(&mut self, from: &'t [T]) -> &'t T {
        &from[self.below(from.len())]
    }

    /// One of these, if there are any.
    pub(super) fn any<'t, T>(&mut self, from: &'t [T]) -> Option<&'t T> {
        (!from.is_empty()).then(|| self.pick(from))
    }

    /// One of these by weight.
    pub(super) fn weighted<T: Copy>(&mut self, from: &[(T, u64)]) -> T {
        let mut left = self.bits() % from.iter().map(|(_, weight)| weight).sum::<u64>();
        for (one, weight) in from {
            if left < *weight {
                return *one;
            }
            left -= weight;
        }
        unreachable!("the weights sum up")
    }
}
