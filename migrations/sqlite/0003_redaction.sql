-- A redaction is a version of its own kind. A check of a table cannot be changed, so the table is made anew.
create table task_version_with_redactions (
    task_id blob not null,
    version integer not null,
    project_id integer not null,
    at integer not null,
    caller text not null,
    connection text not null,
    session_ref text,
    harness text,
    act text not null check (act in ('create', 'update', 'takeover', 'revert', 'redact')),
    changed text not null,
    content text not null,
    primary key (task_id, version)
) without rowid;

insert into task_version_with_redactions
    (task_id, version, project_id, at, caller, connection, session_ref, harness, act, changed, content)
    select task_id, version, project_id, at, caller, connection, session_ref, harness, act, changed, content
    from task_version;
drop table task_version;
alter table task_version_with_redactions rename to task_version;

-- Where backups were written to: what is redacted later still stands in them.
create table backup (
    backup_key integer primary key,
    file text not null unique,
    made_at integer not null,
    made_by text not null
);
