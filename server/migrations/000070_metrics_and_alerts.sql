-- What a node counted in a minute, and what it saw waiting: one row a minute and node, however much is sent.
create table node_minutes (
  minute timestamptz not null,
  node_id text collate "C" not null,
  -- Added up over nodes and minutes.
  counts jsonb not null,
  -- Of these the greatest counts.
  gauges jsonb not null,
  primary key (minute, node_id),
  constraint node_minutes_counts_check check (jsonb_typeof(counts) = 'object'),
  constraint node_minutes_gauges_check check (jsonb_typeof(gauges) = 'object')
);

-- Where a workspace is told of what keeps its messages from people. Without a row nobody is told, and alerts are shown.
create table alert_settings (
  workspace_id text collate "C" primary key references workspaces (id),
  webhook_url text,
  emails text[] not null default '{}',
  muted_kinds text[] not null default '{}',
  updated_at timestamptz not null
);

create table alerts (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  kind text not null,
  -- Which provider, job or key.
  subject text not null,
  what text not null,
  todo text not null,
  opened_at timestamptz not null,
  -- When it was last found to be so.
  seen_at timestamptz not null,
  closed_at timestamptz,
  constraint alerts_kind_check check (kind in ('provider', 'queue', 'node', 'job', 'credential'))
);
create unique index alerts_open on alerts (workspace_id, kind, subject) where closed_at is null;
create index alerts_newest on alerts (workspace_id, opened_at desc, id desc);
create index alerts_closed on alerts (closed_at) where closed_at is not null;

-- One node at a time looks.
alter table installation add column alerts_checked_at timestamptz;

-- A callback may be of an alert, which is of no file operation.
alter table callbacks alter column operation_id drop not null;

select guard_workspace_table('alert_settings', 'alert_settings');
select guard_workspace_table('alerts', 'alerts');
