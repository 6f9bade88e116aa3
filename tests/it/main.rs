//! All integration tests, as one binary.

mod mcp;
