//! Where a session stands and what its next requests cost: everything that is told of one. A figure that cannot be known
//! is absent, never zero.

use crate::domain::time::Timestamp;
use crate::economics::advice::{self, Advice};
use crate::economics::figures::{self, Cost, Typical};
use crate::economics::formula::Situation;
use crate::economics::misses::{self, Miss};
use crate::economics::prices::{Model, Prices, count};
use crate::economics::session::{Lines, Request, Session, Usage};

/// What is known of the time ahead, which no transcript tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// How many more requests are expected; without it as many as there were since the last compaction.
    pub requests: Option<u64>,
    /// How long the session will pause now, in seconds.
    pub pause_seconds: Option<u64>,
    /// Whether a handoff of this session waits to be taken over; absent where nobody looked.
    pub has_handoff: Option<bool>,
}

/// Who says a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The transcript.
    Transcript,
    /// The table of prices: it is so by default, and may be otherwise here.
    Assumed,
}

impl Source {
    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Transcript => "transcript",
            Self::Assumed => "assumed",
        }
    }
}

/// The cache of the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cache {
    /// How long it lives after each use.
    pub lifetime_seconds: u32,
    /// Who says so.
    pub source: Source,
    /// Until when it is warm.
    pub warm_until: Option<Timestamp>,
    /// Whether it is warm now.
    pub is_warm: Option<bool>,
}

/// What requests from here cost, in US dollars.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Next {
    /// The next request while the cache is warm.
    pub warm_usd: f64,
    /// The next request once it is cold.
    pub cold_usd: f64,
    /// To write a handoff, while it is warm.
    pub handoff_usd: f64,
    /// To start a fresh session from it.
    pub fresh_usd: f64,
    /// How many more requests here cost as much as both; absent if a fresh session never is cheaper.
    pub break_even_requests: Option<f64>,
    /// What a handoff saves before a pause that the cache does not outlive; negative where it costs.
    pub saved_by_pause_usd: f64,
}

/// A size of request from which on the price is another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Requests that send more tokens than this.
    pub above_tokens: u64,
    /// How many tokens until then.
    pub tokens_until: u64,
    /// About how many requests until then, as this session grows; absent if it does not.
    pub requests_until: Option<u64>,
    /// How many times as much input costs from there on.
    pub input_factor: Option<f64>,
    /// How many times as much output costs from there on; both are absent where it costs nothing before.
    pub output_factor: Option<f64>,
    /// The break-even beyond it.
    pub break_even_requests: Option<f64>,
}

/// The window and how full it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// How much context the model takes.
    pub tokens: u64,
    /// Who says so.
    pub source: Source,
    /// Which part of it is used.
    pub used_share: f64,
}

/// Where a session stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Outlook {
    /// The model of the last request.
    pub model: Option<String>,
    /// What the next request sends of what was said so far.
    pub context_tokens: u64,
    /// The window, where it is known.
    pub window: Option<Window>,
    /// How full the context was when the client last compacted it by itself.
    pub compacted_at_tokens: Option<u64>,
    /// The cache, where its lifetime is known.
    pub cache: Option<Cache>,
    /// The moment of the last request.
    pub last_at: Option<Timestamp>,
    /// How far that lies ahead of the clock, in seconds, where one of the two must be wrong.
    pub ahead_seconds: Option<u64>,
    /// How many requests the conversation made.
    pub requests: u64,
    /// How many requests are expected.
    pub expected_requests: u64,
    /// All tokens so far.
    pub total: Usage,
    /// What they cost by these prices.
    pub cost: Cost,
    /// What the client says they cost.
    pub told_cost_usd: Option<f64>,
    /// What a request of this session is like.
    pub typical: Typical,
    /// What a fresh session would start with.
    pub fresh_tokens: u64,
    /// What requests from here cost; absent if the price is unknown.
    pub next: Option<Next>,
    /// The steps of the price ahead, the nearest first.
    pub steps: Vec<Step>,
    /// Where the cache was missed.
    pub misses: Vec<Miss>,
    /// True if sums are of the end of the transcript only.
    pub is_part: bool,
    /// How the transcript was read.
    pub lines: Lines,
    /// The advice to hand off, if there is a reason for it.
    pub advice: Option<Advice>,
    /// Why to stay, where there is no advice.
    pub stay: Option<String>,
}

impl Outlook {
    /// Where the session stands, with nothing known of the time ahead.
    pub fn of(session: &Session, prices: &Prices, now: Timestamp) -> Self {
        Self::planned(session, prices, now, Plan::default())
    }

    /// Where the session stands, with a plan.
    pub fn planned(session: &Session, prices: &Prices, now: Timestamp, plan: Plan) -> Self {
        let mut outlook = Self::figures(session, prices, now, plan);
        let (advice, stay) = advice::of(&outlook, &prices.assumptions, now, plan);
        outlook.advice = advice;
        outlook.stay = stay;
        outlook
    }

    /// The one sentence: to hand off, or why to stay.
    pub fn sentence(&self) -> &str {
        let advice = self.advice.as_ref().map(|advice| advice.sentence.as_str());
        advice.or(self.stay.as_deref()).unwrap_or_default()
    }

