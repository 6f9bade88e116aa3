//! Texts as people and programs write them, and as nobody should: every script, every sort of quotation, every limit.

use super::draw::Draw;

/// Words of many scripts; a few are frequent.
const WORDS: [&str; 64] = [
    "import",
    "ledger",
    "receipt",
    "amount",
    "the",
    "a",
    "test",
    "tests",
    "testing",
    "Import",
    "IMPORT",
    "café",
    "cafe\u{301}",
    "naïve",
    "Straße",
    "STRASSE",
    "İstanbul",
    "ısı",
    "ﬁnal",
    "ﬁle",
    "Ⅳ",
    "①",
    "x²",
    "naı̈ve",
    "Ångström",
    "œuvre",
    "ΣΊΣΥΦΟΣ",
    "σίσυφος",
    "привет",
    "Ёлка",
    "елка",
    "日本語",
    "検索",
    "日本",
    "本語",
    "한국어",
    "검색",
    "ภาษาไทย",
    "中文",
    "全文",
    "ＦＵＬＬ",
    "ｶﾅ",
    "カナ",
    "שלום",
    "עולם",
    "مرحبا",
    "كِتَاب",
    "हिन्दी",
    "क्षेत्र",
    "👩‍👩‍👧‍👦",
    "🙂",
    "🇩🇪",
    "foo_bar",
    "foo-bar",
    "src/store/list.rs",
    "v1.2.3",
    "2026-11-25",
    "C++",
    "C#",
    "a@b.example",
    "don't",
    "100%",
    "0x1F",
    "ÆØÅ",
];

/// What breaks programs that build text out of text.
const ODD: [&str; 44] = [
    "",
    " ",
    "\t",
    "\n",
    "\r\n",
    "  two  spaces  ",
    "'",
    "''",
    "\"",
    "\\",
    "\\\\",
    "\\'",
    "%",
    "_",
    "100%_",
    "%%",
    "\\%",
    "$1",
    "?1",
    ":name",
    "@x",
    "{}",
    "{0}",
    "{\"a\": [1, null]}",
    "[\"x\"]",
    "[]",
    "null",
    "true",
    "-1",
    "1e309",
    "NaN",
    "'; drop table task; --",
    "E'\\x41'",
    "U&'\\0041'",
    "$$body$$",
    "/* comment */",
    "-- comment",
    "\u{feff}bom",
    "\u{200b}zero\u{200b}width",
    "\u{202e}right to left",
    "\u{e000}",
    "\u{10ffff}",
    "\u{1}\u{1b}\u{7f}\u{85}",
    "nul\u{0}nul",
];

/// One word.
pub(super) fn word(draw: &mut Draw) -> String {
    match draw.below(10) {
        0 => format!("{:x}", draw.bits() >> 40),
        1 => format!("item{}", draw.below(30)),
        // Small numbers come often, so that some words are frequent.
        2..6 => WORDS[draw.below(8)].to_owned(),
        _ => (*draw.pick(&WORDS)).to_owned(),
    }
}

/// Some words with spaces, line breaks or punctuation between them.
pub(super) fn sentence(draw: &mut Draw, most: usize) -> String {
    let count = 1 + draw.below(most);
    let mut text = word(draw);
    for _ in 1..count {
        let between = *draw.pick(&[" ", " ", " ", " ", ", ", ". ", "\n", "-", "/", "\u{3000}", "", "…", "\t"]);
        text.push_str(between);
        text.push_str(&word(draw));
    }
    text
}

/// Something that breaks programs.
pub(super) fn odd(draw: &mut Draw) -> String {
    let one = (*draw.pick(&ODD)).to_owned();
    match draw.below(4) {
        0 => format!("{one}{}", word(draw)),
        1 => format!("{}{one}", word(draw)),
        _ => one,
    }
}

/// A text of so many characters.
pub(super) fn of_length(draw: &mut Draw, characters: usize) -> String {
    match draw.below(4) {
        0 => "x".repeat(characters),
        1 => "🙂".repeat(characters),
        _ => {
            // Numbers make words of their own, so that an index has to keep them all; what is repeated is one script or many.
            let piece: String = (0..40).map(|_| format!("{} {} ", sentence(draw, 3), draw.bits())).collect();
            piece.chars().cycle().take(characters).collect()
        }
    }
}

/// A text around a limit: just within, at it, or just past it.
pub(super) fn around(draw: &mut Draw, limit: usize) -> String {
    let characters = *draw.pick(&[limit - 1, limit, limit, limit + 1]);
    of_length(draw, characters)
}

/// A title or summary: mostly a sentence, seldom odd or around its limit.
pub(super) fn short(draw: &mut Draw, limit: usize) -> String {
    match draw.below(40) {
        0..3 => odd(draw),
        3 => around(draw, limit),
        _ => sentence(draw, 8).chars().take(limit).collect(),
    }
}

/// A long text: mostly a few lines, sometimes a page, seldom as much as is allowed or a little more.
pub(super) fn long(draw: &mut Draw, limit: usize) -> String {
    match draw.below(160) {
        0..10 => odd(draw),
        10..12 => around(draw, limit),
        12..26 => {
            let characters = 1_000 + draw.below(7_000);
            of_length(draw, characters.min(limit))
        }
        26..50 => boxes(draw),
        _ => sentence(draw, 30).chars().take(limit).collect(),
    }
}

/// Lines with boxes.
pub(super) fn boxes(draw: &mut Draw) -> String {
    let lines: Vec<String> = (0..=draw.below(4))
        .map(|_| format!("- [{}] {}", draw.pick(&[" ", "x", "x", "X"]), sentence(draw, 5)))
        .collect();
    lines.join("\n")
}

/// A tag; the same ones come again and again.
pub(super) fn tag(draw: &mut Draw) -> String {
    match draw.below(24) {
        0 => odd(draw),
        1 => around(draw, 64),
        2..6 => (*draw.pick(&WORDS)).to_owned(),
        _ => (*draw.pick(&["backend", "urgent", "日本語", "a", "b\"c", "50%", "under_score", "Backend"])).to_owned(),
    }
}

/// Words to search for what was said: some of its words, their beginnings, or a run of its characters.
pub(super) fn query(draw: &mut Draw, said: &[String]) -> String {
    let Some(text) = draw.any(said) else {
        return sentence(draw, 2);
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut asked = Vec::new();
    for _ in 0..=draw.below(3) {
        let Some(word) = draw.any(&words) else {
            continue;
        };
        let count = word.chars().count();
        let (skipped, taken) = match draw.below(8) {
            0..4 => (0, count),
            4..7 => (0, 1 + draw.below(count)),
            _ => (draw.below(count), 1 + draw.below(3)),
        };
        let mut part: String = word.chars().skip(skipped).take(taken).collect();
        if draw.percent(15) {
            part = if draw.percent(50) { part.to_uppercase() } else { part.to_lowercase() };
        }
        if draw.percent(8) {
            part = format!("\"{part}\"");
        }
        asked.push(part);
    }
    if draw.percent(10) {
        asked.push(if draw.percent(50) { word(draw) } else { odd(draw) });
    }
    asked.join(" ")
}
