//! All integration tests, as one binary: every noun through the one door `call`, the program, and the rules of the house.
#![expect(unreachable_pub, reason = "the modules of a test binary have no outside")]
#![expect(clippy::print_stdout, reason = "figures are printed, to be read with --nocapture")]

mod arguments;
mod bridge;
mod cli;
mod conflict;
mod database;
mod docs;
mod durability;
mod end_to_end;
mod ground;
mod group;
mod handoff;
mod history;
mod house;
mod http;
mod identity;
mod list;
mod lists;
mod mcp;
mod memory;
mod message;
mod network;
mod postgres;
mod program;
mod project;
mod races;
mod receipt;
mod replaced;
mod resume;
mod retry;
mod search;
mod sizes;
mod takeover;
mod task;
mod texts;
mod tidy;
mod token;
mod verify;
mod words;
