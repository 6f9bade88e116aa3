//! A receipt against a repository: what it claims and what git said make a verdict, and one line for each difference.
//! Must never ask git, and never take what could not be told for a contradiction.
//!
//! What a repository with a remote lacks may be there and not be fetched: that is unverified, and a contradiction only
//! where there is no remote to fetch it from. In a shallow clone history ends early: what is behind its end is unknown.

pub mod facts;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::handoff::says_none;
use crate::domain::receipt::{KeptReceipt, Receipt};
use crate::domain::text::{length, quoted};
use crate::domain::time::Timestamp;
use crate::domain::verification::facts::{
    Branch, Changes, Commit, Facts, Found, NAME_MAX, Obstacle, ObstacleKind, Remote,
};

/// How many digits of a hash are shown.
const DIGITS: usize = 12;

/// What came out.
#[expect(missing_docs, reason = "a comment on a variant would split the schema's enum into alternatives")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Verified,
    Contradicted,
    #[default]
    Unverified,
}

impl Verdict {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Contradicted => "contradicted",
            Self::Unverified => "unverified",
        }
    }

    /// The verdict of a word.
    pub fn of(word: &str) -> Option<Self> {
        [Self::Verified, Self::Contradicted, Self::Unverified].into_iter().find(|one| one.as_str() == word)
    }
}

/// How much a difference weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// The repository says otherwise.
    Contradicted,
    /// The repository does not say.
    Unverified,
    /// Nothing that the receipt claims, and good to know for whoever goes on.
    Note,
}

/// One difference, in one line that says what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// How much it weighs.
    pub kind: Weight,
    /// What it is about: a field of the receipt, or a part of the facts.
    pub about: String,
    /// The line.
    pub line: String,
}

/// The verdict and what it comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judgement {
    /// What came out.
    pub verdict: Verdict,
    /// Contradictions first, then what is not known, then the rest.
    pub differences: Vec<Difference>,
}

/// The last verification of a receipt that told something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verification {
    /// What came out.
    pub verdict: Verdict,
    /// When it was recorded.
    pub at: Timestamp,
    /// What it found.
    pub differences: Vec<Difference>,
}

impl Verification {
    /// The lines that contradict the receipt.
    pub fn contradictions(&self) -> Vec<&str> {
        let lines = self.differences.iter().filter(|one| one.kind == Weight::Contradicted);
        lines.map(|one| one.line.as_str()).collect()
    }
}

/// The last verification of a receipt that told something.
pub fn last(kept: &KeptReceipt) -> Option<&Verification> {
    kept.verification.as_ref()
}

/// The last verification of a receipt, if it contradicts the receipt: such a handoff misleads.
pub fn contradicts(kept: &KeptReceipt) -> Option<&Verification> {
    last(kept).filter(|last| last.verdict == Verdict::Contradicted)
}

/// What a handoff claims of a repository. Empty is not claimed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Claims<'c> {
    branch: &'c str,
    base_commit: &'c str,
    result_commit: &'c str,
    /// True if there is no receipt at all.
    is_absent: bool,
    texts: [&'c str; 2],
}

impl<'c> Claims<'c> {
    /// Those of a receipt, and the texts that should name the repository.
    pub fn of(receipt: Option<&'c Receipt>, texts: [&'c str; 2]) -> Self {
        let of = |field: fn(&Receipt) -> &Option<String>| {
            receipt.and_then(|receipt| field(receipt).as_deref()).unwrap_or_default().trim()
        };
        Self {
            branch: of(|receipt| &receipt.branch),
            base_commit: of(|receipt| &receipt.base_commit),
            result_commit: of(|receipt| &receipt.result_commit),
            is_absent: receipt.is_none(),
            texts,
        }
    }
}

/// Compares what is claimed with what git said.
pub fn judge(claims: &Claims<'_>, facts: &Facts) -> Judgement {
    let mut lines = Lines { claims, facts, found: Vec::new() };
    match (&facts.obstacle, &facts.repository) {
        (Some(obstacle), _) => lines.obstacle(obstacle),
        (None, None) => lines.unverified("repository", "the repository was not looked at".to_owned()),
        (None, Some(_)) => {
            lines.claims();
            lines.notes();
        }
    }
    let mut differences = lines.found;
    differences.sort_by_key(|one| one.kind as u8);
    let verdict = match differences.first().map(|one| one.kind) {
        Some(Weight::Contradicted) => Verdict::Contradicted,
        Some(Weight::Unverified) => Verdict::Unverified,
        Some(Weight::Note) | None => Verdict::Verified,
    };
    Judgement { verdict, differences }
}

