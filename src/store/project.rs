//! The instance and its projects.

use uuid::Uuid;

use crate::domain::project::{Instance, Project, Standing};
use crate::domain::task::Status;
use crate::domain::time::Timestamp;
use crate::error::{Refusal, Result};
use crate::store::backend::{Question, Statement, Transaction};
use crate::store::cell::Row;
use crate::store::migration;
use crate::store::task::{from_json, to_json};

const COLUMNS: &str = "p.project_id, p.slug, p.name, p.language, p.generation, p.stale_hours, p.archived_at, p.rules";

/// The instance, and the project of that slug if it exists. Refused once a newer program has changed the schema in a way
/// that this one must not work with: every call begins here.
pub async fn identity(transaction: &mut Transaction, slug: Option<&str>) -> Result<(Instance, Option<Project>)> {
    let (instance, project, _) = identity_and_standing(transaction, slug).await?;
    Ok((instance, project))
}

/// The same, and whether the instance lives here: whoever writes asks that.
pub async fn identity_and_standing(
    transaction: &mut Transaction,
    slug: Option<&str>,
) -> Result<(Instance, Option<Project>, Standing)> {
    let sql = format!(
        "select i.instance_id, i.resource, i.pin_key, (select max(serves_from) from migration), i.state, i.other_end, \
         {COLUMNS} \
         from instance i left join project p on p.slug = ?1"
    );
    let row = transaction.row(&sql, &[slug.into()]).await?;
    let mut row = row.ok_or_else(|| {
        Refusal::new(
            crate::error::Code::Unavailable,
            "the database is not set up",
            "Run heyaira start, or heyaira init.",
        )
    })?;
    let instance = Instance { id: row.uuid(0)?, resource: row.text(1)?, pin_key: row.bytes(2)?.to_vec() };
    migration::check_served(row.integer(3)?)?;
    let standing = standing(&mut row, 4)?;
    standing.check_readable()?;
    let is_known = row.maybe_integer(6)?.is_some();
    let project = is_known.then(|| project(row, 6)).transpose()?;
    Ok((instance, project, standing))
}

/// What the two columns `state` and `other_end` say.
pub(super) fn standing(row: &mut Row, first: usize) -> Result<Standing> {
    let other = row.maybe_text(first + 1)?.unwrap_or_default();
    match row.str(first)? {
        "here" => Ok(Standing::Here),
        "leaving" => Ok(Standing::Leaving(other)),
        "moved" => Ok(Standing::Moved(other)),
        "arriving" => Ok(Standing::Arriving(other)),
        unknown => Err(Refusal::internal(&format!("unknown state {unknown} of the instance"))),
    }
}

/// The id of the instance, if the database is set up.
pub async fn instance_id(transaction: &mut Transaction) -> Result<Option<Uuid>> {
    transaction.row("select instance_id from instance", &[]).await?.map(|row| row.uuid(0)).transpose()
}

/// The id of the instance, if the database is set up, to put something in its place: refused unless it lives here.
pub async fn replaceable_instance(transaction: &mut Transaction) -> Result<Option<Uuid>> {
    let Some(mut row) = transaction.row("select instance_id, state, other_end from instance", &[]).await? else {
        return Ok(None);
    };
    standing(&mut row, 1)?.check_writable()?;
    row.uuid(0).map(Some)
}

/// Makes the database another instance, which lives here: profiles of the old one are refused from then on.
pub async fn replace_instance(transaction: &mut Transaction, instance: &Instance) -> Result<()> {
    let key = crate::store::cell::Cell::Bytes(instance.pin_key.clone());
    let values = [instance.id.into(), instance.resource.as_str().into(), key];
    let sql = "update instance set instance_id = ?1, resource = ?2, pin_key = ?3, \
        state = 'here', move_id = null, move_run = null, other_end = null";
    transaction.execute(sql, &values).await.map(drop)
}

fn project(mut row: Row, first: usize) -> Result<Project> {
    Ok(Project {
        project_id: row.integer(first)?,
        slug: row.text(first + 1)?,
        name: row.text(first + 2)?,
        language: row.text(first + 3)?,
        generation: row.integer(first + 4)?,
        stale_hours: row.integer(first + 5)?,
        archived: row.maybe_integer(first + 6)?.is_some(),
        rules: from_json(row.str(first + 7)?)?,
    })
}

/// Writes the instance's row; does nothing if there is one.
pub async fn create_instance(transaction: &mut Transaction, instance: &Instance, now: Timestamp) -> Result<bool> {
    let sql = "insert into instance (only_row, instance_id, resource, pin_key, created_at, state) \
        select 1, ?1, ?2, ?3, ?4, 'here' where not exists (select 1 from instance)";
    let key = crate::store::cell::Cell::Bytes(instance.pin_key.clone());
    let values = [instance.id.into(), instance.resource.as_str().into(), key, now.0.into()];
    Ok(transaction.execute(sql, &values).await? == 1)
}

