//! The one place that speaks SQL. `backend` knows the driver, `search` the full-text dialect, `watch` how a change is
//! noticed; the rest is portable.

pub mod backend;
pub mod cell;
pub mod file;
pub mod idempotency;
pub mod list;
pub mod memory;
pub mod message;
pub mod migration;
pub mod project;
mod queue;
pub mod search;
pub mod task;
pub mod token;
pub mod transfer;
pub mod verify;
pub mod version;
pub mod watch;
mod writer;