/// The lines as they are found.
struct Lines<'l> {
    claims: &'l Claims<'l>,
    facts: &'l Facts,
    found: Vec<Difference>,
}

impl<'l> Lines<'l> {
    fn add(&mut self, kind: Weight, about: &str, line: String) {
        self.found.push(Difference { kind, about: about.to_owned(), line });
    }

    fn contradicted(&mut self, about: &str, line: String) {
        self.add(Weight::Contradicted, about, line);
    }

    fn unverified(&mut self, about: &str, line: String) {
        self.add(Weight::Unverified, about, line);
    }

    fn note(&mut self, about: &str, line: String) {
        self.add(Weight::Note, about, line);
    }

    fn obstacle(&mut self, obstacle: &Obstacle) {
        let (path, told) = (quoted(&self.facts.path, 200), quoted(&obstacle.told, 200));
        let line = match obstacle.kind {
            ObstacleKind::NoGit => "there is no git in PATH: install git, then verify again".to_owned(),
            ObstacleKind::OldGit => format!("git {told} is too old to be asked safely: install 2.31 or later"),
            ObstacleKind::NoRepository => format!("{path} is in no git repository: name its folder with --repo"),
            ObstacleKind::NotTrusted => format!(
                "git does not trust {path} ({told}): if you do, git config --global --add safe.directory with the folder \
                 that it names"
            ),
            ObstacleKind::TooSlow => format!("git took too long ({told}): verify again with a longer --timeout"),
            ObstacleKind::Failed => format!("git cannot read {path}: it says {told}"),
        };
        self.unverified("repository", line);
    }

    fn claims(&mut self) {
        if self.claims.is_absent {
            return self.unverified("receipt", "there is no receipt: send one with task_update".to_owned());
        }
        self.branch();
        self.commit("base_commit", self.claims.base_commit, self.facts.base_commit.as_ref());
        self.commit("result_commit", self.claims.result_commit, self.facts.result_commit.as_ref());
        self.relations();
    }

    fn branch(&mut self) {
        let name = self.claims.branch;
        if name.is_empty() || says_none(name) {
            return self.unverified("branch", "the receipt names no branch: name it in the next receipt".to_owned());
        }
        let Some(branch) = &self.facts.branch else {
            return self.unverified("branch", format!("branch {} was not looked at", quoted(name, 80)));
        };
        if !branch.is_name || length(name) > NAME_MAX {
            let line = format!("branch {} is no name of one branch: name it in the next receipt", quoted(name, 80));
            return self.unverified("branch", line);
        }
        if branch.exists() {
            return;
        }
        let name = self.name();
        if let Some(fetch) = self.fetch_branch() {
            let line = format!("branch {name} is not in this clone: {fetch}, then {}", switch_to(name));
            return self.unverified("branch", line);
        }
        let held = self.held_by().map(|held| format!("; result_commit is on {held}")).unwrap_or_default();
        let line = format!(
            "branch {name} does not exist here, and there is no remote to fetch it from{held}: ask the previous session"
        );
        self.contradicted("branch", line);
    }

