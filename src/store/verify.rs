//! Our own check of a database, beside the database's: history replays to the present, versions have no gap, and
//! everything counted and indexed agrees. Reads only.

use uuid::Uuid;

use crate::domain::task::{Content, Task};
use crate::error::Result;
use crate::store::backend::Transaction;
use crate::store::{task, version};

/// How many tasks are checked in one read transaction.
pub const BATCH: i64 = 500;

/// The ids of the tasks behind `after`, in order of id, with their projects.
pub async fn tasks_behind(transaction: &mut Transaction, after: Uuid) -> Result<Vec<(Uuid, i64)>> {
    let sql = "select task_id, project_id from task where task_id > ?1 order by task_id limit ?2";
    let rows = transaction.rows(sql, &[after.into(), BATCH.into()]).await?;
    rows.iter().map(|row| Ok((row.uuid(0)?, row.integer(1)?))).collect()
}

/// What is wrong with one task's history, in words; empty if nothing is.
pub async fn task_problems(transaction: &mut Transaction, project_id: i64, task_id: Uuid) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let Some(present) = task::get(transaction, project_id, task_id).await? else {
        return Ok(vec![format!("task {task_id} is listed but cannot be read")]);
    };
    let sql =
        "select count(*), coalesce(min(version), 0), coalesce(max(version), 0) from task_version where task_id = ?1";
    if let Some(row) = transaction.row(sql, &[task_id.into()]).await? {
        let (count, least, most) = (row.integer(0)?, row.integer(1)?, row.integer(2)?);
        if (count, least, most) != (present.version, 1, present.version) {
            problems.push(format!(
                "task {task_id} is at version {}, its history has {count} versions from {least} to {most}",
                present.version
            ));
        }
    }
    problems.extend(companion_problems(transaction, project_id, &present).await?);
    match version::content_at(transaction, task_id, present.version).await? {
        Some((content, _)) if content == present.content => {}
        Some((content, _)) => problems.push(differing(&present, &content)),
        None => problems.push(format!("task {task_id} has no history row for version {}", present.version)),
    }
    Ok(problems)
}

/// What is wrong beside the task and its history: tags, dependencies, receipts, marks, words.
async fn companion_problems(transaction: &mut Transaction, project_id: i64, present: &Task) -> Result<Vec<String>> {
    let task_id = present.task_id;
    let mut problems = Vec::new();
    let mut found = |wrong: bool, what: &str| {
        if wrong {
            problems.push(format!("task {task_id}: {what}"));
        }
    };
    let rows = transaction.rows("select tag from task_tag where task_id = ?1 order by tag", &[task_id.into()]).await?;
    let tags = rows.iter().map(|row| row.str(0)).collect::<Result<Vec<_>>>()?;
    let mut said = present.content.tags.clone();
    said.sort();
    found(tags != said, "the tag index differs from its tags");
    let sql = "select depends_on from task_dependency where task_id = ?1 order by depends_on";
    let rows = transaction.rows(sql, &[task_id.into()]).await?;
    let firsts = rows.iter().map(|row| row.uuid(0)).collect::<Result<Vec<_>>>()?;
    let mut said = present.content.depends_on.clone();
    said.sort();
    found(firsts != said, "the index of dependencies differs from what it depends on");
    let sql = "select (select count(*) from receipt where task_id = ?1), \
        (select count(*) from task_version where task_id = ?1 and changed like '%\"receipts\"%'), \
        (select is_open from task where task_id = ?1)";
    if let Some(row) = transaction.row(sql, &[task_id.into()]).await? {
        found(row.integer(0)? != row.integer(1)?, "its receipts differ from those that history names");
        found((row.integer(2)? == 1) != present.content.status.is_open(), "it is indexed as open or finished wrongly");
    }
    let marks = &present.marks;
    let numbers = [
        marks.takeover_version,
        marks.next_version,
        marks.receipt_version,
        marks.pending_version,
        marks.reopened_version,
    ];
    found(
        numbers.iter().any(|number| !(0..=present.version).contains(number)),
        "a mark names a version that it never had",
    );
    if marks.takeover_version > 0 {
        let sql = "select 1 from task_version where task_id = ?1 and version = ?2 and act = 'takeover'";
        let row = transaction.row(sql, &[task_id.into(), marks.takeover_version.into()]).await?;
        found(row.is_none(), "its mark of a takeover names a version that was none");
    }
    let receipt = transaction.ask(version::last_receipt(task_id, present.version)).await;
    found(receipt.is_err(), "its last receipt cannot be read");
    let title = crate::store::search::finds_title(transaction, project_id, present).await?;
    found(!title, "its title is not in the word index");
    Ok(problems)
}

