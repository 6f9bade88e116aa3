//! One transaction on one connection. Must never put a connection back into the pool whose state is not known.
//!
//! What nobody waits for is sent with the next thing that somebody does, without a message back and forth of its own.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::pin::pin;
use std::time::{Duration, Instant};

use futures_util::TryStreamExt;
use futures_util::future::{BoxFuture, FutureExt, join_all, join3, ready};
use tokio_postgres::{Error, Statement as Prepared};

use crate::error::{Refusal, Result};
use crate::store::backend::failure::{Failure, Severity};
use crate::store::backend::postgres::moving;
use crate::store::backend::postgres::pool::Client;
use crate::store::backend::{Ahead, Dialect, Driver, Statement};
use crate::store::cell::{Cell, Row};

/// From how long on a time is said to the session in seconds, to hold for the calls after this one too.
const LONG: Duration = Duration::from_secs(10);

/// What was not sent yet.
enum Waiting {
    /// Words without values.
    Words(Cow<'static, str>),
    /// A statement whose answer nobody waits for, its places as this database writes them.
    Statement(String, Vec<Cell>),
}

/// How far a transaction is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Nothing was sent yet.
    New,
    /// Its begin was sent, and its end was not answered: nobody else may have the connection.
    Open,
    /// There is none: the one statement is a transaction by itself.
    Bare,
    /// The one statement was sent.
    Over,
}

/// When a transaction ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// When it is told to.
    Told,
    /// With its last question, if that is known before.
    MayBeEarly,
    /// With the next question.
    WithNext,
    /// It ended so.
    Early,
    /// It ended so, and then something else was asked.
    TooEarly,
}

/// An open transaction.
pub(super) struct Transaction {
    /// None once it is not known what the connection is at.
    client: Option<Client>,
    /// What is sent with the next statement, in one go.
    waiting: Vec<Waiting>,
    at_commit: Vec<(&'static str, Vec<Cell>)>,
    /// What is asked together with the next question.
    ahead: Vec<Statement>,
    /// What was asked so, with its rows: still true, as nothing else was sent since.
    known: Vec<(Statement, Vec<Row>)>,
    stage: Stage,
    ending: Ending,
    /// What the session is told on the way about the time of statements, in seconds.
    patience: Option<u64>,
    /// True once a statement of it was refused: then nothing of it is to be committed.
    failed: bool,
    /// What the database's last refusal means for the whole transaction.
    severity: Severity,
}

/// A statement whose answer is awaited: its text, its values.
type Asked<'s> = (&'s str, &'s [Cell]);

impl Transaction {
    /// Nothing is sent yet: the begin goes with the first statement. No statement runs much longer than the deadline.
    pub(super) fn begin(client: Client, begin: Cow<'static, str>, deadline: Instant) -> Self {
        let left = deadline.saturating_duration_since(Instant::now());
        // 0 would mean that there is no end.
        let milliseconds = left.as_millis().max(1);
        let seconds = left.as_secs() + 1;
        if left < LONG {
            let begin = format!("{begin}; set local statement_timeout = {milliseconds}");
            return Self::new(client, Stage::New, vec![Waiting::Words(begin.into())]);
        }
        // Most calls have as long as the one before, whose connection need not be told again.
        let is_told = client.patience() == Some(seconds);
        let tell = (!is_told).then(|| Waiting::Words(format!("set statement_timeout = '{seconds}s'").into()));
        let waiting = tell.into_iter().chain([Waiting::Words(begin)]).collect();
        let mut transaction = Self::new(client, Stage::New, waiting);
        transaction.patience = (!is_told).then_some(seconds);
        transaction
    }

    /// For a read, which may end with its last question.
    pub(super) fn begin_read(client: Client, begin: Cow<'static, str>, deadline: Instant, may_end_early: bool) -> Self {
        let mut transaction = Self::begin(client, begin, deadline);
        if may_end_early {
            transaction.ending = Ending::MayBeEarly;
        }
        transaction
    }

    /// For one query, which is one consistent state by itself.
    pub(super) fn bare(client: Client) -> Self {
        Self::new(client, Stage::Bare, Vec::new())
    }

    fn new(client: Client, stage: Stage, waiting: Vec<Waiting>) -> Self {
        Self {
            client: Some(client),
            waiting,
            at_commit: Vec::new(),
            ahead: Vec::new(),
            known: Vec::new(),
            stage,
            ending: Ending::Told,
            patience: None,
            failed: false,
            severity: Severity::Stays,
        }
    }

