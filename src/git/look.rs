//! From what a receipt claims to what git says of it. Must never judge: what git could not tell is left out.

use std::path::{Path, PathBuf};

use super::since::unseen::own;
use super::{Failure, Git, Said};
use crate::domain::text::{self, length, visible};
use crate::domain::verification::branch_name;
use crate::domain::verification::facts::{
    Branch, Changes, Commit, Facts, Found, Head, NAME_MAX, Obstacle, ObstacleKind, Relations, Remote, Repository,
    Submodule, Tracking,
};

/// How many remotes are looked at.
const REMOTES: usize = 20;
/// How many filters can be set aside.
const FILTERS: usize = 200;
/// How many submodules are looked at.
const SUBMODULES: usize = 20;
/// How many files, and how many branches, are named.
const EXAMPLES: usize = 3;
/// How much of a word of git's is kept, in characters.
const WORDS: usize = 300;

/// What is to be looked for. Empty is nothing.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// A branch.
    pub branch: String,
    /// The commit that the work started from.
    pub base_commit: String,
    /// The commit that it ended with.
    pub result_commit: String,
}

pub(super) type Told<T> = Result<T, Failure>;

/// Looks at the repository of a folder. `now` tells the time.
pub fn look(path: &std::ffi::OsStr, folder: &Path, wanted: &Wanted, until: std::time::Instant, now: Now) -> Facts {
    let mut facts = Facts { at: now(), path: folder.display().to_string(), ..Facts::default() };
    let found = Git::find(path, folder, until).and_then(|(git, version)| {
        facts.git = Some(version);
        let opened = open(git, now)?;
        Ok(opened)
    });
    match found {
        Ok((git, repository)) => {
            let look = Look { git: &git, repository: &repository, wanted, now };
            look.everything(&mut facts);
            facts.repository = Some(repository);
        }
        Err(failure) => facts.obstacle = Some(obstacle(failure)),
    }
    facts
}

/// What tells the time, as RFC 3339.
pub type Now = fn() -> String;

fn obstacle(failure: Failure) -> Obstacle {
    let (kind, told) = match failure {
        Failure::Absent => (ObstacleKind::NoGit, String::new()),
        Failure::Old(version) => (ObstacleKind::OldGit, version),
        Failure::Late(what) => (ObstacleKind::TooSlow, what),
        Failure::Failed(_, told) if told.contains("not a git repository") => (ObstacleKind::NoRepository, told),
        Failure::Failed(_, told) if told.contains("dubious ownership") || told.contains("safe.bareRepository") => {
            (ObstacleKind::NotTrusted, told)
        }
        Failure::Failed(_, told) => (ObstacleKind::Failed, told),
    };
    Obstacle { kind, told: first_line(&told) }
}

/// The first line of what git said, hints and warnings aside, without what steers a terminal.
fn first_line(told: &str) -> String {
    let is_aside = |line: &&str| line.starts_with("hint: ") || line.starts_with("warning: ");
    let line = told.lines().find(|line| !is_aside(line)).or(told.lines().next()).unwrap_or_default();
    let line = line.trim_start_matches("fatal: ");
    visible(text::head(line, WORDS))
}

/// A failure in one line.
pub(super) fn told(failure: &Failure) -> String {
    match failure {
        Failure::Absent => "there is no git".to_owned(),
        Failure::Old(version) => format!("git {version} is too old"),
        Failure::Late(what) => format!("{what} took too long: verify again with a longer --timeout"),
        Failure::Failed(_, told) => format!("git says {}", text::quoted(&first_line(told), WORDS)),
    }
}

