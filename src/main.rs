//! The program: hands the arguments to the command line, which enters one surface.

use std::process::ExitCode;

fn main() -> ExitCode {
    heyaira::surface::cli::run(std::env::args_os().collect())
}
