//! A marked block in a Markdown file that belongs to somebody else. Must never touch a line outside of its marks.

use crate::client::setup::edit::Problem;

/// The first line of the block.
pub const BEGIN: &str = "<!-- heyaira:begin -->";
/// Its last line.
pub const END: &str = "<!-- heyaira:end -->";

/// The text with the block: in its place if it has one, else at the end.
pub fn put(text: &str, inner: &str) -> Result<String, Problem> {
    let line_end = line_end(text);
    let block = format!("{BEGIN}\n{}\n{END}", inner.trim_end()).replace('\n', line_end);
    if let Some((start, end)) = span(text)? {
        return Ok(format!("{}{block}{}", &text[..start], &text[end..]));
    }
    let between = match text {
        "" => String::new(),
        _ if text.ends_with('\n') => line_end.to_owned(),
        _ => line_end.repeat(2),
    };
    Ok(format!("{text}{between}{block}{line_end}"))
}

/// The text without the block and the blank line that stands before it.
pub fn take_out(now: &str) -> Result<String, Problem> {
    let Some((start, end)) = span(now)? else { return Ok(now.to_owned()) };
    let (head, tail) = (&now[..start], &now[end..]);
    let tail = tail.strip_prefix("\r\n").or_else(|| tail.strip_prefix('\n')).unwrap_or(tail);
    // The blank line came with the block, where the block stands at the end.
    let shorter = head.strip_suffix("\r\n").or_else(|| head.strip_suffix('\n'));
    let head = shorter.filter(|shorter| tail.is_empty() && shorter.ends_with('\n')).unwrap_or(head);
    Ok(format!("{head}{tail}"))
}

/// What the block of a text holds now.
pub fn inner(text: &str) -> Option<&str> {
    let (start, end) = span(text).ok()??;
    text[start..end].strip_prefix(BEGIN)?.strip_suffix(END)
}

/// Where the block is, from its first mark to the end of its last.
fn span(text: &str) -> Result<Option<(usize, usize)>, Problem> {
    let (begins, ends) = (text.matches(BEGIN).count(), text.matches(END).count());
    match (text.find(BEGIN), text.find(END)) {
        (None, None) => Ok(None),
        (Some(start), Some(end)) if start < end && begins == 1 && ends == 1 => Ok(Some((start, end + END.len()))),
        _ => Err(Problem::new(
            format!("has marks of a block of HeyAira that is not whole, or twice ({BEGIN}, {END})"),
            "Remove the marks and what stands between them.",
        )),
    }
}

fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}
