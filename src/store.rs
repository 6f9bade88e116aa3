//! The one place that speaks SQL. `backend` knows the drivers, `search` and `migration` two dialects; the rest is
//! written once for every database.

pub mod backend;
pub mod backups;
pub mod cell;
pub mod copies;
pub mod file;
pub mod idempotency;
pub mod list;
pub mod memory;
pub mod message;
pub mod migration;
pub mod project;
pub mod redaction;
pub mod run;
pub mod search;
pub mod task;
pub mod token;
pub mod transfer;
pub mod verification;
pub mod verify;
pub mod version;
pub mod watch;