    fn figures(session: &Session, prices: &Prices, now: Timestamp, plan: Plan) -> Self {
        let last = session.conversation().next_back().map(|(_, request)| request);
        let model = last.map(|request| session.model_of(request)).filter(|name| !name.is_empty());
        let known = model.and_then(|name| prices.model(name));
        let typical = figures::typical(session, &prices.assumptions);
        let context_tokens = session.context_tokens();
        let situation = known.filter(|_| context_tokens > 0).map(|model| Situation {
            model,
            assumptions: &prices.assumptions,
            at: now,
            context_tokens,
            request_input_tokens: typical.input_tokens,
            request_output_tokens: typical.output_tokens,
            writes_long: last.is_some_and(|request| writes_long(request, model)),
        });
        let requests = counted(session.conversation().count());
        Self {
            model: model.map(str::to_owned),
            context_tokens,
            window: window(session, model.and_then(|name| prices.window_tokens(name)), context_tokens),
            compacted_at_tokens: compacted_at(session),
            cache: last.and_then(|request| cache(request, known, now)),
            last_at: last.and_then(|request| request.ended),
            ahead_seconds: last.and_then(|request| ahead(request, now)),
            requests,
            expected_requests: plan.requests.unwrap_or_else(|| since_compaction(session)),
            total: session.total(),
            cost: figures::cost(session, prices, now),
            told_cost_usd: session.told_cost_usd,
            typical,
            fresh_tokens: prices.assumptions.fresh_tokens(),
            next: situation.and_then(next),
            steps: situation.map(|situation| steps(situation, typical)).unwrap_or_default(),
            misses: misses::of(session, prices),
            is_part: session.is_part,
            lines: session.lines,
            advice: None,
            stay: None,
        }
    }
}

fn counted(many: usize) -> u64 {
    u64::try_from(many).unwrap_or(u64::MAX)
}

/// How many requests the present context was built by: about as many are expected to follow, as nothing else is known.
fn since_compaction(session: &Session) -> u64 {
    let start = session.compactions.last().map_or(0, |compaction| compaction.after_requests);
    counted(session.conversation().filter(|(position, _)| *position >= start).count())
}

/// The cache is written for the longer lifetime if the last request said or did so.
fn writes_long(request: &Request, model: &Model) -> bool {
    let long = model.cache_long_seconds;
    request.usage.cache_write_long > 0 || (long.is_some() && request.lifetime_seconds == long)
}

fn cache(request: &Request, model: Option<&Model>, now: Timestamp) -> Option<Cache> {
    let told = request.lifetime_seconds.map(|seconds| (seconds, Source::Transcript));
    let assumed = model.and_then(|model| model.cache_seconds).map(|seconds| (seconds, Source::Assumed));
    let (lifetime_seconds, source) = told.or(assumed)?;
    let lifetime = i64::from(lifetime_seconds) * SECOND;
    let until = request.ended.map(|ended| Timestamp(ended.0.saturating_add(lifetime)));
    // Beyond the years that can be written there is no moment.
    let warm_until = until.filter(|until| jiff::Timestamp::from_microsecond(until.0).is_ok());
    let is_warm = warm_until.filter(|_| ahead(request, now).is_none()).map(|until| now <= until);
    Some(Cache { lifetime_seconds, source, warm_until, is_warm })
}

const SECOND: i64 = 1_000_000;
/// Clocks of two machines may differ by as much without either being wrong.
const TOLERANCE: i64 = 60 * SECOND;

/// How many seconds a request lies ahead of the clock, if that cannot be.
fn ahead(request: &Request, now: Timestamp) -> Option<u64> {
    let ahead = request.ended?.0.saturating_sub(now.0);
    if ahead > TOLERANCE { u64::try_from(ahead / SECOND).ok() } else { None }
}

fn window(session: &Session, assumed: Option<u64>, context_tokens: u64) -> Option<Window> {
    let told = session.window_tokens.map(|tokens| (tokens, Source::Transcript));
    let assumed = assumed.map(|tokens| (tokens, Source::Assumed));
    let (tokens, source) = told.or(assumed).filter(|(tokens, _)| *tokens > 0)?;
    Some(Window { tokens, source, used_share: count(context_tokens) / count(tokens) })
}

fn compacted_at(session: &Session) -> Option<u64> {
    let automatic = session.compactions.iter().rev().find(|compaction| compaction.is_automatic);
    automatic.and_then(|compaction| compaction.tokens_before)
}

fn next(situation: Situation) -> Option<Next> {
    Some(Next {
        warm_usd: situation.warm_usd()?,
        cold_usd: situation.cold_usd()?,
        handoff_usd: situation.handoff_usd()?,
        fresh_usd: situation.fresh_usd()?,
        break_even_requests: situation.break_even_requests(),
        saved_by_pause_usd: situation.saved_by_pause_usd()?,
    })
}

fn steps(situation: Situation, typical: Typical) -> Vec<Step> {
    let Some(present) = situation.model.price(situation.at, situation.context_tokens) else {
        return Vec::new();
    };
    let ahead = situation.model.steps(situation.at, situation.context_tokens);
    ahead
        .into_iter()
        .map(|price| {
            let tokens_until = price.above_tokens.saturating_sub(situation.context_tokens);
            Step {
                above_tokens: price.above_tokens,
                tokens_until,
                requests_until: (typical.growth_tokens > 0).then(|| tokens_until.div_ceil(typical.growth_tokens)),
                input_factor: factor(price.input, present.input),
                output_factor: factor(price.output, present.output),
                break_even_requests: situation.with_context(price.above_tokens.saturating_add(1)).break_even_requests(),
            }
        })
        .collect()
}

/// How many times as much one price is as another; nothing is so many times as much as what costs nothing.
fn factor(price: f64, present: f64) -> Option<f64> {
    let factor = if price.total_cmp(&present).is_eq() { 1.0 } else { price / present };
    factor.is_finite().then_some(factor)
}
