//! Brings a database's schema up to date: numbered files, each applied once, in one transaction with its record.
//! Must never touch a database that is newer than this program, and never change a version or time of a task.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::{Code, Refusal, Result};
use crate::store::backend::Transaction;

/// The migrations by number, starting with 1.
const MIGRATIONS: [&str; 1] = [include_str!("../../migrations/sqlite/0001_initial.sql")];

/// The schema number that this program knows.
#[expect(clippy::cast_possible_wrap, reason = "a handful of files")]
pub const CURRENT: i64 = MIGRATIONS.len() as i64;

/// The schema number of the database, 0 if it is new. A database newer than this program, or made by an edited
/// migration, is refused untouched.
pub async fn found(transaction: &mut Transaction) -> Result<i64> {
    let row = transaction.row("pragma user_version", &[]).await?;
    let found = row.map_or(Ok(0), |row| row.integer(0))?;
    if found > CURRENT {
        return Err(Refusal::new(
            Code::Unavailable,
            format!("the database has schema {found}, this program knows up to {CURRENT}"),
            "Use the newer heyaira that wrote it. Nothing was changed.",
        ));
    }
    for (number, sql) in numbered().filter(|(number, _)| *number <= found) {
        let row = transaction.row("select digest from migration where number = ?1", &[number.into()]).await?;
        if row.as_ref().map(|row| row.str(0)).transpose()? != Some(digest(sql).as_str()) {
            return Err(Refusal::new(
                Code::Unavailable,
                format!("migration {number} of this database is not the one that this program knows"),
                "Use the heyaira that made it. Nothing was changed.",
            ));
        }
    }
    Ok(found)
}

/// Applies the migrations after `found`. The caller holds the file lock and an exclusive transaction.
pub async fn apply(transaction: &mut Transaction, found: i64) -> Result<()> {
    transaction
        .script("create table if not exists migration (number integer primary key, digest text not null)")
        .await?;
    for (number, sql) in numbered().filter(|(number, _)| *number > found) {
        transaction.script(sql).await?;
        let values = [number.into(), digest(sql).into()];
        transaction.execute("insert into migration (number, digest) values (?1, ?2)", &values).await?;
    }
    transaction.script(&format!("pragma user_version = {CURRENT}")).await
}

/// Where the copy goes that is made before a migration.
pub fn backup_path(database: &Path, found: i64) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(format!(".before-schema-{CURRENT}-from-{found}"));
    PathBuf::from(name)
}

fn numbered() -> impl Iterator<Item = (i64, &'static str)> {
    (1..).zip(MIGRATIONS)
}

fn digest(sql: &str) -> String {
    let digest = Sha256::digest(sql.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
