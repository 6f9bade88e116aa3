//! Which processes belong to a run: those that descend from its watcher, and those that carry its mark where the watcher is
//! gone. Must never take a process for one of a run because of its number alone: numbers are used again.

use std::collections::{BTreeMap, BTreeSet};

use rustix::process::Pid;

/// A process that has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Member {
    /// Its number.
    pub(super) id: i32,
    /// Its parent's number.
    parent: i32,
    /// Its process group.
    pub(super) group: i32,
    /// Its session.
    session: i32,
    /// When it began, in the kernel's own units.
    pub(super) began: u64,
    /// True while a signal or a debugger keeps it from doing anything.
    pub(super) is_stopped: bool,
}

/// A process by its number; none where it has ended.
pub(super) fn find(id: u32) -> Option<Member> {
    let id = i32::try_from(id).ok()?;
    #[cfg(target_os = "linux")]
    let found = one(id);
    #[cfg(not(target_os = "linux"))]
    let found = all().into_iter().find(|member| member.id == id);
    found
}

/// The process that was started with these words after its program's name.
pub(super) fn started_with(words: &[&str]) -> Option<Member> {
    all().into_iter().find(|member| is_started_with(member, words))
}

/// True for a process that was started with these words after its program's name.
pub(super) fn is_started_with(member: &Member, words: &[&str]) -> bool {
    let own = arguments(member);
    own.len() > words.len() && own[1..].iter().zip(words).all(|(own, word)| own == word.as_bytes())
}

/// What descends from a process, without that process. Elsewhere than on Linux also what carries the mark: a process whose
/// parent ended descends from nobody there.
pub(super) fn descendants(root: Pid, mark: &str) -> Vec<Member> {
    let root = root.as_raw_nonzero().get();
    let all = all();
    let marked = |member: &Member| cfg!(not(target_os = "linux")) && is_marked(member, mark);
    let first: BTreeSet<i32> =
        all.iter().filter(|member| marked(member)).map(|member| member.id).chain([root]).collect();
    below(&all, first).into_iter().filter(|member| member.id != root).collect()
}

/// What is left of a run whose watcher is gone: what carries its mark, what shares a session or a group with such a
/// process, and what descends from either. A session's and a group's number is not used again while one of it is left.
pub(super) fn left(mark: &str) -> Vec<Member> {
    let all = all();
    let own = std::process::id();
    let marked: Vec<&Member> =
        all.iter().filter(|member| u32::try_from(member.id) != Ok(own) && is_marked(member, mark)).collect();
    let here = all.iter().find(|member| u32::try_from(member.id) == Ok(own));
    let is_here = |number: i32| here.is_some_and(|here| here.session == number || here.group == number);
    let numbers = |of: fn(&Member) -> i32| -> BTreeSet<i32> {
        marked.iter().map(|member| of(member)).filter(|number| !is_here(*number)).collect()
    };
    let (sessions, groups) = (numbers(|member| member.session), numbers(|member| member.group));
    let is_one = |member: &&Member| {
        marked.iter().any(|one| one.id == member.id)
            || sessions.contains(&member.session)
            || groups.contains(&member.group)
    };
    let first = all.iter().filter(is_one).map(|member| member.id).collect();
    below(&all, first).into_iter().filter(|member| u32::try_from(member.id) != Ok(own)).collect()
}

/// Those processes and all below them.
fn below(all: &[Member], first: BTreeSet<i32>) -> Vec<Member> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for member in all {
        children.entry(member.parent).or_default().push(member.id);
    }
    let mut found = first.clone();
    let mut next: Vec<i32> = first.into_iter().collect();
    while let Some(id) = next.pop() {
        for child in children.get(&id).into_iter().flatten() {
            if found.insert(*child) {
                next.push(*child);
            }
        }
    }
    all.iter().filter(|member| found.contains(&member.id)).copied().collect()
}

/// All processes of this machine that can be seen and have not ended.
#[cfg(target_os = "linux")]
fn all() -> Vec<Member> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    ids.filter_map(one).collect()
}

