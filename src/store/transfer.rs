//! Moving everything of one database into another one, of the same kind or not. Must never let a write be acknowledged
//! that the target does not get, never let the instance live in both or be used where the copy is not proved, and never
//! touch a target that holds anything else.
//!
//! The steps, each of which can be the last one before a crash:
//! 1. the source says in its own row that it is leaving: from then on every write to it is refused;
//! 2. the target says that it is arriving: it refuses all use, by a server too;
//! 3. the tables are copied, in the order of their keys, a page in a transaction: what is there already is known by the
//!    greatest key, so a run after a crash goes on behind it;
//! 4. every table of both is read back, counted and digested;
//! 5. the target says that the instance lives here, and after that the source says for ever where it went.
//!
//! Between 4 and 5 the source is asked once more whether it is still leaving. Whoever abandons a move empties the target
//! first, which fails once it is in use; so the instance cannot be set free in both.

mod proof;
mod standing;
mod table;

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join;
use uuid::Uuid;

use crate::domain::project::Standing;
use crate::error::{Code, Refusal, Result};
use crate::store::backend::{Store, Transaction, work};
use crate::store::cell::{Cell, Row};
use crate::store::search;

pub use proof::Sum;
pub use standing::Record;
use standing::Run;
use table::Words;
pub use table::{INSTANCE, TABLES, Table};

/// How many rows a page has at most: so many are in memory, and in one transaction of the target.
const PAGE_ROWS: i64 = 4_000;
/// How many bytes it has at most, but for its last row.
const PAGE_BYTES: usize = 4 * 1024 * 1024;
/// How long writes may go on that began before the source said that it is leaving.
const OUTLASTING: Duration = Duration::from_mins(2);
/// How long one statement or transaction may take; counting a table reads it whole.
const PATIENCE: Duration = Duration::from_hours(1);

/// One of the two databases.
#[derive(Clone)]
pub struct End {
    /// The database.
    pub store: Store,
    /// Its address, without a password.
    pub address: String,
}

/// Which of the two a table is read back from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// Where the instance comes from.
    Source,
    /// Where it goes.
    Target,
}

/// How far a move is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// The table at hand.
    pub table: &'static str,
    /// From where it is read back; nothing while it is copied.
    pub side: Option<Side>,
    /// How many of its rows are done.
    pub rows: u64,
}

/// Is told the progress.
pub type Told = Arc<dyn Fn(&Progress) + Send + Sync>;

/// How far a move had come when it was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The target is new or empty.
    New,
    /// The target holds the start of a move of this instance that was abandoned; it was never in use.
    Abandoned,
    /// The target holds the start of this move.
    Unfinished,
    /// The instance lives in the target.
    Finished,
}

