//! What clients tell their hooks, and how they want to be answered. Must never keep what a person or a model said, and
//! never let it out: of an input only ids, places, numbers and words of the client's own are read.
//!
//! For `OpenCode`, whose plugins are programs, the shapes are ours: its plugin gives
//! `{"hook_event_name": "SessionStart" | "UserPromptSubmit" | "Stop" | "PreCompact" | "SessionEnd", "session_id": "ses_…",
//! "cwd": "…", "transcript_path"?: "…"}` on standard input, for sessions without a parent alone, and reads nothing or
//! `{"additionalContext": "…"}`, which it adds to the system's text; at `Stop` it shows it to the person.

mod answer;
mod input;
mod which;
pub mod words;

pub use answer::Answer;
pub use input::{Cold, Event, Input, Problem};

use std::ffi::OsString;

/// Reads the environment.
pub type Variable<'v> = &'v dyn Fn(&str) -> Option<OsString>;
