//! The one integration binary.

mod ground;
mod search;
mod sizes;
mod texts;
