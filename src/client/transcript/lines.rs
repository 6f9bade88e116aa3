//! A transcript line by line, in the same memory whatever its size: lines that cannot hold a count are passed over, and
//! of the others only the fields of a shape are taken out. Must never keep a line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use memchr::{memchr, memmem::Finder};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::client::transcript::Part;
use crate::economics::Lines;

/// How much of a file is read at once.
const CHUNK: usize = 256 * 1024;
/// Longer lines are parsed as they are read, which is slower and keeps nothing of them.
const LINE: usize = 4 * 1024 * 1024;

/// What a line told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// The tokens of a request.
    Tokens,
    /// The tokens of a request that was told before.
    Again,
    /// Tokens in a shape that is not known.
    Unknown,
    /// Something else.
    Nothing,
}

impl Told {
    /// What a line told that told several things: tokens before all else.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Tokens, _) | (_, Self::Tokens) => Self::Tokens,
            (Self::Again, _) | (_, Self::Again) => Self::Again,
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            (Self::Nothing, Self::Nothing) => Self::Nothing,
        }
    }
}

/// What the lines of a transcript have to say.
pub trait Reading {
    /// The fields that are taken out of a line.
    type Line: DeserializeOwned;
    /// A line without one of these in it holds nothing that is wanted. Each is a JSON string with its quotation marks, which
    /// stand escaped inside of a text, so that no text is mistaken for one.
    const MARKS: &'static [&'static str];

    /// Takes one line.
    fn take(&mut self, line: Self::Line) -> Told;

    /// True if a line of this kind must have the fields, so that one without them is broken.
    fn must_fit(kind: &str) -> bool;
}

/// Reads a file; answers how, and whether it was the end of it alone.
pub fn read<R: Reading>(path: &Path, part: Part, reading: &mut R) -> io::Result<(Lines, bool)> {
    let mut file = File::open(path)?;
    let mut is_part = false;
    if let Part::Tail { bytes } = part {
        let length = file.metadata()?.len();
        if length > bytes {
            file.seek(SeekFrom::Start(length - bytes))?;
            is_part = true;
        }
    }
    let mut input = BufReader::with_capacity(CHUNK, file);
    if is_part {
        skip_line(&mut input)?;
    }
    let marks: Vec<Finder> = R::MARKS.iter().map(Finder::new).collect();
    let mut lines = Lines::default();
    let mut buffer = Vec::new();
    while next(&mut input, &mut buffer)? {
        lines.read += 1;
        if is_long(&buffer) {
            long(&mut input, &buffer, reading, &mut lines)?;
        } else if marks.iter().any(|mark| mark.find(&buffer).is_some()) {
            short(&buffer, reading, &mut lines);
        }
    }
    Ok((lines, is_part))
}

/// The next line, or the start of one that is long.
fn next(input: &mut impl BufRead, buffer: &mut Vec<u8>) -> io::Result<bool> {
    buffer.clear();
    let most = u64::try_from(LINE).unwrap_or(u64::MAX);
    Ok(input.take(most).read_until(b'\n', buffer)? > 0)
}

fn is_long(buffer: &[u8]) -> bool {
    buffer.len() == LINE && !buffer.ends_with(b"\n")
}

fn short<R: Reading>(line: &[u8], reading: &mut R, lines: &mut Lines) {
    match serde_json::from_slice::<R::Line>(line) {
        Ok(fields) => count(reading.take(fields), lines),
        Err(_) if !line.ends_with(b"\n") => lines.is_unfinished = true,
        Err(_) => count_unfit::<R>(line, lines),
    }
}

/// A line that does not fit is broken where it is no JSON or had to fit; another kind of line may look as it likes.
fn count_unfit<R: Reading>(line: &[u8], lines: &mut Lines) {
    #[derive(Deserialize)]
    struct Kind {
        #[serde(rename = "type")]
        kind: Option<String>,
    }
    let kind = serde_json::from_slice::<Kind>(line);
    if kind.map_or(true, |kind| kind.kind.is_none_or(|kind| R::must_fit(&kind))) {
        lines.broken += 1;
    }
}

fn long<R: Reading>(input: &mut impl BufRead, start: &[u8], reading: &mut R, lines: &mut Lines) -> io::Result<()> {
    let mut rest = RestOfLine { input, is_over: false };
    let whole = BufReader::with_capacity(CHUNK, start.chain(&mut rest));
    let fields = R::Line::deserialize(&mut serde_json::Deserializer::from_reader(whole));
    match fields {
        Ok(fields) => count(reading.take(fields), lines),
        Err(_) => lines.broken += 1,
    }
    if !rest.is_over {
        skip_line(rest.input)?;
    }
    Ok(())
}

fn count(told: Told, lines: &mut Lines) {
    match told {
        Told::Tokens => lines.counted += 1,
        Told::Again => lines.repeated += 1,
        Told::Unknown => lines.unknown += 1,
        Told::Nothing => {}
    }
}

/// Reads on to the end of the line.
fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let chunk = input.fill_buf()?;
        let (many, is_over) = match memchr(b'\n', chunk) {
            Some(end) => (end + 1, true),
            None => (chunk.len(), chunk.is_empty()),
        };
        input.consume(many);
        if is_over {
            return Ok(());
        }
    }
}

/// What is left of a line, and no more.
struct RestOfLine<'i, I> {
    input: &'i mut I,
    is_over: bool,
}

impl<I: BufRead> Read for &mut RestOfLine<'_, I> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.is_over {
            return Ok(0);
        }
        let chunk = self.input.fill_buf()?;
        let end = memchr(b'\n', chunk);
        let many = end.map_or(chunk.len(), |end| end + 1).min(into.len());
        into[..many].copy_from_slice(&chunk[..many]);
        self.is_over = many == 0 || end.is_some_and(|end| end < many);
        self.input.consume(many);
        Ok(many)
    }
}
