//! Behaviour tests: every noun through the one door `call`, and the rules of the house.

mod arguments;
mod budget;
mod conflict;
mod handoff;
mod history;
mod house;
mod identity;
mod list;
mod memory;
mod message;
mod project;
mod receipt;
mod resume;
mod retry;
mod takeover;
mod task;
mod tidy;
