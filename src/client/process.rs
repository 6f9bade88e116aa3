//! Which process is the client that started this one, so that two programs of ours know that they serve the same client.
//! Must never take a process for the client's whose child this is not: where in doubt there is none.

use std::ffi::OsStr;
use std::path::Path;

use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System};

/// How many processes are looked at upwards.
const GENERATIONS: usize = 8;
/// What clients start commands with. It stands between a client and its command, and is never the client. Nor is what a
/// process without a parent falls to.
const BETWEEN: [&str; 19] = [
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "fish",
    "ash",
    "busybox",
    "timeout",
    "env",
    "nice",
    "cmd",
    "powershell",
    "init",
    "systemd",
    "launchd",
    "tini",
    "dumb-init",
    "docker-init",
];

/// A process, told from a later one of the same number by when it began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub id: u32,
    /// When it began, in seconds since 1970.
    pub began: u64,
}

impl Process {
    /// The nearest process above this one that is no shell and no program of this name: who had this one started.
    ///
    /// `told` is the number that the client says it has, believed only of a process above this one.
    pub fn client(told: Option<u32>) -> Option<Self> {
        let above = above(std::process::id());
        let of_told = told.and_then(|told| above.iter().find(|(process, _)| process.id == told));
        let nearest = || above.iter().find(|(_, is_between)| !is_between);
        of_told.or_else(nearest).map(|(process, _)| process.clone())
    }
}

/// The processes above one, the nearest first, and whether each only stands between a client and its command.
fn above(id: u32) -> Vec<(Process, bool)> {
    let Ok(mut system) = System::new() else { return Vec::new() };
    let mut find = |id: Pid| {
        system.refresh_processes_specifics(ProcessesToUpdate::Some(&[id]), false, ProcessRefreshKind::nothing());
        let process = system.process(id)?;
        let found = Process { id: id.as_u32(), began: process.start_time() };
        Some((found, is_between(process.name()), process.parent()))
    };
    let mut found = Vec::new();
    let mut next = find(Pid::from_u32(id)).and_then(|(_, _, parent)| parent);
    while let Some((process, between, parent)) = next.and_then(&mut find)
        && found.len() < GENERATIONS
    {
        found.push((process, between));
        next = parent;
    }
    found
}

fn is_between(name: &OsStr) -> bool {
    let stem = Path::new(name).file_stem().unwrap_or(name).to_string_lossy().to_lowercase();
    BETWEEN.contains(&stem.as_str()) || stem == env!("CARGO_PKG_NAME")
}
