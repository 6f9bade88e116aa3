//! Which language a text is written in, as far as that can be said of a technical text. Must never say anything of a text
//! that is too short to be sure of.

use unicode_script::{Script, UnicodeScript as _};
use whatlang::{Detector, Lang};

use crate::domain::markdown::{Document, Kind};

/// How many letters of a script with words between blanks are enough.
const ENOUGH: usize = 240;
/// How many of a script that needs fewer for as much.
const ENOUGH_DENSE: usize = 40;
/// How many Latin letters are enough to say that a text is in no language that is written in others.
const ENOUGH_LATIN: usize = 60;
/// How sure the detector must be.
const SURE: f64 = 0.9;
/// How many letters are looked at at most.
const READ: usize = 1_500;

/// Whose words are understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tongue {
    /// English, and what is too short to say otherwise.
    English,
    /// Japanese.
    Japanese,
    /// Any other.
    Other,
}

impl Tongue {
    /// Of texts taken together.
    pub fn of<'d, 't: 'd>(documents: impl IntoIterator<Item = &'d Document<'t>>) -> Self {
        let prose: String = documents.into_iter().map(prose).collect();
        let counted = Counted::of(&prose);
        if counted.kana > 0 && counted.kana * 20 > counted.all {
            return Self::Japanese;
        }
        if counted.latin * 2 < counted.all || counted.han * 5 > counted.all {
            return Self::Other;
        }
        // Short texts have their say too: words that are not understood must not be asked for.
        let found = Detector::new().detect(&prose);
        match found {
            Some(found) if found.lang() != Lang::Eng && found.confidence() > 0.6 && counted.latin > 60 => Self::Other,
            _ => Self::English,
        }
    }
}

/// Letters of a text, by what they say about its language.
#[derive(Default)]
struct Counted {
    all: usize,
    latin: usize,
    kana: usize,
    han: usize,
}

impl Counted {
    fn of(text: &str) -> Self {
        let mut counted = Self::default();
        for letter in text.chars().filter(|letter| letter.is_alphabetic()) {
            counted.all += 1;
            match letter.script() {
                Script::Latin => counted.latin += 1,
                Script::Hiragana | Script::Katakana => counted.kana += 1,
                Script::Han => counted.han += 1,
                _ => {}
            }
        }
        counted
    }
}

/// What somebody wrote in words: no code, paths, addresses or names of things in them.
fn prose(document: &Document<'_>) -> String {
    let mut prose = String::new();
    for line in document.lines.iter().filter(|line| matches!(line.kind, Kind::Text | Kind::Heading(_) | Kind::Row)) {
        let outside = line.text.split('`').step_by(2);
        for word in outside.flat_map(|part| part.split([' ', '\t', '|'])).flat_map(runs) {
            let is_name = word.contains(['/', '\\', '_', '@', '=', '<', '>', '{', '$'])
                || word.chars().any(|letter| letter.is_ascii_digit())
                || word.chars().skip(1).any(|letter| letter.is_ascii_uppercase())
                || word.trim_end_matches('.').contains("::")
                || word.trim_end_matches(['.', ',', ':', ')']).contains('.') && word.is_ascii();
            if !is_name {
                prose.push_str(word);
                prose.push(' ');
            }
            if prose.len() > READ * 3 {
                return prose;
            }
        }
    }
    prose
}

/// A word cut where writing without blanks, as in Chinese and Japanese, meets other writing.
fn runs(word: &str) -> impl Iterator<Item = &str> {
    let is_dense = |letter: char| letter >= '\u{2e80}';
    let mut rest = word;
    std::iter::from_fn(move || {
        let first = is_dense(rest.chars().next()?);
        let end = rest.find(|letter| is_dense(letter) != first).unwrap_or(rest.len());
        let (run, behind) = rest.split_at(end);
        rest = behind;
        Some(run)
    })
}

