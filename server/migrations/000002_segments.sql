-- Segments: sets of users filled from files, described by filters, or kept in step by a partner.

-- No statement wrote these two before.
drop table segment_members;
drop table segments;

-- A segment's members are versioned: every operation on it has a number, a member is added in one and may be removed in
-- a later one. What is read at a version stays the same while the next operation goes on, so a run keeps its audience
-- and a reader sees all of an operation or nothing. Operations on one segment follow each other.
create table segments (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  name text not null,
  kind text not null check (kind in ('FILE', 'FILTER', 'COHORT')),
  state text not null check (state in ('FILLING', 'READY', 'FAILED', 'ARCHIVED')),
  state_reason text,
  -- Where it was made: the API, the console or command line, or a partner's synchronisation.
  source text not null check (source in ('API', 'CONSOLE', 'PARTNER')),
  -- FILE: which user attribute its files hold.
  attribute_name text,
  attribute_type text check (attribute_type in ('string', 'double')),
  -- FILTER: the trees as they were sent, a sentence made of them, their digest, and the segments they name.
  included_filters jsonb,
  excluded_filters jsonb,
  description text,
  filters_digest bytea check (octet_length(filters_digest) = 32),
  uses_segments text[] not null default '{}',
  -- COHORT: the partner's own name of it.
  partner text,
  cohort_id text,
  -- The last operation whose result is visible. 0: none yet.
  version integer not null default 0,
  -- Members at that version. Null for FILTER, whose members are found when they are needed.
  user_count bigint,
  expiry_days integer check (expiry_days between 1 and 3650),
  expires_at timestamptz,
  archived_at timestamptz,
  -- Thirty days after archiving the members are deleted for good (facts 2.2).
  members_deleted_at timestamptz,
  created_by text not null,
  updated_by text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (workspace_id, name),
  check ((kind = 'FILE') = (attribute_name is not null)),
  check ((kind = 'FILE') = (attribute_type is not null)),
  check ((kind = 'FILTER') = (included_filters is not null)),
  check ((kind = 'FILTER') = (filters_digest is not null)),
  check ((kind = 'COHORT') = (cohort_id is not null)),
  check (kind <> 'FILTER' or state in ('READY', 'ARCHIVED')),
  check ((state = 'ARCHIVED') = (archived_at is not null)),
  check (state <> 'FAILED' or state_reason is not null)
);
create unique index segments_cohort on segments (workspace_id, partner, cohort_id) where kind = 'COHORT';
create index segments_newest on segments (workspace_id, created_at desc, id desc);
create index segments_expiry on segments (expires_at) where state <> 'ARCHIVED' and expires_at is not null;
create index segments_archived on segments (archived_at) where archived_at is not null and members_deleted_at is null;

create table segment_members (
  workspace_id text collate "C" not null,
  bucket smallint not null check (bucket between 0 and 255),
  -- A segment's id, or a run's: the frozen audience of a run to a filter segment.
  segment_id text collate "C" not null,
  user_id text collate "C" not null,
  added_in integer not null,
  removed_in integer check (removed_in > added_in),
  primary key (workspace_id, bucket, segment_id, user_id, added_in)
);
create index segment_members_removed on segment_members (workspace_id, segment_id, removed_in) where removed_in is not null;

