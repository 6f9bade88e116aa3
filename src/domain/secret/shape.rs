//! The shape of a key: literal words and runs of an alphabet, matched from the left in one step.
//! Must never go back: a part takes what it can, so the cost is the length of the match.

/// Which characters a run may hold.
#[derive(Clone, Copy, Debug)]
pub(super) enum Alphabet {
    /// `0-9`
    Digit,
    /// `0-9a-f`
    Hex,
    /// `0-9a-fA-F`
    AnyHex,
    /// `A-Z2-7`
    Base32,
    /// `a-z0-9`
    Lower,
    /// `A-Z0-9`
    Upper,
    /// `A-Za-z0-9`
    Alnum,
    /// `A-Za-z0-9_-`
    Word,
    /// `A-Za-z0-9_.=~-`
    Dotted,
    /// `A-Za-z0-9+/=`
    Base64,
}

/// One bit for each alphabet that holds a byte: long runs are read from many places, so a byte costs one look.
static HELD: [u16; 256] = held();

const ALPHABETS: [Alphabet; 10] = [
    Alphabet::Digit,
    Alphabet::Hex,
    Alphabet::AnyHex,
    Alphabet::Base32,
    Alphabet::Lower,
    Alphabet::Upper,
    Alphabet::Alnum,
    Alphabet::Word,
    Alphabet::Dotted,
    Alphabet::Base64,
];

const fn held() -> [u16; 256] {
    let mut held = [0; 256];
    let mut byte = 0_u8;
    loop {
        let mut at = 0;
        while at < ALPHABETS.len() {
            if ALPHABETS[at].includes(byte) {
                held[byte as usize] |= ALPHABETS[at].bit();
            }
            at += 1;
        }
        if byte == u8::MAX {
            return held;
        }
        byte += 1;
    }
}

impl Alphabet {
    pub(super) fn holds(self, byte: u8) -> bool {
        HELD[usize::from(byte)] & self.bit() != 0
    }

    const fn bit(self) -> u16 {
        1 << self as u16
    }

    const fn includes(self, byte: u8) -> bool {
        match self {
            Self::Digit => byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'),
            Self::AnyHex => byte.is_ascii_hexdigit(),
            Self::Base32 => matches!(byte, b'A'..=b'Z' | b'2'..=b'7'),
            Self::Lower => byte.is_ascii_lowercase() || byte.is_ascii_digit(),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Word => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'=' | b'~'),
            Self::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='),
        }
    }
}

/// One part of a shape.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// From so many to so many characters of an alphabet.
    Run(Alphabet, usize, usize),
    /// This text.
    Text(&'static str),
    /// A UUID in lower case.
    Uuid,
}

/// How many bytes at the start of `bytes` have the shape; a key ends where no letter, digit or further character of its
/// last run follows.
pub(super) fn matched(parts: &[Part], bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    for part in parts {
        at += part_length(*part, &bytes[at..])?;
    }
    let next = bytes.get(at).copied();
    let goes_on = |next: u8| match parts.last() {
        Some(Part::Run(alphabet, ..)) if next != b'.' && next != b'=' => alphabet.holds(next),
        _ => false,
    };
    (!next.is_some_and(|next| next.is_ascii_alphanumeric() || goes_on(next))).then_some(at)
}

fn part_length(part: Part, bytes: &[u8]) -> Option<usize> {
    match part {
        Part::Run(alphabet, least, most) => {
            let length = bytes.iter().take(most).take_while(|byte| alphabet.holds(**byte)).count();
            (length >= least).then_some(length)
        }
        Part::Text(text) => bytes.starts_with(text.as_bytes()).then_some(text.len()),
        Part::Uuid => (bytes.len() >= 36 && is_uuid(&bytes[..36])).then_some(36),
    }
}

/// True for the 36 characters of a UUID.
pub(super) fn is_uuid(bytes: &[u8]) -> bool {
    bytes.len() == 36
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// True if a word may start at `at`: what stands before belongs to no word, as an escape of JSON, of a URL or of a
/// terminal's colours does not.
pub(super) fn starts_word(bytes: &[u8], at: usize) -> bool {
    let before = &bytes[..at];
    match before {
        [] => true,
        [.., b'\\', b'n' | b't' | b'r'] => true,
        [.., b'%', high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => true,
        [.., last] if !last.is_ascii_alphanumeric() => true,
        [.., b'm'] => ends_colour(before),
        _ => false,
    }
}

/// True for `ESC [ 3 1 m` and the like, whose ESC may be written out as `\x1b`, `\e` or `\u001b`.
fn ends_colour(before: &[u8]) -> bool {
    let codes = before[..before.len() - 1].iter().rev().take(12);
    let length = codes.take_while(|byte| byte.is_ascii_digit() || **byte == b';').count();
    let head = &before[..before.len() - 1 - length];
    head.ends_with(b"\x1b[") || head.ends_with(b"1b[") || head.ends_with(b"\\e[") || head.ends_with(b"\\033[")
}
