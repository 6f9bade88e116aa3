//! A plan carried out, and taken back: what each file would become, the writing, and the way back. Every step may be the
//! last one: whatever stands then is whole, and the same command goes on from there.

use std::fs;
use std::mem::discriminant;
use std::path::{Path, PathBuf};

use crate::client::setup::difference::{Lines, unified};
use crate::client::setup::edit::{Edit, Present, Problem};
use crate::client::setup::file::{Seen, check_writable, look, missing_folders, replace, restore};
use crate::client::setup::record::{Kept, Record, User, failed, hash};
use crate::client::setup::{Change, Part};
use crate::error::{Code, Refusal, Result};

/// The byte order mark that some editors write.
const MARK: &str = "\u{feff}";

/// A file and what it becomes.
#[derive(Clone, Debug)]
pub struct Ready {
    /// The path that the client reads.
    pub path: PathBuf,
    /// Where the file is, behind all links.
    pub target: PathBuf,
    /// What is there now.
    pub before: Option<Vec<u8>>,
    /// What is there afterwards; nothing: the file goes.
    pub after: Option<Vec<u8>>,
    /// What is put in.
    pub edits: Vec<Edit>,
    /// Which parts of the set-up those are.
    pub parts: Vec<Part>,
    /// For whom.
    pub user: User,
}

impl Ready {
    /// True if the file is not yet so.
    pub fn changes(&self) -> bool {
        self.before != self.after
    }

    /// The change for people, without what others keep in the file.
    pub fn difference(&self) -> String {
        let ours: Vec<String> = self.edits.iter().flat_map(Edit::texts).collect();
        let is_text = self.edits.iter().all(|edit| matches!(edit, Edit::Block { .. } | Edit::Whole { .. }));
        let lines = if is_text { Lines::Text } else { Lines::Settings(&ours) };
        let text = |bytes: &Option<Vec<u8>>| bytes.as_ref().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        unified(&self.path.display().to_string(), text(&self.before).as_deref(), text(&self.after).as_deref(), lines)
    }
}

/// What happens to one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// What was there is kept.
    Recorded,
    /// The file is written, or gone.
    Written,
}

/// What every file becomes. All that hinders is told at once, and then nothing is written.
pub fn prepare(changes: &[Change], record: &Record, force: bool) -> Result<Vec<Ready>> {
    let mut ready: Vec<Ready> = Vec::new();
    let mut problems = Vec::new();
    for change in changes {
        if let Err(problem) = add(&mut ready, change, record, force) {
            problems.push((change.path.clone(), problem));
        }
    }
    for one in ready.iter().filter(|one| one.changes()) {
        let seen = Seen { target: one.target.clone(), bytes: one.before.clone() };
        if let Err(problem) = check_writable(&seen) {
            problems.push((one.path.clone(), problem));
        }
    }
    if problems.is_empty() { Ok(ready) } else { Err(refused(&problems)) }
}

fn refused(problems: &[(PathBuf, Problem)]) -> Refusal {
    let what: Vec<String> =
        problems.iter().map(|(path, problem)| format!("{} {}", path.display(), problem.what)).collect();
    let mut next: Vec<&str> = problems.iter().map(|(_, problem)| problem.next.as_str()).collect();
    next.dedup();
    Refusal::not_allowed(what.join("; "), format!("{}\nNo file was written.", next.join("\n")))
}

fn add(ready: &mut Vec<Ready>, change: &Change, record: &Record, force: bool) -> Result<(), Problem> {
    let seen = look(&change.path)?;
    // Whoever made the repository chose where its links lead; a person's shell must not read our text.
    let root = change.user.repository.as_ref().and_then(|root| root.canonicalize().ok());
    if !force && root.is_some_and(|root| !seen.target.starts_with(root)) {
        let next = "Put a file in the place of the link, or write there all the same with --force.";
        return Err(Problem::new(format!("leads out of the repository, to {}", seen.target.display()), next));
    }
    let index = ready.iter().position(|one| one.target == seen.target).unwrap_or(ready.len());
    if index == ready.len() {
        ready.push(Ready {
            path: change.path.clone(),
            target: seen.target,
            before: seen.bytes.clone(),
            after: seen.bytes,
            edits: Vec::new(),
            parts: Vec::new(),
            user: change.user.clone(),
        });
    }
    let one = &mut ready[index];
    let kept = record.of(&one.target);
    let ours = one.after.as_ref().zip(kept).is_some_and(|(bytes, kept)| hash(bytes) == kept.after);
    let text = one.after.as_deref().map(text_of).transpose()?;
    let put = change.edit.put(Present { text: text.map(|(_, text)| text), ours, force })?;
    let mark = text.map_or("", |(mark, _)| mark);
    one.after = Some(format!("{mark}{put}").into_bytes());
    one.edits.push(change.edit.clone());
    one.parts.push(change.part);
    Ok(())
}

