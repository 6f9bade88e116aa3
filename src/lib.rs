//! `HeyAira`: hand a long agent session over to a fresh one, safely and quickly.
//!
//! Data comes in at a [`surface`], becomes one [`operation`], becomes one transaction of the [`store`], and goes back
//! the same way. The rules of what is lawful are in [`domain`]; what can be refused is in [`error`].

pub mod client;
pub mod config;
pub mod domain;
pub mod economics;
pub mod error;
pub mod git;
pub mod operation;
pub mod operations;
pub mod run;
pub mod store;
pub mod surface;
