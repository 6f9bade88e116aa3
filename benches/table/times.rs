//! Times and their table.

use std::fmt::Write as _;
use std::time::Duration;

use crate::operation::Operation;

/// The aims that the table names.
const AIM_RATIO: &str = "≤ 1.5";
const AIM_START: &str = "≤ 10 ms";
const AIM_IDLE: &str = "≤ 15 MB";

/// Times of one cell.
#[derive(Clone, Default)]
pub(crate) struct Times(Vec<Duration>);

impl Times {
    /// Adds a measured time.
    pub(crate) fn add(&mut self, time: Duration) {
        self.0.push(time);
    }

    /// The middle one.
    pub(crate) fn median(&self) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort();
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    }
}

/// What is measured.
#[derive(Clone, Copy)]
pub(crate) enum Cell {
    /// One row by its key, without HeyAira.
    BareSelect,
    /// What an update writes at least, in a transaction of its own that is on disk when it returns.
    BareWrite,
    /// An operation by the library's `call`.
    Library(Operation),
    /// An operation of the running program.
    Stdio(Operation),
}

/// One line of the table.
pub(crate) struct Row {
    name: String,
    /// What is measured.
    pub(crate) cell: Cell,
    /// Times by size.
    pub(crate) times: [Times; 3],
}

impl Row {
    /// A line without times yet.
    pub(crate) fn of(name: &str, cell: Cell) -> Self {
        Self { name: name.to_owned(), cell, times: Default::default() }
    }
}

/// The whole table in Markdown.
pub(crate) fn table(sizes: &[usize; 3], rows: &[Row], starts: &[Times], idle: &[u64]) -> String {
    let (least, most) = (grouped(sizes[0]), grouped(sizes[2]));
    let mut table = format!(
        "| median | {} tasks | {} | {} | {most} / {least} | times bare |\n| --- | ---: | ---: | ---: | ---: | ---: |\n",
        least,
        grouped(sizes[1]),
        most
    );
    for row in rows {
        let medians: Vec<Duration> = row.times.iter().map(Times::median).collect();
        let ratio = ratio(medians[2], medians[0]);
        line(&mut table, &row.name, &medians, &ratio, &times_bare(rows, row, medians[2]));
    }
    let medians: Vec<Duration> = starts.iter().map(Times::median).collect();
    line(&mut table, "start to first answer", &medians, &ratio(medians[2], medians[0]), "");
    let megabytes: Vec<String> = idle.iter().map(|bytes| format!("{:.1} MB", mega(*bytes))).collect();
    let _ = writeln!(table, "| idle memory | {} | | |", megabytes.join(" | "));
    let _ = write!(table, "| aims: start {AIM_START}, memory {AIM_IDLE} | | | | {AIM_RATIO} | |");
    table
}

fn line(table: &mut String, name: &str, medians: &[Duration], ratio: &str, times_bare: &str) {
    let medians: Vec<String> = medians.iter().map(|time| shown(*time)).collect();
    let _ = writeln!(table, "| {name} | {} | {ratio} | {times_bare} |", medians.join(" | "));
}

/// How many times the bare statement an operation takes, at the greatest size.
fn times_bare(rows: &[Row], row: &Row, median: Duration) -> String {
    let floor = |wanted: fn(&Cell) -> bool| rows.iter().find(|one| wanted(&one.cell)).map(|one| one.times[2].median());
    let floor = match row.cell {
        Cell::Library(Operation::Get) | Cell::Stdio(Operation::Get) => floor(|cell| matches!(cell, Cell::BareSelect)),
        Cell::Library(Operation::Update) | Cell::Stdio(Operation::Update) => {
            floor(|cell| matches!(cell, Cell::BareWrite))
        }
        _ => None,
    };
    floor.map(|floor| ratio(median, floor)).unwrap_or_default()
}

fn ratio(one: Duration, other: Duration) -> String {
    format!("{:.2}", one.as_secs_f64() / other.as_secs_f64())
}

fn shown(time: Duration) -> String {
    let microseconds = time.as_secs_f64() * 1e6;
    if microseconds < 1_000.0 { format!("{microseconds:.0} µs") } else { format!("{:.2} ms", microseconds / 1e3) }
}

#[expect(clippy::cast_precision_loss, reason = "a few megabytes")]
fn mega(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

fn grouped(number: usize) -> String {
    heyaira::domain::text::grouped(number)
}