/// What a move would do, or did.
#[derive(Clone, Debug)]
pub struct Report {
    /// The instance.
    pub instance: Uuid,
    /// How far the move was at the start.
    pub stage: Stage,
    /// Each table's name, and its sums in the source and in the target.
    pub tables: Vec<(&'static str, Sum, Sum)>,
}

/// How far the move is, without changing anything; refuses two databases between which there can be none. Without a
/// target there is nothing at its address yet.
pub async fn examine(source: &End, target: Option<&End>, address: &str) -> Result<(Uuid, Stage)> {
    let (from, stage) = look(source, target, address).await?;
    Ok((from.instance, stage))
}

/// Refuses a source that cannot be made read-only, as a standby: it takes no writes. Changes nothing.
pub async fn check_leavable(source: &End) -> Result<()> {
    let tried = work(|transaction| Box::pin(standing::touch(transaction)));
    source.store.write(deadline(), tried).await
}

async fn look(source: &End, target: Option<&End>, address: &str) -> Result<(Record, Stage)> {
    let from = record(&source.store).await?.ok_or_else(|| not_set_up(&source.address))?;
    from.standing.check_readable()?;
    let to = match target {
        Some(target) => found(target).await?,
        None => None,
    };
    let stage = stage(&from, to.as_ref(), &source.address, address)?;
    Ok((from, stage))
}

/// What a target says; refuses one that holds something without saying what.
async fn found(target: &End) -> Result<Option<Record>> {
    let asked = work(|transaction| {
        Box::pin(async move {
            let record = standing::record(transaction).await?;
            let is_empty = record.is_some() || standing::is_empty(transaction).await?;
            Ok((record, is_empty))
        })
    });
    match target.store.read(deadline(), asked).await? {
        (record, true) => Ok(record),
        (_, false) => Err(occupied(&target.address)),
    }
}

fn stage(from: &Record, to: Option<&Record>, source: &str, target: &str) -> Result<Stage> {
    let is_same_move = to.is_some_and(|to| to.move_id.is_some() && to.move_id == from.move_id);
    let is_same_instance = to.is_some_and(|to| to.instance == from.instance);
    if let Standing::Leaving(other) | Standing::Moved(other) = &from.standing
        && !is_same_move
        && other != target
    {
        return Err(bound_elsewhere(source, other, matches!(from.standing, Standing::Moved(_))));
    }
    match (&from.standing, to.map(|to| &to.standing)) {
        (Standing::Moved(_), None) => Err(Refusal::not_allowed(
            format!("{source} was moved to {target}, where there is nothing any more"),
            "What the source still holds can be put into a new database: heyaira backup FILE --database SOURCE, then \
             heyaira restore FILE --database NEW. Nothing was changed.",
        )),
        (_, None) => Ok(Stage::New),
        (Standing::Here | Standing::Leaving(_), Some(Standing::Arriving(_))) if is_same_instance => {
            Ok(if is_same_move { Stage::Unfinished } else { Stage::Abandoned })
        }
        (Standing::Leaving(_) | Standing::Moved(_), Some(Standing::Here)) if is_same_instance && is_same_move => {
            Ok(Stage::Finished)
        }
        _ => Err(occupied(target)),
    }
}

/// How many rows each table of the source has.
pub async fn counts(source: &End) -> Result<Vec<(&'static str, u64)>> {
    let mut counts = Vec::new();
    for table in std::iter::once(&*INSTANCE).chain(TABLES.iter()) {
        counts.push((table.name, count(&source.store, table).await?));
    }
    Ok(counts)
}

async fn count(store: &Store, table: &'static Table) -> Result<u64> {
    let asked = work(move |transaction| Box::pin(async move { transaction.integer(&table.count(), &[]).await }));
    store.read(deadline(), asked).await.map(i64::unsigned_abs)
}

/// Moves everything, or goes on where an earlier run ended. `new` and `run` are fresh ids: of the move, if this is its
/// first run, and of this run.
pub async fn run(source: &End, target: &End, (new, run): (Uuid, Uuid), told: &Told) -> Result<Report> {
    let (from, stage) = look(source, Some(target), &target.address).await?;
    if stage != Stage::Finished {
        let move_id = leave(source, &from, new, &target.address).await?;
        let outlasted = source.store.outlast(Instant::now() + OUTLASTING).await;
        outlasted.map_err(|refusal| left_read_only(refusal, source, target))?;
        let carried = carry(source, target, &from, stage, Run { move_id, run }, told).await;
        let tables = carried.map_err(|refusal| left_read_only(refusal, source, target))?;
        return Ok(Report { instance: from.instance, stage, tables });
    }
    if let (Standing::Leaving(_), Some(move_id)) = (&from.standing, from.move_id) {
        note_moved(source, move_id).await?;
    }
    let tables = sums(source, target, told).await?;
    Ok(Report { instance: from.instance, stage, tables })
}

/// Makes the source read-only, unless it is; answers the id of the move.
async fn leave(source: &End, from: &Record, new: Uuid, to: &str) -> Result<Uuid> {
    if let (Standing::Leaving(_), Some(move_id)) = (&from.standing, from.move_id) {
        return Ok(move_id);
    }
    let to: Arc<str> = to.into();
    let left = work(move |transaction| {
        let to = Arc::clone(&to);
        Box::pin(async move { standing::leave(transaction, new, &to).await })
    });
    if source.store.write(deadline(), left).await? { Ok(new) } else { Err(standing::overtaken()) }
}

/// Fills the target, proves it, and lets the instance live there.
async fn carry(
    source: &End,
    target: &End,
    from: &Record,
    stage: Stage,
    run: Run,
    told: &Told,
) -> Result<Vec<(&'static str, Sum, Sum)>> {
    if stage == Stage::Abandoned {
        empty(target, from.instance).await?;
    }
    if stage == Stage::Unfinished {
        let taken = work(move |transaction| Box::pin(async move { standing::take_over(transaction, &run).await }));
        target.store.write(deadline(), taken).await?;
    } else {
        arrive(source, target, run).await?;
    }
    for table in TABLES.iter() {
        copy(&source.store, &target.store, table, run, told).await?;
    }
    continue_keys(target, run).await?;
    let tables = sums(source, target, told).await?;
    let mut differing: Vec<&str> =
        tables.iter().filter(|(_, one, other)| one != other).map(|(name, ..)| *name).collect();
    if target.store.read(deadline(), work(|transaction| Box::pin(search::missing(transaction)))).await? != 0 {
        differing.push("the index of words");
    }
    if !differing.is_empty() {
        return Err(Refusal::new(
            Code::Damaged,
            format!("what was read back differs from the source in {}", differing.join(", ")),
            "The target is not in use. Abandon the move, run heyaira verify on the source, then move again.",
        ));
    }
    let now = record(&source.store).await?;
    if !now.is_some_and(|now| now.move_id == Some(run.move_id) && matches!(now.standing, Standing::Leaving(_))) {
        return Err(standing::overtaken());
    }
    let settled = work(move |transaction| Box::pin(async move { standing::settle(transaction, &run).await }));
    target.store.write(deadline(), settled).await?;
    note_moved(source, run.move_id).await?;
    Ok(tables)
}

async fn note_moved(source: &End, move_id: Uuid) -> Result<()> {
    let noted = work(move |transaction| Box::pin(async move { standing::moved(transaction, move_id).await }));
    // False if another run of this move has noted it.
    source.store.write(deadline(), noted).await.map(drop)
}

/// Writes the instance into the empty target.
async fn arrive(source: &End, target: &End, run: Run) -> Result<()> {
    let mut rows = page(&source.store, &INSTANCE, None).await?;
    let instance = Arc::new(rows.pop().ok_or_else(|| not_set_up(&source.address))?);
    let address: Arc<str> = source.address.as_str().into();
    let arrived = work(move |transaction| {
        let (instance, address) = (Arc::clone(&instance), Arc::clone(&address));
        Box::pin(async move { standing::arrive(transaction, &instance, &run, &address).await })
    });
    target.store.write(deadline(), arrived).await
}

async fn empty(target: &End, instance: Uuid) -> Result<()> {
    let emptied = work(move |transaction| Box::pin(async move { standing::withdraw(transaction, instance).await }));
    target.store.write(deadline(), emptied).await
}

/// The next rows of a table, in the order of its key.
async fn page(store: &Store, table: &'static Table, behind: Option<Vec<Cell>>) -> Result<Vec<Row>> {
    let sql = table.page(behind.is_some());
    let asked = work(move |transaction| {
        let (sql, mut values) = (sql.clone(), behind.clone().unwrap_or_default());
        values.push(PAGE_ROWS.into());
        Box::pin(async move { transaction.rows_within(&sql, &values, PAGE_BYTES).await })
    });
    store.read(deadline(), asked).await
}

/// Copies what the target does not have of a table yet; the next page is read while one is written.
async fn copy(source: &Store, target: &Store, table: &'static Table, run: Run, told: &Told) -> Result<()> {
    let behind = greatest(target, table).await?;
    let mut done = if behind.is_some() { count(target, table).await? } else { 0 };
    let mut rows = page(source, table, behind).await?;
    while let Some(last) = rows.last() {
        let behind = Some(table.key_of(last));
        done = done.saturating_add(rows.len() as u64);
        let (written, next) = join(put(target, table, run, rows), page(source, table, behind)).await;
        written?;
        rows = next?;
        told(&Progress { table: table.name, side: None, rows: done });
    }
    Ok(())
}

/// The greatest key of a table, if it has a row.
async fn greatest(store: &Store, table: &'static Table) -> Result<Option<Vec<Cell>>> {
    let asked = work(move |transaction| Box::pin(async move { transaction.row(&table.greatest(), &[]).await }));
    Ok(store.read(deadline(), asked).await?.map(|row| row.0))
}

/// Adds rows to a table of the target, with their words, in one transaction.
async fn put(target: &Store, table: &'static Table, run: Run, rows: Vec<Row>) -> Result<()> {
    let rows = Arc::new(rows);
    let added = work(move |transaction| {
        let rows = Arc::clone(&rows);
        Box::pin(async move {
            standing::check_run(transaction, &run).await?;
            transaction.load(table.name, &table.columns, &rows).await?;
            for row in rows.iter().filter(|_| table.words != Words::None) {
                index(transaction, table, row)?;
            }
            Ok(())
        })
    });
    target.write(deadline(), added).await
}

/// Has new rows of the target get keys behind those that were moved.
async fn continue_keys(target: &End, run: Run) -> Result<()> {
    let continued = work(move |transaction| {
        Box::pin(async move {
            standing::check_run(transaction, &run).await?;
            for table in TABLES.iter() {
                if let Some(column) = table.made_key() {
                    transaction.continue_keys(table.name, column).await?;
                }
            }
            Ok(())
        })
    });
    target.store.write(deadline(), continued).await
}

/// Puts the words of a row into the index.
fn index(transaction: &mut Transaction, table: &Table, row: &Row) -> Result<()> {
    let number = |column: &str| match table.cell(row, column) {
        Cell::Integer(number) => Ok(number),
        _ => Err(Refusal::internal(&format!("{}.{column} is no number", table.name))),
    };
    let project_id = number("project_id")?;
    if table.words == Words::Task {
        let task = crate::store::task::task(Row(row.0.clone()))?;
        search::index_task(transaction, project_id, number("task_key")?, &task);
    } else {
        let memory = crate::store::memory::memory(Row(row.0.clone()))?;
        search::index_memory(transaction, project_id, memory.memory_key, &memory);
    }
    Ok(())
}

/// The sums of all tables in both databases.
async fn sums(source: &End, target: &End, told: &Told) -> Result<Vec<(&'static str, Sum, Sum)>> {
    let mut sums = Vec::new();
    for table in std::iter::once(&*INSTANCE).chain(TABLES.iter()) {
        let (one, other) = proof::of_both(&source.store, &target.store, table, told).await?;
        sums.push((table.name, one, other));
    }
    Ok(sums)
}

/// The address of the target of an unfinished move.
pub async fn bound_for(source: &End) -> Result<String> {
    let from = record(&source.store).await?.ok_or_else(|| not_set_up(&source.address))?;
    match from.standing {
        Standing::Leaving(to) => Ok(to),
        standing => Err(nothing_to_abandon(&standing, &source.address)),
    }
}

/// Gives up a move before the target was in use: empties the target and lets the instance live in the source again.
/// Without a target the owner answers for it that there is none, or that it is never used.
pub async fn abandon(source: &End, target: Option<&End>) -> Result<Uuid> {
    let from = record(&source.store).await?.ok_or_else(|| not_set_up(&source.address))?;
    let (Standing::Leaving(to), Some(move_id)) = (&from.standing, from.move_id) else {
        return Err(nothing_to_abandon(&from.standing, &source.address));
    };
    if let Some(target) = target {
        match found(target).await? {
            // Another address than the one that was moved to says nothing by being empty.
            None if target.address == *to => {}
            None => return Err(bound_elsewhere(&source.address, to, false)),
            Some(found) if matches!(found.standing, Standing::Arriving(_)) && found.instance == from.instance => {
                empty(target, from.instance).await?;
            }
            Some(found) if found.move_id == Some(move_id) => return Err(in_use(to)),
            Some(_) => return Err(occupied(&target.address)),
        }
    }
    let stayed = work(move |transaction| Box::pin(async move { standing::stay(transaction, move_id).await }));
    if source.store.write(deadline(), stayed).await? { Ok(from.instance) } else { Err(standing::overtaken()) }
}

async fn record(store: &Store) -> Result<Option<Record>> {
    store.read(deadline(), work(|transaction| Box::pin(standing::record(transaction)))).await
}

fn deadline() -> Instant {
    Instant::now() + PATIENCE
}

fn not_set_up(address: &str) -> Refusal {
    Refusal::not_allowed(format!("there is nothing to move in {address}"), "Name the right database with --from.")
}

fn occupied(address: &str) -> Refusal {
    Refusal::not_allowed(
        format!("{address} is not empty"),
        "Name a new or empty database with --to, or the one that an unfinished move of this very source goes to. \
         Nothing was changed in it.",
    )
}

fn bound_elsewhere(source: &str, other: &str, is_finished: bool) -> Refusal {
    if is_finished {
        return Refusal::not_allowed(
            format!("{source} was moved to {other}, and is read-only since"),
            format!("What is used now is {other}: name that with --from. Nothing was changed."),
        );
    }
    Refusal::not_allowed(
        format!("{source} is being moved to {other}"),
        "Finish that: the same command with that --to. Or give it up first: heyaira move --abandon. Nothing was changed.",
    )
}

fn nothing_to_abandon(standing: &Standing, source: &str) -> Refusal {
    match standing {
        Standing::Moved(to) => in_use(to),
        _ => Refusal::not_allowed(format!("{source} is not being moved"), "Nothing was changed."),
    }
}

fn in_use(to: &str) -> Refusal {
    Refusal::not_allowed(
        format!("the move is finished: the instance lives in {to}"),
        "To go back, move it from there into a new database: heyaira move --from THERE --to NEW. Nothing was changed.",
    )
}

/// The same refusal, which tells that the source stays read-only.
fn left_read_only(refusal: Refusal, source: &End, target: &End) -> Refusal {
    let next = format!(
        "{} {} stays read-only until the move to {} is finished or given up: run the same command again, or heyaira \
         move --abandon.",
        refusal.next, source.address, target.address
    );
    Refusal { next, ..refusal }.with("source_read_only", true)
}
