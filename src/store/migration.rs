//! Brings a database's schema up to date: numbered files, each applied once, in one transaction with its record.
//! Must never touch a database that is newer than this program can serve, and never change a version or time of a task.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::domain::text::hex;
use crate::error::{Code, Refusal, Result};
use crate::store::backend::{Dialect, Transaction};

/// One step of the schema, in the words of each database.
struct Migration {
    sqlite: &'static str,
    postgres: &'static str,
    /// The oldest schema number whose programs may go on using a database that has this step: servers of two versions run
    /// beside each other while a team changes over. A step that only adds what the old ones do not look at leaves it as it
    /// was.
    serves_from: i64,
}

/// The migrations by number, starting with 1.
const MIGRATIONS: [Migration; 7] = [
    Migration {
        sqlite: include_str!("../../migrations/sqlite/0001_initial.sql"),
        postgres: include_str!("../../migrations/postgres/0001_initial.sql"),
        serves_from: 1,
    },
    // One more table. What removes a task removes its rows by itself, and a move or a restore wants the same schema.
    Migration {
        sqlite: include_str!("../../migrations/sqlite/0002_verification.sql"),
        postgres: include_str!("../../migrations/postgres/0002_verification.sql"),
        serves_from: 1,
    },
    // One more act of a version, whose name older programs only pass on, and a table that they do not write to.
    Migration {
        sqlite: include_str!("../../migrations/sqlite/0003_redaction.sql"),
        postgres: include_str!("../../migrations/postgres/0003_redaction.sql"),
        serves_from: 1,
    },
    // One more column of a project, which older programs leave as it is, and a table whose rows go with their task.
    Migration {
        sqlite: include_str!("../../migrations/sqlite/0004_rules.sql"),
        postgres: include_str!("../../migrations/postgres/0004_rules.sql"),
        serves_from: 1,
    },
    // One more table, whose rows go with their project and their task.
    Migration {
        sqlite: include_str!("../../migrations/sqlite/0005_runs.sql"),
        postgres: include_str!("../../migrations/postgres/0005_runs.sql"),
        serves_from: 1,
    },
    // One more column of a run's report, which older programs leave empty.
    Migration {
        sqlite: include_str!("../../migrations/sqlite/0006_run_problems.sql"),
        postgres: include_str!("../../migrations/postgres/0006_run_problems.sql"),
        serves_from: 1,
    },
    // Two more columns of a run's report, which older programs leave as they are.
    Migration {
        sqlite: include_str!("../../migrations/sqlite/0007_dismissed_runs.sql"),
        postgres: include_str!("../../migrations/postgres/0007_dismissed_runs.sql"),
        serves_from: 1,
    },
];

/// The schema number that this program knows.
#[expect(clippy::cast_possible_wrap, reason = "a handful of files")]
pub const CURRENT: i64 = MIGRATIONS.len() as i64;

/// What makes servers that set up the same `PostgreSQL` database take turns: a number that no other program uses.
const TURN: i64 = 0x4865_7941_6972_6101;

/// The schema number of the database, 0 if it is new. A database that is too new for this program, or made by an edited
/// migration, is refused untouched.
pub async fn found(transaction: &mut Transaction) -> Result<i64> {
    let known = match transaction.dialect() {
        Dialect::Sqlite => "select count(*) from sqlite_master where type = 'table' and name = 'migration'",
        Dialect::Postgres => "select count(*) from pg_catalog.pg_class where oid = to_regclass('migration')",
    };
    if transaction.integer(known, &[]).await? == 0 {
        return Ok(0);
    }
    if !is_ours(transaction).await? {
        return Err(Refusal::new(
            Code::Unavailable,
            "the database has a table named migration that is another program's",
            "Name the right database, or an empty one. Nothing was changed.",
        ));
    }
    let sql = "select coalesce(max(number), 0), coalesce(max(serves_from), 0) from migration";
    let row = transaction.row(sql, &[]).await?.ok_or_else(|| Refusal::internal(&"max gave no row"))?;
    let (found, serves_from) = (row.integer(0)?, row.integer(1)?);
    check_served(serves_from)?;
    for (number, migration) in numbered().filter(|(number, _)| *number <= found) {
        let row = transaction.row("select digest from migration where number = ?1", &[number.into()]).await?;
        if row.as_ref().map(|row| row.str(0)).transpose()?
            != Some(digest(migration.sql(transaction.dialect())).as_str())
        {
            return Err(Refusal::new(
                Code::Unavailable,
                format!("migration {number} of this database is not the one that this program knows"),
                "Use the heyaira that made it. Nothing was changed.",
            ));
        }
    }
    Ok(found)
}

