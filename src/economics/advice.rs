//! When to hand off, by what was measured on real sessions, and why to stay. Must never hold a word of a session: counts,
//! money and times alone.
//!
//! Half of the window is a poor sign where windows are large and reading the cache is cheap, so it counts for small windows
//! only. What pays is a handoff before a pause that the cache does not outlive, before a step in the price, in the place of
//! a compaction, and once clearly more requests are expected than the break-even.

use crate::domain::text::grouped;
use crate::domain::time::Timestamp;
use crate::economics::outlook::{Cache, Next, Outlook, Plan};
use crate::economics::prices::{Assumptions, count};

/// Why to hand off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// The cache of a large context is cold: the next request here writes it again.
    CacheExpired,
    /// A pause is planned that the cache does not outlive.
    PauseAhead,
    /// The client will soon put a summary in the place of the conversation.
    CompactionAhead,
    /// Requests will soon be so large that they cost more.
    StepAhead,
    /// More requests are expected than the break-even.
    BreakEven,
    /// Half of a small window is used.
    HalfWindow,
}

impl Trigger {
    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CacheExpired => "cache-expired",
            Self::PauseAhead => "pause-ahead",
            Self::CompactionAhead => "compaction-ahead",
            Self::StepAhead => "price-step-ahead",
            Self::BreakEven => "break-even",
            Self::HalfWindow => "half-window",
        }
    }
}

/// To hand off, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// What set it off.
    pub trigger: Trigger,
    /// One sentence with its reason.
    pub sentence: String,
}

/// The advice, or the sentence that says why to stay.
pub(super) fn of<'o>(
    outlook: &'o Outlook,
    assumptions: &'o Assumptions,
    now: Timestamp,
    plan: Plan,
) -> (Option<Advice>, Option<String>) {
    let case = Case { outlook, assumptions, now, plan };
    let rules: [(Trigger, Rule<'o>); 6] = [
        (Trigger::CacheExpired, Case::cache_expired),
        (Trigger::PauseAhead, Case::pause_ahead),
        (Trigger::CompactionAhead, Case::compaction_ahead),
        (Trigger::StepAhead, Case::step_ahead),
        (Trigger::BreakEven, Case::break_even),
        (Trigger::HalfWindow, Case::half_window),
    ];
    let found = rules.into_iter().find_map(|(trigger, rule)| Some(Advice { trigger, sentence: rule(&case)? }));
    let stay = found.is_none().then(|| case.stay());
    (found, stay)
}

/// Says why to hand off, if it is so.
type Rule<'o> = fn(&Case<'o>) -> Option<String>;

struct Case<'o> {
    outlook: &'o Outlook,
    assumptions: &'o Assumptions,
    now: Timestamp,
    plan: Plan,
}