/// The repository of git's folder, and git with everything set aside that the repository names to be run.
pub(super) fn open(mut git: Git, now: Now) -> Told<(Git, Repository)> {
    let mut repository = Repository { at: now(), ..Repository::default() };
    let words = ["--is-bare-repository", "--is-inside-work-tree", "--is-shallow-repository", "--show-object-format"];
    let said = answered(git.ask(&[&["rev-parse"], &words[..]].concat())?)?;
    let lines: Vec<&str> = said.lines().collect();
    let [_, inside, shallow, format] = lines[..] else { return Err(Failure::Failed(None, said)) };
    repository.bare = inside != "true";
    repository.shallow = shallow == "true";
    format.clone_into(&mut repository.object_format);
    set_aside(&mut git, &mut repository)?;
    let place = |word: &str| answered(git.ask(&["rev-parse", "--path-format=absolute", word])?);
    repository.linked = place("--git-dir")? != place("--git-common-dir")?;
    let outer = answered(git.ask(&["rev-parse", "--show-superproject-working-tree"])?)?;
    repository.superproject = Some(outer.trim_end_matches('\n').to_owned()).filter(|outer| !outer.is_empty());
    Ok((git, repository))
}

/// The output of a question that has no other answer than success.
pub(super) fn answered(said: Said) -> Told<String> {
    if said.code == 0 { Ok(said.out) } else { Err(Failure::Failed(Some(said.code), said.err)) }
}

/// Reads the configuration: the remotes, and the filters that the repository itself names, which are set to nothing.
fn set_aside(git: &mut Git, repository: &mut Repository) -> Told<()> {
    let mut scope = None;
    let (mut names, mut remotes) = (Vec::new(), Vec::<Remote>::new());
    git.ask_each(&["config", "--list", "-z", "--show-scope"], |record| {
        let record = String::from_utf8_lossy(record);
        let Some(scope) = scope.take() else {
            scope = Some(record.into_owned());
            return;
        };
        let (key, value) = record.split_once('\n').unwrap_or((&record, ""));
        if let Some(name) = key.strip_prefix("filter.").and_then(|rest| rest.rsplit_once('.')).map(|(name, _)| name)
            && matches!(scope.as_str(), "local" | "worktree")
            && !names.iter().any(|one| one == name)
        {
            names.push(name.to_owned());
        }
        let remote = key.strip_prefix("remote.").and_then(|rest| rest.strip_suffix(".url"));
        if let Some(name) = remote.filter(|name| !remotes.iter().any(|one| one.name == **name)) {
            remotes.push(Remote { name: visible(text::head(name, WORDS)), url: without_user(value) });
        }
    })?;
    if names.len() > FILTERS {
        let told = format!("{} filters stand in its configuration, which are too many to set aside", names.len());
        return Err(Failure::Failed(None, told));
    }
    repository.own_filters = !names.is_empty();
    for name in names {
        for (part, value) in [("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")] {
            git.set(format!("filter.{name}.{part}"), value);
        }
    }
    remotes.truncate(REMOTES);
    repository.remotes = remotes;
    Ok(())
}

/// An address without user, password and what may be a token behind it.
fn without_user(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(scheme, rest)| (scheme, rest));
    let host_end = rest.find('/').unwrap_or(rest.len());
    let host_start = rest[..host_end].rfind('@').map_or(0, |at| at + 1);
    let scheme = if scheme.is_empty() { String::new() } else { format!("{scheme}://") };
    visible(text::head(&format!("{scheme}{}", &rest[host_start..]), WORDS))
}

struct Look<'l> {
    git: &'l Git,
    repository: &'l Repository,
    wanted: &'l Wanted,
    now: Now,
}

