//! `HeyAira`'s own secrets: the `write_context` and the token. Their length and alphabet make a chance hit practically
//! impossible, so they need no entropy; only what plainly stands for one passes.

use std::ops::Range;

use super::PIN_LENGTH;
use super::random::is_blank;
use super::scan::Found;

/// The length of the random part of a token in characters.
pub const TOKEN_BODY: usize = 43;
/// How every token starts.
pub const TOKEN_PREFIX: &str = "hya_";

/// What a `write_context` is told as.
pub(super) const WRITE_CONTEXT: &str = "a HeyAira write_context";

/// The longest slug of a project.
const SLUG_MAX: usize = 63;

/// `<project>@<8 hex>#<pin>`, whose `#` stands at `hash`.
pub(super) fn write_context(text: &str, hash: Range<usize>) -> Option<Found> {
    let pin = text[hash.end..].bytes().take_while(u8::is_ascii_alphanumeric).count();
    let before = &text.as_bytes()[..hash.start];
    let at = before.len().checked_sub(9)?;
    let is_instance = before[at] == b'@' && before[at + 1..].iter().all(u8::is_ascii_hexdigit);
    let lawful = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'-';
    let slug = before[..at].iter().rev().take(SLUG_MAX).take_while(lawful).count();
    let is_one = pin >= PIN_LENGTH && is_instance && slug > 0;
    // Read no further than a pin: what was written behind a real one does not open it.
    let is_one = is_one && !is_blank(&text.as_bytes()[hash.end..hash.end + PIN_LENGTH]);
    let range = || at - slug..hash.end + pin;
    is_one.then(|| Found { is_own: true, ..Found::new(WRITE_CONTEXT, range()) })
}

/// A token whose prefix stands at `prefix`.
pub(super) fn token(text: &str, prefix: Range<usize>) -> Option<Found> {
    // The prefix is found in any case, and written in one.
    let is_prefix = text[prefix.clone()] == *TOKEN_PREFIX;
    let body = text[prefix.end..].bytes();
    let length = body.take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')).count();
    let range = prefix.start..prefix.end + length;
    let is_one = is_prefix && length >= TOKEN_BODY && !is_blank(&text.as_bytes()[prefix.end..prefix.end + TOKEN_BODY]);
    is_one.then(|| Found { is_own: true, ..Found::new("a HeyAira token", range) })
}
