//! Servers beside each other on one PostgreSQL, and what they do while it is away, frozen, encrypted or badly set up.

mod address;
mod away;
mod beside;
mod cluster;
mod doctor;
mod encryption;
mod shared;
mod uncertain;
