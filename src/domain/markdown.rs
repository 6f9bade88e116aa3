//! The structure of a Markdown text as lines: which are headings, items, rows, code or quotations, and the code within them.
//! Must never fail on a text, and never take longer than in proportion to its length.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Words.
    Text,
    /// A heading of that level.
    Heading(u8),
    /// A line of a block of code.
    Code,
    /// What opens or closes a block of code.
    Fence,
    /// A row of a table.
    Row,
    /// What separates the head of a table from its rows.
    Rule,
    /// A quotation.
    Quote,
    /// Metadata in front of the text, and HTML.
    Meta,
}

/// A line of a text.
#[derive(Clone, Debug)]
pub struct Line<'t> {
    /// Which line it is, from 1.
    pub number: usize,
    /// What it is.
    pub kind: Kind,
    /// True if a list item starts here.
    pub is_item: bool,
    /// What stands behind marks of lists, headings and quotations, without white space around it.
    pub text: &'t str,
    /// The code within it, without its backticks.
    pub codes: Vec<&'t str>,
    /// The language of the block of code that it is in.
    pub language: Option<&'t str>,
}

/// A text as lines.
#[derive(Clone, Debug, Default)]
pub struct Document<'t> {
    /// All lines that are not blank.
    pub lines: Vec<Line<'t>>,
}

/// Where the lines of a text start.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(std::iter::once(0).chain(text.match_indices('\n').map(|(end, _)| end + 1)).collect())
    }

    /// The index of the line that holds a byte.
    fn at(&self, byte: usize) -> usize {
        self.0.partition_point(|start| *start <= byte).saturating_sub(1)
    }

    /// The indexes of the lines that a range of bytes touches.
    fn of_range(&self, range: &Range<usize>) -> Range<usize> {
        self.at(range.start)..self.at(range.end.max(range.start + 1) - 1) + 1
    }
}

impl<'t> Document<'t> {
    /// Reads a text.
    pub fn of(text: &'t str) -> Self {
        let starts = Lines::of(text);
        let mut lines: Vec<Line<'t>> = (1..)
            .zip(text.split('\n'))
            .map(|(number, line)| Line {
                number,
                kind: Kind::Text,
                is_item: false,
                text: line,
                codes: Vec::new(),
                language: None,
            })
            .collect();
        mark(text, &starts, &mut lines);
        for line in &mut lines {
            line.text = match line.kind {
                Kind::Code | Kind::Fence | Kind::Meta => line.text.trim(),
                _ => without_marks(line.text),
            };
            if line.kind == Kind::Row && line.text.chars().all(|letter| "|-: ".contains(letter)) {
                line.kind = Kind::Rule;
            }
        }
        lines.retain(|line| !line.text.is_empty());
        Self { lines }
    }

    /// The lines that somebody wrote as words: no code, no quotation, no metadata.
    pub fn prose(&self) -> impl Iterator<Item = &Line<'t>> {
        self.lines.iter().filter(|line| matches!(line.kind, Kind::Text | Kind::Heading(_) | Kind::Row))
    }

    /// The lines but for headings, fences and metadata.
    pub fn content(&self) -> impl Iterator<Item = &Line<'t>> {
        let is_content = |line: &&Line<'t>| matches!(line.kind, Kind::Text | Kind::Code | Kind::Row | Kind::Quote);
        self.lines.iter().filter(is_content)
    }
}

/// Tells the lines what the parser finds.
fn mark<'t>(text: &'t str, starts: &Lines, lines: &mut [Line<'t>]) {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    let mut within_code: Option<Option<&'t str>> = None;
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        let mut each = |kind: Kind| lines[starts.of_range(&range)].iter_mut().for_each(|line| line.kind = kind);
        match event {
            Event::Start(Tag::Heading { level, .. }) => each(Kind::Heading(level_of(level))),
            Event::Start(Tag::Table(_)) => each(Kind::Row),
            Event::Start(Tag::BlockQuote(_)) => each(Kind::Quote),
            Event::Start(Tag::MetadataBlock(_)) => each(Kind::Meta),
            Event::Start(Tag::HtmlBlock) if is_folded(&text[range.clone()]) => {
                lines[starts.of_range(&range)].iter_mut().for_each(unfold);
            }
            Event::Start(Tag::HtmlBlock) => each(Kind::Meta),
            Event::Start(Tag::Item) => lines[starts.at(range.start)].is_item = true,
            Event::Start(Tag::CodeBlock(kind)) => {
                let is_fenced = matches!(kind, CodeBlockKind::Fenced(_));
                each(if is_fenced { Kind::Fence } else { Kind::Code });
                within_code = Some(if is_fenced { language(text, range.start) } else { None });
            }
            Event::End(TagEnd::CodeBlock) => within_code = None,
            Event::Text(_) => {
                if let Some(language) = within_code {
                    for line in &mut lines[starts.of_range(&range)] {
                        line.kind = Kind::Code;
                        line.language = language;
                    }
                }
            }
            Event::Code(_) => {
                let code = text[range.clone()].trim_matches('`').trim();
                lines[starts.at(range.start)].codes.push(code);
            }
            _ => {}
        }
    }
}

/// True for a block of HTML that only folds what stands in it.
fn is_folded(html: &str) -> bool {
    let start = html.trim_start();
    start.get(..8).is_some_and(|tag| tag.eq_ignore_ascii_case("<details") || tag.eq_ignore_ascii_case("<summary"))
}

/// Takes a line of a folded block for what people mean by it: words, unless it is a tag.
fn unfold(line: &mut Line<'_>) {
    if line.text.trim_start().starts_with('<') {
        line.kind = Kind::Meta;
    } else {
        line.codes = line.text.split('`').skip(1).step_by(2).map(str::trim).filter(|code| !code.is_empty()).collect();
    }
}

const fn level_of(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

/// The word behind the fence that opens a block of code.
fn language(text: &str, fence: usize) -> Option<&str> {
    let opening = text[fence..].lines().next().unwrap_or_default();
    opening.trim_start_matches(['`', '~', ' ', '>']).split([' ', ',', '{']).next().filter(|word| !word.is_empty())
}

/// A line without the marks of headings, lists, boxes and quotations in front of it, and without white space around it.
pub fn without_marks(line: &str) -> &str {
    let mut rest = line.trim();
    loop {
        let before = rest;
        for mark in ["> ", "- ", "* ", "+ ", "[ ] ", "[x] ", "[X] "] {
            rest = rest.strip_prefix(mark).unwrap_or(rest).trim_start();
        }
        let hashes = rest.bytes().take_while(|byte| *byte == b'#').count();
        if (1..=6).contains(&hashes) && rest[hashes..].starts_with([' ', '\t']) {
            rest = rest[hashes..].trim();
        }
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if (1..=3).contains(&digits) {
            let behind = rest[digits..].strip_prefix(['.', ')']).filter(|behind| behind.starts_with([' ', '\t']));
            rest = behind.map_or(rest, str::trim_start);
        }
        if rest == before {
            return rest;
        }
    }
}
