//! The context over a session, with the cache misses: what is drawn, and how a terminal shows it. Must never depend on
//! anything but the session: the same transcript makes the same picture.

use std::fmt::Write as _;

use crate::domain::time::Timestamp;
use crate::economics::advice::tokens;
use crate::economics::misses::Cause;
use crate::economics::{Outlook, Session};

/// How wide a terminal's plot is, in characters, and how high.
const WIDE: usize = 72;
const HIGH: usize = 12;
/// A column of a terminal in eighths of its height.
const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The context after one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// What the request sent and what came back, in tokens.
    pub context_tokens: u64,
    /// When it ended.
    pub at: Option<Timestamp>,
    /// Why it missed the cache, if it did.
    pub miss: Option<Cause>,
    /// True if the client compacted the conversation before it.
    pub is_after_compaction: bool,
}

/// What is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plot {
    /// The requests of the conversation, in order.
    pub points: Vec<Point>,
    /// The window, where it is known.
    pub window_tokens: Option<u64>,
    /// Sizes of a request from which on the price is another.
    pub step_tokens: Vec<u64>,
}

impl Plot {
    /// The picture of a session.
    pub fn of(session: &Session, outlook: &Outlook) -> Self {
        let mut compactions = session.compactions.iter().map(|compaction| compaction.after_requests).peekable();
        let points = session.conversation().map(|(position, request)| {
            let mut is_after_compaction = false;
            while compactions.next_if(|after| *after <= position).is_some() {
                is_after_compaction = true;
            }
            let miss = outlook.misses.iter().find(|miss| miss.position == position).map(|miss| miss.cause);
            Point { context_tokens: request.usage.context(), at: request.ended, miss, is_after_compaction }
        });
        Self {
            points: points.collect(),
            window_tokens: outlook.window.map(|window| window.tokens),
            step_tokens: outlook.steps.iter().map(|step| step.above_tokens).collect(),
        }
    }

    /// The highest context, at least one token.
    pub fn highest(&self) -> u64 {
        self.points.iter().map(|point| point.context_tokens).max().unwrap_or(0).max(1)
    }

    /// The plot for a terminal: a column for each request, or for several of which the highest counts.
    pub fn text(&self) -> String {
        if self.points.is_empty() {
            return "The transcript tells no request: there is nothing to draw.\n".to_owned();
        }
        let columns: Vec<&[Point]> = self.points.chunks(self.points.len().div_ceil(WIDE)).collect();
        let heights: Vec<usize> = columns.iter().map(|points| self.height(points)).collect();
        let label = tokens(self.highest());
        let wide = label.len();
        let mut text = String::new();
        for row in (0..HIGH).rev() {
            let name = if row == HIGH - 1 { label.as_str() } else { "" };
            let cells: String = heights.iter().map(|height| EIGHTHS[height.saturating_sub(row * 8).min(8)]).collect();
            let _ = writeln!(text, "{name:>wide$} │{}", cells.trim_end());
        }
        let marks: String = columns.iter().map(|points| mark(points)).collect();
        let _ = writeln!(text, "{:>wide$} └{}", 0, "─".repeat(columns.len()));
        let _ = writeln!(text, "{:>wide$}  {}", "", marks.trim_end());
        let _ = writeln!(text, "{}", self.legend(columns[0].len()));
        text
    }

    fn height(&self, points: &[Point]) -> usize {
        let context = points.iter().map(|point| point.context_tokens).max().unwrap_or(0);
        let most = HIGH as u64 * 8;
        usize::try_from(context.saturating_mul(most).div_ceil(self.highest())).unwrap_or(0)
    }

    fn legend(&self, each: usize) -> String {
        let misses = self.points.iter().filter(|point| point.miss.is_some()).count();
        let compactions = self.points.iter().filter(|point| point.is_after_compaction).count();
        let columns =
            if each == 1 { "a column is a request".to_owned() } else { format!("a column is {each} requests") };
        let mut text = format!("context in tokens over {} requests, {columns}", tokens(self.points.len() as u64));
        if misses > 0 {
            let _ = write!(text, "; ! cache expired, x cache missed otherwise ({misses})");
        }
        if compactions > 0 {
            let _ = write!(text, "; c compacted before ({compactions})");
        }
        text
    }
}

/// The gravest mark of several requests.
fn mark(points: &[Point]) -> char {
    let has = |wanted: fn(&Point) -> bool| points.iter().any(wanted);
    if has(|point| point.miss == Some(Cause::Expired)) {
        '!'
    } else if has(|point| point.miss.is_some()) {
        'x'
    } else if has(|point| point.is_after_compaction) {
        'c'
    } else {
        ' '
    }
}