impl Look<'_> {
    fn everything(&self, facts: &mut Facts) {
        let Wanted { branch, base_commit, result_commit } = self.wanted;
        let mut failed = Vec::new();
        facts.head = kept(head(self.git, self.now), &mut failed);
        facts.branch = wanted(branch, || self.branch(branch), &mut failed);
        facts.base_commit = wanted(base_commit, || self.commit(base_commit), &mut failed);
        facts.result_commit = wanted(result_commit, || self.commit(result_commit), &mut failed);
        if let Some(result) = facts.result_commit.as_ref().and_then(Commit::found) {
            let base = facts.base_commit.as_ref().and_then(Commit::found);
            facts.result = Some(self.relations(result, base, facts.branch.as_ref(), &mut failed));
        }
        if !self.repository.bare {
            facts.changes = kept(self.changes(&mut failed), &mut failed);
        }
        failed.dedup();
        facts.failed = failed;
    }

    fn branch(&self, claimed: &str) -> Told<Branch> {
        let name = branch_name(claimed.trim(), &self.repository.remotes);
        let mut branch = Branch { at: (self.now)(), ..Branch::default() };
        let local = format!("refs/heads/{name}");
        if name.is_empty() || name == "HEAD" || length(name) > NAME_MAX || name.contains('\0') {
            return Ok(branch);
        }
        branch.is_name = self.git.ask(&["check-ref-format", &local])?.code == 0;
        if !branch.is_name {
            return Ok(branch);
        }
        let remotes = self.repository.remotes.iter().map(|remote| format!("refs/remotes/{}/{name}", remote.name));
        let mut refs: Vec<String> = vec![local.clone()];
        refs.extend(remotes);
        // Every field ends with a NUL: a path may hold whatever else there is.
        let format = "--format=%(refname)%00%(objectname)%00%(upstream:short)%00%(upstream:track,nobracket)%00%(worktreepath)%00";
        let mut words = vec!["for-each-ref", format, "--end-of-options"];
        words.extend(refs.iter().map(String::as_str));
        let mut fields: Vec<String> = Vec::new();
        self.git.ask_each(&words, |field| {
            fields.push(String::from_utf8_lossy(field).into_owned());
            if fields.len() < 5 {
                return;
            }
            let found = std::mem::take(&mut fields);
            let full = found[0].trim_start_matches('\n');
            if full == local {
                note_local(&mut branch, &found);
            } else if refs.iter().any(|one| one == full) {
                let name = full.trim_start_matches("refs/remotes/").to_owned();
                branch.tracking.push(Tracking { name, commit: found[1].clone() });
            }
        })?;
        if let Some(path) = &branch.checked_out {
            let here = answered(self.git.ask(&["rev-parse", "--path-format=absolute", "--git-dir"])?)?;
            let there = self.git.at(PathBuf::from(path)).ask(&["rev-parse", "--path-format=absolute", "--git-dir"]);
            branch.checked_out_here = there.is_ok_and(|said| said.code == 0 && said.out == here);
        }
        Ok(branch)
    }

    /// A commit by the beginning of its hash; names of branches and tags are none, even if they look like one.
    fn commit(&self, claimed: &str) -> Told<Commit> {
        let mut commit = Commit { at: (self.now)(), ..Commit::default() };
        let hash = claimed.trim().trim_matches('`').to_lowercase();
        if !(4..=64).contains(&hash.len()) || !hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(commit);
        }
        commit.found = Found::Missing;
        let fitting = answered(self.git.ask(&["rev-parse", &format!("--disambiguate={hash}")])?)?;
        if fitting.trim().is_empty() {
            return Ok(commit);
        }
        let kinds = ["cat-file", "--batch-check=%(objecttype) %(objectname)"];
        let kinds = answered(self.git.ask_with(&kinds, &fitting)?)?;
        // What stands behind a whole hash, git leaves out.
        let fits = |id: &&str| id.starts_with(&hash);
        let commits: Vec<&str> = kinds.lines().filter_map(|line| line.strip_prefix("commit ")).filter(fits).collect();
        commit.candidates = i64::try_from(commits.len()).unwrap_or(i64::MAX);
        commit.found = match commits[..] {
            [] if kinds.lines().all(|line| !line.contains(&hash)) => Found::Missing,
            [] => Found::NoCommit,
            [_] => Found::Commit,
            _ => Found::Ambiguous,
        };
        commit.id = commits.first().filter(|_| commits.len() == 1).map(|id| (*id).to_owned());
        Ok(commit)
    }

    fn relations(
        &self,
        result: &str,
        base: Option<&str>,
        branch: Option<&Branch>,
        failed: &mut Vec<String>,
    ) -> Relations {
        let mut relations = Relations { at: (self.now)(), ..Relations::default() };
        let branch = branch.filter(|branch| branch.exists());
        let ends = branch.into_iter().flat_map(|branch| {
            branch.local.iter().chain(branch.tracking.iter().map(|one| &one.commit)).map(String::as_str)
        });
        let mut holding = Ok(branch.map(|_| false));
        for end in ends {
            match self.is_ancestor(result, end) {
                Ok(Some(true)) => {
                    holding = Ok(Some(true));
                    relations.commits_after = kept(self.count(result, end), failed).flatten();
                    break;
                }
                Ok(Some(false)) => {}
                Ok(None) => holding = Ok(None),
                Err(failure) => holding = Err(failure),
            }
        }
        relations.on_branch = kept(holding, failed).flatten();
        relations.descends_from_base = base.and_then(|base| kept(self.is_ancestor(base, result), failed).flatten());
        let held = kept(self.held(result, "refs/remotes/", 1), failed);
        relations.pushed = held.map(|held| !held.is_empty()).filter(|held| *held || !self.repository.shallow);
        if relations.on_branch != Some(true) {
            relations.held_by = kept(self.held(result, "refs/", EXAMPLES), failed).unwrap_or_default();
        }
        relations
    }

    /// True if `end` is `one` or descends from it; nothing where history ends before that is known.
    fn is_ancestor(&self, one: &str, end: &str) -> Told<Option<bool>> {
        let is_one = self.git.ask(&["merge-base", "--is-ancestor", one, end])?.code == 0;
        Ok(Some(is_one).filter(|is_one| *is_one || !self.repository.shallow))
    }

    /// How many commits there are behind `one` up to `end`.
    fn count(&self, one: &str, end: &str) -> Told<Option<i64>> {
        if self.repository.shallow {
            return Ok(None);
        }
        let range = format!("{one}..{end}");
        Ok(answered(self.git.ask(&["rev-list", "--count", "--end-of-options", &range])?)?.trim().parse().ok())
    }

    /// The first branches below `place` that hold a commit.
    fn held(&self, commit: &str, place: &str, most: usize) -> Told<Vec<String>> {
        let (count, contains) = (format!("--count={most}"), format!("--contains={commit}"));
        let (heads, remotes) = (format!("{place}heads/"), format!("{place}remotes/"));
        let places = if place == "refs/" { vec![heads.as_str(), remotes.as_str()] } else { vec![place] };
        let mut words = vec!["for-each-ref", &count, &contains, "--format=%(refname:short)"];
        words.extend(places);
        let said = answered(self.git.ask(&words)?)?;
        Ok(said.lines().map(|name| text::head(name, WORDS).to_owned()).collect())
    }

    fn changes(&self, failed: &mut Vec<String>) -> Told<Changes> {
        let mut changes = Changes { at: (self.now)(), ..Changes::default() };
        let mut examples = Vec::new();
        (changes.uncommitted, changes.untracked) = count_changes(self.git, &mut examples, EXAMPLES)?;
        changes.examples = examples;
        let top = answered(self.git.ask(&["rev-parse", "--path-format=absolute", "--show-toplevel"])?)?;
        let top = PathBuf::from(top.trim_end_matches('\n'));
        let (paths, more) = submodules(self.git, &top)?;
        if more > 0 {
            failed.push(format!("{more} more submodules were not looked at"));
        }
        for (path, folder) in paths {
            let found = self.submodule(&path, &folder);
            changes.submodules.extend(kept(found, failed).filter(|one| one.uncommitted + one.untracked > 0));
        }
        Ok(changes)
    }

    /// Its own configuration is the one that counts in it, and names its own filters.
    fn submodule(&self, path: &str, folder: &Path) -> Told<Submodule> {
        let git = own(self.git, folder)?;
        let (uncommitted, untracked) = count_changes(&git, &mut Vec::new(), 0)?;
        Ok(Submodule { path: path.to_owned(), uncommitted, untracked })
    }
}

