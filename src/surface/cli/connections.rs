//! How many connections a command may have to the server of its database.

use clap::{Arg, ArgAction, ArgMatches, value_parser};

use crate::error::{Refusal, Result};
use crate::store::backend::CONNECTIONS;

/// The flag and the variable.
const FLAG: &str = "database-connections";
const VARIABLE: &str = "HEYAIRA_DATABASE_CONNECTIONS";
/// For a command that does one thing.
const FEW: usize = 2;
/// More than any server of `PostgreSQL` should be asked for.
const MOST: u64 = 1_000;

/// The flag of the commands that serve.
pub fn flag() -> Arg {
    Arg::new(FLAG)
        .long(FLAG)
        .value_name("NUMBER")
        .action(ArgAction::Set)
        .value_parser(value_parser!(u64).range(1..=MOST))
        .help(format!("Connections to a PostgreSQL database at most [env: {VARIABLE}] [default: {CONNECTIONS}]"))
        .help_heading("Where")
}

/// How many the command may have: flag over environment over default.
pub fn of(matches: &ArgMatches, variable: impl Fn(&str) -> Option<String>) -> Result<usize> {
    let Ok(given) = matches.try_get_one::<u64>(FLAG) else { return Ok(FEW) };
    let number = match (given, variable(VARIABLE).filter(|value| !value.is_empty())) {
        (Some(number), _) => *number,
        (None, None) => return Ok(CONNECTIONS),
        (None, Some(value)) => value.parse().ok().filter(|number| (1..=MOST).contains(number)).ok_or_else(|| {
            let shown = crate::domain::text::quoted(&value, 20);
            Refusal::argument(format!("{VARIABLE} is {shown}: it is a number from 1 to {MOST}"))
        })?,
    };
    Ok(usize::try_from(number).unwrap_or(CONNECTIONS))
}
