//! The flags for what one client may take from the others. Must never let a limit be switched off.

use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, value_parser};

use crate::surface::http::Limits;

/// The longest of all times that can be set, in seconds.
const LONGEST: u64 = 3_600;
/// More connections than any system gives one process files for.
const MOST: u64 = 1_000_000;

/// The flags, with what holds without them.
pub fn flags() -> Vec<Arg> {
    let limits = Limits::default();
    let number = |name: &'static str, unit: &'static str, most: u64, default: u64, help: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name(unit)
            .action(ArgAction::Set)
            .value_parser(value_parser!(u64).range(1..=most))
            .help(format!("{help} [default: {default}]"))
            .help_heading("Limits")
    };
    let seconds = |name: &'static str, default: Duration, help: &'static str| {
        number(name, "SECONDS", LONGEST, default.as_secs(), help)
    };
    vec![
        number(
            "max-connections",
            "NUMBER",
            MOST,
            limits.connections as u64,
            "Connections at once; for one more the one that is idle longest is closed",
        ),
        seconds(
            "header-timeout",
            limits.head,
            "How long a connection may be idle, and how long a request's head may take",
        ),
        seconds("body-timeout", limits.body, "How long a request's body may take"),
        seconds("write-timeout", limits.stalled, "How long a client may read nothing of its answer"),
        seconds(
            "drain-timeout",
            limits.draining,
            "How long requests are still taken when the server is stopped, while /readyz says that it is not ready",
        ),
        seconds(
            "stop-timeout",
            limits.finishing,
            "How long calls in flight may take to finish when the server is stopped",
        ),
    ]
}

/// The limits of the flags.
pub fn limits(matches: &ArgMatches) -> Limits {
    let given = |name: &str| matches.get_one::<u64>(name).copied();
    let seconds = |name: &str, default: Duration| given(name).map_or(default, Duration::from_secs);
    let default = Limits::default();
    let connections = given("max-connections").and_then(|number| usize::try_from(number).ok());
    Limits {
        connections: connections.unwrap_or(default.connections),
        head: seconds("header-timeout", default.head),
        body: seconds("body-timeout", default.body),
        stalled: seconds("write-timeout", default.stalled),
        draining: seconds("drain-timeout", default.draining),
        finishing: seconds("stop-timeout", default.finishing),
        ..default
    }
}
