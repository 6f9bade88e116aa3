//! Looking after a database: `verify`, `backup`, `restore`, `completions`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ArgMatches;
use serde_json::json;
use uuid::Uuid;

use crate::domain::project::Instance;
use crate::domain::task::short_id;
use crate::domain::text::first_of;
use crate::domain::time::Timestamp;
use crate::error::{Code, Refusal, Result};
use crate::operation::Service;
use crate::store::backend::{Transaction, work};
use crate::store::backups::{self, Backup};
use crate::store::{file, project, redaction, verify as check};
use crate::surface::cli::{Session, answer, caller, commands, now, redact, wait};

/// How many tasks are named in a sentence.
const TASKS_NAMED: usize = 5;

/// `heyaira verify`: the database's own check, then ours. Reads only.
pub fn verify(session: &Session, _matches: &ArgMatches) -> Result<ExitCode> {
    let service = session.config.open(false)?;
    let mut problems = service.store.integrity()?;
    let mut tasks = 0;
    if problems.is_empty() {
        (tasks, problems) = our_check(&service)?;
    }
    let clean = problems.is_empty();
    let told = json!({"clean": clean, "tasks": tasks, "problems": problems});
    answer::print(&told, session.json)?;
    Ok(if clean { ExitCode::SUCCESS } else { ExitCode::from(Code::Damaged.exit()) })
}

fn our_check(service: &Service) -> Result<(usize, Vec<String>)> {
    let deadline = || std::time::Instant::now() + std::time::Duration::from_hours(1);
    let mut problems =
        wait(service.store.read(deadline(), work(|transaction| Box::pin(check::table_problems(transaction)))))?;
    let (mut after, mut tasks) = (Uuid::nil(), 0);
    loop {
        let (last, count, found) = wait(service.store.read(
            deadline(),
            work(move |transaction| {
                Box::pin(async move {
                    let mut found = Vec::new();
                    let batch = check::tasks_behind(transaction, after).await?;
                    for (task_id, project_id) in &batch {
                        match check::task_problems(transaction, *project_id, *task_id).await {
                            Ok(problems) => found.extend(problems),
                            Err(refusal) if refusal.code == Code::Damaged => {
                                found.push(format!("task {task_id}: {}", refusal.message));
                            }
                            Err(refusal) => return Err(refusal),
                        }
                    }
                    Ok((batch.last().map(|(task_id, _)| *task_id), batch.len(), found))
                })
            }),
        ))?;
        problems.extend(found);
        tasks += count;
        match last {
            Some(last) => after = last,
            None => return Ok((tasks, problems)),
        }
    }
}

/// `heyaira backup FILE`.
pub fn backup(session: &Session, matches: &ArgMatches) -> Result<ExitCode> {
    let file = matches.get_one::<String>("file").map(PathBuf::from);
    let file = file.ok_or_else(|| Refusal::argument("the new file is missing: heyaira backup FILE"))?;
    let service = session.config.open(false)?;
    service.store.back_up(&file)?;
    redact::remember(&service.store, &file, caller())?;
    let bytes = file.metadata().map_or(0, |metadata| metadata.len());
    answer::print(&json!({"file": file.display().to_string(), "bytes": bytes}), session.json)
}

/// `heyaira restore FILE`.
pub fn restore(session: &Session, matches: &ArgMatches) -> Result<ExitCode> {
    let file = matches.get_one::<String>("file").map(PathBuf::from);
    let file = file.ok_or_else(|| Refusal::argument("the backup is missing: heyaira restore FILE"))?;
    if !file.is_file() {
        return Err(Refusal::argument(format!("there is no file {}", file.display())));
    }
    refuse_itself(session, &file)?;
    let service = session.config.open(true)?;
    let deadline = std::time::Instant::now() + service.deadline;
    let look = work(|transaction| {
        Box::pin(async move {
            let instance = project::replaceable_instance(transaction).await?;
            redaction::versions(transaction).await.map(|redacted| (instance, redacted))
        })
    });
    let (present, redacted) = wait(service.store.read(deadline, look))?;
    let minted = (!matches.get_flag("same-instance"))
        .then(|| (service.ids.uuid(), project::new_pin_key(service.ids.uuid(), service.ids.uuid())));
    // What is put in place knows nothing of the backups that were made since, itself among them.
    let known = known_backups(&service, &file)?;
    let is_another = minted.is_some();
    let prepare = work(move |transaction| {
        let (minted, known) = (minted.clone(), known.clone());
        Box::pin(async move {
            let instance = become_instance(transaction, present, minted).await?;
            backups::add_missing(transaction, &known, &caller()).await?;
            redaction::versions(transaction).await.map(|kept| (instance, kept))
        })
    });
    let ((instance, kept), before) = service.store.restore(&file, prepare)?;
    let undone: Vec<(Uuid, i64)> = redacted.into_iter().filter(|one| !kept.contains(one)).collect();
    let mut told = json!({"restored": file.display().to_string(), "instance": instance});
    if let Some(before) = before {
        told["kept"] = json!(before.display().to_string());
    }
    if !undone.is_empty() {
        let row = |(task_id, version): &(Uuid, i64)| json!({"task_id": short_id(*task_id), "version": version});
        told["redactions_undone"] = undone.iter().map(row).collect();
    }
    let next = what_next(&undone, is_another);
    if !next.is_empty() {
        told["next"] = json!(next);
    }
    answer::print(&told, session.json)
}

