//! Where the cache was missed: a request that should have read the conversation from the cache and sent it again.
//! Must never take a conversation that became shorter for a miss.

use crate::domain::time::Timestamp;
use crate::economics::prices::Prices;
use crate::economics::session::{Request, Session, Usage};

/// Contexts below this are too small for most caches, and a miss of one costs nothing to speak of.
const SMALL: u64 = 2_048;

/// Why the cache was missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The pause before was longer than the cache lives.
    Expired,
    /// Another model was asked, which has a cache of its own.
    OtherModel,
    /// Neither: what stands before the conversation changed, or the cache was lost.
    Other,
}

impl Cause {
    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Expired => "expired",
            Self::OtherModel => "other-model",
            Self::Other => "other",
        }
    }
}

/// A request that missed the cache.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Miss {
    /// When it was sent.
    pub at: Option<Timestamp>,
    /// Its position among the session's requests.
    pub position: usize,
    /// How long the conversation paused before, in seconds.
    pub gap_seconds: Option<u64>,
    /// Why.
    pub cause: Cause,
    /// What it sent again, and with it what was new.
    pub written_tokens: u64,
    /// What that cost beyond reading it, in US dollars; `None` where the price is unknown.
    pub extra_usd: Option<f64>,
}

/// All of them, in order. A request reads less than half of what the one before left in the cache.
pub fn of(session: &Session, prices: &Prices) -> Vec<Miss> {
    let conversation: Vec<(usize, &Request)> = session.conversation().collect();
    let pairs = conversation.windows(2);
    pairs.filter_map(|pair| between(session, prices, pair[0].1, pair[1])).collect()
}

fn between(
    session: &Session,
    prices: &Prices,
    before: &Request,
    (position, request): (usize, &Request),
) -> Option<Miss> {
    let kept = before.usage.prompt();
    let (sent, read) = (request.usage.prompt(), request.usage.cache_read);
    if kept < SMALL || read >= kept / 2 || sent < kept / 2 {
        return None;
    }
    let gap_seconds = gap(before, request);
    let lifetime = before.lifetime_seconds.or_else(|| prices.model(session.model_of(before))?.cache_seconds);
    let cause = match (gap_seconds, lifetime) {
        _ if before.model != request.model => Cause::OtherModel,
        (Some(gap), Some(lifetime)) if gap > u64::from(lifetime) => Cause::Expired,
        _ => Cause::Other,
    };
    let written = request.usage.written();
    Some(Miss {
        at: request.started,
        position,
        gap_seconds,
        cause,
        // Some caches tell no writes: what was not read was sent as if it were new.
        written_tokens: if written > 0 { written } else { request.usage.input },
        extra_usd: extra(session, prices, request, kept.saturating_sub(read)),
    })
}

/// What a request paid for tokens beyond what reading them had cost.
fn extra(session: &Session, prices: &Prices, request: &Request, tokens: u64) -> Option<f64> {
    let Usage { input, cache_write, cache_write_long, .. } = request.usage;
    let price = prices.price(session.model_of(request), request.started.unwrap_or_default(), request.usage.prompt())?;
    let again = if cache_write_long > 0 {
        Usage { cache_write_long: tokens.min(cache_write_long), ..Usage::default() }
    } else if cache_write > 0 {
        Usage { cache_write: tokens.min(cache_write), ..Usage::default() }
    } else {
        Usage { input: tokens.min(input), ..Usage::default() }
    };
    let read = Usage { cache_read: again.prompt(), ..Usage::default() };
    Some(price.usd(again) - price.usd(read))
}

/// From the last word on one request to the first on the next.
pub fn gap(before: &Request, request: &Request) -> Option<u64> {
    let micros = request.started?.0.saturating_sub(before.ended?.0);
    Some(u64::try_from(micros).unwrap_or(0) / 1_000_000)
}
