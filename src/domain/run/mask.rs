//! A report without secrets, as it is kept on disk and in the database alike. Must never leave out a field: what is added to
//! the report is masked as well.

use super::Report;
use crate::domain::secret::mask_json;

impl Report {
    /// The report with every secret in it masked.
    #[must_use]
    pub fn masked(self) -> Self {
        let mut fields = serde_json::to_value(self).expect("a report is JSON");
        mask_json(&mut fields);
        serde_json::from_value(fields).expect("a masked text is a text")
    }
}
