-- Times are microseconds since 1970 in UTC. Lists of words are JSON arrays. Ids of tasks are UUIDs as 16 bytes.

create table instance (
    only_row integer primary key check (only_row = 1),
    instance_id blob not null,
    resource text not null,
    pin_key blob not null,
    created_at integer not null,
    -- here: in use. leaving: read-only, and being moved. moved: read-only for ever. arriving: in use by a move alone.
    state text not null check (state in ('here', 'leaving', 'moved', 'arriving')),
    -- Equal in the two databases of a move; each names the other one, without a password.
    move_id blob,
    move_run blob,
    other_end text
);

create table project (
    project_id integer primary key,
    slug text not null unique,
    name text not null,
    language text not null,
    generation integer not null,
    stale_hours integer not null default 24,
    archived_at integer,
    created_at integer not null
);

-- Credentials of the HTTP surface. The secret itself is nowhere here: `hash` is its SHA-256. No project means all.
create table token (
    token_key integer primary key,
    name text not null unique,
    hash blob not null unique check (length(hash) = 32),
    project_id integer references project (project_id),
    role text not null check (role in ('read', 'write', 'admin')),
    created_by text not null,
    created_at integer not null,
    expires_at integer,
    revoked_at integer
);

create index token_by_project on token (project_id) where project_id is not null;

-- The task as it stands. Short columns first: a list never reads the pages of the long texts.
create table task (
    task_key integer primary key,
    task_id blob not null unique,
    project_id integer not null references project (project_id),
    version integer not null,
    status text not null check (status in ('todo', 'in_progress', 'blocked', 'done', 'cancelled')),
    is_open integer not null,
    priority integer not null,
    created_at integer not null,
    updated_at integer not null,
    owner text,
    parent blob,
    takeover_version integer not null default 0,
    takeover_by text,
    takeover_at integer,
    next_version integer not null default 0,
    next_by text,
    receipt_version integer not null default 0,
    pending_version integer not null default 0,
    pending_at integer,
    pending_by text,
    reopened_version integer not null default 0,
    owner_at integer,
    written_by text not null,
    title text not null,
    summary text not null,
    tags text not null,
    depends_on text not null,
    handoff_next text not null,
    handoff_blockers text not null,
    description text not null,
    completion_criteria text not null,
    required_reviews text not null,
    handoff_completed text not null
);

-- Lists walk these in the very order of their answer, filters included, so a page costs the same at any size.
create index task_by_update on task (project_id, updated_at desc, task_id, pending_version);
create index task_by_status on task (project_id, status, updated_at desc, task_id, pending_version);
create index task_by_creation on task (project_id, created_at desc, task_id);
create index task_by_priority on task (project_id, priority, updated_at desc, task_id, status);
create index task_open on task (project_id, updated_at desc, task_id) where is_open = 1;
create index task_open_by_priority on task (project_id, priority, updated_at desc, task_id, status) where is_open = 1;
create index task_by_owner on task (project_id, owner, updated_at desc, task_id) where owner is not null;
create index task_by_parent on task (project_id, parent, updated_at desc, task_id) where parent is not null;
create index task_pending on task (project_id, updated_at desc, task_id, pending_version) where pending_version > 0;
create index task_pending_since on task (project_id, pending_at desc, task_id) where pending_version > 0;

-- Counted with every write, so that counts by status are exact at any size: the sum over all slots. Where writers run
-- side by side each counts in a slot of its own, so that they do not wait for each other.
create table task_count (
    project_id integer not null references project (project_id),
    status text not null,
    slot integer not null,
    tasks integer not null,
    primary key (project_id, status, slot)
) without rowid;

create table task_tag (
    project_id integer not null,
    tag text not null,
    task_id blob not null,
    primary key (project_id, tag, task_id)
) without rowid;

create table task_dependency (
    task_id blob not null,
    depends_on blob not null,
    primary key (task_id, depends_on)
) without rowid;

-- One row for each version: the fields it changed, with their new values. Version 1 holds every field.
create table task_version (
    task_id blob not null,
    version integer not null,
    project_id integer not null,
    at integer not null,
    caller text not null,
    connection text not null,
    session_ref text,
    harness text,
    act text not null check (act in ('create', 'update', 'takeover', 'revert')),
    changed text not null,
    content text not null,
    primary key (task_id, version)
) without rowid;

create table receipt (
    task_id blob not null,
    version integer not null,
    session_ref text not null,
    fields text not null,
    observed text not null,
    carried text not null,
    at integer not null,
    primary key (task_id, version)
) without rowid;

-- Which sessions worked on which task, so that a late message finds its way.
create table task_session (
    project_id integer not null,
    session_ref text not null,
    task_id blob not null,
    first_version integer not null,
    last_version integer not null,
    handed_off_version integer not null default 0,
    primary key (project_id, session_ref, task_id)
) without rowid;

create table memory (
    memory_key integer primary key,
    memory_id text not null unique,
    project_id integer not null references project (project_id),
    kind text not null,
    summary text not null,
    body text not null,
    tags text not null,
    task_id blob,
    task_version integer not null default 0,
    supersedes text,
    superseded_by text,
    caller text not null,
    connection text not null,
    session_ref text,
    at integer not null,
    fingerprint blob
);

create unique index memory_once on memory (project_id, fingerprint) where fingerprint is not null;
create index memory_by_project on memory (project_id, memory_key);
create index memory_by_kind on memory (project_id, kind, memory_key, superseded_by);
create index memory_by_task on memory (task_id, kind, memory_key) where task_id is not null;

create table message (
    message_key integer primary key,
    message_id text not null unique,
    project_id integer not null references project (project_id),
    task_id blob not null,
    to_session text,
    from_session text,
    caller text not null,
    connection text not null,
    at integer not null,
    expires_at integer not null,
    acknowledged_at integer,
    acknowledged_by text,
    text text not null
);

create index message_waiting on message (project_id, task_id, message_key) where acknowledged_at is null;

create table idempotency (
    project_id integer not null,
    caller text not null,
    operation text not null,
    idempotency_key text not null,
    fingerprint blob not null,
    answer text not null,
    expires_at integer not null,
    primary key (project_id, caller, operation, idempotency_key)
) without rowid;

create index idempotency_expiry on idempotency (expires_at);

-- Words for the full-text search. The program cuts the texts itself, so that both databases find the same; all that is
-- left for the tokenizer is to split at spaces.
create virtual table task_words using fts5 (words, content = '', contentless_delete = 1, tokenize = 'ascii');
create virtual table memory_words using fts5 (words, content = '', contentless_delete = 1, tokenize = 'ascii');
