//! What git said about a repository, each fact with the time at which it was asked. Must never hold a credential, and
//! never a guess: what git could not tell is absent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The longest text that is taken for a name of a branch or a commit, in characters: no file system holds a longer one.
pub const NAME_MAX: usize = 250;

/// What was found in one repository.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Facts {
    /// When the look began.
    #[schemars(extend("x-when" = true))]
    pub at: String,
    /// The folder that was looked at.
    pub path: String,
    /// The version of git.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git: Option<String>,
    /// Why nothing could be looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<Obstacle>,
    /// The repository as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<Repository>,
    /// What is checked out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<Head>,
    /// The branch that the receipt names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<Branch>,
    /// The commit that the receipt names as its base.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_commit: Option<Commit>,
    /// The commit that the receipt names as its result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_commit: Option<Commit>,
    /// How the result stands to the branch, the base and the remotes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Relations>,
    /// What is not committed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<Changes>,
    /// What could not be looked at, each in one line.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<String>,
}

/// Why a folder could not be looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Obstacle {
    /// What sort.
    pub kind: ObstacleKind,
    /// What git said, or which version it has.
    pub told: String,
}

/// The sorts of obstacles.
#[expect(missing_docs, reason = "a comment on a variant would split the schema's enum into alternatives")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ObstacleKind {
    NoGit,
    OldGit,
    NoRepository,
    NotTrusted,
    TooSlow,
    #[default]
    Failed,
}

/// The repository as a whole.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, and a field of the answer")]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Repository {
    /// When git was asked.
    #[schemars(extend("x-when" = true))]
    pub at: String,
    /// True if there are no files beside it.
    pub bare: bool,
    /// True if not all of its history is here.
    pub shallow: bool,
    /// True if the folder is a further working tree of a repository elsewhere.
    pub linked: bool,
    /// `sha1` or `sha256`.
    pub object_format: String,
    /// The working tree of the repository that this one is a submodule of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superproject: Option<String>,
    /// Where it was cloned from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remotes: Vec<Remote>,
    /// True if its own configuration names filters for its files: they were not run.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub own_filters: bool,
}

/// A remote repository.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Remote {
    /// Its name.
    pub name: String,
    /// Its address, without a user and a password.
    pub url: String,
}

/// What is checked out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Head {
    /// When git was asked.
    #[schemars(extend("x-when" = true))]
    pub at: String,
    /// The branch; none if it is detached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The commit; none before the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// A branch that a receipt names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Branch {
    /// When git was asked.
    #[schemars(extend("x-when" = true))]
    pub at: String,
    /// True if a branch can have that name.
    pub is_name: bool,
    /// The last commit of the branch of that name here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local: Option<String>,
    /// What was last fetched of the branches of that name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tracking: Vec<Tracking>,
    /// The branch that it follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upstream: Option<String>,
    /// True if that one is gone.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub upstream_gone: bool,
    /// By how many commits it is ahead of that one.
    pub ahead: i64,
    /// By how many it is behind.
    pub behind: i64,
    /// The working tree in which it is checked out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checked_out: Option<String>,
    /// True if that is the one which was looked at.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub checked_out_here: bool,
}

/// What was last fetched of a branch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Tracking {
    /// Its name here, as `origin/main`.
    pub name: String,
    /// Its last commit.
    pub commit: String,
}

/// What a name of a commit stands for.
#[expect(missing_docs, reason = "a comment on a variant would split the schema's enum into alternatives")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Found {
    Commit,
    Missing,
    Ambiguous,
    NoCommit,
    #[default]
    NoHash,
}

/// A commit that a receipt names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Commit {
    /// When git was asked.
    #[schemars(extend("x-when" = true))]
    pub at: String,
    /// What it stands for.
    pub found: Found,
    /// The whole hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// How many commits begin like this.
    pub candidates: i64,
}

/// How the result stands to the branch, the base and the remotes. What is absent could not be told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Relations {
    /// When git was asked.
    #[schemars(extend("x-when" = true))]
    pub at: String,
    /// True if the branch holds it, here or as it was fetched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_branch: Option<bool>,
    /// How many commits the branch has after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commits_after: Option<i64>,
    /// True if it descends from the base.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub descends_from_base: Option<bool>,
    /// True if a branch that was fetched from a remote, or pushed there, holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pushed: Option<bool>,
    /// A few branches that hold it, where the one that the receipt names does not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub held_by: Vec<String>,
}

/// What is not committed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Changes {
    /// When git was asked.
    #[schemars(extend("x-when" = true))]
    pub at: String,
    /// How many files differ from the last commit.
    pub uncommitted: i64,
    /// How many files git does not know.
    pub untracked: i64,
    /// The first few of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
    /// The submodules in which something is not committed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub submodules: Vec<Submodule>,
}

/// A submodule in which something is not committed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Submodule {
    /// Where it is.
    pub path: String,
    /// How many files differ from the last commit.
    pub uncommitted: i64,
    /// How many files git does not know.
    pub untracked: i64,
}

impl Facts {
    /// What is wrong with the times, to follow the field's name.
    pub fn problem(&self) -> Option<String> {
        let parts = [
            self.repository.as_ref().map(|part| &part.at),
            self.head.as_ref().map(|part| &part.at),
            self.branch.as_ref().map(|part| &part.at),
            self.base_commit.as_ref().map(|part| &part.at),
            self.result_commit.as_ref().map(|part| &part.at),
            self.result.as_ref().map(|part| &part.at),
            self.changes.as_ref().map(|part| &part.at),
        ];
        let mut times = std::iter::once(&self.at).chain(parts.into_iter().flatten());
        let wrong = times.find(|at| at.parse::<jiff::Timestamp>().is_err())?;
        Some(format!("has a part whose time {} is no RFC 3339", crate::domain::text::quoted(wrong, 40)))
    }

    /// The remote to fetch from: the usual one, else the first.
    pub(super) fn remote(&self) -> Option<&Remote> {
        let remotes = &self.repository.as_ref()?.remotes;
        remotes.iter().find(|remote| remote.name == "origin").or_else(|| remotes.first())
    }

    pub(super) fn is_shallow(&self) -> bool {
        self.repository.as_ref().is_some_and(|repository| repository.shallow)
    }
}

impl Branch {
    /// True if there is such a branch, here or as it was fetched.
    pub fn exists(&self) -> bool {
        self.local.is_some() || !self.tracking.is_empty()
    }
}

impl Commit {
    /// The whole hash, if it is the one commit that the name stands for.
    pub fn found(&self) -> Option<&str> {
        self.id.as_deref().filter(|_| self.found == Found::Commit)
    }
}
