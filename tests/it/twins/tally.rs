//! What a run met: calls by operation, and refusals by code. A run that meets only refusals shows nothing.

use std::collections::BTreeMap;
use std::fmt;

use heyaira::error::{Code, Result};
use serde_json::Value;

use super::step::Step;

/// The codes that a run must have been refused with.
const CODES: [Code; 10] = [
    Code::VersionConflict,
    Code::IdentityMismatch,
    Code::NoProject,
    Code::NotFound,
    Code::AmbiguousId,
    Code::InvalidArgument,
    Code::TooLarge,
    Code::SecretRefused,
    Code::NotAllowed,
    Code::Forbidden,
];

/// What a run must have met, beside operations and refusals.
const EVENTS: [&str; 9] = [
    "a page led on",
    "a cursor was followed to rows",
    "a search found something",
    "a call was replayed",
    "a text was cut",
    "a total went past its end",
    "an identical memory was there",
    "a message waited",
    "a project with tasks was purged",
];

/// Counts.
#[derive(Default)]
pub(super) struct Tally {
    /// Accepted and refused, by operation.
    operations: BTreeMap<&'static str, (usize, usize)>,
    refusals: BTreeMap<&'static str, usize>,
    events: BTreeMap<&'static str, usize>,
}

impl Tally {
    /// Counts an outcome.
    pub(super) fn note(&mut self, step: &Step, outcome: &Result<Value>) {
        let counts = self.operations.entry(step.operation).or_default();
        match outcome {
            Ok(answer) => {
                counts.0 += 1;
                self.note_events(step, answer);
            }
            Err(refusal) => {
                counts.1 += 1;
                *self.refusals.entry(refusal.code.as_str()).or_default() += 1;
            }
        }
    }

    /// Adds what another one counted.
    pub(super) fn add(&mut self, other: Self) {
        for (operation, (accepted, refused)) in other.operations {
            let counts = self.operations.entry(operation).or_default();
            *counts = (counts.0 + accepted, counts.1 + refused);
        }
        other.refusals.into_iter().for_each(|(code, count)| *self.refusals.entry(code).or_default() += count);
        other.events.into_iter().for_each(|(event, count)| *self.events.entry(event).or_default() += count);
    }

    fn note_events(&mut self, step: &Step, answer: &Value) {
        let rows = ["tasks", "memories"].iter().find_map(|name| answer[name].as_array());
        let has_rows = rows.is_some_and(|rows| !rows.is_empty());
        let asks = |name: &str| step.arguments.contains_key(name);
        // In the order of `EVENTS`.
        let happened = [
            answer.get("next_cursor").is_some(),
            asks("cursor") && has_rows,
            asks("query") && has_rows,
            answer.get("replayed").is_some(),
            answer.get("cut").is_some(),
            answer["total"] == "1000+",
            answer.get("existing").is_some(),
            answer["messages"].as_array().is_some_and(|rows| !rows.is_empty()),
            answer["tasks"].as_i64().is_some_and(|tasks| tasks > 0),
        ];
        for (name, _) in EVENTS.into_iter().zip(happened).filter(|(_, happened)| *happened) {
            *self.events.entry(name).or_default() += 1;
        }
    }

    /// Fails where a run never got as far as it should.
    #[track_caller]
    pub(super) fn must_have_met_everything(&self) {
        let rare = |count: usize| count < 5;
        let operations = heyaira::operations::all().iter().map(|entry| entry.name);
        let accepted = |name: &&str| self.operations.get(name).map_or(0, |(accepted, _)| *accepted);
        let mut missed: Vec<&str> = operations.filter(|name| rare(accepted(name))).collect();
        let codes = CODES.into_iter().map(Code::as_str);
        missed.extend(codes.filter(|code| rare(self.refusals.get(code).copied().unwrap_or(0))));
        missed.extend(EVENTS.into_iter().filter(|event| rare(self.events.get(event).copied().unwrap_or(0))));
        assert!(missed.is_empty(), "hardly ever met: {}", missed.join(", "));
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (operation, (accepted, refused)) in &self.operations {
            writeln!(formatter, "{operation:20} {accepted:6} accepted {refused:6} refused")?;
        }
        for (what, count) in self.refusals.iter().chain(&self.events) {
            writeln!(formatter, "{what:36} {count:6}")?;
        }
        Ok(())
    }
}
