//! The MCP surface, driven line by line over a pipe as a client would.

mod failures;
mod home;
mod observed;
mod process;
mod prompts;
mod protocol;
mod resources;
mod shipped;
mod tools;
mod transport;
mod wire;
