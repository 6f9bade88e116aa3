//! What a run's repository shares with others: references, what is checked out in the main working tree, settings, hooks,
//! records of worktrees.
//! Noted before the harness works and compared after it. Must never say who changed something: people and other runs work
//! there too. Must never run what it finds, nor show a setting's value, which may be a secret.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use super::super::file;
use super::super::folder::{Plan, RunFolder};
use super::records;
use crate::domain::secret::masked;
use crate::domain::text::{first_of, head, hex, visible};
use crate::git::Failure;
use crate::git::since::Since;
use crate::git::worktree::in_words;

/// The note's name in the run's folder.
const NOTE: &str = "repository-before";
/// How long git may take for each look.
const QUESTIONS: Duration = Duration::from_mins(1);
/// How many of several are named in a sentence.
const NAMED: usize = 5;
/// How much of a name is told, in characters.
const NAME: usize = 200;
/// How many hooks are looked at, and how much of one file.
const HOOKS: usize = 1_000;
const FILE: u64 = 1024 * 1024;
/// Files of git's, beside its settings, that change what git says or runs.
const FILES: [&str; 5] =
    ["info/attributes", "info/exclude", "info/grafts", "info/sparse-checkout", "objects/info/alternates"];
/// How the sentences begin.
const CHANGED: &str = "Changed while the run worked, by it or by others:";

/// A note, by its digest: whoever works in the run's folder could write over it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Noted {
    digest: [u8; 32],
    /// The branches of runs that there were: one of them may be cleaned meanwhile.
    branches: Vec<String>,
}

/// Notes what there is now; why not, in a sentence, where that cannot be done.
pub fn note(plan: &Plan, folder: &RunFolder) -> Result<Noted, String> {
    let part = folder.path().join(format!("{NOTE}.part"));
    let written = open(plan).and_then(|since| {
        let mut note = Note::create(&part).map_err(failed)?;
        for (name, mark) in little(&since, plan, folder)? {
            note.record(&[&mark, name.as_bytes()]).map_err(failed)?;
        }
        note.record(&[]).map_err(failed)?;
        let mut kept = Ok(());
        since.references(|name, object| {
            if kept.is_ok() {
                kept = note.record(&[object, name]);
            }
        })?;
        kept.map_err(failed)?;
        let digest = note.end().map_err(failed)?;
        fs::rename(&part, folder.path().join(NOTE)).map_err(failed)?;
        Ok(Noted { digest, branches: Known::of(plan, folder).branches })
    });
    written.map_err(|failure| {
        format!(
            "What there was in the repository could not be noted before the run, so what changed beside its branch cannot be \
             told: {}.",
            in_words(&failure)
        )
    })
}

#[expect(clippy::needless_pass_by_value, reason = "it is what map_err hands on")]
fn failed(error: io::Error) -> Failure {
    Failure::Failed(None, error.to_string())
}

fn open(plan: &Plan) -> Result<Since, Failure> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let since = Since::open(&path, &plan.git_folder, Instant::now() + QUESTIONS)?;
    if since.git_folder == plan.git_folder {
        Ok(since)
    } else {
        Err(Failure::Failed(None, "the repository is gone".to_owned()))
    }
}

/// What is not in the repository any more as it was, a sentence each; what could not be found out is one of them.
///
/// `noted` is the note's digest where who asks has it.
pub fn changed(plan: &Plan, folder: &RunFolder, noted: Option<&Noted>) -> Vec<String> {
    compare(plan, folder, noted).unwrap_or_else(|why| {
        vec![format!("What changed in the repository beside the run's branch could not be found out: {why}.")]
    })
}

