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

/// Where the block is, from its first mark to the end of its last. A mark is a line of its own, and not within code: what a
/// person writes about the marks is no block.
fn span(text: &str) -> Result<Option<(usize, usize)>, Problem> {
    let (mut begins, mut ends, mut fence, mut offset) = (Vec::new(), Vec::new(), None, 0);
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end();
        match fence {
            None if bare == BEGIN => begins.push(offset),
            None if bare == END => ends.push(offset),
            None => fence = fence_of(bare),
            Some((letter, length)) => {
                let closes = |(other, longer): (char, usize)| other == letter && longer >= length;
                if fence_of(bare).is_some_and(closes) && bare.trim_matches([' ', letter]).is_empty() {
                    fence = None;
                }
            }
        }
        offset += line.len();
    }
    match (begins.as_slice(), ends.as_slice()) {
        ([], []) => Ok(None),
        ([start], [end]) if start < end => Ok(Some((*start, end + END.len()))),
        _ => Err(Problem::new(
            format!("has marks of a block of HeyAira that is not whole, or twice ({BEGIN}, {END})"),
            "Remove the marks and what stands between them.",
        )),
    }
}

/// The letter and length of the fence of code that a line is.
fn fence_of(line: &str) -> Option<(char, usize)> {
    let line = line.trim_start();
    let letter = line.chars().next().filter(|letter| "`~".contains(*letter))?;
    let length = line.chars().take_while(|other| *other == letter).count();
    (length >= 3).then_some((letter, length))
}

fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}