/// A file as its mark and its text.
fn text_of(bytes: &[u8]) -> Result<(&str, &str), Problem> {
    let text = std::str::from_utf8(bytes).map_err(|_| Problem::new("is not UTF-8 text", "Save it as UTF-8."))?;
    Ok(text.strip_prefix(MARK).map_or(("", text), |rest| (MARK, rest)))
}

/// Writes what is not yet so. `step` is told of each step and may end the whole.
pub fn carry_out(ready: &[Ready], record: &mut Record, step: &mut dyn FnMut(&Ready, Step) -> Result<()>) -> Result<()> {
    for one in ready {
        if !one.changes() {
            let known = record.of_mut(&one.target).filter(|kept| !kept.users.contains(&one.user));
            if let Some(kept) = known {
                kept.users.push(one.user.clone());
                record.save()?;
            }
            continue;
        }
        note(one, record)?;
        step(one, Step::Recorded)?;
        check_unchanged(one)?;
        let after = one.after.as_deref().unwrap_or_default();
        replace(&one.target, after).map_err(|error| failed("write", &one.target, &error))?;
        step(one, Step::Written)?;
    }
    Ok(())
}

/// Refuses once another program, such as the client itself, has written the file since it was looked at.
fn check_unchanged(one: &Ready) -> Result<()> {
    let now = look(&one.path).map_err(|problem| refused(&[(one.path.clone(), problem)]))?;
    if now.bytes == one.before {
        return Ok(());
    }
    let message = format!("{} was changed by another program in this very moment", one.path.display());
    Err(Refusal::new(Code::Unavailable, message, "Run it again: it goes on where it stopped."))
}

/// Keeps what is there before it is changed.
fn note(one: &Ready, record: &mut Record) -> Result<()> {
    let earlier = record.of(&one.target).cloned();
    let before = original(one, earlier.as_ref(), record)?;
    let mut folders = missing_folders(&one.target);
    let mut users = vec![one.user.clone()];
    let mut earlier_edits = Vec::new();
    if let Some(earlier) = earlier {
        earlier_edits = earlier.edits;
        folders = earlier.folders.into_iter().chain(folders).collect();
        users = earlier.users.into_iter().filter(|user| *user != one.user).chain(users).collect();
    }
    let before = before.map(|bytes| record.keep(&one.target, &bytes)).transpose()?;
    let after = hash(one.after.as_deref().unwrap_or_default());
    // A set-up that leaves a part out leaves what an earlier one put in: it is taken back with the rest.
    let is_new = |edit: &Edit| !one.edits.iter().any(|new| discriminant(new) == discriminant(edit));
    let edits = earlier_edits.into_iter().filter(is_new).chain(one.edits.iter().cloned()).collect();
    let kept = Kept { target: one.target.clone(), before, after, folders, edits, users };
    match record.of_mut(&one.target) {
        Some(earlier) => *earlier = kept,
        None => record.files.push(kept),
    }
    record.save()
}

/// What an undoing brings back: what was there before the first set-up, or, where the file was changed since, the file
/// without what is ours.
fn original(one: &Ready, earlier: Option<&Kept>, record: &Record) -> Result<Option<Vec<u8>>> {
    let Some(kept) = earlier else { return Ok(one.before.clone()) };
    let before = record.before(kept)?;
    let Some(now) = &one.before else { return Ok(before) };
    if hash(now) == kept.after || Some(now) == before.as_ref() {
        return Ok(before);
    }
    Ok(without_ours(now, kept, before.as_deref()).unwrap_or_else(|_| Some(now.clone())))
}

/// A file without what a set-up put in.
fn without_ours(now: &[u8], kept: &Kept, before: Option<&[u8]>) -> Result<Option<Vec<u8>>, Problem> {
    let (mark, text) = text_of(now)?;
    let before = before.map(text_of).transpose()?.map(|(_, text)| text);
    let mut rest = Some(text.to_owned());
    for edit in kept.edits.iter().rev() {
        rest = rest.map(|text| edit.take_out(&text, before)).transpose()?.flatten();
    }
    Ok(rest.map(|text| format!("{mark}{text}").into_bytes()))
}

/// What an undoing does to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undoing {
    /// It is as it was, byte for byte.
    Restored,
    /// It was changed since: only what is ours is taken out.
    TakenOut,
    /// It is as it was already, or gone as it was before.
    Nothing,
    /// Others still use it.
    Shared(Vec<User>),
    /// It is so that it is left alone, and why; it stays in the record.
    Left(String),
}

/// What an undoing would do.
pub fn prepare_undo(record: &Record, is_undone: &dyn Fn(&User) -> bool) -> Result<Vec<(Ready, Undoing)>> {
    let concerned = record.files.iter().filter(|kept| kept.users.iter().any(is_undone));
    concerned.map(|kept| undoing(kept, record, is_undone)).collect()
}

