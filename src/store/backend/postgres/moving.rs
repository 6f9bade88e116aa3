//! What a move needs of this database beside what calls need: many rows at once, and to wait for what had begun. Must
//! never hold more rows in memory than it was asked for.

use std::collections::HashSet;
use std::pin::pin;
use std::time::{Duration, Instant};

use futures_util::TryStreamExt;
use tokio_postgres::Error;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::Type;

use crate::store::backend::failure::{Failure, unavailable};
use crate::store::backend::postgres::pool::Client;
use crate::store::backend::postgres::transaction::{prepared, read};
use crate::store::cell::{Cell, Row};

/// How often it is looked whether transactions have ended.
const LOOKING: Duration = Duration::from_millis(50);
/// The open transactions of this database, but for the one that asks. Each has a lock on a number of its own from its
/// very begin to its end; whose it is, everybody may see, but not always of which kind.
const OPEN: &str = "select l.virtualtransaction from pg_catalog.pg_locks l \
    join pg_catalog.pg_stat_activity a on a.pid = l.pid \
    where l.locktype = 'virtualxid' and l.granted and a.datname = current_database() and l.pid <> pg_backend_pid() \
    and coalesce(a.backend_type, 'client backend') = 'client backend'";

/// The first rows of a query; what comes behind them is thrown away as it comes in.
pub(super) async fn rows_within(
    client: &Client,
    sql: &str,
    values: &[Cell],
    bytes: usize,
) -> Result<Vec<Row>, Failure> {
    let statement = prepared(client, sql, values).await?;
    let first = async {
        let mut stream = pin!(client.query_raw(&statement, values).await?);
        let (mut rows, mut held) = (Vec::new(), 0_usize);
        while held < bytes
            && let Some(row) = stream.try_next().await?
        {
            let row = read(&row)?;
            held = held.saturating_add(row.bytes_held());
            rows.push(row);
        }
        Ok::<_, Error>(rows)
    };
    first.await.map_err(|error| Failure::of_statement(&error))
}

/// Adds rows in the database's own form for many, which it takes several times as fast as statements.
pub(super) async fn load(client: &Client, table: &str, columns: &[&str], rows: &[Row]) -> Result<(), Failure> {
    let columns = columns.join(", ");
    let described = prepared(client, &format!("select {columns} from {table}"), &[]).await?;
    let types: Vec<Type> = described.columns().iter().map(|column| column.type_().clone()).collect();
    let copy = async {
        let sink = client.copy_in(&format!("copy {table} ({columns}) from stdin (format binary)")).await?;
        let mut writer = pin!(BinaryCopyInWriter::new(sink, &types));
        for row in rows {
            writer.as_mut().write_raw(&row.0).await?;
        }
        writer.finish().await
    };
    copy.await.map(drop).map_err(|error| Failure::of_statement(&error))
}

/// Waits until every transaction has ended that is open now.
pub(super) async fn outlast(client: &Client, deadline: Instant) -> Result<(), Failure> {
    let mut waited_for = open(client).await?;
    while !waited_for.is_empty() {
        if Instant::now() > deadline {
            return Err(Failure::stays(unavailable("a transaction on the database server does not end")));
        }
        tokio::time::sleep(LOOKING).await;
        let still = open(client).await?;
        waited_for.retain(|one| still.contains(one));
    }
    Ok(())
}

async fn open(client: &Client) -> Result<HashSet<String>, Failure> {
    let rows = client.query(OPEN, &[]).await.map_err(|error| Failure::of_statement(&error))?;
    let names = rows.iter().map(|row| row.try_get(0));
    names.collect::<Result<_, _>>().map_err(|error| Failure::of_statement(&error))
}
