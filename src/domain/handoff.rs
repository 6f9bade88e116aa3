//! The handoff: its line, the rules of a good one, and its grade. Must never judge by guessing: each rule is deterministic
//! and names the field and the mend.

mod finding;
mod grade;
mod inference;
mod line;
mod rules;
mod sentence;
mod shape;
mod subject;
mod vocabulary;
mod words;

pub use finding::{Finding, Level};
pub use grade::Grade;
pub use line::{Line, line, line_problem, parse_line, previous_session};
pub use rules::{check, hidden, says_none};
pub use subject::{Form, NamedMemory, Subject, document, memories_named};
