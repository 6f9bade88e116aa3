//! Memories: what must outlive a task. Append-only; must never be deleted or merged by inference.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::domain::time::Timestamp;

/// What sort of memory.
#[expect(missing_docs, reason = "a comment on a variant would split the schema's enum into alternatives")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MemoryKind {
    Decision,
    Result,
    Fact,
    Convention,
}

impl MemoryKind {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Decision => "decision",
            Self::Result => "result",
            Self::Fact => "fact",
            Self::Convention => "convention",
        }
    }
}

/// A memory.
#[derive(Clone, Debug)]
pub struct Memory {
    /// Its place in the order of adding, 0 before it is added.
    pub memory_key: i64,
    /// `m-` and 8 hex characters.
    pub memory_id: String,
    /// Its sort.
    pub kind: String,
    /// One sentence, at most 280 characters.
    pub summary: String,
    /// The whole of it; may be empty.
    pub body: String,
    /// Tags.
    pub tags: Vec<String>,
    /// The task it speaks of.
    pub task_id: Option<Uuid>,
    /// The memory that it replaces.
    pub supersedes: Option<String>,
    /// The memory that replaces it.
    pub superseded_by: Option<String>,
    /// Who added it: the credential's name.
    pub caller: String,
    /// Which session added it.
    pub session_ref: Option<String>,
    /// When.
    pub at: Timestamp,
}

/// What is wrong with a memory id, if anything is; to follow the field's name.
pub fn id_problem(text: &str) -> Option<String> {
    let fits = text.strip_prefix("m-").is_some_and(|hex| hex.len() == 8 && is_lower_hex(hex));
    (!fits).then(|| format!("{} is no memory id: m- and 8 hex characters", crate::domain::text::quoted(text, 60)))
}

fn is_lower_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// The memory ids that texts name, each once, in order of first mention.
pub fn named_ids<'t>(texts: impl IntoIterator<Item = &'t str>) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    let mut seen = HashSet::new();
    for text in texts {
        for (start, _) in text.match_indices("m-") {
            let before = text[..start].chars().next_back();
            let id = text.get(start..start + 10).filter(|id| id_problem(id).is_none());
            let after = text.get(start + 10..).and_then(|rest| rest.chars().next());
            let stands_alone = |neighbour: Option<char>| {
                neighbour.is_none_or(|character| {
                    !(character.is_ascii_alphanumeric() || character == '-' || character == '_')
                })
            };
            if let Some(id) = id
                && stands_alone(before)
                && stands_alone(after)
                && seen.insert(id)
            {
                ids.push(id.to_owned());
            }
        }
    }
    ids
}
