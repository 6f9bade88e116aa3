//! The MCP surface, driven line by line over a pipe as a client would.

mod failures;
mod home;
mod observed;
mod prompts;
mod protocol;
mod resources;
mod tools;
mod transport;
mod wire;
