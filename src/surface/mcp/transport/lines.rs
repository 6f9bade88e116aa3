//! Lines of bounded length from a stream of bytes. Must never hold more than the limit of a line, and never lose a
//! byte when a waiting call is dropped.

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// How much of a buffer is kept between lines.
const KEPT: usize = 64 * 1024;

/// What was read.
#[derive(Debug, PartialEq, Eq)]
pub enum Read {
    /// A whole line; it is in [`Lines::line`].
    Line,
    /// A line went over the limit. It is told once, as soon as that is known; the rest of it is skipped.
    TooLong,
    /// The end of the input.
    End,
}

/// A reader of lines.
#[derive(Debug)]
pub struct Lines<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    limit: usize,
    /// The line in `line` is whole and was handed out.
    done: bool,
    /// A line that was too long is being skipped.
    skipping: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Reads lines of at most `limit` bytes, the line's end included.
    pub fn new(reader: R, limit: usize) -> Self {
        Self { reader: BufReader::with_capacity(KEPT, reader), line: Vec::new(), limit, done: false, skipping: false }
    }

    /// The line that was read, with its end.
    pub fn line(&self) -> &[u8] {
        &self.line
    }

    /// Reads on. Cancel-safe: what was read of a line stays here and is continued.
    ///
    /// A last line without an end counts as a line. An error of the stream counts as its end.
    pub async fn next(&mut self) -> Read {
        if std::mem::take(&mut self.done) {
            self.line.clear();
            self.line.shrink_to(KEPT);
        }
        loop {
            let Ok(available) = self.reader.fill_buf().await else {
                return Read::End;
            };
            if available.is_empty() {
                self.done = !self.line.is_empty();
                return if self.done { Read::Line } else { Read::End };
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            let too_long = !self.skipping && self.line.len() + taken > self.limit;
            if !self.skipping && !too_long {
                self.line.extend_from_slice(&available[..taken]);
            }
            // No waiting since `fill_buf`: the bytes are taken and consumed, or neither.
            self.reader.consume(taken);
            if too_long {
                self.line = Vec::new();
                self.skipping = end.is_none();
                return Read::TooLong;
            }
            if end.is_some() && !std::mem::take(&mut self.skipping) {
                self.done = true;
                return Read::Line;
            }
        }
    }
}
