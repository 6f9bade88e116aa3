//! The figures of a session as JSON and as text. Must never show a figure without what it is of: units stand in the names,
//! and what is unknown says so.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::client::transcript::{Found, How};
use crate::domain::text::escaped;
use crate::domain::time::Timestamp;
use crate::economics::advice::{duration, tokens, usd};
use crate::economics::misses::Miss;
use crate::economics::outlook::{Source, Step};
use crate::economics::{Outlook, Prices, Session};
use crate::surface::cli::text::local_time;

/// Everything, as `docs/economics.md` has it.
pub fn of(found: &Found, session: &Session, outlook: &Outlook, prices: &Prices) -> Value {
    let Value::Object(mut fields) = row(found, session, outlook) else {
        return Value::Null;
    };
    let rest = json!({
        "found_by": found.how.as_str(),
        "ahead_seconds": outlook.ahead_seconds,
        "requests_beside": beside(session),
        "expected_requests": outlook.expected_requests,
        "compacted_at_tokens": outlook.compacted_at_tokens,
        "fresh_start_tokens": outlook.fresh_tokens,
        "tokens": {
            "input": outlook.total.input,
            "cache_read": outlook.total.cache_read,
            "cache_write": outlook.total.cache_write,
            "cache_write_long": outlook.total.cache_write_long,
            "output": outlook.total.output,
        },
        "cost_beside_usd": to_millionth(outlook.cost.beside_usd),
        "cache": outlook.cache.map(|cache| json!({
            "lifetime_seconds": cache.lifetime_seconds,
            "lifetime_source": cache.source.as_str(),
            "warm_until": cache.warm_until.map(Timestamp::rfc3339),
            "is_warm": cache.is_warm,
        })),
        "next": outlook.next.map(|next| json!({
            "warm_usd": to_millionth(next.warm_usd),
            "cold_usd": to_millionth(next.cold_usd),
            "handoff_usd": to_millionth(next.handoff_usd),
            "fresh_start_usd": to_millionth(next.fresh_usd),
            "break_even_requests": next.break_even_requests.map(to_millionth),
            "saved_before_pause_usd": to_millionth(next.saved_by_pause_usd),
        })),
        "typical_request": {
            "input_tokens": outlook.typical.input_tokens,
            "output_tokens": outlook.typical.output_tokens,
            "growth_tokens": outlook.typical.growth_tokens,
            "is_measured": outlook.typical.is_measured,
        },
        "steps": outlook.steps.iter().map(step).collect::<Vec<_>>(),
        "misses": outlook.misses.iter().map(miss).collect::<Vec<_>>(),
        "prices": {"as_of": prices.as_of, "has_own": prices.has_own, "own_as_of": prices.own_as_of},
        "is_part": outlook.is_part,
        "lines": {
            "read": outlook.lines.read,
            "counted": outlook.lines.counted,
            "repeated": outlook.lines.repeated,
            "broken": outlook.lines.broken,
            "unknown": outlook.lines.unknown,
            "is_unfinished": outlook.lines.is_unfinished,
        },
    });
    if let Value::Object(rest) = rest {
        fields.extend(rest);
    }
    Value::Object(fields)
}

/// A session in short.
pub fn row(found: &Found, session: &Session, outlook: &Outlook) -> Value {
    json!({
        "client": session.client,
        "session_id": session.id.as_ref().or(found.id.as_ref()),
        "transcript": found.path.to_string_lossy(),
        "last_at": outlook.last_at.map(Timestamp::rfc3339),
        "model": outlook.model,
        "requests": outlook.requests,
        "context_tokens": outlook.context_tokens,
        "window_tokens": outlook.window.map(|window| window.tokens),
        "window_source": outlook.window.map(|window| window.source.as_str()),
        "window_used_share": outlook.window.map(|window| to_millionth(window.used_share)),
        "cost_usd": (!outlook.cost.is_unknown()).then_some(to_millionth(outlook.cost.usd)),
        "cost_unknown": {"models": outlook.cost.unknown_models, "tokens": outlook.cost.unknown_tokens},
        "client_cost_usd": outlook.told_cost_usd,
        "advice": outlook.advice.as_ref().map(|advice| json!({
            "trigger": advice.trigger.as_str(),
            "sentence": advice.sentence,
        })),
        "stay": outlook.stay,
    })
}

/// A line of JSON. The control characters that JSON would let stand as they are could steer a terminal.
pub fn json_text(value: &Value) -> String {
    let mut line = String::new();
    for character in value.to_string().chars() {
        // They can stand in strings alone, where an escape means the same.
        if character.is_control() {
            let _ = write!(line, "\\u{:04x}", u32::from(character));
        } else {
            line.push(character);
        }
    }
    line.push('\n');
    line
}

