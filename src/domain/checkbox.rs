//! Markdown check boxes in completion criteria and reviews. Must never change the text that holds them.

/// One `- [ ] label` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckBox {
    /// The words behind the box.
    pub label: String,
    /// True for `[x]`.
    pub ticked: bool,
}

/// The check boxes of a text, in order. List marks `-`, `*`, `+`, `1.` and `1)` count, at any indentation.
pub fn check_boxes(text: &str) -> Vec<CheckBox> {
    text.lines().filter_map(check_box).collect()
}

fn check_box(line: &str) -> Option<CheckBox> {
    let line = line.trim_start();
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = if digits > 0 { line[digits..].strip_prefix(['.', ')']) } else { line.strip_prefix(['-', '*', '+']) }?;
    let rest = rest.strip_prefix([' ', '\t'])?.trim_start().strip_prefix('[')?;
    let mark = rest.chars().next()?;
    let label = rest[mark.len_utf8()..].strip_prefix(']')?;
    let ticked = match mark {
        ' ' => false,
        'x' | 'X' => true,
        _ => return None,
    };
    Some(CheckBox { label: label.trim().to_owned(), ticked })
}
