//! Git's records of the other worktrees, before a run and after it: one that is taken away or turned round leaves a worktree
//! without what git knows of it. Must never tell what other runs of ours do to their own worktrees.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::super::folder::{Plan, RunFolder};
use crate::git::record;

/// How the names of what is noted begin.
const KIND: &str = "worktree ";
/// What stands for the worktree of a run, and for any other.
const OF_RUN: &[u8] = b"run";
const OTHER: &[u8] = b"other";

/// Notes each record by its name and where it leads.
pub(super) fn note(plan: &Plan, folder: &RunFolder, little: &mut BTreeMap<String, Vec<u8>>) {
    let runs = folder.siblings();
    let plans = runs.all().unwrap_or_default().into_iter().filter_map(|run| run.plan().ok());
    let known: Vec<PathBuf> = plans.filter(|other| other.run_id != plan.run_id).map(|other| other.worktree).collect();
    // The worktree of a run that begins is there before its plan is.
    let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (below, own) = (whole(runs.path()), whole(folder.path()));
    for (name, leads) in record::all(&plan.git_folder) {
        let leads = leads.unwrap_or_default();
        let is_of_run = known.contains(&leads) || leads.starts_with(&below) && !leads.starts_with(&own);
        let mark = if is_of_run { OF_RUN } else { OTHER };
        little.insert(format!("{KIND}{name}{}", leads.display()), mark.to_vec());
    }
}

/// What became of them, a part of a sentence each.
pub(super) fn changed(
    plan: &Plan,
    before: &BTreeMap<String, Vec<u8>>,
    now: &BTreeMap<String, Vec<u8>>,
    shown: fn(&str) -> String,
) -> Vec<String> {
    let records = |all: &BTreeMap<String, Vec<u8>>| -> Vec<(String, PathBuf, bool)> {
        let found = all.iter().filter_map(|(key, mark)| Some((parts(key)?, mark == OF_RUN)));
        found.map(|((name, place), is_of_run)| (name.to_owned(), PathBuf::from(place), is_of_run)).collect()
    };
    let (before, now) = (records(before), records(now));
    let is_in = |all: &[(String, PathBuf, bool)], name: &str, place: &Path| {
        all.iter().any(|(other, elsewhere, _)| other == name && elsewhere == place)
    };
    let gone = before.iter().filter(|(name, place, is_of_run)| {
        // A run that was cleaned took its worktree with it.
        let is_cleaned = *is_of_run && place.symlink_metadata().is_err();
        // What became of its own, the report tells.
        *place != plan.worktree && !is_cleaned && !is_in(&now, name, place)
    });
    let come = now.iter().filter(|(name, place, is_of_run)| !is_in(&before, name, place) && !is_of_run);
    let told = |(name, place, _): &(String, PathBuf, bool), what: &str, verb: &str| {
        let place = place.to_string_lossy();
        let place = if place.is_empty() { "nowhere".to_owned() } else { format!("to {}", shown(&place)) };
        format!("git's record {} of a worktree {what} (it {verb} {place})", shown(name))
    };
    let gone = gone.map(|record| told(record, "went away", "led"));
    gone.chain(come.map(|record| told(record, "appeared", "leads"))).collect()
}

/// The name and the place of what was noted: a path begins with a slash, which no name of a record holds.
fn parts(key: &str) -> Option<(&str, &str)> {
    let record = key.strip_prefix(KIND)?;
    Some(record.split_at(record.find('/').unwrap_or(record.len())))
}