/// A text that cannot end its line.
fn one_line(text: &str) -> String {
    escaped(text, char::is_control)
}

/// A figure of money's arithmetic to a millionth: beyond that stands what binary fractions leave.
fn to_millionth(figure: f64) -> f64 {
    (figure * 1e6).round() / 1e6
}

fn step(step: &Step) -> Value {
    json!({
        "above_tokens": step.above_tokens,
        "tokens_until": step.tokens_until,
        "requests_until": step.requests_until,
        "input_factor": step.input_factor.map(to_millionth),
        "output_factor": step.output_factor.map(to_millionth),
        "break_even_requests": step.break_even_requests.map(to_millionth),
    })
}

fn miss(miss: &Miss) -> Value {
    json!({
        "at": miss.at.map(Timestamp::rfc3339),
        "request": miss.position,
        "cause": miss.cause.as_str(),
        "gap_seconds": miss.gap_seconds,
        "written_tokens": miss.written_tokens,
        "extra_usd": miss.extra_usd.map(to_millionth),
    })
}

fn beside(session: &Session) -> usize {
    session.requests.iter().filter(|request| request.is_beside).count()
}

/// The same for a person.
pub fn text(found: &Found, session: &Session, outlook: &Outlook, prices: &Prices) -> String {
    let mut text = String::new();
    let id = session.id.as_deref().or(found.id.as_deref()).unwrap_or("without an id");
    let how = match found.how {
        How::Named => "as named",
        How::Environment => "the one that asks",
        How::Newest => "the newest of this folder",
    };
    let _ = writeln!(text, "{} session {id}, {how}", found.client.title());
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "  {name:<14}{value}");
    };
    line("transcript", one_line(&found.path.to_string_lossy()));
    line("model", outlook.model.as_deref().map_or_else(|| "not told".to_owned(), one_line));
    line("context", context(outlook));
    line("cache", cache(outlook));
    if let Some(ahead) = outlook.ahead_seconds {
        line("clock", format!("the last request is {} s ahead of this machine's clock", tokens(ahead)));
    }
    line("requests", requests(session, outlook));
    line("cost so far", cost(outlook));
    if let Some(next) = outlook.next {
        line("next request", format!("warm {}, cold {}", usd(next.warm_usd), usd(next.cold_usd)));
        line("hand off", format!("handoff {}, fresh start {}", usd(next.handoff_usd), usd(next.fresh_usd)));
        let even = match next.break_even_requests {
            Some(requests) => format!("after {requests:.1} more requests"),
            None if outlook.context_tokens <= outlook.fresh_tokens => {
                "never: the context is no larger than a fresh start".to_owned()
            }
            None => "never: to read the context again costs no more than to read a fresh start".to_owned(),
        };
        line("break-even", even);
    } else {
        line("next request", "price unknown".to_owned());
    }
    for step in &outlook.steps {
        line("price step", step_text(step));
    }
    for miss in &outlook.misses {
        line("cache missed", miss_text(miss));
    }
    line("prices", prices_text(prices));
    line("read", lines(outlook));
    let _ = writeln!(text, "{}", outlook.sentence());
    text
}

fn moment(at: Option<Timestamp>) -> String {
    at.map_or_else(|| "at an unknown time".to_owned(), |at| local_time(&at.rfc3339()).unwrap_or_else(|| at.rfc3339()))
}

fn context(outlook: &Outlook) -> String {
    let used = format!("{} tokens", tokens(outlook.context_tokens));
    let window = match outlook.window {
        Some(window) => {
            let source = if window.source == Source::Assumed { ", as the model's makers say" } else { "" };
            format!("{used}, {:.1} % of {}{source}", window.used_share * 100.0, tokens(window.tokens))
        }
        None => format!("{used}, window unknown"),
    };
    match outlook.compacted_at_tokens {
        Some(before) => format!("{window}; compacted before at {}", tokens(before)),
        None => window,
    }
}

fn cache(outlook: &Outlook) -> String {
    let Some(cache) = outlook.cache else {
        return "how long it lives is not known".to_owned();
    };
    let source = if cache.source == Source::Assumed { "assumed" } else { "as the transcript says" };
    let lives = format!("lives {} ({source})", duration(cache.lifetime_seconds.into()));
    let until = cache.warm_until.map(|until| moment(Some(until)));
    match (cache.is_warm, until) {
        (Some(true), Some(until)) => format!("warm until {until}, {lives}"),
        (Some(false), Some(until)) => format!("cold since {until}, {lives}"),
        (None, Some(until)) => format!("by another clock warm until {until}, {lives}"),
        (_, None) => lives,
    }
}

