//! The ways in. Each is a loop over the list of operations; none knows a tool by name.

pub mod cli;
pub mod headers;
pub mod http;
pub mod mcp;
pub mod signals;