fn differing(present: &Task, replayed: &Content) -> String {
    let fields: Vec<String> = present.content.changes_since(replayed).keys().cloned().collect();
    format!("task {}: history does not replay to the present in {}", present.task_id, fields.join(", "))
}

/// What can be wrong between tables: the words behind the number, and the query that counts.
const TABLE_CHECKS: [(&str, &str); 23] = [
    (
        "counts by status differ from the tasks in a project",
        "select count(*) from (select project_id, status, count(*) as n from task group by project_id, status) t \
         left join (select project_id, status, sum(tasks) as tasks from task_count group by project_id, status) c \
         on c.project_id = t.project_id and c.status = t.status where c.tasks is null or c.tasks <> t.n",
    ),
    (
        "counts by status name tasks that are not there",
        "select count(*) from (select project_id, status, sum(tasks) as tasks from task_count group by project_id, status) c \
         where c.tasks <> (select count(*) from task t where t.project_id = c.project_id and t.status = c.status)",
    ),
    ("instances are missing: there must be one", "select 1 - count(*) from instance"),
    (
        "tasks belong to no project",
        "select count(*) from task t where not exists (select 1 from project p where p.project_id = t.project_id)",
    ),
    (
        "memories belong to no project",
        "select count(*) from memory m where not exists (select 1 from project p where p.project_id = m.project_id)",
    ),
    (
        "messages belong to no task",
        "select count(*) from message m where not exists (select 1 from task t where t.task_id = m.task_id)",
    ),
    (
        "memories supersede one that does not say so",
        "select count(*) from memory m where m.supersedes is not null and not exists \
         (select 1 from memory o where o.memory_id = m.supersedes and o.superseded_by is not null)",
    ),
    (
        "memories are of an unknown kind",
        "select count(*) from memory where kind not in ('decision', 'result', 'fact', 'convention')",
    ),
    (
        "versions belong to no task",
        "select count(*) from task_version v where not exists (select 1 from task t where t.task_id = v.task_id)",
    ),
    (
        "receipts belong to no version",
        "select count(*) from receipt r where not exists (select 1 from task_version v \
         where v.task_id = r.task_id and v.version = r.version)",
    ),
    (
        "grades belong to no task",
        "select count(*) from task_grade g where not exists (select 1 from task t where t.task_id = g.task_id)",
    ),
    (
        "verifications belong to no receipt",
        "select count(*) from verification f where not exists (select 1 from receipt r \
         where r.task_id = f.task_id and r.version = f.receipt_version)",
    ),
    (
        "runs belong to no task of their project",
        "select count(*) from run_report r where r.task_id is not null and not exists \
         (select 1 from task t where t.task_id = r.task_id and t.project_id = r.project_id)",
    ),
    (
        "runs are recorded on a version without a receipt",
        "select count(*) from run_report r where r.recorded_version is not null and not exists (select 1 from receipt c \
         where c.task_id = r.task_id and c.version = r.recorded_version)",
    ),
    (
        "runs are dismissed by nobody or at no time",
        "select count(*) from run_report r where (r.dismissed_at is null) <> (r.dismissed_by is null)",
    ),
    (
        "tags belong to no task",
        "select count(*) from task_tag g where not exists (select 1 from task t where t.task_id = g.task_id)",
    ),
    (
        "tasks are missing from the word index",
        "select count(*) from task t where not exists (select 1 from task_words w where w.rowid = t.task_key)",
    ),
    (
        "memories are missing from the word index",
        "select count(*) from memory m where not exists (select 1 from memory_words w where w.rowid = m.memory_key)",
    ),
    (
        "entries of the word index belong to no task",
        "select count(*) from task_words w where not exists (select 1 from task t where t.task_key = w.rowid)",
    ),
    (
        "entries of the word index belong to no memory",
        "select count(*) from memory_words w where not exists (select 1 from memory m where m.memory_key = w.rowid)",
    ),
    (
        "superseded memories name a successor that is not there",
        "select count(*) from memory m where m.superseded_by is not null and not exists \
         (select 1 from memory s where s.memory_id = m.superseded_by)",
    ),
    (
        "tasks depend on tasks that are not there",
        "select count(*) from task_dependency d where not exists (select 1 from task t where t.task_id = d.depends_on)",
    ),
    (
        "tokens belong to no project",
        "select count(*) from token k where k.project_id is not null and not exists \
         (select 1 from project p where p.project_id = k.project_id)",
    ),
];

/// What is wrong between tables, in words; empty if nothing is.
pub async fn table_problems(transaction: &mut Transaction) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    for (words, sql) in TABLE_CHECKS {
        let count = transaction.integer(sql, &[]).await?;
        if count > 0 {
            problems.push(format!("{count} {words}"));
        }
    }
    Ok(problems)
}
