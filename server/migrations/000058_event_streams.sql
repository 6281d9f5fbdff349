-- Receivers of a workspace's message events: what providers accepted, what devices clicked and cleared, whom a control group kept
-- out.
create table event_streams (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  url text not null,
  secret_sealed bytea not null,
  events text[] not null,
  user_attributes text[] not null,
  device_attributes text[] not null,
  delivered_events bigint not null default 0,
  last_delivered_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint event_streams_events_check check (
    cardinality(events) > 0 and events <@ array['delivered', 'clicked', 'cleared', 'control_group']
  )
);
create index event_streams_workspace on event_streams (workspace_id);

-- What was stored and is in no batch yet, noted by the transaction that stored it: a window of the ledger by its run, buckets and
-- time, or a device's report. A row goes in the transaction that makes batches of it.
create table event_stream_marks (
  stream_id text collate "C" not null references event_streams (id) on delete cascade,
  number bigint generated always as identity,
  workspace_id text collate "C" not null,
  run_id text collate "C" not null,
  buckets smallint[] not null,
  -- Of a window: how many of its rows are events.
  events integer not null,
  at timestamptz not null,
  -- Of a report: what was done, by which device. The device is forgotten when its user is erased.
  kind text,
  device_id text collate "C",
  platform text,
  action text,
  event_uuid uuid,
  constraint event_stream_marks_report_check check ((kind is null) = (event_uuid is null)),
  primary key (stream_id, number)
);
create index event_stream_marks_device on event_stream_marks (workspace_id, device_id) where device_id is not null;

-- At most a hundred events that are posted together, by their ids: the body is written for each attempt, so that it says of nobody
-- what was erased. A batch that was taken is deleted; one that was given up stays to be sent again.
create table event_stream_batches (
  id text collate "C" primary key,
  stream_id text collate "C" not null references event_streams (id) on delete cascade,
  workspace_id text collate "C" not null,
  events jsonb not null,
  state text not null,
  attempts smallint not null default 0,
  next_at timestamptz,
  lease_until timestamptz,
  last_status smallint,
  last_error text,
  created_at timestamptz not null,
  ended_at timestamptz,
  constraint event_stream_batches_state_check check (state in ('PENDING', 'GIVEN_UP')),
  constraint event_stream_batches_next_check check ((state = 'PENDING') = (next_at is not null)),
  constraint event_stream_batches_ended_check check ((state = 'PENDING') = (ended_at is null))
);
create index event_stream_batches_due on event_stream_batches (stream_id, next_at) where state = 'PENDING';
create index event_stream_batches_given_up on event_stream_batches (stream_id, id) where state = 'GIVEN_UP';
create index event_stream_batches_newest on event_stream_batches (workspace_id, created_at);

select guard_workspace_table('event_streams', 'event_streams');
select guard_workspace_table('event_stream_marks', 'event_stream_marks');
select guard_workspace_table('event_stream_batches', 'event_stream_batches');
