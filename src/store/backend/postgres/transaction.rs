//! One transaction on one connection. Must never put a connection back into the pool whose state is not known.

use std::time::Instant;

use deadpool_postgres::Client;
use futures_util::future::{BoxFuture, FutureExt, join, join_all};
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::Type;
use tokio_postgres::{Error, Statement};

use crate::error::Result;
use crate::store::backend::failure::{Failure, Severity};
use crate::store::backend::{Dialect, Driver};
use crate::store::cell::{Cell, Row};

/// What was not sent yet.
enum Waiting {
    /// Words without values.
    Words(String),
    /// A statement whose answer nobody waits for.
    Statement(String, Vec<Cell>),
}

/// An open transaction.
pub(super) struct Transaction {
    /// None once it is not known what the connection is at.
    client: Option<Client>,
    /// What is sent with the next statement, in one go.
    waiting: Vec<Waiting>,
    at_commit: Vec<(&'static str, Vec<Cell>)>,
    /// True once its begin was sent.
    begun: bool,
    /// What the database's last refusal means for the whole transaction.
    severity: Severity,
}

/// What one statement answered.
enum Answer {
    Rows(Vec<Row>),
    Changed(u64),
}

impl Transaction {
    /// Nothing is sent yet: the begin goes with the first statement.
    pub(super) fn begin(client: Client, words: String) -> Self {
        Self {
            client: Some(client),
            waiting: vec![Waiting::Words(words)],
            at_commit: Vec::new(),
            begun: false,
            severity: Severity::Stays,
        }
    }

    /// What the database's last refusal means for the transaction.
    pub(super) fn severity(&self) -> Severity {
        self.severity
    }

    /// Closes the connection instead of ending the transaction: the server then undoes it.
    pub(super) fn abandon(&mut self) {
        if let Some(client) = self.client.take() {
            drop(Client::take(client));
        }
    }

    /// Undoes everything.
    pub(super) async fn roll_back(mut self) {
        if !self.begun {
            return;
        }
        self.waiting = vec![Waiting::Words("rollback".to_owned())];
        if self.severity == Severity::Lost || self.send(None).await.is_err() {
            self.abandon();
        }
    }

    /// Sends what waits and the commit in one go; answers once it is on disk. A server that waits for a standby that is
    /// gone does so for ever: what has no answer by that time is uncertain.
    pub(super) async fn commit(mut self, patience: Instant) -> Result<(), Failure> {
        if !self.begun {
            return Ok(());
        }
        self.take_up();
        self.waiting.push(Waiting::Words("commit".to_owned()));
        match tokio::time::timeout_at(patience.into(), self.send(None)).await {
            Ok(Ok(_)) => Ok(()),
            // A transaction that failed is undone by its commit.
            Ok(Err(failure)) if failure.severity != Severity::Lost => Err(failure),
            Ok(Err(_)) => {
                self.abandon();
                Err(Failure::uncertain("the connection to the database was lost while this was being committed"))
            }
            Err(_) => {
                self.abandon();
                Err(Failure::uncertain("the database did not say in time whether this was committed"))
            }
        }
    }

    /// Has what was left for the commit sent with the next statement.
    fn take_up(&mut self) {
        let later = self.at_commit.drain(..).map(|(sql, values)| Waiting::Statement(numbered(sql), values));
        self.waiting.extend(later);
    }

    /// Sends what waits, then `last`, without waiting in between; answers what `last` answered.
    async fn send(&mut self, last: Option<(&str, &[Cell], bool)>) -> Result<Option<Answer>, Failure> {
        let waiting = std::mem::take(&mut self.waiting);
        self.begun = true;
        let Some(client) = &self.client else { return Err(Failure::gone()) };
        match send(client, &waiting, last).await {
            Ok(answer) => Ok(answer),
            Err(error) => {
                let failure = Failure::of_statement(&error);
                self.severity = failure.severity;
                Err(failure)
            }
        }
    }

    /// Sends what waits, then runs what needs the connection for itself.
    async fn alone<T>(&mut self, work: impl AsyncFnOnce(&Client) -> Result<T, Error>) -> Result<T> {
        self.send(None).await.map_err(|failure| failure.refusal)?;
        let Some(client) = &self.client else { return Err(Failure::gone().refusal) };
        match work(client).await {
            Ok(answer) => Ok(answer),
            Err(error) => {
                let failure = Failure::of_statement(&error);
                self.severity = failure.severity;
                Err(failure.refusal)
            }
        }
    }

