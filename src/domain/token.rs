//! Tokens, the credentials of the HTTP surface: what one looks like, what it may do, and for how long.
//! Must never show a secret: it is in the one answer that hands it out, and nowhere else.

use std::fmt;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::domain::secret::{TOKEN_PREFIX, holds};
use crate::domain::text::{escaped, is_unseen, length, quoted};
use crate::domain::time::Timestamp;
use crate::error::{Refusal, Result};

/// The longest name, in characters.
pub const NAME_MAX: usize = 64;
/// The longest expiry, in characters: a time with fraction and offset fits.
pub const EXPIRY_MAX: usize = 40;

/// The caller where no token is asked for; no token has this name.
pub const ANONYMOUS: &str = "anonymous";

/// What a credential may do.
#[expect(missing_docs, reason = "a comment on a variant would split the schema's enum into alternatives")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Read,
    Write,
    Admin,
}

impl Role {
    /// All of them; each may do what those before it may.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Admin];

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }

    /// The role of a word.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == word)
    }
}

/// The token itself, `hya_` and 43 characters. It has no way into a log: only [`Secret::reveal`] shows it.
pub struct Secret(String);

impl Secret {
    /// The token of 256 random bits.
    pub fn of(random: [u8; 32]) -> Self {
        Self(format!("{TOKEN_PREFIX}{}", BASE64_URL_SAFE_NO_PAD.encode(random)))
    }

    /// The text, for the one answer that hands it out.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What the database keeps of it.
    pub fn hash(&self) -> [u8; 32] {
        hash(&self.0)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(…)")
    }
}

/// The SHA-256 of a token as it was sent; the key under which its row is found.
///
/// A slow hash and a salt would be for passwords, which can be guessed: nobody guesses 256 random bits, however fast
/// the hash. Nor must the comparison take constant time: what its timing tells is about the hash, and whoever cannot
/// choose the hash of what is sent cannot come nearer to a stored one.
pub fn hash(token: &str) -> [u8; 32] {
    Sha256::digest(token).into()
}

/// A token as it is listed, without its secret.
#[derive(Clone, Debug)]
pub struct Token {
    /// The credential's name: the caller of the versions that are written with it.
    pub name: String,
    /// The slug of the one project that it opens; `None` for all.
    pub project: Option<String>,
    /// What it may do.
    pub role: Role,
    /// Who made it.
    pub created_by: String,
    /// When it was made.
    pub created: Timestamp,
    /// From when on it is refused, if ever.
    pub expires: Option<Timestamp>,
    /// When it was revoked, if it was.
    pub revoked: Option<Timestamp>,
}

/// Whether a token opens anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It is accepted.
    Active,
    /// Its time is over.
    Expired,
    /// It was revoked, whatever its time.
    Revoked,
}

impl State {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Expired => "expired",
            Self::Revoked => "revoked",
        }
    }
}

impl Token {
    /// The state at `now`. At the very moment of its expiry a token is expired.
    pub fn state(&self, now: Timestamp) -> State {
        match (self.revoked, self.expires) {
            (Some(_), _) => State::Revoked,
            (None, Some(expires)) if expires <= now => State::Expired,
            _ => State::Active,
        }
    }
}

/// What is wrong with the name of a new token, if anything is: it stands in history, where nobody must be taken for
/// somebody else.
pub fn new_name_problem(name: &str) -> Option<String> {
    if let Some(problem) = name_problem(name) {
        return Some(problem);
    }
    let problem = if name.chars().any(is_unseen) {
        "holds a character that cannot be seen, and would look like another name"
    } else if name.eq_ignore_ascii_case(ANONYMOUS) {
        "is the caller where no token is asked for"
    } else {
        return None;
    };
    Some(format!("{} {problem}: give a name such as ci or maria-laptop", escaped(&quoted(name, NAME_MAX), is_unseen)))
}

/// What is wrong with a token's name, if anything is.
pub fn name_problem(name: &str) -> Option<String> {
    if holds(name) {
        return Some("looks like a secret: give a name such as ci or maria-laptop".to_owned());
    }
    let problem = match length(name) {
        0 => "is empty",
        NAME_MAX.. if length(name) > NAME_MAX => "is too long",
        _ if name.chars().any(char::is_control) => "holds a line break or control character",
        _ if name.trim() != name => "starts or ends with white space",
        _ => return None,
    };
    Some(format!("{} {problem}: 1 to {NAME_MAX} characters, such as ci or maria-laptop", quoted(name, NAME_MAX)))
}

/// An expiry as it is written.
enum Expiry {
    /// So many minutes from now.
    After(i64),
    /// A moment.
    At(Timestamp),
}

/// What is wrong with the form of an expiry, if anything is.
pub fn expiry_problem(given: &str) -> Option<String> {
    let problem = "is no expiry: write a duration such as 30d, 12h or 90m, or a time such as 2027-01-31T18:00:00Z";
    parsed(given).is_none().then(|| format!("{} {problem}", quoted(given, EXPIRY_MAX)))
}

/// The moment of an expiry; refused unless it is ahead of `now` and within the years that can be written.
pub fn expiry(given: &str, now: Timestamp) -> Result<Timestamp> {
    let moment = match parsed(given) {
        Some(Expiry::After(minutes)) => now.plus_minutes(minutes),
        Some(Expiry::At(moment)) => moment,
        None => return Err(Refusal::argument(format!("expires {}", expiry_problem(given).unwrap_or_default()))),
    };
    if moment <= now {
        return Err(Refusal::argument(format!(
            "expires {} is not in the future: it is {now}",
            quoted(given, EXPIRY_MAX)
        )));
    }
    if jiff::Timestamp::from_microsecond(moment.0).is_err() {
        return Err(Refusal::argument(format!("expires {} is after the year 9999", quoted(given, EXPIRY_MAX))));
    }
    Ok(moment)
}

fn parsed(given: &str) -> Option<Expiry> {
    duration(given).map(Expiry::After).or_else(|| moment(given).map(Expiry::At))
}

/// The minutes of `30d`, `12h` or `90m`.
fn duration(given: &str) -> Option<i64> {
    let unit = given.chars().next_back()?;
    let minutes = match unit {
        'm' => 1,
        'h' => 60,
        'd' => 24 * 60,
        _ => return None,
    };
    let digits = given.strip_suffix(unit)?;
    let count = digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse::<u32>().ok())??;
    (count > 0).then_some(i64::from(count) * minutes)
}

/// A time of RFC 3339. A time zone's name behind it could contradict the offset, so it is not taken.
fn moment(given: &str) -> Option<Timestamp> {
    let moment: jiff::Timestamp = given.parse().ok().filter(|_| !given.contains('['))?;
    Some(Timestamp(moment.as_microsecond()))
}