fn undoing(kept: &Kept, record: &Record, is_undone: &dyn Fn(&User) -> bool) -> Result<(Ready, Undoing)> {
    let user = kept.users.iter().find(|user| is_undone(user)).cloned();
    let others: Vec<User> = kept.users.iter().filter(|user| !is_undone(user)).cloned().collect();
    let now = look(&kept.target).map(|seen| seen.bytes);
    let ready = |now: Option<Vec<u8>>, after: Option<Vec<u8>>| Ready {
        path: kept.target.clone(),
        target: kept.target.clone(),
        before: now,
        after,
        edits: kept.edits.clone(),
        parts: Vec::new(),
        user: user.clone().unwrap_or(User { client: String::new(), repository: None }),
    };
    let now = match now {
        Ok(now) => now,
        Err(problem) => return Ok((ready(None, None), left(kept, record, &problem))),
    };
    if !others.is_empty() {
        return Ok((ready(now.clone(), now), Undoing::Shared(others)));
    }
    let before = record.before(kept)?;
    if now.is_none() && before.is_some() {
        return Ok((ready(now, before), Undoing::Restored));
    }
    let Some(bytes) = now.clone().filter(|bytes| Some(bytes) != before.as_ref()) else {
        return Ok((ready(now.clone(), now), Undoing::Nothing));
    };
    if hash(&bytes) == kept.after {
        return Ok((ready(now, before), Undoing::Restored));
    }
    Ok(match without_ours(&bytes, kept, before.as_deref()) {
        Ok(rest) if rest.as_ref() == Some(&bytes) => (ready(now, rest), Undoing::Nothing),
        Ok(rest) => (ready(now, rest), Undoing::TakenOut),
        Err(problem) => (ready(now.clone(), now), left(kept, record, &problem)),
    })
}

/// What is left alone stays in the record, so that it can be taken back once it is mended.
fn left(kept: &Kept, record: &Record, problem: &Problem) -> Undoing {
    let copy = record.copy(kept).map(|copy| format!(" (what was there before: {})", copy.display()));
    Undoing::Left(format!("{}{}", problem.what, copy.unwrap_or_default()))
}

/// Puts back. `step` is told of each step and may end the whole.
pub fn undo(
    plan: &[(Ready, Undoing)],
    record: &mut Record,
    is_undone: &dyn Fn(&User) -> bool,
    step: &mut dyn FnMut(&Ready, Step) -> Result<()>,
) -> Result<()> {
    check_all_writable(plan)?;
    for (one, undoing) in plan {
        if one.changes() {
            check_unchanged(one)?;
            let written = match &one.after {
                // Its mode went with the file that is gone; others' tokens may be in what comes back.
                Some(bytes) if one.before.is_none() => restore(&one.target, bytes),
                Some(bytes) => replace(&one.target, bytes),
                None => fs::remove_file(&one.target),
            };
            written.map_err(|error| failed("write", &one.target, &error))?;
            step(one, Step::Written)?;
        }
        if !matches!(undoing, Undoing::Left(_)) {
            forget(&one.target, undoing, record, is_undone)?;
        }
        step(one, Step::Recorded)?;
    }
    Ok(())
}

fn check_all_writable(plan: &[(Ready, Undoing)]) -> Result<()> {
    let changing = plan.iter().map(|(one, _)| one).filter(|one| one.changes());
    let problems: Vec<(PathBuf, Problem)> = changing
        .filter_map(|one| {
            let seen = Seen { target: one.target.clone(), bytes: one.before.clone() };
            check_writable(&seen).err().map(|problem| (one.path.clone(), problem))
        })
        .collect();
    if problems.is_empty() { Ok(()) } else { Err(refused(&problems)) }
}

/// Takes a user, or the whole entry, out of the record; folders that were made for the file and are empty go.
fn forget(target: &Path, undoing: &Undoing, record: &mut Record, is_undone: &dyn Fn(&User) -> bool) -> Result<()> {
    if let (Undoing::Shared(_), Some(kept)) = (undoing, record.of_mut(target)) {
        kept.users.retain(|user| !is_undone(user));
        return record.save();
    }
    let folders = record.of(target).map(|kept| kept.folders.clone()).unwrap_or_default();
    record.files.retain(|kept| kept.target != target);
    for folder in folders.into_iter().rev() {
        // Only an empty one goes; another is for the last of its files to remove.
        if fs::remove_dir(&folder).is_err() && folder.is_dir() {
            let heir = record.files.iter_mut().find(|kept| kept.target.starts_with(&folder));
            if let Some(kept) = heir {
                kept.folders.insert(0, folder);
            }
        }
    }
    record.save()
}
