//! The arithmetic of staying and of starting fresh, for one model at one size of context. Must never round: whoever shows
//! a figure rounds it.
//!
//! With p the price of input, r and w what a read and a write of the cache cost beside it, ρ what output costs beside it,
//! C the context, d what the next request adds, o what it answers, and C1 what a fresh session starts with:
//!
//! - the next request, warm: p·(r·C + w·d + ρ·o); cold: p·(w·(C + d) + ρ·o)
//! - a handoff of m requests and h tokens: p·(m·r·C + ρ·h); a fresh start: p·w·C1
//! - break-even: after N = (handoff + fresh start) / (p·r·(C − C1)) more requests a fresh session was cheaper
//!
//! A price with steps has another p on either side of a step, so N is reckoned with the price of each.

use crate::domain::time::Timestamp;
use crate::economics::prices::{Assumptions, Model, Price};
use crate::economics::session::Usage;

/// A context of one model at a moment.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'p> {
    /// The model.
    pub model: &'p Model,
    /// What is taken for granted.
    pub assumptions: &'p Assumptions,
    /// When.
    pub at: Timestamp,
    /// C: what the next request sends again.
    pub context_tokens: u64,
    /// d: what the next request adds.
    pub request_input_tokens: u64,
    /// o: what the next request answers.
    pub request_output_tokens: u64,
    /// True if the cache is written for its longer lifetime.
    pub writes_long: bool,
}

impl<'p> Situation<'p> {
    /// The same with another context.
    #[must_use]
    pub fn with_context(self, context_tokens: u64) -> Self {
        Self { context_tokens, ..self }
    }

    fn price(&self, prompt_tokens: u64) -> Option<&'p Price> {
        self.model.price(self.at, prompt_tokens)
    }

    fn writing(&self, tokens: u64) -> Usage {
        if self.writes_long {
            Usage { cache_write_long: tokens, ..Usage::default() }
        } else {
            Usage { cache_write: tokens, ..Usage::default() }
        }
    }

    fn request_usd(&self, usage: Usage) -> Option<f64> {
        Some(self.price(usage.prompt())?.usd(usage))
    }

    /// The next request while the cache is warm.
    pub fn warm_usd(&self) -> Option<f64> {
        let added = self.writing(self.request_input_tokens);
        self.request_usd(Usage { cache_read: self.context_tokens, output: self.request_output_tokens, ..added })
    }

    /// The next request once the cache is cold.
    pub fn cold_usd(&self) -> Option<f64> {
        let all = self.writing(self.context_tokens.saturating_add(self.request_input_tokens));
        self.request_usd(Usage { output: self.request_output_tokens, ..all })
    }

    /// To write the context into the cache once.
    fn writing_usd(&self) -> Option<f64> {
        self.request_usd(self.writing(self.context_tokens))
    }

    /// To read the context from the cache once, which is what each further request pays for it.
    fn reading_usd(&self) -> Option<f64> {
        self.request_usd(Usage { cache_read: self.context_tokens, ..Usage::default() })
    }

    /// To write a handoff from here, while the cache is warm.
    pub fn handoff_usd(&self) -> Option<f64> {
        let price = self.price(self.context_tokens)?;
        let answer = Usage { output: self.assumptions.handoff_output_tokens, ..Usage::default() };
        Some(f64::from(self.assumptions.handoff_requests) * self.reading_usd()? + price.usd(answer))
    }

    /// To start a fresh session that takes over.
    pub fn fresh_usd(&self) -> Option<f64> {
        self.fresh().writing_usd()
    }

    fn fresh(&self) -> Self {
        self.with_context(self.assumptions.fresh_tokens())
    }

    /// How many more requests here cost as much as a handoff and a fresh start; `None` if a fresh session never is cheaper.
    pub fn break_even_requests(&self) -> Option<f64> {
        let once = self.handoff_usd()? + self.fresh_usd()?;
        let each = self.reading_usd()? - self.fresh().reading_usd()?;
        (each > 0.0).then(|| once / each)
    }

    /// What a handoff before a pause that the cache does not outlive saves on the first request after it; negative where
    /// it costs.
    pub fn saved_by_pause_usd(&self) -> Option<f64> {
        Some(self.writing_usd()? - self.fresh_usd()? - self.handoff_usd()?)
    }
}
