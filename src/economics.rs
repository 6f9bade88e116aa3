//! What a session costs and when a fresh one would be cheaper: prices, figures, advice. Pure arithmetic: it reads no file
//! and no clock, and no sentence of it may hold anything but counts, money and times.

pub mod advice;
pub mod figures;
pub mod formula;
pub mod misses;
pub mod outlook;
pub mod prices;
pub mod session;

pub use advice::{Advice, Trigger};
pub use outlook::{Outlook, Plan};
pub use prices::Prices;
pub use session::{Compaction, Lines, Request, Session, Usage};
