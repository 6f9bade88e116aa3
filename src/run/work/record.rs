//! Git's record of a run's worktree: whether it is still the run's own, and what gives it back one. Must be asked before
//! git is: by a record that belongs to another worktree, git would tell of that one, and change it.

use std::path::Path;

use super::super::folder::Plan;
use crate::git::record::{Record, all, of};
use crate::git::worktree::Branch;

/// Why nothing in the worktree may be read by git, without a full stop; none where git may be asked.
pub fn stray(plan: &Plan) -> Option<String> {
    astray(&plan.worktree, &plan.git_folder, &plan.repository)
}

/// The same of a folder in the repository with that folder of git's and that main working tree.
pub fn astray(folder: &Path, git_folder: &Path, main: &Path) -> Option<String> {
    match of(folder, git_folder, main) {
        Record::Own | Record::Missing => None,
        Record::Another(Some(other)) if is_marked(&other) => {
            Some(format!("git's record of this worktree belongs to another one now: {}", other.display()))
        }
        Record::Another(Some(other)) => {
            Some(format!("git's record of this worktree leads to {}, where none is", other.display()))
        }
        Record::Another(None) => Some("git's record of this worktree does not lead back to it".to_owned()),
        Record::Foreign => Some("the worktree belongs to another repository now".to_owned()),
    }
}

/// The command that gives the worktree a record of its own again and leaves its files as they are, where there is one.
///
/// `git worktree repair` alone would take the other worktree's record for this one, and without a record does nothing.
pub fn mend(plan: &Plan, branch: Option<&Branch>) -> Option<String> {
    let record = of(&plan.worktree, &plan.git_folder, &plan.repository);
    let mark = plan.worktree.join(".git").symlink_metadata();
    if record == Record::Own || record == Record::Foreign || mark.is_ok_and(|found| !found.is_file()) {
        return None;
    }
    let repository = word(&plan.repository.to_string_lossy());
    if matches!(&record, Record::Another(Some(other)) if !is_marked(other)) {
        return Some(format!("git -C {repository} worktree repair {}", word(&plan.worktree.to_string_lossy())));
    }
    if all(&plan.git_folder).iter().any(|(_, leads)| leads.as_ref() == Some(&plan.worktree)) {
        return Some(format!("git -C {repository} worktree repair"));
    }
    let (folder, beside) = (plan.worktree.to_string_lossy(), format!("{}.new", plan.worktree.to_string_lossy()));
    let at = match branch {
        Some(branch) if branch.worktree.is_none() => word(&branch.name),
        Some(branch) => format!("--detach {}", word(&branch.name)),
        None => format!("--detach {}", plan.base_commit),
    };
    let (mark, new) = (word(&format!("{folder}/.git")), word(&format!("{beside}/.git")));
    let (folder, beside) = (word(&folder), word(&beside));
    Some(format!(
        "git -C {repository} worktree add --no-checkout {beside} {at} && mv {new} {mark} && rmdir {beside} && \
         git -C {repository} worktree repair {folder} && git -C {folder} reset --quiet"
    ))
}

/// True for a folder that git could take for a working tree.
fn is_marked(folder: &Path) -> bool {
    folder.join(".git").symlink_metadata().is_ok()
}

/// A word for a shell.
fn word(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+:@%,=".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}
