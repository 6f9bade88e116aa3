//! The table, and how far it is from its aims.

use std::fmt::Write as _;
use std::time::Duration;

use heyaira::domain::text::grouped;

use crate::load::Turn;
use crate::request::Way;
use crate::row::{Kind, Operation, Row};

/// The aims: what, by which measure, and at least which part of it.
const AIMS: [(&str, Kind, Kind, f64); 4] = [
    ("task_get by plain HTTP, of the echo", GET_PLAIN, Kind::Echo, 0.8),
    ("task_get by MCP, of the echo", Kind::Call(Operation::Get, Way::Mcp), Kind::Echo, 0.5),
    ("task_update by plain HTTP, of the loop", Kind::Call(Operation::Update, Way::Plain), Kind::Loop, 0.7),
    ("task_update by MCP, of the loop", Kind::Call(Operation::Update, Way::Mcp), Kind::Loop, 0.7),
];
const GET_PLAIN: Kind = Kind::Call(Operation::Get, Way::Plain);
const AIM_MIXED: Duration = Duration::from_millis(50);

/// The whole table in Markdown.
pub(crate) fn table(rows: &[Row]) -> String {
    let mut table = "| tasks | | clients | requests/s | of the echo | of the loop | CPU µs | p50 ms | p99 ms |\n\
        | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
        .to_owned();
    for row in rows {
        let times = sorted(row);
        let _ = writeln!(
            table,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            grouped(row.size),
            row.kind.name(),
            row.clients,
            whole(median(row.turns.iter().map(Turn::rate))),
            shown(beside(rows, row, Kind::Echo)),
            shown(beside(rows, row, Kind::Loop)),
            processor(row).map(|time| format!("{:.0}", time * 1e6)).unwrap_or_default(),
            milliseconds(percentile(&times, 50)),
            milliseconds(percentile(&times, 99)),
        );
    }
    table
}

/// What was aimed at, and what was reached.
pub(crate) fn aims(rows: &[Row]) -> String {
    let mut text = String::new();
    for (name, kind, measure, aim) in AIMS {
        for row in rows.iter().filter(|row| row.kind == kind) {
            let reached = shown(beside(rows, row, measure));
            let _ = writeln!(text, "{name}, {} tasks, {} clients: {reached} (≥ {aim})", grouped(row.size), row.clients);
        }
    }
    for row in rows.iter().filter(|row| row.kind == Kind::Mixed) {
        let (name, size) = (row.kind.name(), grouped(row.size));
        let reached = milliseconds(percentile(&sorted(row), 99));
        let _ = writeln!(text, "{name}, {size} tasks, p99: {reached} ms (≤ {} ms)", AIM_MIXED.as_millis());
    }
    text
}

/// The middle of the ratios to another row of the same size, clients and round.
fn beside(rows: &[Row], row: &Row, kind: Kind) -> Option<f64> {
    let is_measured = match row.kind {
        Kind::Call(Operation::Update, _) => kind == Kind::Loop,
        Kind::Call(..) | Kind::Constant => kind == Kind::Echo,
        _ => false,
    };
    let same = |one: &&Row| one.kind == kind && one.size == row.size && one.clients == row.clients;
    let other = rows.iter().find(same).filter(|_| is_measured)?;
    Some(median(row.turns.iter().zip(&other.turns).map(|(one, other)| one.rate() / other.rate())))
}

/// The seconds of a processor that one request took in the process that was asked.
#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52")]
fn processor(row: &Row) -> Option<f64> {
    let time: Duration = row.turns.iter().map(|turn| turn.processor).sum::<Option<Duration>>()?;
    let requests: usize = row.turns.iter().map(|turn| turn.times.len()).sum();
    Some(time.as_secs_f64() / requests as f64)
}

fn sorted(row: &Row) -> Vec<Duration> {
    let mut times: Vec<Duration> = row.turns.iter().flat_map(|turn| turn.times.iter().copied()).collect();
    times.sort_unstable();
    times
}

fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    sorted.get((sorted.len() * percent / 100).min(sorted.len().saturating_sub(1))).copied().unwrap_or_default()
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

fn shown(ratio: Option<f64>) -> String {
    ratio.map(|ratio| format!("{ratio:.2}")).unwrap_or_default()
}

fn milliseconds(time: Duration) -> String {
    format!("{:.2}", time.as_secs_f64() * 1e3)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate")]
fn whole(rate: f64) -> String {
    grouped(rate.round() as usize)
}