impl Case<'_> {
    /// True if the context is so many fresh starts that a cold cache is worth a handoff.
    fn is_large(&self) -> bool {
        let fresh = self.assumptions.pause_fresh_starts * count(self.outlook.fresh_tokens);
        count(self.outlook.context_tokens) > fresh
    }

    fn context(&self) -> String {
        tokens(self.outlook.context_tokens)
    }

    fn cache_expired(&self) -> Option<String> {
        let Cache { warm_until: Some(until), is_warm: Some(false), .. } = self.outlook.cache? else {
            return None;
        };
        if !self.is_large() {
            return None;
        }
        let next = self.outlook.next;
        let again = next.map(|next| format!(" ({})", usd(next.cold_usd))).unwrap_or_default();
        let expired = format!(
            "cache expired {} ago, so the next request here sends {} tokens again{again}",
            until.age_in_words(self.now),
            self.context()
        );
        let fresh = next.map_or_else(
            || format!("starts with about {} tokens", tokens(self.outlook.fresh_tokens)),
            |next| format!("starts at {}", usd(next.fresh_usd)),
        );
        // A handoff that is written only now has to read the cold context first, so that it saves nothing on that request.
        Some(match self.plan.has_handoff {
            Some(true) => format!("Start fresh from the saved handoff: the {expired}, and a fresh session {fresh}."),
            Some(false) => format!(
                "No handoff of this session waits, and it is late for one: the {expired}, whether it goes on or writes a \
                 handoff{}; staying is cheaper for the next request.",
                self.cost_of_both()
            ),
            None => format!(
                "Start fresh only if the task has a handoff: the {expired}, and a fresh session that starts from one {fresh}; \
                 to write one from here makes that request first, so without one staying costs no more for the next request."
            ),
        })
    }

    fn pause_ahead(&self) -> Option<String> {
        let pause = self.plan.pause_seconds?;
        let lifetime = self.outlook.cache?.lifetime_seconds;
        let next = self.outlook.next.filter(|next| next.saved_by_pause_usd > 0.0)?;
        if pause <= u64::from(lifetime) || !self.is_large() {
            return None;
        }
        Some(format!(
            "Hand off before the pause: the cache lives {}, and the first request after it would send {} tokens again; \
             handoff and fresh start cost {}, which is {} less.",
            duration(lifetime.into()),
            self.context(),
            usd(next.handoff_usd + next.fresh_usd),
            usd(next.saved_by_pause_usd)
        ))
    }

    fn compaction_ahead(&self) -> Option<String> {
        let used = self.outlook.context_tokens;
        // A window that the client never fills says less than where it compacted before.
        let (full, near) = match self.outlook.compacted_at_tokens {
            Some(before) => (before, self.assumptions.compaction_again_share),
            None => (self.outlook.window?.tokens, self.assumptions.compaction_near_share),
        };
        if used <= self.outlook.fresh_tokens || count(used) < near * count(full) {
            return None;
        }
        let of = if self.outlook.compacted_at_tokens.is_some() {
            "at which the client compacted before"
        } else {
            "of the window"
        };
        Some(format!(
            "Hand off instead of a compaction: the context has {} tokens of the {} {of}{}{}.",
            tokens(used),
            tokens(full),
            self.cost_of_both(),
            self.if_dearer("it is worth it only for what a summary would lose")
        ))
    }

    fn step_ahead(&self) -> Option<String> {
        let step = self.outlook.steps.first()?;
        let requests = step.requests_until.filter(|requests| *requests <= self.assumptions.step_near_requests)?;
        let is_worth = step.break_even_requests.is_some_and(|needed| needed <= count(self.outlook.expected_requests));
        let dearer = match (step.input_factor, step.output_factor) {
            (Some(input), Some(output)) => {
                format!("input costs {} times as much and output {} times", factor(input), factor(output))
            }
            _ => "they cost more".to_owned(),
        };
        is_worth.then(|| {
            format!(
                "Hand off before a request sends more than {} tokens, in about {}: from there on {dearer}{}.",
                tokens(step.above_tokens),
                counted(requests, "request"),
                self.cost_of_both()
            )
        })
    }

    fn break_even(&self) -> Option<String> {
        let needed = self.outlook.next?.break_even_requests?;
        // What somebody knows needs no margin.
        let factor = self.plan.requests.map_or(self.assumptions.break_even_guess_factor, |_| 1.0);
        if needed * factor > count(self.outlook.expected_requests) {
            return None;
        }
        Some(format!(
            "Hand off: with {} tokens of context a fresh session is cheaper after {}, and {}{}.",
            self.context(),
            counted(ceiling(needed), "more request"),
            self.expected(),
            self.cost_of_both()
        ))
    }

    fn half_window(&self) -> Option<String> {
        let window = self.outlook.window?;
        let is_small = window.tokens <= self.assumptions.half_window_up_to_tokens;
        let is_due = window.used_share >= 0.5 && self.outlook.context_tokens > self.outlook.fresh_tokens;
        (is_small && is_due).then(|| {
            format!(
                "Hand off at the next good point: {} of {} tokens are used, more than half of a small window{}{}.",
                self.context(),
                tokens(window.tokens),
                self.cost_of_both(),
                self.if_dearer("it is worth it only so that no compaction comes in the middle of the work")
            )
        })
    }

    /// Says that staying is cheaper, where it is, and what a handoff may be worth that much for all the same.
    fn if_dearer(&self, worth: &str) -> String {
        let Some(next) = self.outlook.next else {
            return String::new();
        };
        let when = match next.break_even_requests {
            Some(needed) if needed <= count(self.outlook.expected_requests) => return String::new(),
            Some(needed) => {
                format!("they pay only after {}, and {}", counted(ceiling(needed), "more request"), self.expected())
            }
            None => "they never pay by these prices".to_owned(),
        };
        format!("; staying is cheaper, as {when}: {worth}")
    }

    fn cost_of_both(&self) -> String {
        let both = |next: Next| format!("; handoff and fresh start cost {}", usd(next.handoff_usd + next.fresh_usd));
        self.outlook.next.map(both).unwrap_or_default()
    }

    fn expected(&self) -> String {
        match self.plan.requests {
            Some(requests) => format!("{requests} are expected"),
            None => format!("{} made the present context", self.outlook.expected_requests),
        }
    }

    fn stay(&self) -> String {
        if self.outlook.context_tokens == 0 {
            return NOTHING.to_owned();
        }
        let fresh = tokens(self.outlook.fresh_tokens);
        let context = self.context();
        let Some(next) = self.outlook.next else {
            return format!(
                "No advice on money: the price of the model is unknown; the context has {context} tokens, and a fresh session \
                 starts with about {fresh}."
            );
        };
        let Some(needed) = next.break_even_requests else {
            if self.outlook.context_tokens > self.outlook.fresh_tokens {
                return format!(
                    "Stay, it is cheaper: by these prices to read {context} tokens again costs no more than the {fresh} or so \
                     that a fresh session starts with."
                );
            }
            return format!(
                "Stay, it is cheaper: the context has {context} tokens, no more than the {fresh} or so that a fresh session \
                 starts with."
            );
        };
        let cost = usd(next.handoff_usd + next.fresh_usd);
        let pays = counted(ceiling(needed), "more request");
        let pause = self.before_a_pause(next);
        if needed <= count(self.outlook.expected_requests) {
            return format!(
                "Stay for now: handoff and fresh start cost {cost} and pay after {pays}, and that so many follow is not sure \
                 enough, as {}{pause}.",
                self.expected()
            );
        }
        format!(
            "Stay, it is cheaper: handoff and fresh start cost {cost} and pay only after {pays}, and {}{pause}.",
            self.expected()
        )
    }

    fn before_a_pause(&self, next: Next) -> String {
        match self.outlook.cache {
            Some(cache) if self.is_large() && next.saved_by_pause_usd > 0.0 => format!(
                "; before a pause of more than {} a handoff saves {}",
                duration(cache.lifetime_seconds.into()),
                usd(next.saved_by_pause_usd)
            ),
            _ => String::new(),
        }
    }
}

const NOTHING: &str =
    "Nothing to weigh yet: no request since the start, or since the last compaction, tells the context.";

/// `168,000`.
pub fn tokens(number: u64) -> String {
    grouped(usize::try_from(number).unwrap_or(usize::MAX))
}

/// `$1.34`; smaller sums with four places.
pub fn usd(sum: f64) -> String {
    if sum.abs() < 0.1 { format!("${sum:.4}") } else { format!("${sum:.2}") }
}

/// `5 minutes`, `1 hour`, `90 seconds`.
pub fn duration(seconds: u64) -> String {
    match seconds {
        0 => counted(0, "second"),
        _ if seconds.is_multiple_of(3_600) => counted(seconds / 3_600, "hour"),
        _ if seconds.is_multiple_of(60) => counted(seconds / 60, "minute"),
        _ => counted(seconds, "second"),
    }
}

fn counted(number: u64, what: &str) -> String {
    format!("{} {what}{}", tokens(number), if number == 1 { "" } else { "s" })
}

fn factor(factor: f64) -> String {
    let text = format!("{factor:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of requests, which is positive")]
fn ceiling(requests: f64) -> u64 {
    requests.ceil() as u64
}
