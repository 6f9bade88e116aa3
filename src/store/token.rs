//! Tokens by name and by hash. The secret itself never comes here.

use crate::domain::time::Timestamp;
use crate::domain::token::{Role, Token};
use crate::error::{Refusal, Result};
use crate::store::backend::Transaction;
use crate::store::cell::Row;

/// What a valid token opens, and as whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    /// The token's name: the caller of what is written with it.
    pub name: String,
    /// The slug of the one project that it opens; `None` for all.
    pub project: Option<String>,
    /// That project's number.
    pub project_id: Option<i64>,
    /// What it may do.
    pub role: Role,
}

/// The credential of the token with that hash; nothing if there is none, or it is revoked or expired at `now`.
pub async fn find(transaction: &mut Transaction, hash: &[u8], now: Timestamp) -> Result<Option<Credential>> {
    // A token whose project is missing, in a damaged database, must not pass for one of all projects.
    let sql = "select t.name, p.slug, t.role, p.project_id from token t left join project p on p.project_id = t.project_id \
        where t.hash = ?1 and t.revoked_at is null and (t.expires_at is null or t.expires_at > ?2) \
        and (t.project_id is null or p.project_id is not null)";
    let row = transaction.row(sql, &[hash.into(), now.0.into()]).await?;
    row.map(|mut row| {
        let project_id = row.maybe_integer(3)?;
        Ok(Credential { name: row.text(0)?, project: row.maybe_text(1)?, project_id, role: role(&row, 2)? })
    })
    .transpose()
}

const COLUMNS: &str = "t.name, p.slug, t.role, t.created_by, t.created_at, t.expires_at, t.revoked_at \
    from token t left join project p on p.project_id = t.project_id";

fn token(mut row: Row) -> Result<Token> {
    Ok(Token {
        name: row.text(0)?,
        project: row.maybe_text(1)?,
        role: role(&row, 2)?,
        created_by: row.text(3)?,
        created: Timestamp(row.integer(4)?),
        expires: row.maybe_integer(5)?.map(Timestamp),
        revoked: row.maybe_integer(6)?.map(Timestamp),
    })
}

fn role(row: &Row, column: usize) -> Result<Role> {
    let word = row.str(column)?;
    Role::of(word).ok_or_else(|| Refusal::internal(&"a token has an unknown role"))
}

/// The token of that name, valid or not.
pub async fn get(transaction: &mut Transaction, name: &str) -> Result<Option<Token>> {
    let row = transaction.row(&format!("select {COLUMNS} where t.name = ?1"), &[name.into()]).await?;
    row.map(token).transpose()
}

/// All tokens by name, valid or not.
pub async fn list(transaction: &mut Transaction) -> Result<Vec<Token>> {
    let rows = transaction.rows(&format!("select {COLUMNS} order by t.name"), &[]).await?;
    rows.into_iter().map(token).collect()
}

/// Adds a token; false if the name was ever given to another.
pub async fn create(
    transaction: &mut Transaction,
    new: &Token,
    project_id: Option<i64>,
    hash: [u8; 32],
) -> Result<bool> {
    let sql = "insert into token (name, hash, project_id, role, created_by, created_at, expires_at) \
        values (?1, ?2, ?3, ?4, ?5, ?6, ?7) on conflict (name) do nothing";
    let values = [
        new.name.as_str().into(),
        hash.into(),
        project_id.into(),
        new.role.as_str().into(),
        new.created_by.as_str().into(),
        new.created.0.into(),
        new.expires.map(|moment| moment.0).into(),
    ];
    Ok(transaction.execute(sql, &values).await? == 1)
}

/// Has a token refused from now on.
pub async fn revoke(transaction: &mut Transaction, name: &str, now: Timestamp) -> Result<()> {
    let sql = "update token set revoked_at = ?2 where name = ?1 and revoked_at is null";
    transaction.execute(sql, &[name.into(), now.0.into()]).await.map(drop)
}

/// Gives a token another secret and expiry: the old secret is found no more.
pub async fn rotate(
    transaction: &mut Transaction,
    name: &str,
    hash: [u8; 32],
    expires: Option<Timestamp>,
) -> Result<()> {
    let sql = "update token set hash = ?2, expires_at = ?3 where name = ?1 and revoked_at is null";
    let values = [name.into(), hash.into(), expires.map(|moment| moment.0).into()];
    transaction.execute(sql, &values).await.map(drop)
}
