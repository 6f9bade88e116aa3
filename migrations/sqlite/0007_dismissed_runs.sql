-- When a run was dismissed, and by whom: nobody is to record it. Null where it was not, or was recorded later.
alter table run_report add column dismissed_at integer;
alter table run_report add column dismissed_by text;

drop index run_unrecorded;
drop index run_unrecorded_by_task;
create index run_unrecorded on run_report (project_id, ended_at desc, run_id desc)
    where recorded_version is null and dismissed_at is null;
create index run_unrecorded_by_task on run_report (task_id, ended_at desc, run_id desc)
    where recorded_version is null and dismissed_at is null;