/// What is checked out.
pub(super) fn head(git: &Git, now: Now) -> Told<Head> {
    let at = now();
    let symbolic = git.ask(&["symbolic-ref", "--quiet", "HEAD"])?;
    let branch = Some(symbolic.out.trim_end_matches('\n')).filter(|_| symbolic.code == 0);
    let commit = git.ask(&["rev-parse", "--verify", "--quiet", "--end-of-options", "HEAD^{commit}"])?;
    let commit = Some(commit.out.trim()).filter(|id| commit.code == 0 && !id.is_empty());
    Ok(Head {
        at,
        branch: branch.map(|name| name.strip_prefix("refs/heads/").unwrap_or(name).to_owned()),
        commit: commit.map(str::to_owned),
    })
}

/// What was looked at; a failure is noted.
fn kept<T>(found: Told<T>, failed: &mut Vec<String>) -> Option<T> {
    found.map_err(|failure| failed.push(told(&failure))).ok()
}

/// The same, if there is something to look for.
fn wanted<T>(name: &str, look: impl FnOnce() -> Told<T>, failed: &mut Vec<String>) -> Option<T> {
    if name.trim().is_empty() { None } else { kept(look(), failed) }
}

fn note_local(branch: &mut Branch, found: &[String]) {
    let some = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    branch.local = some(&found[1]);
    branch.upstream = some(&found[2]);
    branch.checked_out = some(&found[4]);
    for part in found[3].split(", ") {
        match part.split_once(' ') {
            Some(("ahead", count)) => branch.ahead = count.parse().unwrap_or_default(),
            Some(("behind", count)) => branch.behind = count.parse().unwrap_or_default(),
            _ => branch.upstream_gone |= part == "gone",
        }
    }
}