/// Changes the canonical URI.
pub async fn set_resource(transaction: &mut Transaction, resource: &str) -> Result<()> {
    transaction.execute("update instance set resource = ?1", &[resource.into()]).await.map(drop)
}

/// All projects by slug.
pub async fn list(transaction: &mut Transaction) -> Result<Vec<Project>> {
    let rows = transaction.rows(&format!("select {COLUMNS} from project p order by p.slug"), &[]).await?;
    rows.into_iter().map(|row| project(row, 0)).collect()
}

/// Adds a project; false if the slug is taken.
pub async fn create(transaction: &mut Transaction, new: &Project, now: Timestamp) -> Result<bool> {
    let sql = "insert into project (slug, name, language, stale_hours, created_at, generation, rules) \
        values (?1, ?2, ?3, ?4, ?5, ?6, ?7) on conflict (slug) do nothing";
    let values = [
        new.slug.as_str().into(),
        new.name.as_str().into(),
        new.language.as_str().into(),
        new.stale_hours.into(),
        now.0.into(),
        new.generation.into(),
        to_json(&new.rules)?.into(),
    ];
    Ok(transaction.execute(sql, &values).await? == 1)
}

/// Saves a project's settings and generation.
pub async fn save(transaction: &mut Transaction, project: &Project, now: Timestamp) -> Result<()> {
    let sql = "update project set name = ?2, language = ?3, generation = ?4, stale_hours = ?5, rules = ?8, \
        archived_at = case when ?6 = 0 then null else coalesce(archived_at, ?7) end where project_id = ?1";
    let values = [
        project.project_id.into(),
        project.name.as_str().into(),
        project.language.as_str().into(),
        project.generation.into(),
        project.stale_hours.into(),
        project.archived.into(),
        now.0.into(),
        to_json(&project.rules)?.into(),
    ];
    transaction.execute(sql, &values).await.map(drop)
}

/// Lets no other write that takes its turn in this project run beside this one: the later one is run again and then sees
/// what the first has written. For rules that look at more than the rows that a write changes.
pub fn take_turn(transaction: &mut Transaction, project_id: i64) -> Result<()> {
    let sql = "update project set generation = generation where project_id = ?1";
    transaction.execute_later(Statement::new(sql, [project_id.into()]))
}

/// How many tasks are in each status.
pub fn counts(project_id: i64) -> Question<Vec<(Status, i64)>> {
    let sql = "select status, cast(sum(tasks) as bigint) from task_count where project_id = ?1 group by status";
    Question::new(Statement::new(sql, [project_id.into()]), by_status)
}

fn by_status(rows: Vec<Row>) -> Result<Vec<(Status, i64)>> {
    let mut counts: Vec<(Status, i64)> = Status::ALL.into_iter().map(|status| (status, 0)).collect();
    for row in rows {
        let status = row.str(0)?;
        let tasks = row.integer(1)?;
        counts.iter_mut().filter(|(one, _)| one.as_str() == status).for_each(|(_, count)| *count = tasks);
    }
    Ok(counts)
}

/// Removes a project and everything in it; answers how many tasks there were.
pub async fn purge(transaction: &mut Transaction, project_id: i64) -> Result<i64> {
    let tasks = transaction.integer("select count(*) from task where project_id = ?1", &[project_id.into()]).await?;
    crate::store::search::forget_project(transaction, project_id).await?;
    let statements = [
        "delete from run_report where project_id = ?1",
        "delete from verification where task_id in (select task_id from task where project_id = ?1)",
        "delete from receipt where task_id in (select task_id from task where project_id = ?1)",
        "delete from task_dependency where task_id in (select task_id from task where project_id = ?1)",
        "delete from task_version where task_id in (select task_id from task where project_id = ?1)",
        "delete from task_tag where project_id = ?1",
        "delete from task_session where project_id = ?1",
        "delete from task_count where project_id = ?1",
        "delete from message where project_id = ?1",
        "delete from memory where project_id = ?1",
        "delete from idempotency where project_id = ?1",
        // A new project may get this one's number: a token that was left would open it.
        "delete from token where project_id = ?1",
        "delete from task where project_id = ?1",
        "delete from project where project_id = ?1",
    ];
    for sql in statements {
        transaction.execute(sql, &[project_id.into()]).await?;
    }
    crate::store::search::forget_removed(transaction);
    transaction.compact_after_commit();
    Ok(tasks)
}

/// A random key for the pins.
pub fn new_pin_key(one: Uuid, other: Uuid) -> Vec<u8> {
    one.as_bytes().iter().chain(other.as_bytes()).copied().collect()
}

/// A write that changes nothing, for timing one.
pub async fn touch(transaction: &mut Transaction) -> Result<()> {
    identity_and_standing(transaction, None).await?.2.check_writable()?;
    transaction.execute("update instance set resource = resource", &[]).await.map(drop)
}