    /// True if it ended before its last question: then all of it is to be run again, to its end.
    pub(super) fn ended_too_early(&self) -> bool {
        self.ending == Ending::TooEarly
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
        if self.stage != Stage::Open || self.severity == Severity::Lost {
            return;
        }
        self.waiting = vec![Waiting::Words("rollback".into())];
        if self.send(&[]).await.is_ok() {
            self.stage = Stage::Over;
        }
    }

    /// Sends what waits and the commit in one go; answers once it is on disk. A server that waits for a standby that is
    /// gone does so for ever.
    pub(super) async fn commit(mut self) -> Result<(), Failure> {
        self.take_up();
        let only_begins = self.waiting.iter().all(|one| matches!(one, Waiting::Words(_)));
        if self.stage == Stage::New && only_begins {
            return Ok(());
        }
        if self.failed {
            self.undo().await;
            // The server would answer the commit as if nothing were wrong, and undo the write.
            let refusal = Refusal::internal(&"a write went on after one of its statements was refused");
            return Err(Failure { severity: self.severity, refusal });
        }
        self.waiting.push(Waiting::Words("commit".into()));
        match self.send(&[]).await {
            Err(failure) if failure.severity == Severity::Lost => {
                Err(Failure::uncertain("the connection to the database was lost while this was being committed"))
            }
            answer => {
                // One that failed is undone by its commit.
                self.stage = Stage::Over;
                answer.map(drop)
            }
        }
    }

    /// Has what was left for the commit sent with the next statement.
    fn take_up(&mut self) {
        let later = self.at_commit.drain(..).map(|(sql, values)| Waiting::Statement(numbered(sql, 0), values));
        self.waiting.extend(later);
    }