fn compare(plan: &Plan, folder: &RunFolder, noted: Option<&Noted>) -> Result<Vec<String>, String> {
    let unread = |error: io::Error| format!("the note of what was there before cannot be read ({error})");
    let of_git = |failure: Failure| in_words(&failure);
    let mut before = Before::open(&folder.path().join(NOTE)).map_err(unread)?;
    let since = open(plan).map_err(of_git)?;
    let mut known = Known::of(plan, folder);
    known.branches.extend(noted.iter().flat_map(|noted| noted.branches.clone()));
    let earlier = before.little().map_err(unread)?;
    let mut problems = little_changed(plan, &earlier, &little(&since, plan, folder).map_err(of_git)?, &known);
    let mut told = Told { known: &known, moves: Vec::new(), count: 0 };
    since.references(|name, object| told.meet(&mut before, name, object)).map_err(of_git)?;
    told.rest(&mut before);
    let digest = before.end().map_err(unread)?;
    if noted.is_some_and(|noted| noted.digest != digest) {
        return Err("the note of what was there before was written over".to_owned());
    }
    problems.extend(told.sentence());
    Ok(problems)
}

/// The note while it is written: records that end with a NUL.
struct Note {
    file: BufWriter<File>,
    digest: Sha256,
}

impl Note {
    fn create(path: &Path) -> io::Result<Self> {
        Ok(Self { file: BufWriter::new(file::create(path)?), digest: Sha256::new() })
    }

    /// Words that a space keeps apart, of which only the last may hold one.
    fn record(&mut self, words: &[&[u8]]) -> io::Result<()> {
        let mut record = words.join(&b' ');
        record.push(0);
        self.digest.update(&record);
        self.file.write_all(&record)
    }

    fn end(mut self) -> io::Result<[u8; 32]> {
        self.file.flush()?;
        Ok(self.digest.finalize().into())
    }
}

/// The note while it is read.
struct Before {
    file: BufReader<File>,
    digest: Sha256,
    next: Option<(Vec<u8>, Vec<u8>)>,
    failed: Option<io::Error>,
}

impl Before {
    fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { file: BufReader::new(file::open(path)?), digest: Sha256::new(), next: None, failed: None })
    }

    /// The mark and the name of the next record; none at the end of a part.
    fn read(&mut self) -> io::Result<Option<(Vec<u8>, Vec<u8>)>> {
        let mut record = Vec::new();
        self.file.read_until(0, &mut record)?;
        self.digest.update(&record);
        record.pop();
        let Some(end) = record.iter().position(|byte| *byte == b' ') else { return Ok(None) };
        Ok(Some((record[..end].to_vec(), record[end + 1..].to_vec())))
    }

    /// The part before the references.
    fn little(&mut self) -> io::Result<BTreeMap<String, Vec<u8>>> {
        let mut little = BTreeMap::new();
        while let Some((mark, name)) = self.read()? {
            little.insert(String::from_utf8_lossy(&name).into_owned(), mark);
        }
        self.step();
        Ok(little)
    }

    /// Goes on to the next reference; the one before it.
    fn step(&mut self) -> Option<(Vec<u8>, Vec<u8>)> {
        let next = self.read().unwrap_or_else(|error| {
            self.failed = Some(error);
            None
        });
        std::mem::replace(&mut self.next, next)
    }

    fn end(self) -> io::Result<[u8; 32]> {
        self.failed.map_or_else(|| Ok(self.digest.finalize().into()), Err)
    }
}

/// Branches of runs: what becomes of them, their own reports tell.
struct Known {
    branches: Vec<String>,
}

impl Known {
    fn of(plan: &Plan, folder: &RunFolder) -> Self {
        let others = folder.siblings().all().unwrap_or_default();
        let plans = others.iter().filter_map(|other| other.plan().ok());
        let plans = plans.filter(|other| other.git_folder == plan.git_folder);
        Self { branches: plans.map(|other| other.branch).chain([plan.branch.clone()]).collect() }
    }

    fn has(&self, branch: &str) -> bool {
        let of_run = branch.strip_prefix("heyaira/run-");
        self.branches.iter().any(|known| known == branch)
            || of_run.is_some_and(|id| id.len() == 8 && id.bytes().all(|byte| byte.is_ascii_hexdigit()))
    }
}

