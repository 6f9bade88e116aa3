//! Copies of the whole database: backups, putting one back, and the check of a file. Must never take anything away before
//! what replaces it was checked, and never write beside the file lock.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use super::{OPENING, Store, Transaction, batch, connect, poll_once};
use crate::error::{Code, Refusal, Result};
use crate::store::backend::Work;
use crate::store::backend::failure::{failed, is_damage, unavailable};
use crate::store::backend::sqlite::writer::Held;
use crate::store::{file, migration, project};

/// How many pages a copy takes in one step, between which others write.
const PAGES: i32 = 1_000;

impl Store {
    /// A consistent copy of the database, made while it is in use.
    pub(in crate::store::backend) fn back_up(&self, to: &Path) -> Result<()> {
        copy(&self.reader()?, to)
    }

    /// Puts the backup `from` in the place of everything in this database, also while others use it: they find it at
    /// their next call. `prepare` may refuse the backup or change it first. Answers what `prepare` did, and where the
    /// content is that was there until now, if there was any.
    pub(in crate::store::backend) fn restore<T>(
        &self,
        from: &Path,
        prepare: impl Work<T>,
    ) -> Result<(T, Option<PathBuf>)> {
        let draft = aside(self.path(), "restoring");
        let restored = self.restore_by_way_of(&draft, from, prepare);
        let _ = std::fs::remove_file(&draft);
        restored
    }

    fn restore_by_way_of<T>(
        &self,
        draft: &Path,
        from: &Path,
        mut prepare: impl Work<T>,
    ) -> Result<(T, Option<PathBuf>)> {
        let source = Connection::open_with_flags(from, OpenFlags::SQLITE_OPEN_READ_ONLY);
        copy(&source.map_err(|error| unusable(from, &failed(&error)))?, draft)
            .map_err(|refusal| unusable(from, &refusal))?;
        let mut backup = Transaction::new(Connection::open(draft).map_err(|error| failed(&error))?);
        let problems = integrity(&backup.connection)?;
        if !problems.is_empty() {
            return Err(unusable(from, &Refusal::new(Code::Damaged, problems.join("; "), "")));
        }
        let found = poll_once(|transaction| Box::pin(migration::found(transaction)), &mut backup)?;
        if found != migration::CURRENT {
            return Err(Refusal::not_allowed(
                format!("{} has schema {found}, this program restores schema {}", from.display(), migration::CURRENT),
                "Open it once with this heyaira, which brings it up to date: heyaira verify --database FILE. Nothing \
                 was changed.",
            ));
        }
        batch(&backup, "begin immediate")?;
        let prepared = poll_once(|transaction| prepare(transaction), &mut backup)?;
        batch(&backup, "commit")?;

        let lock = file::lock_file(self.path())?;
        let held = Held::take_within(&lock, OPENING)?;
        self.inner.opened.check_content()?;
        let mut target = Transaction::new(connect(self.path(), false)?);
        // A database that was never set up holds nothing of anybody's.
        let is_set_up = poll_once(|transaction| Box::pin(project::instance_id(transaction)), &mut target)?.is_some();
        let before = is_set_up.then(|| aside(self.path(), "before-restore"));
        if let Some(before) = &before {
            copy(&target.connection, before)?;
        }
        replace(&backup.connection, &mut target.connection)?;
        self.inner.opened.check_after_commit()?;
        drop(held);
        Ok((prepared, before))
    }

    /// What `SQLite`'s own check finds; empty if the file is sound.
    pub(in crate::store::backend) fn integrity(&self) -> Result<Vec<String>> {
        integrity(&self.reader()?)
    }
}

/// A name beside the database for a copy of it that nobody asked for.
fn aside(database: &Path, what: &str) -> PathBuf {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut name = database.as_os_str().to_owned();
    name.push(format!(".{what}-{}-{}", now.as_secs(), std::process::id()));
    PathBuf::from(name)
}

/// Saves what this connection sees into a new file beside the database, for a log that others do not see.
pub(super) fn rescue(transaction: &Transaction, database: &Path) -> Result<PathBuf> {
    let to = aside(database, "rescued");
    copy(&transaction.connection, &to)?;
    Ok(to)
}

/// Writes everything into a new file, complete in itself: no log beside it.
fn copy(from: &Connection, to: &Path) -> Result<()> {
    file::new_private(to)?;
    let copy = || -> rusqlite::Result<()> {
        let mut target = Connection::open(to)?;
        Backup::new(from, &mut target)?.run_to_completion(PAGES, Duration::ZERO, None)?;
        target.pragma_update(None, "journal_mode", "delete")
    };
    copy().map_err(|error| {
        let _ = std::fs::remove_file(to);
        failed(&error)
    })?;
    File::open(to).and_then(|file| file.sync_all()).map_err(|error| file::failed("sync", to, &error))
}

/// Writes everything over what is in `to`, in one transaction of its.
fn replace(from: &Connection, to: &mut Connection) -> Result<()> {
    let mut step = || Backup::new(from, to)?.step(-1);
    match step().map_err(|error| failed(&error))? {
        StepResult::Done => Ok(()),
        _ => Err(unavailable("the database is busy".to_owned())),
    }
}

fn integrity(connection: &Connection) -> Result<Vec<String>> {
    let check = || -> rusqlite::Result<Vec<String>> {
        let mut statement = connection.prepare("pragma integrity_check(20)")?;
        let found = statement.query_map([], |row| row.get::<_, String>(0))?;
        found.collect()
    };
    match check() {
        Ok(lines) => Ok(lines.into_iter().filter(|line| line != "ok").collect()),
        Err(error) if is_damage(&error) => Ok(vec!["the file is damaged: it cannot be read whole".to_owned()]),
        Err(error) => Err(failed(&error)),
    }
}

/// A backup that cannot be read is not the database that is in use.
fn unusable(backup: &Path, refusal: &Refusal) -> Refusal {
    Refusal::new(
        refusal.code,
        format!("the backup {} cannot be used: {}", backup.display(), refusal.message),
        "Name another backup. Nothing was changed.",
    )
}
