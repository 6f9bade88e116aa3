//! Hostile clients of the real server over real sockets: what they get, what the others get meanwhile, and what it
//! costs. Figures are printed.

mod bodies;
mod client;
mod ends;
mod floods;
mod heads;
mod streams;
mod tokens;
