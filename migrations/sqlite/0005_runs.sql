-- The reports of unattended runs, whole and in short. One is recorded once its receipt and handoff stand with its task: then
-- it names the version that they came with. They go with their project and their task, also where those are removed by a
-- program that does not know this table yet.
create table run_report (
    run_key integer primary key,
    run_id blob not null unique,
    project_id integer not null references project (project_id) on delete cascade,
    task_id blob references task (task_id) on delete cascade,
    outcome text not null,
    -- Who did the work, as receipts name it, and the id that its harness gave it.
    session_ref text not null,
    native text,
    harness text not null,
    branch text,
    started_at integer not null,
    ended_at integer not null,
    summary text not null,
    received_at integer not null,
    received_by text not null,
    -- Null once something was taken out of the report: then any report of that run is this one.
    fingerprint blob,
    recorded_version integer,
    recorded_at integer,
    recorded_by text,
    report text not null
);

create index run_by_project on run_report (project_id, ended_at desc, run_id desc);
create index run_by_task on run_report (task_id, ended_at desc, run_id desc) where task_id is not null;
create index run_unrecorded on run_report (project_id, ended_at desc, run_id desc) where recorded_version is null;
create index run_unrecorded_by_task on run_report (task_id, ended_at desc, run_id desc) where recorded_version is null;
