//! Hooks: what clients really give them, what they answer, and that nothing ever breaks a client.

mod advice;
mod drafts;
mod failures;
pub mod repository;
mod sessions;
mod shapes;
mod start;
