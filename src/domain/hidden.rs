//! Characters that a reader cannot see and a model reads. Must never report what a script, an emoji or an editor needs:
//! joiners in Arabic and Indic words, emoji sequences, flags, soft hyphens, CR LF, and a byte order mark in front.

use std::fmt::Write as _;

use unicode_properties::{GeneralCategory, UnicodeEmoji, UnicodeGeneralCategory as _};
use unicode_script::{Script, UnicodeScript as _};

/// The sort of a hidden character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// U+E0000 to U+E007F outside of a flag: letters that nobody sees.
    Tag,
    /// Of no width, where no script needs it.
    ZeroWidth,
    /// Shows what follows in another order.
    Direction,
    /// Picks the form of a character that it does not stand behind.
    Variation,
    /// A control character other than a tab and the ends of lines.
    Control,
    /// Any other that shows nothing.
    Invisible,
}

impl Sort {
    const ALL: [Self; 6] =
        [Self::Tag, Self::ZeroWidth, Self::Direction, Self::Variation, Self::Control, Self::Invisible];

    /// One of them, and several.
    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Tag => ("tag character", "tag characters"),
            Self::ZeroWidth => ("zero-width character", "zero-width characters"),
            Self::Direction => ("direction control", "direction controls"),
            Self::Variation => ("stray variation selector", "stray variation selectors"),
            Self::Control => ("control character", "control characters"),
            Self::Invisible => ("invisible character", "invisible characters"),
        }
    }
}

/// A hidden character and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hidden {
    /// The sort.
    pub sort: Sort,
    /// The character.
    pub character: char,
    /// Where it starts, in bytes.
    pub start: usize,
}

/// All hidden characters of a text, in order.
pub fn find(text: &str) -> Vec<Hidden> {
    // Nothing in ASCII is hidden but controls.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t')) {
        return Vec::new();
    }
    let characters: Vec<(usize, char)> = text.char_indices().collect();
    let flags = flags(&characters);
    let unbalanced = unbalanced(&characters);
    let mut flag = flags.iter().copied().peekable();
    let mut turn = unbalanced.iter().copied().peekable();
    let mut found = Vec::new();
    for (position, (start, character)) in characters.iter().copied().enumerate() {
        while flag.peek().is_some_and(|(_, end)| *end <= position) {
            flag.next();
        }
        let is_in_flag = flag.peek().is_some_and(|(start, end)| (*start..*end).contains(&position));
        let is_unbalanced = turn.next_if_eq(&position).is_some();
        let sort = if is_in_flag { None } else { sort_of(&characters, position, is_unbalanced) };
        found.extend(sort.map(|sort| Hidden { sort, character, start }));
    }
    found
}

/// What is wrong with a text, in one line: which, how many, where the first of each is; none if nothing is.
pub fn problem(text: &str) -> Option<String> {
    let found = find(text);
    let mut told: Vec<String> = Vec::new();
    for sort in Sort::ALL {
        let mut of_sort = found.iter().filter(|one| one.sort == sort);
        let Some(first) = of_sort.next() else { continue };
        let count = 1 + of_sort.count();
        let (line, column) = place(text, first.start);
        let (one, several) = sort.names();
        let name = if count == 1 { one } else { several };
        let from = if count == 1 { "at" } else { "from" };
        told.push(format!("{count} {name} (U+{:04X}) {from} line {line} column {column}", u32::from(first.character)));
    }
    let them = if found.len() == 1 { "it" } else { "them" };
    (!told.is_empty()).then(|| format!("delete {them}: {}", told.join(", ")))
}

/// The text with its hidden characters written as code points.
pub fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut end = 0;
    for one in find(text) {
        shown.push_str(&text[end..one.start]);
        let _ = write!(shown, "\\u{{{:x}}}", u32::from(one.character));
        end = one.start + one.character.len_utf8();
    }
    shown.push_str(&text[end..]);
    shown
}

/// The line and column of a byte, in characters from 1.
fn place(text: &str, start: usize) -> (usize, usize) {
    let before = &text[..start];
    let line = before.matches('\n').count() + 1;
    (line, before.rsplit('\n').next().unwrap_or_default().chars().count() + 1)
}

