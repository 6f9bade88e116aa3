//! Looking after a database: `verify`, `backup`, `restore`, `completions`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ArgMatches;
use serde_json::json;
use uuid::Uuid;

use crate::domain::project::Instance;
use crate::domain::time::Timestamp;
use crate::error::{Code, Refusal, Result};
use crate::operation::Service;
use crate::store::backend::{Transaction, work};
use crate::store::backups::{self, Backup};
use crate::store::{project, verify as check};
use crate::surface::cli::{Session, answer, caller, commands, now, redact, wait};

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
    let service = session.config.open(true)?;
    let deadline = std::time::Instant::now() + service.deadline;
    let present =
        wait(service.store.read(deadline, work(|transaction| Box::pin(project::replaceable_instance(transaction)))))?;
    let minted = (!matches.get_flag("same-instance"))
        .then(|| (service.ids.uuid(), project::new_pin_key(service.ids.uuid(), service.ids.uuid())));
    // What is put in place knows nothing of the backups that were made since, itself among them.
    let known = known_backups(&service, &file)?;
    let prepare = work(move |transaction| {
        let (minted, known) = (minted.clone(), known.clone());
        Box::pin(async move {
            let instance = become_instance(transaction, present, minted).await?;
            backups::add_missing(transaction, &known, &caller()).await.map(|()| instance)
        })
    });
    let (instance, before) = service.store.restore(&file, prepare)?;
    let told = json!({
        "restored": file.display().to_string(),
        "instance": instance,
        "kept": before.display().to_string(),
    });
    answer::print(&told, session.json)
}

/// The backups that this database knows of, and the one that takes its place.
fn known_backups(service: &Service, file: &Path) -> Result<Vec<Backup>> {
    let deadline = std::time::Instant::now() + service.deadline;
    let mut known = wait(service.store.read(deadline, work(|transaction| Box::pin(backups::all(transaction)))))?;
    let path = std::path::absolute(file).unwrap_or_else(|_| file.to_owned()).display().to_string();
    let made = file.metadata().and_then(|metadata| metadata.modified()).ok();
    let made = made.and_then(|made| made.duration_since(std::time::UNIX_EPOCH).ok());
    let made = made.and_then(|made| i64::try_from(made.as_micros()).ok()).map_or_else(now, Timestamp);
    known.push(Backup { file: path, made });
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
