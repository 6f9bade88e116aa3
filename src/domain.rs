//! What things are and which changes are lawful. No input or output, no waiting, no database, no clock of its own.

pub mod change;
pub mod checkbox;
pub mod handoff;
pub mod hidden;
pub mod language;
pub mod markdown;
pub mod memory;
pub mod message;
pub mod project;
pub mod receipt;
pub mod redaction;
pub mod rule;
pub mod run;
pub mod secret;
pub mod session;
pub mod takeover;
pub mod task;
pub mod text;
pub mod time;
pub mod token;
pub mod tokens;
pub mod verification;
pub mod words;