fn sort_of(characters: &[(usize, char)], position: usize, is_unbalanced: bool) -> Option<Sort> {
    let character = characters[position].1;
    let before = position.checked_sub(1).map(|before| characters[before].1);
    let after = characters.get(position + 1).map(|(_, after)| *after);
    match character {
        '\t' | '\n' | '\r' | '\u{ad}' => None,
        '\u{e0000}'..='\u{e007f}' => Some(Sort::Tag),
        // In front of a text it is what an editor writes.
        '\u{feff}' if position == 0 => None,
        '\u{200b}' => (!is_between(before, after, breaks_with_spaces)).then_some(Sort::ZeroWidth),
        '\u{200c}' => (!is_beside(before, after, has_joiners)).then_some(Sort::ZeroWidth),
        '\u{200d}' => {
            let in_emoji = before.is_some_and(ends_emoji) && after.is_some_and(UnicodeEmoji::is_emoji_char);
            (!(in_emoji || is_beside(before, after, has_joiners))).then_some(Sort::ZeroWidth)
        }
        '\u{2060}' | '\u{feff}' => Some(Sort::ZeroWidth),
        '\u{180e}' => (!is_beside(before, after, is_mongolian)).then_some(Sort::ZeroWidth),
        // Overrides show letters in another order than they are read in; nobody writes them.
        '\u{202d}' | '\u{202e}' => Some(Sort::Direction),
        '\u{202a}'..='\u{202c}' | '\u{2066}'..='\u{2069}' => is_unbalanced.then_some(Sort::Direction),
        // Marks stand beside letters and numbers of lines that run from the right.
        '\u{200e}' | '\u{200f}' | '\u{61c}' => {
            (!line_runs_from_the_right(characters, position)).then_some(Sort::Direction)
        }
        '\u{fe00}'..='\u{fe0f}' => (!before.is_some_and(takes_variation)).then_some(Sort::Variation),
        '\u{e0100}'..='\u{e01ef}' => {
            (before.map(|before| before.script()) != Some(Script::Han)).then_some(Sort::Variation)
        }
        '\u{180b}'..='\u{180d}' | '\u{180f}' => (!before.is_some_and(is_mongolian)).then_some(Sort::Variation),
        '\u{3164}' | '\u{ffa0}' | '\u{34f}' => Some(Sort::Invisible),
        '\u{115f}' | '\u{1160}' => {
            (!is_beside(before, after, |one| one.script() == Script::Hangul)).then_some(Sort::Invisible)
        }
        _ => match character.general_category() {
            GeneralCategory::Control => Some(Sort::Control),
            GeneralCategory::Format => (!is_seen(character)).then_some(Sort::Invisible),
            _ if ('\u{e0080}'..='\u{e0fff}').contains(&character) => Some(Sort::Invisible),
            _ => None,
        },
    }
}

fn is_beside(before: Option<char>, after: Option<char>, such: fn(char) -> bool) -> bool {
    before.is_some_and(such) || after.is_some_and(such)
}

fn is_between(before: Option<char>, after: Option<char>, such: fn(char) -> bool) -> bool {
    before.is_some_and(such) && after.is_some_and(such)
}

/// Format characters that show something: signs over Arabic and Syriac numbers, Kaithi numbers, Egyptian joins.
const fn is_seen(character: char) -> bool {
    matches!(character, '\u{600}'..='\u{605}' | '\u{6dd}' | '\u{70f}' | '\u{890}' | '\u{891}' | '\u{8e2}' | '\u{110bd}'
        | '\u{110cd}' | '\u{13430}'..='\u{1343f}')
}

/// Scripts whose words hold joiners.
fn has_joiners(character: char) -> bool {
    matches!(
        script(character),
        Script::Arabic
            | Script::Syriac
            | Script::Mandaic
            | Script::Nko
            | Script::Mongolian
            | Script::Hanifi_Rohingya
            | Script::Adlam
            | Script::Devanagari
            | Script::Bengali
            | Script::Gurmukhi
            | Script::Gujarati
            | Script::Oriya
            | Script::Tamil
            | Script::Telugu
            | Script::Kannada
            | Script::Malayalam
            | Script::Sinhala
            | Script::Khmer
            | Script::Myanmar
            | Script::Tibetan
            | Script::Balinese
            | Script::Javanese
            | Script::Sundanese
            | Script::Limbu
            | Script::Kaithi
            | Script::Grantha
            | Script::Newa
            | Script::Tirhuta
            | Script::Sharada
            | Script::Modi
    )
}