    fn commit(&mut self, field: &str, claimed: &str, commit: Option<&Commit>) {
        if claimed.is_empty() {
            // A base is good to have; without a result nothing can be said of the work.
            if field == "result_commit" {
                self.unverified(field, "the receipt names no result_commit: name it in the next receipt".to_owned());
            }
            return;
        }
        let shown = quoted(claimed, 80);
        let Some(commit) = commit else {
            return self.unverified(field, format!("{field} {shown} was not looked at"));
        };
        let name = if length(claimed) > NAME_MAX { &shown } else { claimed };
        match commit.found {
            _ if length(claimed) > NAME_MAX => self.no_hash(field, &shown),
            Found::Commit => {}
            Found::NoHash => self.no_hash(field, &shown),
            Found::Ambiguous => self.unverified(
                field,
                format!(
                    "{field} {name} fits {} commits here: name more of its digits in the next receipt",
                    commit.candidates
                ),
            ),
            Found::NoCommit => self.contradicted(
                field,
                format!("{field} {name} is here, but it is no commit: git show {name}, and ask the previous session"),
            ),
            Found::Missing => match self.fetch_branch().filter(|_| !self.facts.is_shallow()).or_else(|| self.fetch()) {
                Some(fetch) => {
                    let clone = if self.facts.is_shallow() { "shallow clone" } else { "clone" };
                    self.unverified(
                        field,
                        format!("{field} {name} is not in this {clone}: {fetch}, then verify again"),
                    );
                }
                None if self.facts.is_shallow() => {
                    self.unverified(field, format!("{field} {name} is not in this shallow clone: look in a whole one"));
                }
                None => self.contradicted(
                    field,
                    format!(
                        "{field} {name} does not exist here, and there is no remote to fetch it from: ask the previous \
                         session"
                    ),
                ),
            },
        }
    }

    fn no_hash(&mut self, field: &str, shown: &str) {
        self.unverified(field, format!("{field} {shown} is no hash of a commit: name that alone in the next receipt"));
    }

    fn relations(&mut self) {
        let Some(result) = self.facts.result_commit.as_ref().and_then(Commit::found) else { return };
        let relations = self.facts.result.clone().unwrap_or_default();
        let result = digits(result);
        let unknown = |fetch: Option<String>, shallow: bool| match fetch {
            Some(fetch) if shallow => format!(" in a shallow clone: {fetch}, then verify again"),
            _ if shallow => " in a shallow clone: look in a whole one".to_owned(),
            _ => ": verify again".to_owned(),
        };
        let unknown = unknown(self.fetch(), self.facts.is_shallow());
        if let Some(branch) = self.facts.branch.as_ref().filter(|branch| branch.is_name && branch.exists()) {
            let name = self.name();
            match relations.on_branch {
                Some(true) => {}
                Some(false) => self.off_branch(name, branch, result),
                None => {
                    let line = format!("whether result_commit {result} is on branch {name} cannot be told{unknown}");
                    self.unverified("result_commit", line);
                }
            }
        }
        if let Some(base) = self.facts.base_commit.as_ref().and_then(Commit::found) {
            let base = digits(base);
            match relations.descends_from_base {
                Some(true) => {}
                Some(false) => self.contradicted(
                    "base_commit",
                    format!(
                        "result_commit {result} does not descend from base_commit {base}: git merge-base {base} {result} \
                         tells where they part"
                    ),
                ),
                None => {
                    let line =
                        format!("whether result_commit {result} descends from base_commit {base} cannot be told{unknown}");
                    self.unverified("base_commit", line);
                }
            }
        }
    }

    fn off_branch(&mut self, name: &str, branch: &Branch, result: &str) {
        let fetched = branch.tracking.first();
        let end = branch.local.as_deref().or(fetched.map(|one| one.commit.as_str())).unwrap_or_default();
        let held = self.held_by().map_or_else(|| "on no branch here".to_owned(), |held| format!("on {held}"));
        let first = self.fetch().map(|fetch| format!("{fetch}, and if it stays so ")).unwrap_or_default();
        let line = format!(
            "result_commit {result} is not on branch {name}, which ends at {}, but {held}: {first}git log --oneline {}..{result} \
             shows what the branch lacks",
            digits(end),
            digits(end),
        );
        self.contradicted("result_commit", line);
    }

    /// The first branches that hold the result.
    fn held_by(&self) -> Option<String> {
        let held = &self.facts.result.as_ref()?.held_by;
        (!held.is_empty()).then(|| held.join(", "))
    }

    /// The command that brings what is missing, if there is a remote.
    fn fetch(&self) -> Option<String> {
        let name = &self.facts.remote()?.name;
        let deepen = if self.facts.is_shallow() { "--unshallow " } else { "" };
        Some(if name.starts_with('-') {
            "git fetch --all".to_owned()
        } else {
            format!("git fetch {deepen}{}", word(name))
        })
    }

