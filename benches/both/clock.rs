//! The clock of this machine.

use heyaira::domain::time::Timestamp;
use heyaira::operation::Clock;

/// Tells the present moment.
pub(crate) struct Wall;

impl Clock for Wall {
    fn now(&self) -> Timestamp {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }
}