    async fn ask(&mut self, sql: &str, values: &[Cell], rows: bool) -> Result<Option<Answer>> {
        let sql = numbered(sql);
        self.send(Some((&sql, values, rows))).await.map_err(|failure| failure.refusal)
    }
}

async fn send(
    client: &Client,
    waiting: &[Waiting],
    last: Option<(&str, &[Cell], bool)>,
) -> Result<Option<Answer>, Error> {
    let mut prepared: Vec<Option<Statement>> = Vec::with_capacity(waiting.len());
    for one in waiting {
        prepared.push(match one {
            Waiting::Words(_) => None,
            Waiting::Statement(sql, _) => Some(client.prepare_cached(sql).await?),
        });
    }
    let asked = match last {
        Some((sql, values, rows)) => Some((client.prepare_cached(sql).await?, values, rows)),
        None => None,
    };
    // All are sent when they are polled first, which is in this order.
    let earlier = waiting.iter().zip(&prepared).map(|(one, statement)| async move {
        match (one, statement) {
            (Waiting::Statement(_, values), Some(statement)) => client.execute_raw(statement, values).await.map(drop),
            (Waiting::Words(words) | Waiting::Statement(words, _), _) => client.batch_execute(words).await,
        }
    });
    let asking = async {
        match &asked {
            None => Ok(None),
            Some((statement, values, true)) => rows(client, statement, values).await.map(Answer::Rows).map(Some),
            Some((statement, values, false)) => {
                client.execute_raw(statement, *values).await.map(Answer::Changed).map(Some)
            }
        }
    };
    let (earlier, answer) = join(join_all(earlier), asking).await;
    earlier.into_iter().collect::<Result<(), Error>>()?;
    answer
}

/// The first rows of a query; what comes behind them is thrown away as it comes in.
async fn rows_within(client: &Client, sql: &str, values: &[Cell], bytes: usize) -> Result<Vec<Row>, Error> {
    use futures_util::TryStreamExt;
    let statement = client.prepare_cached(sql).await?;
    let mut stream = std::pin::pin!(client.query_raw(&statement, values).await?);
    let (mut rows, mut held) = (Vec::new(), 0_usize);
    while held < bytes
        && let Some(row) = stream.try_next().await?
    {
        let row = read(&row)?;
        held = held.saturating_add(row.bytes_held());
        rows.push(row);
    }
    Ok(rows)
}

/// Adds rows in the database's own form for many, which it takes several times as fast as statements.
async fn load(client: &Client, table: &str, columns: &[&str], rows: &[Row]) -> Result<(), Error> {
    let columns = columns.join(", ");
    let described = client.prepare_cached(&format!("select {columns} from {table}")).await?;
    let types: Vec<Type> = described.columns().iter().map(|column| column.type_().clone()).collect();
    let sink = client.copy_in(&format!("copy {table} ({columns}) from stdin (format binary)")).await?;
    let mut writer = std::pin::pin!(BinaryCopyInWriter::new(sink, &types));
    for row in rows {
        writer.as_mut().write_raw(&row.0).await?;
    }
    writer.finish().await.map(drop)
}

async fn rows(client: &Client, statement: &Statement, values: &[Cell]) -> Result<Vec<Row>, Error> {
    use futures_util::TryStreamExt;
    let stream = client.query_raw(statement, values).await?;
    let rows = stream.and_then(|row| std::future::ready(read(&row)));
    rows.try_collect().await
}

fn read(row: &tokio_postgres::Row) -> Result<Row, Error> {
    let cells = (0..row.len()).map(|column| row.try_get::<_, Cell>(column));
    cells.collect::<Result<Vec<_>, _>>().map(Row)
}

/// The same statement with the places as this database writes them.
fn numbered(sql: &str) -> String {
    sql.replace('?', "$")
}

impl Driver for Transaction {
    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn rows<'s>(&'s mut self, sql: &'s str, values: &'s [Cell]) -> BoxFuture<'s, Result<Vec<Row>>> {
        async move {
            match self.ask(sql, values, true).await? {
                Some(Answer::Rows(rows)) => Ok(rows),
                _ => Ok(Vec::new()),
            }
        }
        .boxed()
    }

    fn rows_within<'s>(
        &'s mut self,
        sql: &'s str,
        values: &'s [Cell],
        bytes: usize,
    ) -> BoxFuture<'s, Result<Vec<Row>>> {
        let sql = numbered(sql);
        async move { self.alone(async |client| rows_within(client, &sql, values, bytes).await).await }.boxed()
    }

    fn load<'s>(&'s mut self, table: &'s str, columns: &'s [&'s str], rows: &'s [Row]) -> BoxFuture<'s, Result<()>> {
        async move { self.alone(async |client| load(client, table, columns, rows).await).await }.boxed()
    }

    fn continue_keys<'s>(&'s mut self, table: &'s str, column: &'s str) -> BoxFuture<'s, Result<()>> {
        let sql = format!(
            "select setval(pg_get_serial_sequence(?1, ?2), coalesce((select max({column}) from {table}), 0) + 1, false)"
        );
        async move { self.rows(&sql, &[table.into(), column.into()]).await.map(drop) }.boxed()
    }

    fn execute<'s>(&'s mut self, sql: &'s str, values: &'s [Cell]) -> BoxFuture<'s, Result<usize>> {
        async move {
            match self.ask(sql, values, false).await? {
                Some(Answer::Changed(count)) => Ok(usize::try_from(count).unwrap_or(usize::MAX)),
                _ => Ok(0),
            }
        }
        .boxed()
    }

    fn script<'s>(&'s mut self, sql: &'s str) -> BoxFuture<'s, Result<()>> {
        self.waiting.push(Waiting::Words(sql.to_owned()));
        async move { self.send(None).await.map(drop).map_err(|failure| failure.refusal) }.boxed()
    }

    fn execute_later(&mut self, sql: &'static str, values: Vec<Cell>) -> Result<()> {
        self.waiting.push(Waiting::Statement(numbered(sql), values));
        Ok(())
    }

    fn execute_at_commit(&mut self, sql: &'static str, values: Vec<Cell>) {
        self.at_commit.push((sql, values));
    }

    fn slot(&self) -> &'static str {
        "pg_backend_pid() % 64"
    }

    fn catch_up(&mut self) -> BoxFuture<'_, Result<()>> {
        self.take_up();
        async move { self.send(None).await.map(drop).map_err(|failure| failure.refusal) }.boxed()
    }

    fn compact_after_commit(&mut self) {
        // The server takes removed rows out of its files by itself.
    }
}
