//! All integration tests, as one binary.
#![expect(unreachable_pub, reason = "the modules of a test binary have no outside")]
#![expect(clippy::print_stdout, reason = "figures are printed, to be read with --nocapture")]

mod cli;
mod docs;
mod durability;
mod end_to_end;
mod ground;
mod lists;
mod program;
mod races;
mod search;
mod sizes;
mod texts;
