//! Which backups were made, and where: what was taken out of the database later still stands in them.

use std::path::Path;

use crate::domain::time::Timestamp;
use crate::error::Result;
use crate::store::backend::Transaction;
use crate::store::cell::Row;

/// A backup that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backup {
    /// Where it was written to.
    pub file: String,
    /// When it was finished.
    pub made: Timestamp,
}

impl Backup {
    /// One at that path, which is kept so that it leads there from every folder.
    pub fn at(path: &Path, made: Timestamp) -> Self {
        let file = std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string();
        Self { file, made }
    }
}

/// Remembers one; what stood at the same place before is no more.
pub async fn add(transaction: &mut Transaction, new: &Backup, made_by: &str) -> Result<()> {
    transaction.execute("delete from backup where file = ?1", &[new.file.as_str().into()]).await?;
    let sql = "insert into backup (file, made_at, made_by) values (?1, ?2, ?3)";
    transaction.execute(sql, &[new.file.as_str().into(), new.made.0.into(), made_by.into()]).await.map(drop)
}

/// Remembers those of a list that are not known; the last of the list is the oldest of it.
pub async fn add_missing(transaction: &mut Transaction, known: &[Backup], made_by: &str) -> Result<()> {
    let sql = "insert into backup (file, made_at, made_by) values (?1, ?2, ?3) on conflict (file) do nothing";
    for one in known.iter().rev() {
        transaction.execute(sql, &[one.file.as_str().into(), one.made.0.into(), made_by.into()]).await?;
    }
    Ok(())
}

/// All of them, the newest first.
pub async fn all(transaction: &mut Transaction) -> Result<Vec<Backup>> {
    let rows = transaction.rows("select file, made_at from backup order by backup_key desc", &[]).await?;
    let backup = |mut row: Row| Ok(Backup { file: row.text(0)?, made: Timestamp(row.integer(1)?) });
    rows.into_iter().map(backup).collect()
}
