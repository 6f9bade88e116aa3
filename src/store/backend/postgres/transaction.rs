//! One transaction on one connection. Must never put a connection back into the pool whose state is not known.

use futures_util::future::{BoxFuture, FutureExt, join, join_all};
use tokio_postgres::{Error, Statement};

use crate::error::{Refusal, Result};
use crate::store::backend::failure::{Failure, Severity};
use crate::store::backend::postgres::pool::Client;
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
    /// True from when its begin was sent until its end was answered: then nobody else may have the connection.
    begun: bool,
    /// True once a statement of it was refused: then nothing of it is to be committed.
    failed: bool,
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
            failed: false,
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
        self.undo().await;
    }

    async fn undo(&mut self) {
        if !self.begun || self.severity == Severity::Lost {
            return;
        }
        self.waiting = vec![Waiting::Words("rollback".to_owned())];
        self.begun = self.send(None).await.is_err();
    }

    /// Sends what waits and the commit in one go; answers once it is on disk. A server that waits for a standby that is
    /// gone does so for ever.
    pub(super) async fn commit(mut self) -> Result<(), Failure> {
        if !self.begun {
            return Ok(());
        }
        if self.failed {
            self.undo().await;
            // The server would answer the commit as if nothing were wrong, and undo the write.
            let refusal = Refusal::internal(&"a write went on after one of its statements was refused");
            return Err(Failure { severity: self.severity, refusal });
        }
        self.take_up();
        self.waiting.push(Waiting::Words("commit".to_owned()));
        match self.send(None).await {
            Err(failure) if failure.severity == Severity::Lost => {
                Err(Failure::uncertain("the connection to the database was lost while this was being committed"))
            }
            answer => {
                // One that failed is undone by its commit.
                self.begun = false;
                answer.map(drop)
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
                self.failed = true;
                Err(failure)
            }
        }
    }

    async fn ask(&mut self, sql: &str, values: &[Cell], rows: bool) -> Result<Option<Answer>> {
        let sql = numbered(sql);
        self.send(Some((&sql, values, rows))).await.map_err(|failure| failure.refusal)
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if self.begun {
            self.abandon();
        }
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
