//! Servers and database nodes are killed while many clients write: nothing that was acknowledged may be lost.

mod nodes;
mod ports;
