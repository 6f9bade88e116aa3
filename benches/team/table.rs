//! The table, and how far it is from its aims.

use std::fmt::Write as _;
use std::time::Duration;

use heyaira::domain::text::grouped;

use crate::row::{Row, Way};

/// How much of what pgbench reaches with the same statements the servers are to reach.
const AIM: f64 = 0.7;

/// The whole table in Markdown.
pub(crate) fn table(tasks: usize, rows: &[Row]) -> String {
    let mut table = format!(
        "{} tasks\n\n| | clients | | calls/s | of the statements | of the bare one | CPU µs, servers | CPU µs, database | \
         p50 ms | p99 ms |\n| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
        grouped(tasks)
    );
    for row in rows {
        let mut times: Vec<Duration> = row.turns.iter().flat_map(|turn| turn.times.iter().copied()).collect();
        times.sort_unstable();
        let _ = writeln!(
            table,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            row.operation.name(),
            row.clients,
            row.way.name(),
            whole(median(row.turns.iter().map(|turn| turn.rate))),
            shown(beside(rows, row, Way::Same)),
            shown(beside(rows, row, Way::Bare)),
            microseconds(row.turns.iter().filter_map(|turn| turn.server)),
            microseconds(row.turns.iter().filter_map(|turn| turn.database)),
            percentile(&times, 50),
            percentile(&times, 99),
        );
    }
    table
}

/// What was aimed at, and what was reached.
pub(crate) fn aims(rows: &[Row]) -> String {
    let mut text = format!("Aims: {AIM} of what pgbench reaches with the call's statements\n\n");
    let (mut met, mut all) = (0, 0);
    for row in rows.iter().filter(|row| matches!(row.way, Way::Servers(_))) {
        let reached = beside(rows, row, Way::Same).filter(|ratio| ratio.is_finite());
        let is_met = reached.is_some_and(|reached| reached >= AIM);
        let judged = if is_met { "met" } else { "not met" };
        let (name, way, clients) = (row.operation.name(), row.way.name(), row.clients);
        let _ = writeln!(text, "- {judged}: {name}, {way}, {clients} clients: {}", shown(reached));
        met += usize::from(is_met);
        all += 1;
    }
    let _ = writeln!(text, "\n{met} of {all} aims are met");
    text
}

/// The middle of the ratios to another row of the same clients and round.
fn beside(rows: &[Row], row: &Row, way: Way) -> Option<f64> {
    let same = |one: &&Row| one.way == way && one.operation == row.operation && one.clients == row.clients;
    let other = rows.iter().find(same).filter(|_| matches!(row.way, Way::Servers(_)))?;
    Some(median(row.turns.iter().zip(&other.turns).map(|(one, other)| one.rate / other.rate)))
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

fn microseconds(values: impl Iterator<Item = f64>) -> String {
    let mut values = values.peekable();
    if values.peek().is_none() { String::new() } else { format!("{:.0}", median(values) * 1e6) }
}

fn percentile(sorted: &[Duration], percent: usize) -> String {
    let at = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
    sorted.get(at).map(|time| format!("{:.2}", time.as_secs_f64() * 1e3)).unwrap_or_default()
}

fn shown(ratio: Option<f64>) -> String {
    ratio.filter(|ratio| ratio.is_finite()).map(|ratio| format!("{ratio:.2}")).unwrap_or_default()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate")]
fn whole(rate: f64) -> String {
    grouped(rate.round() as usize)
}