    /// Sends what waits, then what is asked, without waiting in between; answers what was asked.
    async fn send(&mut self, asked: &[Asked<'_>]) -> Result<Vec<Answer>, Failure> {
        let waiting = std::mem::take(&mut self.waiting);
        self.stage = match self.stage {
            Stage::New | Stage::Open => Stage::Open,
            Stage::Bare => Stage::Over,
            Stage::Over => {
                if self.ending == Ending::Early {
                    self.ending = Ending::TooEarly;
                }
                return Err(Failure::gone());
            }
        };
        let Some(client) = &self.client else { return Err(Failure::gone()) };
        let ends = self.ending == Ending::WithNext && self.stage == Stage::Open;
        let answers = send(client, &waiting, asked, ends.then_some("rollback")).await;
        if let (Some(seconds), Ok(_)) = (self.patience.take(), &answers) {
            client.note_patience(seconds);
        }
        if ends && answers.is_ok() {
            (self.stage, self.ending) = (Stage::Over, Ending::Early);
        }
        answers.inspect_err(|failure| {
            self.severity = failure.severity;
            self.failed = true;
        })
    }

    /// Sends what waits, then runs what has the connection for itself.
    async fn alone<T>(&mut self, work: impl AsyncFnOnce(&Client) -> Result<T, Failure>) -> Result<T> {
        self.forget();
        self.send(&[]).await.map_err(|failure| failure.refusal)?;
        let Some(client) = &self.client else { return Err(Failure::gone().refusal) };
        let answer = work(client).await.inspect_err(|failure| {
            self.severity = failure.severity;
            self.failed = true;
        });
        answer.map_err(|failure| failure.refusal)
    }

    /// All rows of each of these, in their order.
    async fn ask_all(&mut self, asked: &[Asked<'_>]) -> Result<Vec<Vec<Row>>> {
        let mut answers: Vec<Option<Vec<Row>>> = asked.iter().map(|one| self.take_known(*one)).collect();
        let open = asked.iter().zip(&answers).filter(|(_, answer)| answer.is_none()).map(|(one, _)| *one);
        let open: Vec<Asked<'_>> = open.collect();
        let mut rows = if open.is_empty() { Vec::new() } else { self.ask_with_ahead(&open).await? }.into_iter();
        for answer in answers.iter_mut().filter(|answer| answer.is_none()) {
            *answer = rows.next();
        }
        let all: Option<Vec<_>> = answers.into_iter().collect();
        all.ok_or_else(|| Refusal::internal(&"a statement was not answered"))
    }

    /// The rows of what was asked ahead, once.
    fn take_known(&mut self, (sql, values): Asked<'_>) -> Option<Vec<Row>> {
        let at = self.known.iter().position(|(known, _)| known.sql == sql && known.values == values)?;
        Some(self.known.swap_remove(at).1)
    }

    /// Asks these, and with them what is to be asked ahead.
    async fn ask_with_ahead(&mut self, asked: &[Asked<'_>]) -> Result<Vec<Vec<Row>>> {
        // What is asked may write as well, for what it returns.
        self.known.clear();
        let ahead = std::mem::take(&mut self.ahead);
        let all = asked.iter().copied().chain(ahead.iter().map(|one| (one.sql.as_ref(), one.values.as_slice())));
        let texts: Vec<(String, &[Cell])> = all.map(|(sql, values)| (numbered(sql, 0), values)).collect();
        let all: Vec<Asked<'_>> = texts.iter().map(|(text, values)| (text.as_str(), *values)).collect();
        let answers = self.send(&all).await.map_err(|failure| failure.refusal)?;
        let mut rows: Vec<Vec<Row>> = answers.into_iter().map(|answer| answer.rows).collect();
        let known = rows.split_off(asked.len().min(rows.len()));
        self.known = ahead.into_iter().zip(known).collect();
        Ok(rows)
    }

    /// Whoever writes asks anew afterwards.
    fn forget(&mut self) {
        self.ahead.clear();
        self.known.clear();
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        // Nobody ended it: its work panicked, or its time was over.
        if self.stage == Stage::Open {
            self.abandon();
        }
    }
}

/// What one statement answered.
struct Answer {
    rows: Vec<Row>,
    /// How many rows it read or changed.
    count: u64,
}

async fn send(
    client: &Client,
    waiting: &[Waiting],
    asked: &[Asked<'_>],
    end: Option<&str>,
) -> Result<Vec<Answer>, Failure> {
    // Nothing is sent before all of it can be: a commit behind a statement that was held back would commit without it.
    let mut earlier = Vec::with_capacity(waiting.len());
    for one in waiting {
        earlier.push(match one {
            Waiting::Words(words) => Ready::Words(words),
            Waiting::Statement(sql, values) => Ready::Statement(prepared(client, sql, values).await?, values),
        });
    }
    let mut last = Vec::with_capacity(asked.len());
    for (sql, values) in asked {
        last.push((prepared(client, sql, values).await?, *values));
    }
    // All are sent when they are polled first, which is in this order.
    let earlier = earlier.iter().map(|one| async move {
        match one {
            Ready::Words(words) => client.batch_execute(words).await,
            Ready::Statement(statement, values) => client.execute_raw(statement, *values).await.map(drop),
        }
    });
    let last = last.iter().map(|(statement, values)| answer(client, statement, values));
    let end = async move {
        match end {
            Some(words) => client.batch_execute(words).await,
            None => Ok(()),
        }
    };
    let (earlier, last, end) = join3(join_all(earlier), join_all(last), end).await;
    let answers = earlier.into_iter().collect::<Result<(), Error>>().and_then(|()| last.into_iter().collect());
    answers.and_then(|answers| end.map(|()| answers)).map_err(|error| Failure::of_statement(&error))
}

/// What can be sent at once.
enum Ready<'w> {
    Words(&'w str),
    Statement(Prepared, &'w [Cell]),
}

/// The statement as the database knows it, which takes these values.
pub(super) async fn prepared(client: &Client, sql: &str, values: &[Cell]) -> Result<Prepared, Failure> {
    let statement = client.prepare_cached(sql).await.map_err(|error| Failure::of_statement(&error))?;
    let places = statement.params();
    let fit = places.len() == values.len() && values.iter().zip(places).all(|(value, place)| value.fits(place));
    if fit { Ok(statement) } else { Err(Failure::unfit(sql)) }
}

async fn answer(client: &Client, statement: &Prepared, values: &[Cell]) -> Result<Answer, Error> {
    let mut stream = pin!(client.query_raw(statement, values).await?);
    let mut rows = Vec::new();
    while let Some(row) = stream.try_next().await? {
        rows.push(read(&row)?);
    }
    Ok(Answer { rows, count: stream.rows_affected().unwrap_or_default() })
}

pub(super) fn read(row: &tokio_postgres::Row) -> Result<Row, Error> {
    let cells = (0..row.len()).map(|column| row.try_get::<_, Cell>(column));
    cells.collect::<Result<Vec<_>, _>>().map(Row)
}

/// The same statement with its places as this database writes them, behind `before` other ones.
fn numbered(sql: &str, before: usize) -> String {
    if before == 0 {
        return sql.replace('?', "$");
    }
    let mut parts = sql.split('?');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (digits, rest) = part.split_at(part.find(|one: char| !one.is_ascii_digit()).unwrap_or(part.len()));
        let place: usize = digits.parse().unwrap_or_default();
        let _ = write!(text, "${}{rest}", before + place);
    }
    text
}

/// One statement that changes a row and adds another, or fails: in a transaction that read the row as it expects it, it
/// cannot find it otherwise without colliding with who changed it.
fn change_and_addition(change: &Statement, addition: &Statement) -> String {
    let change_text = numbered(&change.sql, 0);
    let addition_text = numbered(&addition.sql, change.values.len());
    format!(
        "with changed as ({change_text} returning 1), added as ({addition_text} from changed returning 1) \
         select 1 / count(*) from added"
    )
}

impl Driver for Transaction {
    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn rows<'s>(&'s mut self, sql: &'s str, values: &'s [Cell]) -> BoxFuture<'s, Result<Vec<Row>>> {
        async move { Ok(self.ask_all(&[(sql, values)]).await?.pop().unwrap_or_default()) }.boxed()
    }

    fn rows_of<'s>(&'s mut self, statements: &'s [Statement]) -> BoxFuture<'s, Result<Vec<Vec<Row>>>> {
        let asked: Vec<Asked<'_>> = statements.iter().map(|one| (one.sql.as_ref(), one.values.as_slice())).collect();
        async move { self.ask_all(&asked).await }.boxed()
    }

    fn ask_ahead(&mut self, ahead: &dyn Fn() -> Ahead) {
        // Without a transaction around them they would see several states.
        if self.stage == Stage::Bare {
            return;
        }
        let Ahead { statements, is_all } = ahead();
        self.ahead.extend(statements);
        if is_all {
            self.end_with_next();
        }
    }

    fn end_with_next(&mut self) {
        self.ending = match self.ending {
            Ending::MayBeEarly => Ending::WithNext,
            other => other,
        };
    }

    fn rows_within<'s>(
        &'s mut self,
        sql: &'s str,
        values: &'s [Cell],
        bytes: usize,
    ) -> BoxFuture<'s, Result<Vec<Row>>> {
        let sql = numbered(sql, 0);
        async move { self.alone(async |client| moving::rows_within(client, &sql, values, bytes).await).await }.boxed()
    }

