//! All integration tests, as one binary.

mod cli;
mod docs;
mod durability;
mod end_to_end;
mod program;
mod races;
