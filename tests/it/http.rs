//! The network surface: the real program, real sockets.

mod auth;
mod eras;
mod health;
mod log;
mod same;
pub mod served;
mod start;
pub mod streams;
mod strict;