/// What is in a database before it is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// No table.
    Nothing,
    /// HeyAira, with the schema of that number.
    Schema(i64),
    /// Tables of something else.
    Foreign,
}

/// What is in the database. Changes nothing, and takes nothing for granted.
pub async fn look(transaction: &mut Transaction) -> Result<Found> {
    if is_ours(transaction).await? {
        return transaction.integer("select coalesce(max(number), 0) from migration", &[]).await.map(Found::Schema);
    }
    let tables = match transaction.dialect() {
        Dialect::Sqlite => "select count(*) from sqlite_master",
        Dialect::Postgres => {
            "select count(*) from pg_catalog.pg_class where relkind in ('r', 'p', 'v', 'm', 'f') \
             and relnamespace = to_regnamespace(cast(current_schema() as text))"
        }
    };
    let is_empty = transaction.integer(tables, &[]).await? == 0;
    Ok(if is_empty { Found::Nothing } else { Found::Foreign })
}

/// True if the table `migration` has our columns.
async fn is_ours(transaction: &mut Transaction) -> Result<bool> {
    let sql = match transaction.dialect() {
        Dialect::Sqlite => {
            "select count(*) from pragma_table_info('migration') where name in ('number', 'digest', 'serves_from')"
        }
        Dialect::Postgres => {
            "select count(*) from pg_catalog.pg_attribute where attrelid = to_regclass('migration') \
             and attname in ('number', 'digest', 'serves_from')"
        }
    };
    Ok(transaction.integer(sql, &[]).await? == 3)
}

/// Refuses a database that serves only programs that know a later schema than this one.
pub fn check_served(serves_from: i64) -> Result<()> {
    if serves_from <= CURRENT {
        return Ok(());
    }
    Err(Refusal::new(
        Code::Unavailable,
        format!("the database serves programs from schema {serves_from} on, this one knows up to {CURRENT}"),
        "Use the newer heyaira that changed it. Nothing was changed.",
    ))
}

/// Waits until no other server is setting this database up. A file has its lock for that.
pub async fn wait_for_turn(transaction: &mut Transaction) -> Result<()> {
    match transaction.dialect() {
        Dialect::Sqlite => Ok(()),
        Dialect::Postgres => transaction.execute("select pg_advisory_xact_lock(?1)", &[TURN.into()]).await.map(drop),
    }
}

/// Refuses a new database that could not keep every text.
pub async fn check_encoding(transaction: &mut Transaction) -> Result<()> {
    if transaction.dialect() == Dialect::Sqlite {
        return Ok(());
    }
    let row = transaction.row("select current_setting('server_encoding')", &[]).await?;
    match row.as_ref().map(|row| row.str(0)).transpose()? {
        Some("UTF8") => Ok(()),
        found => Err(Refusal::not_allowed(
            format!("the encoding of this database is {}, and must be UTF8", found.unwrap_or("unknown")),
            "Make one with create database NAME encoding 'UTF8' template template0. Nothing was changed.",
        )),
    }
}

/// Applies the migrations after `found`. It is this writer's turn, in a transaction that nobody else writes beside.
pub async fn apply(transaction: &mut Transaction, found: i64) -> Result<()> {
    let dialect = transaction.dialect();
    if found == 0 {
        transaction.script(RECORD).await?;
    }
    for (number, migration) in numbered().filter(|(number, _)| *number > found) {
        transaction.script(migration.sql(dialect)).await?;
        let values = [number.into(), digest(migration.sql(dialect)).into(), migration.serves_from.into()];
        let sql = "insert into migration (number, digest, serves_from) values (?1, ?2, ?3)";
        transaction.execute(sql, &values).await?;
    }
    Ok(())
}

/// Where it is kept which migrations were applied.
const RECORD: &str =
    "create table migration (number bigint not null primary key, digest text not null, serves_from bigint not null)";

/// Where the copy goes that is made before a migration.
pub fn backup_path(database: &Path, found: i64) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(format!(".before-schema-{CURRENT}-from-{found}"));
    PathBuf::from(name)
}

impl Migration {
    const fn sql(&self, dialect: Dialect) -> &'static str {
        match dialect {
            Dialect::Sqlite => self.sqlite,
            Dialect::Postgres => self.postgres,
        }
    }
}

fn numbered() -> impl Iterator<Item = (i64, &'static Migration)> {
    (1..).zip(&MIGRATIONS)
}

fn digest(sql: &str) -> String {
    let digest = Sha256::digest(sql.as_bytes());
    hex(&digest)
}
