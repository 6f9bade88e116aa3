//! What a session cost so far and what one request of it is like. Must never leave a request out of a sum in silence: what
//! has no price is counted beside the sum.

use crate::domain::time::Timestamp;
use crate::economics::prices::{Assumptions, Prices};
use crate::economics::session::{Request, Session, Usage};

/// How many of the last requests tell what one is like.
const RECENT: usize = 20;
/// Fewer than this tell nothing.
const ENOUGH: usize = 5;

/// What the requests of a session cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cost {
    /// Those whose price is known, in US dollars.
    pub usd: f64,
    /// How much of it was beside the conversation.
    pub beside_usd: f64,
    /// Tokens whose price is unknown.
    pub unknown_tokens: u64,
    /// The models whose price is unknown.
    pub unknown_models: Vec<String>,
    /// True if some of it has a price, be it zero.
    pub has_price: bool,
    /// True if nothing was counted and lines that tell of requests could not be understood.
    pub is_uncounted: bool,
}

impl Cost {
    /// True if there is something to pay for and nothing of it has a price.
    pub fn is_unknown(&self) -> bool {
        !self.has_price && (self.is_uncounted || !self.unknown_models.is_empty())
    }

    fn add(&mut self, prices: &Prices, model: &str, at: Timestamp, prompt_tokens: u64, usage: Usage) -> f64 {
        if usage == Usage::default() {
            return 0.0;
        }
        let Some(price) = prices.price(model, at, prompt_tokens) else {
            self.unknown_tokens = self.unknown_tokens.saturating_add(usage.context());
            if !self.unknown_models.iter().any(|known| known == model) {
                self.unknown_models.push(model.to_owned());
            }
            return 0.0;
        };
        let usd = price.usd(usage);
        self.usd += usd;
        self.has_price = true;
        usd
    }
}

/// What the session cost so far. A request without a time has the price of `now`.
pub fn cost(session: &Session, prices: &Prices, now: Timestamp) -> Cost {
    let mut cost = Cost::default();
    for request in &session.requests {
        let at = request.started.or(request.ended).unwrap_or(now);
        let usd = cost.add(prices, session.model_of(request), at, request.usage.prompt(), request.usage);
        if request.is_beside {
            cost.beside_usd += usd;
        }
    }
    if session.requests.is_empty() {
        // A sum tells no sizes of requests: without them the price below every step is the least it can have been.
        for (model, usage) in &session.told_totals {
            cost.add(prices, model, now, 0, *usage);
        }
        let is_misread = session.lines.broken > 0 || session.lines.unknown > 0;
        cost.is_uncounted = is_misread && session.told_totals.is_empty();
    }
    cost
}

/// What one request is like: the medians of the last ones; and by how much they grew, on average.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Typical {
    /// What it adds that is new.
    pub input_tokens: u64,
    /// What it answers.
    pub output_tokens: u64,
    /// By how much the context grows with it.
    pub growth_tokens: u64,
    /// False if there are too few, and assumptions stand for them.
    pub is_measured: bool,
}

/// What a request of this session is like.
pub fn typical(session: &Session, assumptions: &Assumptions) -> Typical {
    let recent: Vec<&Request> = session.conversation().rev().take(RECENT + 1).map(|(_, request)| request).collect();
    // Backwards: each with the one before it. A context that became shorter was compacted and tells nothing.
    let steps: Vec<(u64, u64)> = recent
        .windows(2)
        .filter(|pair| pair[0].usage.prompt() >= pair[1].usage.prompt())
        .map(|pair| {
            let growth = pair[0].usage.prompt() - pair[1].usage.prompt();
            (growth, growth.saturating_sub(pair[1].usage.output))
        })
        .collect();
    if steps.len() < ENOUGH {
        let (input_tokens, output_tokens) = (assumptions.request_input_tokens, assumptions.request_output_tokens);
        return Typical {
            input_tokens,
            output_tokens,
            growth_tokens: input_tokens.saturating_add(output_tokens),
            is_measured: false,
        };
    }
    Typical {
        input_tokens: median(steps.iter().map(|(_, input)| *input)),
        output_tokens: median(recent.iter().map(|request| request.usage.output)),
        growth_tokens: mean(steps.iter().map(|(growth, _)| *growth)),
        is_measured: true,
    }
}

fn mean(values: impl ExactSizeIterator<Item = u64>) -> u64 {
    let many = u64::try_from(values.len()).unwrap_or(u64::MAX).max(1);
    values.fold(0, u64::saturating_add) / many
}

fn median(values: impl Iterator<Item = u64>) -> u64 {
    let mut sorted: Vec<u64> = values.collect();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied().unwrap_or(0)
}
