//! Identity: the instance, its projects and the `write_context` that keeps a write out of the wrong place.
//! Must never show a pin in an error, a log or an answer to an agent.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use uuid::Uuid;

use crate::domain::rule::{Rule, Setting, Settings};
use crate::domain::secret::PIN_LENGTH;
use crate::error::{Code, Refusal, Result};

/// 32 letters without look-alikes; 16 of them carry 80 bits.
const PIN_LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// The deployment: one database.
#[derive(Clone, Debug)]
pub struct Instance {
    /// Minted when the database was created.
    pub id: Uuid,
    /// The canonical URI of the service.
    pub resource: String,
    /// The key of the pins.
    pub pin_key: Vec<u8>,
}

impl Instance {
    /// The first 8 characters of the id.
    pub fn short(&self) -> String {
        short_instance(&self.id.to_string())
    }
}

/// Whether the instance lives in this database, or is moved away from it or to it; with the other database's address,
/// which holds no password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// In use.
    Here,
    /// Read-only, while it is moved.
    Leaving(String),
    /// Read-only for ever: the instance lives elsewhere.
    Moved(String),
    /// Filled by a move that is not finished: not in use.
    Arriving(String),
}

impl Standing {
    /// Refuses everything in a database that a move has not finished filling.
    pub fn check_readable(&self) -> Result<()> {
        match self {
            Self::Arriving(from) => Err(Refusal::new(
                Code::Unavailable,
                "this database is being filled by a move that is not finished",
                "Nothing was read or written. Have the owner run the same heyaira move again, which finishes it, or \
                 heyaira move --abandon.",
            )
            .to_owner(format!(", from {from}"))),
            Self::Here | Self::Leaving(_) | Self::Moved(_) => Ok(()),
        }
    }

    /// Refuses writes to a database that the instance is moved away from.
    pub fn check_writable(&self) -> Result<()> {
        self.check_readable()?;
        let (message, next, to) = match self {
            Self::Leaving(to) => (
                "this database is read-only while it is moved",
                "Nothing was written; reads go on. Call again once the owner has finished the move, by then there.",
                to,
            ),
            Self::Moved(to) => (
                "this database is read-only: it was moved",
                "Nothing was written; reads go on. Have the owner start this server on the database that it was moved \
                 to: --database or HEYAIRA_DATABASE.",
                to,
            ),
            Self::Here | Self::Arriving(_) => return Ok(()),
        };
        Err(Refusal::new(Code::Unavailable, message, next).to_owner(format!(" to {to}")))
    }
}

/// The first 8 characters of an instance id.
pub fn short_instance(id: &str) -> String {
    id.chars().take(8).collect()
}

/// A project.
#[derive(Clone, Debug)]
pub struct Project {
    /// The key inside the database.
    pub project_id: i64,
    /// `[a-z0-9][a-z0-9-]{0,62}`.
    pub slug: String,
    /// The display name.
    pub name: String,
    /// The working language, BCP 47.
    pub language: String,
    /// Which generation of profiles is valid.
    pub generation: i64,
    /// After how many hours without a write a task in progress is stale.
    pub stale_hours: i64,
    /// True once archived: it can be read, not written.
    pub archived: bool,
    /// What it does with what the rules find.
    pub rules: Settings,
}

impl Project {
    /// What is done here with what a rule finds.
    pub fn setting(&self, rule: Rule) -> Setting {
        self.rules.of(rule)
    }

    /// The one string that every write to this project carries.
    pub fn write_context(&self, instance: &Instance) -> Result<String> {
        Ok(format!("{}@{}#{}", self.slug, instance.short(), self.pin(instance)?))
    }

    fn pin(&self, instance: &Instance) -> Result<String> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&instance.pin_key).map_err(|error| Refusal::internal(&error))?;
        mac.update(instance.id.as_bytes());
        mac.update(self.slug.as_bytes());
        mac.update(&self.generation.to_be_bytes());
        let digest = mac.finalize().into_bytes();
        Ok(digest.iter().take(PIN_LENGTH).map(|byte| char::from(PIN_LETTERS[usize::from(byte % 32)])).collect())
    }

    /// Refuses a `write_context` of another place, naming which part differs and never the right value of the pin.
    pub fn check_write_context(&self, instance: &Instance, given: &str) -> Result<()> {
        let right = self.write_context(instance)?;
        if constant_time_equal(given.as_bytes(), right.as_bytes()) {
            return Ok(());
        }
        let differs = match split(given) {
            None => "the write_context has another form than project@instance#pin".to_owned(),
            Some((_, other, _)) if other != instance.short() => "the write_context is for another instance".to_owned(),
            Some((other, _, _)) if other != self.slug => "the write_context is for another project".to_owned(),
            Some(_) => "the pin of the write_context is not valid, or no longer valid".to_owned(),
        };
        Err(Refusal::new(
            Code::IdentityMismatch,
            format!("{differs}; this server is project {} on instance {}", self.slug, instance.short()),
            "Nothing was written. Stop and compare with the connection profile.",
        ))
    }

    /// Refuses writes to an archived project.
    pub fn check_open(&self, administers: bool) -> Result<()> {
        if self.archived && !administers {
            return Err(Refusal::not_allowed(
                format!("project {} is archived", self.slug),
                format!(
                    "The owner can open it again: heyaira project archive {} --undo. Nothing was written.",
                    self.slug
                ),
            ));
        }
        Ok(())
    }
}

fn split(write_context: &str) -> Option<(&str, &str, &str)> {
    let (project, rest) = write_context.split_once('@')?;
    let (instance, pin) = rest.split_once('#')?;
    Some((project, instance, pin))
}

fn constant_time_equal(left: &[u8], right: &[u8]) -> bool {
    let differing = left.iter().zip(right).fold(0, |sum, (one, other)| sum | (one ^ other));
    left.len() == right.len() && differing == 0
}

/// What is wrong with a slug, if anything is.
pub fn slug_problem(slug: &str) -> Option<String> {
    let lawful = |character: char| character.is_ascii_lowercase() || character.is_ascii_digit();
    let fits = slug.chars().next().is_some_and(lawful)
        && slug.chars().all(|character| lawful(character) || character == '-')
        && slug.len() <= 63;
    if crate::domain::secret::holds(slug) {
        return Some("holds a secret, no project name".to_owned());
    }
    (!fits).then(|| {
        format!(
            "{} is no project name: 1 to 63 of a-z, 0-9 and -, starting with a letter or digit",
            crate::domain::text::quoted(slug, 80)
        )
    })
}