/// What happened to references.
struct Told<'t> {
    known: &'t Known,
    moves: Vec<String>,
    count: usize,
}

impl Told<'_> {
    /// One that is there now; those of the note that come before it are gone.
    fn meet(&mut self, before: &mut Before, name: &[u8], object: &[u8]) {
        while before.next.as_ref().is_some_and(|(_, next)| next.as_slice() < name) {
            self.gone(before.step());
        }
        if before.next.as_ref().is_none_or(|(_, next)| next != name) {
            self.tell(name, |shown| format!("{shown} appeared ({})", short(object)));
            return;
        }
        if let Some((was, _)) = before.step().filter(|(was, _)| was != object) {
            self.tell(name, |shown| format!("{shown} moved ({} to {})", short(&was), short(object)));
        }
    }

    fn rest(&mut self, before: &mut Before) {
        while before.next.is_some() {
            self.gone(before.step());
        }
    }

    fn gone(&mut self, one: Option<(Vec<u8>, Vec<u8>)>) {
        if let Some((was, name)) = one {
            self.tell(&name, |shown| format!("{shown} went away (was {})", short(&was)));
        }
    }

    fn tell(&mut self, name: &[u8], say: impl FnOnce(&str) -> String) {
        let name = String::from_utf8_lossy(name);
        let branch = name.strip_prefix("refs/heads/");
        if branch.is_some_and(|branch| self.known.has(branch)) {
            return;
        }
        self.count += 1;
        if self.moves.len() < NAMED {
            let shown = match (branch, name.strip_prefix("refs/tags/")) {
                (Some(branch), _) => format!("branch {}", shown(branch)),
                (_, Some(tag)) => format!("tag {}", shown(tag)),
                _ => shown(&name),
            };
            self.moves.push(say(&shown));
        }
    }

    fn sentence(&self) -> Option<String> {
        let more = self.count - self.moves.len();
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        (self.count > 0).then(|| format!("{CHANGED} {}{more}.", self.moves.join("; ")))
    }
}

fn short(object: &[u8]) -> String {
    String::from_utf8_lossy(&object[..object.len().min(12)]).into_owned()
}

fn shown(name: &str) -> String {
    visible(head(&masked(name), NAME))
}

/// What is no reference: what is checked out, settings, and files, each with a mark that changes with it.
fn little(since: &Since, plan: &Plan, folder: &RunFolder) -> Result<BTreeMap<String, Vec<u8>>, Failure> {
    let mut little = BTreeMap::new();
    let (branch, commit) = since.head()?;
    let (branch, commit) = (branch.unwrap_or_default(), commit.unwrap_or_default());
    // No space stands in a name of a branch, nor in a mark.
    little.insert("head".to_owned(), format!("{commit}:{branch}").into_bytes());
    for name in ["config", "config.worktree"] {
        settings(since, &plan.git_folder.join(name), &mut little);
    }
    let hooks = plan.git_folder.join("hooks");
    let names = hooks.read_dir().into_iter().flatten().flatten().map(|entry| entry.file_name());
    let hooks = names.take(HOOKS).map(|name| format!("hooks/{}", name.to_string_lossy()));
    for name in hooks.chain(FILES.map(str::to_owned)) {
        if let Some(mark) = mark(&plan.git_folder.join(&name)) {
            little.insert(format!("file {name}"), mark.into_bytes());
        }
    }
    records::note(plan, folder, &mut little);
    Ok(little)
}

/// The settings of a file, by their keys; the whole file where git cannot read it.
fn settings(since: &Since, file: &Path, little: &mut BTreeMap<String, Vec<u8>>) {
    let Some(whole) = mark(file) else { return };
    let mut digests: BTreeMap<String, Sha256> = BTreeMap::new();
    let read = since.settings(file, |key, value| digests.entry(key.to_owned()).or_default().update(value));
    if read.is_err() {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        little.insert(format!("file {name}"), whole.into_bytes());
    }
    little.extend(
        digests.into_iter().map(|(key, digest)| (format!("setting {key}"), hex(&digest.finalize()).into_bytes())),
    );
}

