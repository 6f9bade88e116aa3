//! The sentences of a line. Must never take a part for one that stands in another line.

use crate::domain::markdown::Line;

/// What a full stop behind it does not end a sentence with.
const SHORT: [&str; 6] = ["e.g", "i.e", "vs", "cf", "no", "approx"];

/// The sentences of a line, each as a line of its own with the code within it. A semicolon ends one as well.
pub(super) fn sentences<'t>(line: &Line<'t>) -> Vec<Line<'t>> {
    let text = line.text;
    let mut start = 0;
    let mut found = Vec::new();
    for (at, mark) in text.match_indices(['.', '!', '?', ';', '。', '；', '！', '？']) {
        let end = at + mark.len();
        let is_last = text[end..].chars().next().is_none_or(char::is_whitespace) || !mark.is_ascii();
        if is_last && !(mark == "." && is_short(&text[start..at])) {
            found.push(part(line, &text[start..end]));
            start = end;
        }
    }
    found.push(part(line, &text[start..]));
    found.retain(|sentence| !sentence.text.is_empty());
    found
}

/// True if a text ends in a word that a full stop makes shorter.
fn is_short(text: &str) -> bool {
    let word = text.rsplit(char::is_whitespace).next().unwrap_or_default();
    SHORT.iter().any(|short| word.trim_start_matches('(').eq_ignore_ascii_case(short))
}

/// A piece of a line as a line of its own, with the code within it.
pub(super) fn part<'t>(line: &Line<'t>, piece: &'t str) -> Line<'t> {
    let whole = piece.as_bytes().as_ptr_range();
    // The code of a line stands in the order of its text.
    let first = line.codes.partition_point(|code| code.as_ptr() < whole.start);
    let codes = line.codes[first..].iter().copied().take_while(|code| code.as_bytes().as_ptr_range().end <= whole.end);
    Line {
        text: piece.trim(),
        codes: codes.collect(),
        number: line.number,
        kind: line.kind,
        is_item: line.is_item,
        language: line.language,
    }
}
