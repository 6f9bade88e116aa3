//! The program with the fixtures of the conformance suite, under a name of its own: it must never be shipped.

use std::process::ExitCode;

fn main() -> ExitCode {
    heyaira::surface::cli::run(std::env::args_os().collect())
}
