//! What a session costs: the counts of transcripts against an independent count, the arithmetic against the table that it
//! came from, each advice where it is due and where it is not, and the command.

mod advice;
mod clients;
mod find;
mod formula;
mod prices;
mod program;
mod transcripts;

use std::path::{Path, PathBuf};

use heyaira::domain::time::Timestamp;
use heyaira::economics::{Prices, Request, Session, Usage};

/// The folder of our own transcripts.
fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/transcripts")
}

fn built_in() -> Prices {
    Prices::built_in().expect("the built-in prices")
}

fn at(text: &str) -> Timestamp {
    Timestamp(text.parse::<jiff::Timestamp>().expect("a moment").as_microsecond())
}

/// Noon of a day on which all of the built-in prices hold.
fn noon() -> Timestamp {
    at("2026-11-30T12:00:00Z")
}

/// A session of so many requests, a minute apart and the last just now, which ends with a context of so many tokens; each
/// adds as many as the other.
struct Made {
    model: &'static str,
    lifetime_seconds: Option<u32>,
    requests: u64,
    context: u64,
    growth: u64,
}

impl Made {
    fn session(&self) -> Session {
        let mut session = Session { client: "claude-code", ..Session::default() };
        let model = session.model(self.model);
        for position in 0..self.requests {
            let behind = self.requests - 1 - position;
            let moment = noon().plus_minutes(-i64::try_from(behind).expect("few"));
            let prompt = self.context - self.growth * behind - 100;
            let read = if position == 0 { 0 } else { prompt - self.growth };
            let is_long = self.lifetime_seconds == Some(3_600);
            let (usual, long) = if is_long { (0, prompt - read) } else { (prompt - read, 0) };
            session.requests.push(Request {
                started: Some(moment),
                ended: Some(moment),
                lifetime_seconds: self.lifetime_seconds,
                model,
                is_beside: false,
                usage: Usage { input: 0, cache_read: read, cache_write: usual, cache_write_long: long, output: 100 },
            });
        }
        session
    }
}
