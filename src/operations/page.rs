//! A page of a list: the rows that fit, how many there are in all, and the cursor behind the last one shown.
//! Must never leave rows out without a cursor that brings them.

use serde_json::{Map, Value, json};

use crate::operations::budget::{self, rows_that_fit};
use crate::operations::cursor;
use crate::store::list::TOTAL_EXACT;

/// How many rows a page has without a limit.
const ROWS: i64 = 20;

/// How large a page is to be.
pub(crate) struct Size {
    limit: Option<i64>,
}

impl Size {
    /// The size of a caller's limit, or the usual one.
    pub(crate) fn of(limit: Option<i64>) -> Self {
        Self { limit }
    }

    /// How many rows to read: one more than are shown, to know whether there are more.
    pub(crate) fn to_read(&self) -> i64 {
        self.limit.unwrap_or(ROWS) + 1
    }

    /// An explicit limit is the caller's own choice of size; only the default is bounded.
    fn room(&self) -> usize {
        if self.limit.is_some() { usize::MAX } else { budget::ANSWER - 300 }
    }
}

/// The answer with `rows` under `name`. `total` is exact up to 1,000; `position` gives a row's sort keys and id.
pub(crate) fn answer(
    name: &str,
    size: &Size,
    mut rows: Vec<Value>,
    total: i64,
    list: &Value,
    position: impl Fn(usize) -> Option<(Vec<i64>, String)>,
) -> Value {
    let most = usize::try_from(size.to_read() - 1).unwrap_or(usize::MAX);
    let has_more = rows.len() > most;
    rows.truncate(most);
    let (rows, left) = rows_that_fit(rows, size.room());
    let mut answer = Map::new();
    answer.insert("total".to_owned(), if total > TOTAL_EXACT { json!("1000+") } else { json!(total) });
    answer.insert("shown".to_owned(), json!(rows.len()));
    if (has_more || left > 0)
        && let Some((keys, id)) = rows.len().checked_sub(1).and_then(position)
    {
        answer.insert("next_cursor".to_owned(), json!(cursor::encode(list, &keys, &id)));
    }
    answer.insert(name.to_owned(), Value::Array(rows));
    Value::Object(answer)
}
