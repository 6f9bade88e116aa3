//! Parts of a report as texts show them: as code, as a word of a shell, shortened. Must never shorten without a mark.

use crate::domain::text::{head, length, visible};

/// How many characters of a name are shown.
const NAME: usize = 100;

/// The text on one line, with what nobody could see written out.
pub(super) fn on_one_line(text: &str) -> String {
    visible(&text.trim().replace("\r\n", "\n")).replace('\n', " ⏎ ")
}

/// The text, or its beginning and `…`.
pub(super) fn clipped(text: &str, most: usize) -> String {
    if length(text) <= most { text.to_owned() } else { format!("{}…", head(text, most.saturating_sub(1))) }
}

/// A name on one line, shortened.
pub(super) fn name(text: &str) -> String {
    clipped(&on_one_line(text), NAME)
}

/// The text as code within a line, whole.
pub(super) fn code(text: &str) -> String {
    let text = on_one_line(text);
    // Code that holds a backtick stands between two.
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

/// The text as a word of a shell.
pub(super) fn word(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_./@%+=:,-".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// True for what can be typed as it stands: one line, and nothing in it that a reader would not see.
pub(super) fn can_be_typed(text: &str) -> bool {
    !text.trim().is_empty() && !text.contains(['\n', '\r']) && visible(text) == text
}

/// The first characters of a commit's hash, as git shows them.
pub(super) fn commit(hash: &str) -> String {
    clipped(hash, 41).chars().take(12).collect()
}