    /// The command that brings the claimed branch, where it is not here: a clone of one branch fetches no other by itself.
    fn fetch_branch(&self) -> Option<String> {
        let is_missing = self.facts.branch.as_ref().is_some_and(|branch| branch.is_name && !branch.exists());
        let remote = self.facts.remote().filter(|remote| is_missing && !remote.name.starts_with('-'))?;
        let name = self.name();
        let name = if name.starts_with('-') { format!("refs/heads/{name}") } else { name.to_owned() };
        Some(format!("git fetch {} {}", word(&remote.name), word(&format!("{name}:{name}"))))
    }

    /// The claimed branch by its own name.
    fn name(&self) -> &'l str {
        let repository = self.facts.repository.as_ref();
        branch_name(self.claims.branch, repository.map_or(&[], |repository| &repository.remotes))
    }

    fn notes(&mut self) {
        self.note_repository();
        // Without a receipt there is nothing that the rest could be compared with.
        if self.claims.is_absent {
            return;
        }
        self.note_branch();
        self.note_head();
        if let Some(changes) = &self.facts.changes {
            self.note_changes(changes);
        }
        for failed in &self.facts.failed {
            self.note("git", failed.clone());
        }
    }

    fn note_repository(&mut self) {
        let Some(repository) = &self.facts.repository else { return };
        if repository.bare {
            self.note("repository", "no files are checked out here: what is not committed cannot be told".to_owned());
        }
        if let Some(outer) = &repository.superproject {
            let line = format!("this is a submodule of {outer}: its commit is recorded there as well");
            self.note("repository", line);
        }
        let names: Vec<String> = repository.remotes.iter().filter_map(|remote| owner_and_name(&remote.url)).collect();
        let is_named = |name: &String| {
            let name = name.to_lowercase();
            self.claims.texts.iter().any(|text| text.to_lowercase().contains(&name))
        };
        let says_something = self.claims.texts.iter().any(|text| !text.trim().is_empty());
        if let Some(first) = names.first().filter(|_| says_something && !names.iter().any(is_named)) {
            let line = format!(
                "the handoff does not name {}, where this repository comes from: make sure that it is the one",
                quoted(first, 120)
            );
            self.note("repository", line);
        }
    }

    fn note_branch(&mut self) {
        let name = self.name();
        let relations = self.facts.result.clone().unwrap_or_default();
        if let Some(result) = self.facts.result_commit.as_ref().and_then(Commit::found)
            && relations.pushed == Some(false)
        {
            let line = if self.facts.remote().is_none() {
                "the repository has no remote: nothing of it is pushed".to_owned()
            } else {
                let result = digits(result);
                format!(
                    "result_commit {result} is not pushed, as far as this clone knows: git push from where it was made"
                )
            };
            self.note("pushed", line);
        }
        let Some(branch) = self.facts.branch.as_ref().filter(|branch| branch.is_name && branch.exists()) else {
            return;
        };
        if let (None, Some(tracking)) = (&branch.local, branch.tracking.first()) {
            let line =
                format!("branch {name} is here only as it was fetched: git switch --track {}", word(&tracking.name));
            self.note("branch", line);
        }
        if let Some(upstream) = &branch.upstream {
            let counts = [(branch.ahead, "ahead of", "git push"), (branch.behind, "behind", "git pull --ff-only")];
            for (count, word, mend) in counts.into_iter().filter(|(count, ..)| *count > 0) {
                self.note("branch", format!("branch {name} is {} {word} {upstream}: {mend}", several(count, "commit")));
            }
            if branch.upstream_gone {
                self.note("branch", format!("branch {name} follows {upstream}, which is gone: git branch -vv"));
            }
        }
        if let Some(after) = relations.commits_after.filter(|after| *after > 0) {
            let result = self.facts.result_commit.as_ref().and_then(Commit::found).map(digits).unwrap_or_default();
            let end = branch.local.as_deref().or(branch.tracking.first().map(|one| one.commit.as_str()));
            let line = format!(
                "branch {name} has {} after result_commit: git log --oneline {result}..{}",
                several(after, "commit"),
                digits(end.unwrap_or_default())
            );
            self.note("branch", line);
        }
    }

    fn note_head(&mut self) {
        let (Some(head), Some(repository)) = (&self.facts.head, &self.facts.repository) else { return };
        let name = self.name();
        let local = self.facts.branch.as_ref().filter(|branch| branch.is_name && branch.local.is_some());
        if repository.bare || head.branch.as_deref() == Some(name).filter(|name| !name.is_empty()) {
            return;
        }
        if let Some(elsewhere) =
            local.and_then(|branch| branch.checked_out.as_deref().filter(|_| !branch.checked_out_here))
        {
            let line = format!("branch {name} is checked out in {elsewhere}: go on there");
            return self.note("head", line);
        }
        let mend = local.map(|_| format!(": {}", switch_to(name))).unwrap_or_default();
        let line = match (&head.branch, &head.commit) {
            (None, Some(commit)) => {
                let is_result = self.facts.result_commit.as_ref().and_then(Commit::found) == Some(commit);
                let which = if is_result { ", which is result_commit" } else { "" };
                format!("HEAD is detached at {}{which}{mend}", digits(commit))
            }
            (Some(other), None) => format!("HEAD is on {other}, which has no commit yet{mend}"),
            (Some(other), Some(_)) if name.is_empty() => format!("HEAD is on {other}"),
            (Some(other), Some(_)) => format!("HEAD is on {other}, not on branch {}{mend}", quoted(name, 120)),
            (None, None) => return,
        };
        self.note("head", line);
    }

    fn note_changes(&mut self, changes: &Changes) {
        if let Some(counted) = counted(changes.uncommitted, changes.untracked) {
            let first = changes.examples.first().map(|first| format!(", {} among them", quoted(first, 80)));
            let own = self.facts.repository.as_ref().is_some_and(|repository| repository.own_filters);
            let filters = if own { " (counted without the filters that the repository names)" } else { "" };
            self.note("changes", format!("{counted}{}{filters}: git status", first.unwrap_or_default()));
        }
        for one in &changes.submodules {
            if let Some(counted) = counted(one.uncommitted, one.untracked) {
                let path = quoted(&one.path, 120);
                self.note("changes", format!("submodule {path} has {counted}: git status there"));
            }
        }
    }
}

