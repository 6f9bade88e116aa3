//! The one integration binary.

mod ground;
mod sizes;
mod texts;