-- One request to change a file segment: create, add, remove, replace. `number` is its version of the segment.
create table segment_operations (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  segment_id text collate "C" not null references segments (id),
  number integer not null,
  kind text not null check (kind in ('CREATE', 'ADD', 'REMOVE', 'REPLACE')),
  -- 32 hexadecimal characters, in the callback (interface 2.7).
  request_id text collate "C" not null unique check (request_id ~ '^[0-9a-f]{32}$'),
  -- Null: the file was posted to us, see segment_file_pieces.
  file_url text,
  callback_url text,
  emails text[] not null default '{}',
  state text not null check (state in ('QUEUED', 'FILLING', 'WAITING', 'SUCCEEDED', 'FAILED')),
  -- Downloads begun; the fourth is the last (decisions D25).
  attempts smallint not null default 0,
  -- Leases that ran out and surprises; the third ends the operation with status 500.
  crashes smallint not null default 0,
  -- Not claimed before this instant: a download that failed waits.
  not_before timestamptz not null,
  owner text,
  lease_until timestamptz,
  -- Progress while filling, results at the end (interface 2.7).
  bytes_read bigint not null default 0,
  values_found bigint not null default 0,
  values_processed bigint,
  user_count bigint,
  -- Users that count against the daily limit: those that were not members before.
  counted_users bigint,
  status smallint check (status in (201, 400, 500)),
  error_message text,
  -- Private: what exactly went wrong.
  error_detail text,
  requested_by text not null,
  created_at timestamptz not null,
  ended_at timestamptz,
  unique (segment_id, number),
  check ((state = 'FILLING') = (owner is not null)),
  check ((state = 'FILLING') = (lease_until is not null)),
  check ((state in ('SUCCEEDED', 'FAILED')) = (ended_at is not null)),
  check ((state in ('SUCCEEDED', 'FAILED')) = (status is not null)),
  check ((state = 'FAILED') = (error_message is not null)),
  check ((state = 'SUCCEEDED') = (counted_users is not null))
);
create index segment_operations_open on segment_operations (not_before, id) where state in ('QUEUED', 'FILLING', 'WAITING');
create index segment_operations_users on segment_operations (workspace_id, ended_at) where state = 'SUCCEEDED';

-- The first 10,000 lines of an operation's file that named nobody usable, with the reason.
create table segment_rejects (
  operation_id text collate "C" not null references segment_operations (id),
  line integer not null,
  reason text not null,
  primary key (operation_id, line)
);

-- A file that was posted to us, in pieces, until its operation has ended.
create table segment_file_pieces (
  operation_id text collate "C" not null references segment_operations (id),
  number integer not null,
  bytes bytea not null,
  primary key (operation_id, number)
);

-- What the outcome of an operation says to the caller's address, kept until it was received (interface 6).
create table callbacks (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  operation_id text collate "C" not null references segment_operations (id),
  url text not null,
  -- The exact text that is posted, the same on every attempt.
  body text not null,
  state text not null check (state in ('PENDING', 'DELIVERED', 'GIVEN_UP')),
  attempts smallint not null default 0,
  -- When the next attempt is due; while one is under way, when its lease ends.
  next_at timestamptz,
  created_at timestamptz not null,
  ended_at timestamptz,
  check ((state = 'PENDING') = (next_at is not null)),
  check ((state = 'PENDING') = (ended_at is null))
);
create index callbacks_due on callbacks (next_at) where state = 'PENDING';
create index callbacks_operation on callbacks (operation_id);
create index callbacks_newest on callbacks (workspace_id, created_at desc);

create table callback_attempts (
  callback_id text collate "C" not null references callbacks (id),
  number smallint not null,
  at timestamptz not null,
  -- Null: no answer came.
  status smallint,
  -- Why it did not count, in words that name neither addresses nor what answers there.
  error text,
  duration_ms real not null,
  primary key (callback_id, number)
);

-- Reports by mail. Without SMTP they are KEPT and shown.
create table mails (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  operation_id text collate "C" references segment_operations (id),
  recipients text[] not null,
  subject text not null,
  body text not null,
  state text not null check (state in ('PENDING', 'SENT', 'KEPT', 'FAILED')),
  attempts smallint not null default 0,
  next_at timestamptz,
  error text,
  created_at timestamptz not null,
  ended_at timestamptz,
  check ((state = 'PENDING') = (next_at is not null)),
  check ((state = 'PENDING') = (ended_at is null))
);
create index mails_due on mails (next_at) where state = 'PENDING';
create index mails_newest on mails (workspace_id, created_at desc);

-- Signs callbacks (Standard Webhooks); made with the first one, sealed under the master key.
alter table workspaces add column webhook_secret_sealed bytea;

-- A position in the order of an audience: a device's id, or for a segment a user's and a device's together.
alter table chunks rename column cursor_device_id to cursor_position;
alter table chunks rename column window_device_id to window_position;

-- The audience of a run to a segment, as it was when the run began: members of segment_members under this id and at
-- this version. For a filter segment the id is the run's own.
alter table runs add column audience_segment_id text collate "C";
alter table runs add column audience_version integer;
alter table runs add column audience_dropped_at timestamptz;
alter table runs add check ((audience_segment_id is null) = (audience_version is null));
create index runs_frozen_audience on runs (ended_at)
  where audience_segment_id = id and ended_at is not null and audience_dropped_at is null;
