//! Setting clients up: what is written, that twice is once, that all of it is taken back, and what is refused.

#[cfg(unix)]
mod after;
mod command;
#[cfg(unix)]
mod doctor;
mod document;
mod edits;
mod files;
mod foreign;
mod ground;
mod places;
mod remote;