#[cfg(target_os = "linux")]
fn one(id: i32) -> Option<Member> {
    // A process names itself, in bytes that need be no text.
    let stat = std::fs::read(format!("/proc/{id}/stat")).ok()?;
    read(id, &String::from_utf8_lossy(&stat))
}

#[cfg(target_os = "linux")]
fn arguments(member: &Member) -> Vec<Vec<u8>> {
    let words = std::fs::read(format!("/proc/{}/cmdline", member.id)).unwrap_or_default();
    words.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect()
}

/// One line of `/proc/ID/stat`. The name stands in brackets and may hold anything.
#[cfg(target_os = "linux")]
fn read(id: i32, stat: &str) -> Option<Member> {
    let fields: Vec<&str> = stat[stat.rfind(')')? + 1..].split_whitespace().collect();
    let number = |place: usize| fields.get(place)?.parse::<i32>().ok();
    // One that has ended keeps its number until its parent asks.
    if matches!(*fields.first()?, "Z" | "X") {
        return None;
    }
    Some(Member {
        id,
        parent: number(1)?,
        group: number(2)?,
        session: number(3)?,
        began: fields.get(19)?.parse().ok()?,
        is_stopped: matches!(*fields.first()?, "T" | "t"),
    })
}

#[cfg(target_os = "linux")]
fn is_marked(member: &Member, mark: &str) -> bool {
    let environment = std::fs::read(format!("/proc/{}/environ", member.id)).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
}

/// All processes of this machine that can be seen and have not ended.
#[cfg(not(target_os = "linux"))]
fn all() -> Vec<Member> {
    use sysinfo::{ProcessRefreshKind, ProcessStatus, ProcessesToUpdate, System};
    let Ok(mut system) = System::new() else { return Vec::new() };
    system.refresh_processes_specifics(ProcessesToUpdate::All, false, ProcessRefreshKind::nothing());
    let number = |id: sysinfo::Pid| i32::try_from(id.as_u32()).unwrap_or_default();
    let alive = system.processes().values().filter(|process| process.status() != ProcessStatus::Zombie);
    let member = |process: &sysinfo::Process| {
        let id = number(process.pid());
        let group = rustix::process::getpgid(Pid::from_raw(id)).map_or(id, |group| group.as_raw_nonzero().get());
        Member {
            id,
            parent: process.parent().map(number).unwrap_or_default(),
            group,
            session: process.session_id().map_or(id, number),
            began: process.start_time(),
            is_stopped: matches!(process.status(), ProcessStatus::Stop | ProcessStatus::Tracing),
        }
    };
    alive.map(member).collect()
}

#[cfg(not(target_os = "linux"))]
fn is_marked(member: &Member, mark: &str) -> bool {
    use sysinfo::{ProcessRefreshKind, ProcessesToUpdate, System, UpdateKind};
    let Ok(mut system) = System::new() else { return false };
    let Ok(id) = u32::try_from(member.id) else { return false };
    let id = sysinfo::Pid::from_u32(id);
    let wanted = ProcessRefreshKind::nothing().with_environ(UpdateKind::Always);
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[id]), false, wanted);
    let process = system.process(id).filter(|process| process.start_time() == member.began);
    process.is_some_and(|process| process.environ().iter().any(|variable| variable == mark))
}

#[cfg(not(target_os = "linux"))]
fn arguments(member: &Member) -> Vec<Vec<u8>> {
    use sysinfo::{ProcessRefreshKind, ProcessesToUpdate, System, UpdateKind};
    let (Ok(mut system), Ok(id)) = (System::new(), u32::try_from(member.id)) else { return Vec::new() };
    let id = sysinfo::Pid::from_u32(id);
    let wanted = ProcessRefreshKind::nothing().with_cmd(UpdateKind::Always);
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[id]), false, wanted);
    let words = system.process(id).map(sysinfo::Process::cmd).unwrap_or_default();
    words.iter().map(|word| word.as_encoded_bytes().to_vec()).collect()
}