fn requests(session: &Session, outlook: &Outlook) -> String {
    let beside = match beside(session) {
        0 => String::new(),
        beside => format!(", and {beside} beside the conversation"),
    };
    format!("{}{beside}", tokens(outlook.requests))
}

fn cost(outlook: &Outlook) -> String {
    let cost = &outlook.cost;
    let mut text = match cost.is_unknown() {
        true if cost.is_uncounted => "unknown: no line that tells tokens can be understood".to_owned(),
        true => "price unknown".to_owned(),
        false => usd(cost.usd),
    };
    if cost.beside_usd > 0.0 {
        let _ = write!(text, ", {} of it beside the conversation", usd(cost.beside_usd));
    }
    if !cost.unknown_models.is_empty() {
        let models = cost.unknown_models.join(", ");
        let _ = write!(text, " ({} tokens of {models} have no price)", tokens(cost.unknown_tokens));
    }
    if let Some(told) = outlook.told_cost_usd {
        let _ = write!(text, "; the client says {}", usd(told));
    }
    if outlook.is_part {
        text.push_str("; of the part that was read");
    }
    text
}

fn step_text(step: &Step) -> String {
    let until =
        step.requests_until.map(|requests| format!(", about {} requests", tokens(requests))).unwrap_or_default();
    format!(
        "above {} tokens input {} and output {}; {} tokens{until} ahead",
        tokens(step.above_tokens),
        times(step.input_factor),
        times(step.output_factor),
        tokens(step.tokens_until)
    )
}

fn times(factor: Option<f64>) -> String {
    factor.map_or_else(|| "no longer free".to_owned(), |factor| format!("×{factor:.2}"))
}

fn miss_text(miss: &Miss) -> String {
    let gap = miss.gap_seconds.map(|gap| format!(" after {} s", tokens(gap))).unwrap_or_default();
    let extra = miss.extra_usd.map_or_else(|| "price unknown".to_owned(), |extra| format!("{} more", usd(extra)));
    format!(
        "{}{gap}: {} tokens sent again, {extra} ({})",
        moment(miss.at),
        tokens(miss.written_tokens),
        miss.cause.as_str()
    )
}

fn prices_text(prices: &Prices) -> String {
    match (prices.has_own, &prices.own_as_of) {
        (false, _) => format!("of {}", prices.as_of),
        (true, Some(date)) => format!("yours of {date}, laid over those of {}", prices.as_of),
        (true, None) => format!("yours, laid over those of {}", prices.as_of),
    }
}

fn lines(outlook: &Outlook) -> String {
    let lines = outlook.lines;
    let mut text = format!("{} lines, {} requests in them", tokens(lines.read), tokens(lines.counted));
    let mut more = |number: u64, what: &str| {
        if number > 0 {
            let _ = write!(text, ", {} {what}", tokens(number));
        }
    };
    more(lines.repeated, "told again");
    more(lines.broken, "broken");
    more(lines.unknown, "of an unknown kind");
    if lines.is_unfinished {
        text.push_str(", the last one unfinished");
    }
    text
}

/// The sessions of a folder, a line each.
pub fn table(answer: &Value) -> String {
    let mut text = String::new();
    let rows = answer["sessions"].as_array().map(Vec::as_slice).unwrap_or_default();
    for row in rows {
        let word = |name: &str| row[name].as_str().unwrap_or("-").to_owned();
        let id: String = word("session_id").chars().take(SHORT).collect();
        if row["error"].is_string() {
            let _ = writeln!(text, "{:<12}{id:<10}{}", word("client"), word("error"));
            continue;
        }
        let last = local_time(&word("last_at")).unwrap_or_else(|| "-".to_owned());
        let cost = row["cost_usd"].as_f64().map_or_else(|| "price unknown".to_owned(), usd);
        let due = row["advice"]["trigger"].as_str().unwrap_or("stay");
        let context = tokens(row["context_tokens"].as_u64().unwrap_or(0));
        let requests = tokens(row["requests"].as_u64().unwrap_or(0));
        let _ = writeln!(
            text,
            "{:<12}{id:<10}{last:<28}{:<22}{context:>9} tokens{requests:>7} requests  {cost:>13}  {due}",
            word("client"),
            word("model")
        );
    }
    for place in answer["unreadable"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let _ = writeln!(text, "left out: {place}");
    }
    let _ = writeln!(text, "{} sessions of {}", rows.len(), answer["folder"].as_str().unwrap_or_default());
    text
}

/// How many characters of an id tell sessions apart.
const SHORT: usize = 8;