/// Scripts without blanks between words, where a break may stand.
fn breaks_with_spaces(character: char) -> bool {
    matches!(
        script(character),
        Script::Thai
            | Script::Lao
            | Script::Khmer
            | Script::Myanmar
            | Script::Tai_Tham
            | Script::New_Tai_Lue
            | Script::Tibetan
            | Script::Javanese
            | Script::Balinese
    )
}

/// The script of a character; marks that several share are of the first one.
fn script(character: char) -> Script {
    match character.script() {
        Script::Inherited | Script::Common => character.script_extension().iter().next().unwrap_or(Script::Common),
        one => one,
    }
}

fn is_mongolian(character: char) -> bool {
    character.script() == Script::Mongolian
}

/// True for what an emoji may end with in front of a joiner: itself, its skin, its form.
fn ends_emoji(character: char) -> bool {
    !character.is_ascii()
        && (character.is_emoji_char() || character == '\u{fe0f}' || ('\u{1f3fb}'..='\u{1f3ff}').contains(&character))
}

/// True for what a variation selector may stand behind.
fn takes_variation(character: char) -> bool {
    character.is_emoji_char()
        || matches!(
            character.general_category(),
            GeneralCategory::OtherSymbol
                | GeneralCategory::MathSymbol
                | GeneralCategory::OtherPunctuation
                | GeneralCategory::OtherLetter
        ) && !('\u{fe00}'..='\u{fe0f}').contains(&character)
}

/// Flags of regions, such as England's: a black flag, tags, and the tag that ends them; as ranges of positions.
fn flags(characters: &[(usize, char)]) -> Vec<(usize, usize)> {
    let mut flags = Vec::new();
    for (position, _) in characters.iter().enumerate().filter(|(_, (_, character))| *character == '\u{1f3f4}') {
        let tags = characters[position + 1..].iter().map(|(_, tag)| *tag);
        let is_letter = |tag: &char| matches!(tag, '\u{e0030}'..='\u{e0039}' | '\u{e0061}'..='\u{e007a}');
        // A country and up to three letters for its part: no room for a sentence.
        let length = tags.take(7).take_while(is_letter).count();
        let end = position + 1 + length;
        if (3..=6).contains(&length) && characters.get(end).is_some_and(|(_, tag)| *tag == '\u{e007f}') {
            flags.push((position, end + 1));
        }
    }
    flags
}

/// The positions of embeddings and isolates that their own line does not end, and of ends without a beginning.
fn unbalanced(characters: &[(usize, char)]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut open: Vec<(usize, bool)> = Vec::new();
    for (position, (_, character)) in characters.iter().enumerate() {
        match character {
            '\u{202a}' | '\u{202b}' | '\u{202d}' | '\u{202e}' => open.push((position, false)),
            '\u{2066}'..='\u{2068}' => open.push((position, true)),
            '\u{202c}' | '\u{2069}' => {
                let is_isolate = *character == '\u{2069}';
                if open.last().is_some_and(|(_, isolate)| *isolate == is_isolate) {
                    open.pop();
                } else {
                    found.push(position);
                }
            }
            '\n' | '\u{2029}' => found.extend(open.drain(..).map(|(start, _)| start)),
            _ => {}
        }
    }
    found.extend(open.into_iter().map(|(start, _)| start));
    found.sort_unstable();
    found
}

/// How far around a mark letters are looked for.
const AROUND: usize = 60;

fn line_runs_from_the_right(characters: &[(usize, char)], position: usize) -> bool {
    let is_right = |character: char| {
        matches!(
            character.script(),
            Script::Arabic
                | Script::Hebrew
                | Script::Syriac
                | Script::Thaana
                | Script::Nko
                | Script::Adlam
                | Script::Mandaic
        )
    };
    let before = characters[..position].iter().rev().take(AROUND).map(|(_, one)| *one).take_while(|one| *one != '\n');
    let after = characters[position + 1..].iter().take(AROUND).map(|(_, one)| *one).take_while(|one| *one != '\n');
    before.chain(after).any(is_right)
}
