-- Makes :copies older copies of every task and memory, with all that belongs to them, under keys and ids of their own.
-- None has the rare word that is searched for.

begin;
set local maintenance_work_mem = '1GB';
set local synchronous_commit = off;

create temporary table copy on commit drop as
    select task_id as from_id, md5(task_id::text || number)::uuid as task_id, task_key as from_key,
        task_key + number * size as task_key, number * span as before
    from task, generate_series(1, :copies) number,
        (select max(task_key) as size, max(created_at) - min(created_at) as span from task) base;
analyze copy;

insert into task (task_key, task_id, project_id, version, status, is_open, priority, created_at, updated_at, owner, parent,
    takeover_version, takeover_by, takeover_at, next_version, next_by, receipt_version, pending_version, pending_at,
    pending_by, reopened_version, owner_at, written_by, title, summary, tags, depends_on, handoff_next, handoff_blockers,
    description, completion_criteria, required_reviews, handoff_completed)
select copy.task_key, copy.task_id, project_id, version, status, is_open, priority, created_at - before,
    updated_at - before, owner, parent, takeover_version, takeover_by, takeover_at, next_version, next_by,
    receipt_version, pending_version, pending_at - before, pending_by, reopened_version, owner_at - before, written_by,
    title, summary, tags, depends_on, handoff_next, handoff_blockers, replace(description, 'quokka ', ''),
    completion_criteria, required_reviews, handoff_completed
from copy join task on task.task_id = from_id order by copy.task_key;
select setval(pg_get_serial_sequence('task', 'task_key'), (select max(task_key) from task)) as _;
update task_count set tasks = tasks * (:copies + 1);

insert into task_tag (project_id, tag, task_id)
select project_id, tag, copy.task_id from copy join task_tag on task_tag.task_id = from_id;

insert into task_version (task_id, version, project_id, at, caller, connection, session_ref, harness, act, changed, content)
select copy.task_id, version, project_id, at - before, caller, connection, session_ref, harness, act, changed, content
from copy join task_version on task_version.task_id = from_id order by copy.task_key, version;

insert into receipt (task_id, version, session_ref, fields, observed, carried, at)
select copy.task_id, version, session_ref, fields, observed, carried, at - before
from copy join receipt on receipt.task_id = from_id;

insert into task_session (project_id, session_ref, task_id, first_version, last_version, handed_off_version)
select project_id, session_ref, copy.task_id, first_version, last_version, handed_off_version
from copy join task_session on task_session.task_id = from_id;

-- To build the index anew is several times as quick as to add to it.
select pg_get_indexdef('task_words_found'::regclass) as definition \gset
drop index task_words_found;
insert into task_words (rowid, words, found)
select copy.task_key, replace(words, 'quokka ', ''),
    ts_delete(found, array['1pquokka', '1qquokka', '1rquokka', '1squokka', '1tquokka'])
from copy join task_words on rowid = from_key order by copy.task_key;
:definition;

create temporary table memory_copy on commit drop as
    select memory_key as from_key, memory_key + number * size as memory_key, md5(memory_id || number) as id
    from memory, generate_series(1, :copies) number, (select max(memory_key) as size from memory) base;
insert into memory (memory_key, memory_id, project_id, kind, summary, body, tags, task_version, caller, connection, at,
    fingerprint)
select memory_copy.memory_key, 'm-' || left(id, 12), project_id, kind, summary, body, tags, task_version, caller,
    connection, at, sha256(id::bytea)
from memory_copy join memory on memory.memory_key = from_key order by memory_copy.memory_key;
select setval(pg_get_serial_sequence('memory', 'memory_key'), (select max(memory_key) from memory)) as _;
insert into memory_words (rowid, words, found)
select memory_key, words, found from memory_copy join memory_words on rowid = from_key;

commit;
