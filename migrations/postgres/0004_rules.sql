-- What a project does with what the rules of a handoff find: a JSON object of the settings that are not the default.
alter table project add column rules text collate "C" not null default '{}';

-- How good a pending handoff is, as judged with the write that made it or touched it last, so that a list judges nothing.
-- A table of its own: behind the long texts of a task it would cost a list their pages. A grade older than what made the
-- handoff pending says nothing: a server that does not know this table wrote since. Rows go with their task.
create table task_grade (
    task_id uuid not null primary key references task (task_id) on delete cascade,
    version bigint not null,
    grade text collate "C" not null check (grade in ('ready', 'thin', 'misleading'))
);
