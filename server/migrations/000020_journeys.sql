-- Journeys (decision 0096): graphs of steps through which people pass one by one.

create table journeys (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  name text not null,
  status text not null check (status in ('DRAFT', 'ACTIVE', 'PAUSED', 'STOPPED')),
  -- The graph that is being edited, as it was sent; null: nothing was changed since the live version.
  draft jsonb check (jsonb_typeof(draft) = 'object'),
  -- The version that people enter; null: never published.
  version integer check (version > 0),
  created_by text not null,
  created_at timestamptz not null,
  updated_by text not null,
  updated_at timestamptz not null,
  -- It was stopped, and users may still be inside: the engine lets them leave.
  is_ending boolean not null default false,
  unique (workspace_id, name),
  constraint journeys_ending_check check (not is_ending or status = 'STOPPED'),
  constraint journeys_published_check check ((version is null) = (status = 'DRAFT')),
  constraint journeys_content_check check (draft is not null or version is not null)
);
create index journeys_newest on journeys (workspace_id, created_at desc, id desc);
create index journeys_active on journeys (workspace_id) where status = 'ACTIVE';
create index journeys_ending on journeys (updated_at) where is_ending;

-- A published graph never changes: people inside finish on the version that they entered, or are moved by the rule of an edit.
create table journey_versions (
  journey_id text collate "C" not null references journeys (id),
  version integer not null check (version > 0),
  workspace_id text collate "C" not null references workspaces (id),
  -- As it was sent.
  graph jsonb not null check (jsonb_typeof(graph) = 'object'),
  -- The campaign of each send step: {"step": "campaign id"}.
  campaigns jsonb not null check (jsonb_typeof(campaigns) = 'object'),
  -- Events that let people enter, and events that people inside are watched for (waits, goal, exit).
  entry_events text[] not null,
  watched_events text[] not null,
  published_at timestamptz not null,
  published_by text not null,
  primary key (journey_id, version)
);
create index journey_versions_workspace on journey_versions (workspace_id);

-- One row per person and journey: when the person entered last. It decides on re-entry, and its lock decides between two events
-- that arrive together. It stays as long as the person.
create table journey_users (
  workspace_id text collate "C" not null,
  bucket smallint not null check (bucket between 0 and 255),
  user_id text collate "C" not null,
  journey_id text collate "C" not null,
  entered_at timestamptz not null,
  primary key (workspace_id, bucket, user_id, journey_id)
);

-- One row per entry: where the person is.
create table journey_positions (
  workspace_id text collate "C" not null,
  bucket smallint not null check (bucket between 0 and 255),
  user_id text collate "C" not null,
  journey_id text collate "C" not null,
  entry_id text collate "C" not null,
  version integer not null,
  step text collate "C" not null,
  entered_at timestamptz not null,
  -- When the person came to the step.
  arrived_at timestamptz not null,
  -- When the step is continued: at once, after the wait, or at the timeout of a wait for an event. Null: the entry is over.
  due_at timestamptz,
  -- The event that ended the wait at this step: its time. Null: none came.
  event_at timestamptz,
  -- The event that let the person enter: name, attributes and time, or the body of the enter route.
  entry_event jsonb not null check (jsonb_typeof(entry_event) = 'object'),
  -- Failed attempts to continue in a row. They put off due_at, so the time by which lateness is measured is kept here; null: due_at.
  attempts smallint not null default 0,
  planned_at timestamptz,
  ended_at timestamptz,
  end_reason text check (
    end_reason in ('COMPLETED', 'GOAL', 'EXIT_EVENT', 'LATE', 'STOPPED', 'STEP_REMOVED', 'MERGED')
  ),
  primary key (workspace_id, bucket, user_id, journey_id, entry_id),
  constraint journey_positions_ended_check check ((ended_at is null) = (end_reason is null)),
  constraint journey_positions_due_check check ((ended_at is null) = (due_at is not null))
);
-- Entered by the journey: a paused one is not read, however much of it is due, and no journey waits for the backlog of another.
create index journey_positions_due on journey_positions (workspace_id, journey_id, due_at) where due_at is not null;
create index journey_positions_step on journey_positions (workspace_id, journey_id, version, step) where ended_at is null;
create index journey_positions_ended on journey_positions (ended_at) where ended_at is not null;

-- The history: one row per step that a person passed. The key is the proof that no step is passed twice in an entry.
create table journey_passages (
  workspace_id text collate "C" not null,
  bucket smallint not null check (bucket between 0 and 255),
  user_id text collate "C" not null,
  journey_id text collate "C" not null,
  entry_id text collate "C" not null,
  step text collate "C" not null,
  version integer not null,
  arrived_at timestamptz not null,
  left_at timestamptz not null,
  edge text not null,
  primary key (workspace_id, bucket, user_id, journey_id, entry_id, step)
);

-- Figures by day. Each transaction adds to the rows of one slot, so that two workers do not wait for each other; a figure is
-- the sum over the slots. `step` is empty for entries and ends; `edge` is then 'entered' or the reason of the end.
create table journey_figures (
  workspace_id text collate "C" not null,
  journey_id text collate "C" not null,
  version integer not null,
  step text collate "C" not null,
  edge text collate "C" not null,
  day date not null,
  slot smallint not null,
  entries bigint not null,
  primary key (workspace_id, journey_id, version, step, edge, day, slot)
);

-- The campaign of a send step belongs to its journey, and only searches for children find it.
alter table campaigns add column journey_id text collate "C" references journeys (id);
create index campaigns_journey on campaigns (workspace_id, journey_id, created_at desc, id desc) where journey_id is not null;
select guard_workspace_table('journeys', 'journeys');
select guard_workspace_table('journey_versions', 'journey_versions');
select guard_workspace_table('journey_users', 'journey_users');
select guard_workspace_table('journey_positions', 'journey_positions');
select guard_workspace_table('journey_passages', 'journey_passages');
select guard_workspace_table('journey_figures', 'journey_figures');
