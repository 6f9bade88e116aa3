//! Late messages: words for a session that may be gone. Must never become project state.

use crate::domain::{session, task, text};

/// After how many days an unread message is gone.
pub const KEPT_DAYS: i64 = 7;

/// What is wrong with a message id, if anything is; to follow the field's name.
pub fn id_problem(given: &str) -> Option<String> {
    let hex = |part: &str| part.len() == 8 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let fits = given.strip_prefix("msg-").is_some_and(hex);
    (!fits).then(|| format!("{} is no message id: msg- and 8 hex characters", text::quoted(given, 60)))
}

/// What is wrong with a recipient, if anything is: a task id or a session.
pub fn recipient_problem(given: &str) -> Option<String> {
    if task::pointer_problem(given).is_none() || session::session_ref_problem(given).is_none() {
        return None;
    }
    Some(format!(
        "{} is neither a task id (whole or its first 8) nor a session reference such as codex:<id>",
        text::quoted(given, 60)
    ))
}