/// What a file is, by its mode and what stands in it; none where there is none. A link is what it leads to.
fn mark(path: &Path) -> Option<String> {
    let found = path.symlink_metadata().ok()?;
    let mut digest = Sha256::new();
    if found.is_symlink() {
        digest.update(fs::read_link(path).unwrap_or_default().as_os_str().as_encoded_bytes());
    } else if found.is_file() {
        let mut text = Vec::new();
        // One that cannot be read is told by its length.
        let _ = file::open(path).and_then(|file| file.take(FILE).read_to_end(&mut text));
        digest.update(&text);
    }
    #[cfg(unix)]
    digest.update(std::os::unix::fs::MetadataExt::mode(&found).to_le_bytes());
    digest.update(found.len().to_le_bytes());
    Some(hex(&digest.finalize()))
}

/// What of it changed.
fn little_changed(
    plan: &Plan,
    before: &BTreeMap<String, Vec<u8>>,
    now: &BTreeMap<String, Vec<u8>>,
    known: &Known,
) -> Vec<String> {
    let names = before.keys().chain(now.keys().filter(|name| !before.contains_key(*name)));
    let changed: Vec<&String> = names.filter(|name| before.get(*name) != now.get(*name)).collect();
    let named = |kind: &str| -> Vec<String> {
        let names = changed.iter().filter_map(|name| name.strip_prefix(kind));
        names.filter(|name| !is_of_run(name, known)).map(key).collect()
    };
    let mut problems = Vec::new();
    // Where the run itself works in the main working tree, the report tells of it.
    if changed.iter().any(|name| *name == "head") && plan.worktree != plan.repository {
        let told = |all: &BTreeMap<String, Vec<u8>>| all.get("head").map(|mark| checked_out(mark)).unwrap_or_default();
        let place = shown(&plan.repository.display().to_string());
        problems.push(format!("{CHANGED} {place} has {} checked out, before {}.", told(now), told(before)));
    }
    let (settings, files) = (named("setting "), named("file "));
    if !settings.is_empty() {
        problems.push(format!("{CHANGED} the repository's settings {}.", first_of(&settings, NAMED)));
    }
    if !files.is_empty() {
        let place = shown(&plan.git_folder.display().to_string());
        problems.push(format!("{CHANGED} {} in {place}.", first_of(&files, NAMED)));
    }
    let records = records::changed(plan, before, now, shown);
    if !records.is_empty() {
        let more = records.len().saturating_sub(NAMED);
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        problems.push(format!("{CHANGED} {}{more}.", records[..records.len().min(NAMED)].join("; ")));
    }
    problems
}

/// True for a setting of a run's branch.
fn is_of_run(key: &str, known: &Known) -> bool {
    let branch = key.strip_prefix("branch.").and_then(|rest| rest.rsplit_once('.'));
    branch.is_some_and(|(branch, _)| known.has(branch))
}

/// A key as it is shown: an address in one may hold a password.
fn key(key: &str) -> String {
    match (key.split_once('.'), key.rsplit_once('.')) {
        (Some((section @ ("url" | "http" | "credential" | "includeif"), _)), Some((_, name))) => {
            format!("{section}.….{}", shown(name))
        }
        _ => shown(key),
    }
}

/// What is checked out, as its mark has it.
fn checked_out(mark: &[u8]) -> String {
    let mark = String::from_utf8_lossy(mark);
    let (commit, branch) = mark.split_once(':').unwrap_or((&mark, ""));
    let branch = if branch.is_empty() { "no branch".to_owned() } else { shown(branch) };
    let commit =
        if commit.is_empty() { "without a commit".to_owned() } else { format!("at {}", short(commit.as_bytes())) };
    format!("{branch} {commit}")
}