/// Refuses a backup that is the database which it is to replace.
fn refuse_itself(session: &Session, backup: &Path) -> Result<()> {
    let target = session.config.database.file();
    if target.is_none_or(|target| !file::is_one_file(target, backup)) {
        return Ok(());
    }
    Err(Refusal::argument(format!("{} is this database itself: name a backup of it", backup.display())))
}

/// What has to be done after a backup was put in place; empty if nothing has.
fn what_next(undone: &[(Uuid, i64)], is_another: bool) -> String {
    let mut next = Vec::new();
    if !undone.is_empty() {
        let named: Vec<String> =
            undone.iter().map(|(task_id, version)| format!("{} v{version}", short_id(*task_id))).collect();
        next.push(format!(
            "What was redacted since this backup was made is brought back ({}): run heyaira redact again now, for each \
             passage.",
            first_of(&named, TASKS_NAMED)
        ));
    }
    if is_another {
        next.push(
            "This is another instance now: connection profiles made before are refused. In each repository move \
             heyaira.toml away, then run heyaira profile PROJECT --write."
                .to_owned(),
        );
    }
    next.join(" ")
}

/// The backups that this database knows of, and the one that takes its place.
fn known_backups(service: &Service, file: &Path) -> Result<Vec<Backup>> {
    let deadline = std::time::Instant::now() + service.deadline;
    let mut known = wait(service.store.read(deadline, work(|transaction| Box::pin(backups::all(transaction)))))?;
    let made = file.metadata().and_then(|metadata| metadata.modified()).ok();
    let made = made.and_then(|made| made.duration_since(std::time::UNIX_EPOCH).ok());
    let made = made.and_then(|made| i64::try_from(made.as_micros()).ok()).map_or_else(now, Timestamp);
    known.push(Backup::at(file, made));
    Ok(known)
}

/// Refuses a backup of another instance than the `present` one; makes it a new one if one was `minted`.
async fn become_instance(
    transaction: &mut Transaction,
    present: Option<Uuid>,
    minted: Option<(Uuid, Vec<u8>)>,
) -> Result<Uuid> {
    let (instance, _) = project::identity(transaction, None).await?;
    if let Some(present) = present.filter(|present| *present != instance.id) {
        return Err(Refusal::new(
            Code::IdentityMismatch,
            format!("the backup is of instance {}, this database is instance {present}", instance.id),
            "Name a new file to put it into: heyaira restore FILE --database NEW. Nothing was changed.",
        ));
    }
    let Some((id, pin_key)) = minted else { return Ok(instance.id) };
    let is_named = instance.resource != format!("heyaira:{}", instance.id);
    let resource = if is_named { instance.resource } else { format!("heyaira:{id}") };
    project::replace_instance(transaction, &Instance { id, resource, pin_key }).await?;
    Ok(id)
}

/// `heyaira completions SHELL`.
pub fn completions(_session: &Session, matches: &ArgMatches) -> Result<ExitCode> {
    let shells = "bash, zsh, fish, elvish or powershell";
    let word = matches.get_one::<String>("shell").map(String::as_str).unwrap_or_default();
    let shell: clap_complete::Shell = word.parse().map_err(|_| Refusal::argument(format!("name a shell: {shells}")))?;
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut commands::all(), "heyaira", &mut script);
    answer::write(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}
