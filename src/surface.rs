//! The ways in. Each is a loop over the list of operations; none knows an operation by name.

pub mod mcp;