/// How many files differ from the last commit, and how many git does not know; the first few by name.
pub(super) fn count_changes(git: &Git, examples: &mut Vec<String>, most: usize) -> Told<(i64, i64)> {
    let (mut uncommitted, mut untracked) = (0, 0);
    each_change(git, |is_untracked, path| {
        *(if is_untracked { &mut untracked } else { &mut uncommitted }) += 1;
        if examples.len() < most {
            examples.push(visible(text::head(&String::from_utf8_lossy(path), WORDS)));
        }
    })?;
    Ok((uncommitted, untracked))
}

/// Each file that differs from the last commit, or that git does not know, which is told with it. Submodules are left to
/// themselves: git would look at them with their own configuration. The answer is what git warned of: folders that it could
/// not look into, whose files are not told.
pub(super) fn each_change(git: &Git, mut each: impl FnMut(bool, &[u8])) -> Told<String> {
    let words = [
        "status",
        "--porcelain=v2",
        "-z",
        "--no-renames",
        "--untracked-files=all",
        "--ignored=no",
        "--ignore-submodules=dirty",
    ];
    git.ask_each_warned(&words, |record| {
        // Each sort of record has so many words before its path.
        let before = match record.first() {
            Some(b'1') => 8,
            Some(b'u') => 10,
            Some(b'?') => 1,
            _ => return,
        };
        let path = record.splitn(before + 1, |byte| *byte == b' ').last().unwrap_or_default();
        each(record[0] == b'?', path);
    })
}

/// The first submodules whose files are here, by their paths and folders; and how many more there are.
pub(super) fn submodules(git: &Git, top: &Path) -> Told<(Vec<(String, PathBuf)>, usize)> {
    let mut found = Vec::new();
    let mut more = 0;
    let whole = top.canonicalize().unwrap_or_else(|_| top.to_owned());
    git.at(top.to_owned()).ask_each(&["ls-files", "-z", "--stage"], |record| {
        let record = String::from_utf8_lossy(record);
        let Some((_, path)) = record.split_once('\t').filter(|(entry, _)| entry.starts_with("160000 ")) else { return };
        // A link in its way may lead anywhere.
        let Ok(folder) = top.join(path).canonicalize() else { return };
        if !folder.starts_with(&whole) || folder == whole || !folder.join(".git").exists() {
            return;
        }
        if found.len() < SUBMODULES {
            found.push((visible(text::head(path, WORDS)), folder));
        } else {
            more += 1;
        }
    })?;
    Ok((found, more))
}