/// What is not committed, in words; nothing if everything is.
fn counted(uncommitted: i64, untracked: i64) -> Option<String> {
    let parts = [(uncommitted, "uncommitted change"), (untracked, "untracked file")];
    let parts: Vec<String> =
        parts.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| several(count, what)).collect();
    (!parts.is_empty()).then(|| parts.join(" and "))
}

/// The own name of a branch, without where git keeps it or where it comes from, and without marks of code around it: `main`
/// for `origin/main`.
pub fn branch_name<'n>(claimed: &'n str, remotes: &[Remote]) -> &'n str {
    let name = claimed.trim_matches('`');
    let name = name.strip_prefix("refs/heads/").unwrap_or(name);
    let name = name.strip_prefix("refs/remotes/").unwrap_or(name);
    let mut rests = remotes.iter().filter_map(|remote| name.strip_prefix(remote.name.as_str())?.strip_prefix('/'));
    rests.next().filter(|rest| !rest.is_empty()).unwrap_or(name)
}

/// The command that checks a branch out; a name that looks like an option is one nowhere else.
fn switch_to(name: &str) -> String {
    if name.starts_with('-') {
        return format!("git switch --detach {}", word(&format!("refs/heads/{name}")));
    }
    format!("git switch {}", word(name))
}

/// A name as one word of a shell: stored text must not steer what a reader copies.
fn word(name: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-@+=:,".contains(letter);
    if !name.is_empty() && name.chars().all(is_plain) {
        name.to_owned()
    } else {
        format!("'{}'", name.replace('\'', r"'\''"))
    }
}

/// The first digits of a hash.
fn digits(hash: &str) -> &str {
    hash.get(..DIGITS).unwrap_or(hash)
}

fn several(count: i64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// `owner/name` of the address of a repository; its name alone, if it has no owner.
fn owner_and_name(url: &str) -> Option<String> {
    let path = url.split_once("://").map_or(url, |(_, rest)| rest.split_once('/').map_or("", |(_, path)| path));
    let path = path.trim_end_matches('/').trim_end_matches(".git");
    let mut parts = path.rsplit(['/', ':', '\\']).filter(|part| !part.is_empty());
    let name = parts.next()?;
    Some(parts.next().map_or_else(|| name.to_owned(), |owner| format!("{owner}/{name}")))
}
