//! The MCP surface, driven line by line over a pipe as a client would.

mod failures;
mod home;
mod observed;
mod process;
mod prompts;
mod protocol;
mod resources;
mod shipped;
mod streams;
mod subscribed_processes;
mod subscriptions;
mod tools;
mod transport;
mod wire;