    fn load<'s>(&'s mut self, table: &'s str, columns: &'s [&'s str], rows: &'s [Row]) -> BoxFuture<'s, Result<()>> {
        async move { self.alone(async |client| moving::load(client, table, columns, rows).await).await }.boxed()
    }

    fn continue_keys<'s>(&'s mut self, table: &'s str, column: &'s str) -> BoxFuture<'s, Result<()>> {
        let sql = format!(
            "select setval(pg_get_serial_sequence(?1, ?2), coalesce((select max({column}) from {table}), 0) + 1, false)"
        );
        async move { self.rows(&sql, &[table.into(), column.into()]).await.map(drop) }.boxed()
    }

    fn execute<'s>(&'s mut self, sql: &'s str, values: &'s [Cell]) -> BoxFuture<'s, Result<usize>> {
        self.forget();
        async move {
            let answers = self.send(&[(&numbered(sql, 0), values)]).await.map_err(|failure| failure.refusal)?;
            let count = answers.first().map_or(0, |answer| answer.count);
            Ok(usize::try_from(count).unwrap_or(usize::MAX))
        }
        .boxed()
    }

    fn script<'s>(&'s mut self, sql: &'s str) -> BoxFuture<'s, Result<()>> {
        self.forget();
        self.waiting.push(Waiting::Words(sql.to_owned().into()));
        async move { self.send(&[]).await.map(drop).map_err(|failure| failure.refusal) }.boxed()
    }

    fn execute_later(&mut self, statement: Statement) -> Result<()> {
        self.forget();
        self.waiting.push(Waiting::Statement(numbered(&statement.sql, 0), statement.values));
        Ok(())
    }

    fn change_and_add(&mut self, change: Statement, addition: Statement) -> BoxFuture<'_, Result<bool>> {
        self.forget();
        let text = change_and_addition(&change, &addition);
        let values = [change.values, addition.values].concat();
        self.waiting.push(Waiting::Statement(text, values));
        ready(Ok(true)).boxed()
    }

    fn execute_at_commit(&mut self, sql: &'static str, values: Vec<Cell>) {
        self.at_commit.push((sql, values));
    }

    fn slot(&self) -> &'static str {
        "pg_backend_pid() % 64"
    }

    fn catch_up(&mut self) -> BoxFuture<'_, Result<()>> {
        self.forget();
        self.take_up();
        async move { self.send(&[]).await.map(drop).map_err(|failure| failure.refusal) }.boxed()
    }

    fn compact_after_commit(&mut self) {
        // The server takes removed rows out of its files by itself.
    }
}
