//! Who may call what. Must never depend on what is stored: the credential and the connection say all of it.

use crate::domain::text::quoted;
use crate::error::{Code, Refusal, Result};
use crate::operation::{Connection, Effect, Entry};

/// Refuses what the credential's role or an unattended run may not do.
pub(super) fn check(connection: &Connection, entry: &Entry) -> Result<()> {
    if let Some(run) = &connection.run {
        check_run(run, entry)?;
    }
    let needed = entry.effect.role();
    if connection.role >= needed {
        return Ok(());
    }
    Err(Refusal::new(
        Code::Forbidden,
        format!("{} needs the role {}, this connection has {}", entry.name, needed.as_str(), connection.role.as_str()),
        "Ask the owner for a connection with that role. Nothing was written.",
    ))
}

/// Refuses a write of an unattended run: what it did is recorded by whoever started it.
pub fn check_run(run: &str, entry: &Entry) -> Result<()> {
    if entry.effect == Effect::Reads { Ok(()) } else { Err(refused(run, entry.name)) }
}

/// The refusal of something that writes.
pub fn refused(run: &str, what: &str) -> Refusal {
    Refusal::new(
        Code::Forbidden,
        format!("{what} writes, and this works in the unattended run {}, which reads alone", quoted(run, 40)),
        "Put it into your last message: whoever started the run records what came of it. Nothing was written.",
    )
}
