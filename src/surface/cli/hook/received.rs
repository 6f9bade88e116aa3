//! Standard input of a hook, read to its end: a client that cannot write everything may take the hook for broken.
//! Must never keep more than a bound, nor wait for ever.

use std::io::{Read, sink, stdin};
use std::time::{Duration, Instant};

use super::{Failure, apart};

/// The largest input that is looked at, in bytes.
const MOST: u64 = 8 * 1024 * 1024;
/// How long the client may take to write it.
const PATIENCE: Duration = Duration::from_secs(2);

/// Everything, unless it is too much.
pub(super) fn all() -> Result<Vec<u8>, Failure> {
    let read = apart::run(Instant::now() + PATIENCE, || {
        let mut bytes = Vec::new();
        let mut input = stdin().lock();
        let read = input.by_ref().take(MOST + 1).read_to_end(&mut bytes);
        let drained = std::io::copy(&mut input, &mut sink());
        read.and(drained).map(|more| (bytes, more))
    });
    let (bytes, more) = read.found("standard input")?.map_err(|error| Failure(format!("standard input: {error}")))?;
    let length = bytes.len() as u64 + more;
    if length > MOST {
        return Err(Failure(format!("the input has {length} bytes, at most {MOST} are looked at")));
    }
    Ok(bytes)
}

/// Lets the client write everything.
pub(super) fn drain() {
    let read = apart::run(Instant::now() + PATIENCE, || std::io::copy(&mut stdin().lock(), &mut sink()));
    let _ = read.found("standard input");
}