/// The name of the language that a text is written in, if it is surely another one than that of a tag such as `pt-BR`.
pub fn other_than(tag: &str, document: &Document<'_>) -> Option<&'static str> {
    let working = known(tag)?;
    let prose = prose(document);
    let counted = Counted::of(&prose);
    if counted.all < ENOUGH_DENSE {
        return None;
    }
    // Nothing but Latin letters is no language that is written in others.
    if !is_latin_written(working) && counted.latin == counted.all && counted.all >= ENOUGH_LATIN {
        return Some(whatlang::detect_lang(&prose).map_or("another language", |found| found.eng_name()));
    }
    // Kana are nobody else's, and no other text has Han without them.
    let cjk = counted.kana + counted.han;
    let is_dense_written = matches!(working, Lang::Jpn | Lang::Cmn);
    if cjk * 2 > counted.all || (!is_dense_written && cjk * 4 > counted.all) {
        let found = if counted.kana * 10 > cjk { Lang::Jpn } else { Lang::Cmn };
        return (found != working).then(|| found.eng_name());
    }
    if is_dense_written && cjk * 5 > counted.all {
        return None;
    }
    // Of a text in two scripts the detector reads one.
    let is_latin = counted.latin * 10 > counted.all * 9;
    if (is_latin && counted.all < ENOUGH) || (!is_latin && counted.latin * 2 > counted.all) {
        return None;
    }
    let found = Detector::new().detect(&prose)?;
    let is_sure = found.confidence() >= SURE || (!is_latin && found.is_reliable());
    (found.lang() != working && is_sure && !are_near(found.lang(), working)).then(|| found.lang().eng_name())
}

/// The English name of the language of a tag; the tag itself where it is not known.
pub fn name(tag: &str) -> String {
    known(tag).map_or_else(|| tag.to_owned(), |lang| lang.eng_name().to_owned())
}

/// True for a language that is written in Latin letters.
const fn is_latin_written(lang: Lang) -> bool {
    !matches!(
        lang,
        Lang::Jpn
            | Lang::Cmn
            | Lang::Kor
            | Lang::Ara
            | Lang::Pes
            | Lang::Urd
            | Lang::Heb
            | Lang::Hin
            | Lang::Ben
            | Lang::Mar
            | Lang::Nep
            | Lang::Guj
            | Lang::Pan
            | Lang::Tam
            | Lang::Tel
            | Lang::Kan
            | Lang::Mal
            | Lang::Tha
            | Lang::Khm
            | Lang::Mya
            | Lang::Amh
            | Lang::Kat
            | Lang::Hye
            | Lang::Ell
            | Lang::Rus
            | Lang::Ukr
            | Lang::Bel
            | Lang::Bul
            | Lang::Mkd
    )
}

/// Languages that a short text cannot be told apart by.
fn are_near(one: Lang, other: Lang) -> bool {
    const NEAR: [&[Lang]; 5] = [
        &[Lang::Dan, Lang::Nob, Lang::Swe],
        &[Lang::Spa, Lang::Por, Lang::Cat, Lang::Ita],
        &[Lang::Rus, Lang::Ukr, Lang::Bel, Lang::Bul, Lang::Mkd, Lang::Srp],
        &[Lang::Hrv, Lang::Srp, Lang::Slv, Lang::Slk, Lang::Ces],
        &[Lang::Hin, Lang::Mar, Lang::Nep],
    ];
    NEAR.iter().any(|group| group.contains(&one) && group.contains(&other))
}

/// The language of a tag, as far as the detector knows it.
fn known(tag: &str) -> Option<Lang> {
    const TAGS: [(&str, Lang); 62] = [
        ("af", Lang::Afr),
        ("am", Lang::Amh),
        ("ar", Lang::Ara),
        ("az", Lang::Aze),
        ("be", Lang::Bel),
        ("bg", Lang::Bul),
        ("bn", Lang::Ben),
        ("ca", Lang::Cat),
        ("cs", Lang::Ces),
        ("da", Lang::Dan),
        ("de", Lang::Deu),
        ("el", Lang::Ell),
        ("en", Lang::Eng),
        ("eo", Lang::Epo),
        ("es", Lang::Spa),
        ("et", Lang::Est),
        ("fa", Lang::Pes),
        ("fi", Lang::Fin),
        ("fr", Lang::Fra),
        ("gu", Lang::Guj),
        ("he", Lang::Heb),
        ("hi", Lang::Hin),
        ("hr", Lang::Hrv),
        ("hu", Lang::Hun),
        ("hy", Lang::Hye),
        ("id", Lang::Ind),
        ("it", Lang::Ita),
        ("ja", Lang::Jpn),
        ("ka", Lang::Kat),
        ("km", Lang::Khm),
        ("kn", Lang::Kan),
        ("ko", Lang::Kor),
        ("lt", Lang::Lit),
        ("lv", Lang::Lav),
        ("mk", Lang::Mkd),
        ("ml", Lang::Mal),
        ("mr", Lang::Mar),
        ("my", Lang::Mya),
        ("nb", Lang::Nob),
        ("ne", Lang::Nep),
        ("nl", Lang::Nld),
        ("no", Lang::Nob),
        ("pa", Lang::Pan),
        ("pl", Lang::Pol),
        ("pt", Lang::Por),
        ("ro", Lang::Ron),
        ("ru", Lang::Rus),
        ("sk", Lang::Slk),
        ("sl", Lang::Slv),
        ("sr", Lang::Srp),
        ("sv", Lang::Swe),
        ("ta", Lang::Tam),
        ("te", Lang::Tel),
        ("th", Lang::Tha),
        ("tl", Lang::Tgl),
        ("tr", Lang::Tur),
        ("uk", Lang::Ukr),
        ("ur", Lang::Urd),
        ("uz", Lang::Uzb),
        ("vi", Lang::Vie),
        ("zh", Lang::Cmn),
        ("zu", Lang::Zul),
    ];
    let primary = tag.split('-').next().unwrap_or(tag).to_ascii_lowercase();
    TAGS.iter().find(|(one, _)| *one == primary).map(|(_, lang)| *lang)
}
