//! The requests of a session under the names that its client gives them. A client tells of one request several times; the
//! last word counts, and the first tells when it was sent.

use std::collections::HashMap;

use sha2::{Digest, Sha256};

use crate::client::transcript::lines::Told;
use crate::economics::{Request, Session, Usage};

/// Where each named request stands. Of a name only a digest is kept, which takes little memory and says nothing.
#[derive(Default)]
pub(super) struct Names(HashMap<[u8; 16], usize>);

impl Names {
    /// Adds a request to the session, or puts it in the place of what was told of it before. Without a name it is a new one.
    pub(super) fn put(&mut self, session: &mut Session, name: &[&str], request: Request) -> Told {
        // No request sends nothing and answers nothing: zeros tell that it was not counted.
        if request.usage == Usage::default() {
            return Told::Nothing;
        }
        let next = session.requests.len();
        let known = (!name.is_empty()).then(|| *self.0.entry(digest(name)).or_insert(next));
        let Some(earlier) = known.and_then(|position| session.requests.get_mut(position)) else {
            session.requests.push(request);
            return Told::Tokens;
        };
        // What a subagent's file repeats of the conversation stays a part of it, as the conversation told it.
        if request.is_beside && !earlier.is_beside {
            return Told::Again;
        }
        let (started, ended) = (earlier.started.or(request.started), request.ended.or(earlier.ended));
        *earlier = Request { started, ended, ..request };
        Told::Again
    }
}

fn digest(name: &[&str]) -> [u8; 16] {
    let parts = name.iter().fold(Sha256::new(), |all, part| all.chain_update(part).chain_update("\n"));
    let mut short = [0; 16];
    short.copy_from_slice(&parts.finalize()[..16]);
    short
}
