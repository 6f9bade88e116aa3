-- What came out when a receipt was compared with a repository. Rows are added, never changed. They go with their task, also
-- where it is removed by a program that does not know this table yet.
create table verification (
    verification_key integer primary key,
    task_id blob not null references task (task_id) on delete cascade,
    receipt_version integer not null,
    at integer not null,
    caller text not null,
    connection text not null,
    session_ref text,
    verdict text not null check (verdict in ('verified', 'contradicted', 'unverified')),
    -- The lines that tell what differs, and what the repository said, with the times at which it was asked.
    differences text not null,
    facts text not null
);

create index verification_by_receipt on verification (task_id, receipt_version, verification_key);
