-- What users do, and which of it a campaign may call its success.

-- One row per event, by the day it was received, so that retention drops a partition: an event may tell of a time long
-- past, and a partition of that day would be made for it.
create table events (
  day date not null,
  workspace_id text collate "C" not null,
  bucket smallint not null check (bucket between 0 and 255),
  id text collate "C" not null,
  user_id text collate "C" not null,
  name text collate "C" not null,
  attributes jsonb not null check (jsonb_typeof(attributes) = 'object'),
  occurred_at timestamptz not null,
  received_at timestamptz not null check (occurred_at <= received_at),
  platform text check (platform in ('ANDROID', 'IOS', 'WEB', 'TV', 'UNKNOWN')),
  app_version text,
  -- The user's distance from UTC.
  utc_offset_seconds integer check (utc_offset_seconds between -54000 and 54000),
  -- The row of the device the caller named; null when it named none or one that is not known.
  device_row_id text collate "C",
  primary key (day, workspace_id, bucket, id)
) partition by range (day);

-- Events nobody has looked at for goals yet. A row goes in the transaction that counts its event, so each is looked at
-- once. Only workspaces with goals have any.
create table unattributed_events (
  workspace_id text collate "C" not null,
  bucket smallint not null,
  event_id text collate "C" not null,
  day date not null,
  received_at timestamptz not null,
  primary key (workspace_id, bucket, event_id)
);
create index unattributed_events_received on unattributed_events (received_at);
create index campaigns_with_goals on campaigns (workspace_id) where conversion_goals <> '[]';

-- One row per event that met a goal (by its place in campaigns.conversion_goals): the total is rows, the unique number
-- is users, for any set of runs. The key makes a second count of one event impossible.
create table conversions (
  workspace_id text collate "C" not null,
  bucket smallint not null check (bucket between 0 and 255),
  campaign_id text collate "C" not null,
  goal smallint not null check (goal >= 0),
  event_id text collate "C" not null,
  user_id text collate "C" not null,
  -- The newest accepted delivery to the user before the event.
  run_id text collate "C" not null,
  platform text not null check (platform in ('ANDROID', 'IOS', 'WEB')),
  occurred_at timestamptz not null,
  primary key (workspace_id, bucket, campaign_id, goal, event_id)
);
create index conversions_campaign on conversions (workspace_id, campaign_id, run_id, platform, goal, user_id);

-- Whom a message reached before an event. Measured: 3 to 10 % more time for the ledger's inserts.
create index deliveries_user on deliveries (workspace_id, bucket, user_id, sent_at) where outcome = 'ACCEPTED';
-- Why deliveries of a run failed; the accepted ones, nearly all, are not in it.
create index deliveries_failed on deliveries (run_id, platform, code, outcome)
  where outcome in ('GONE', 'REJECTED', 'EXPIRED', 'FAILED');
-- The campaigns that were sent in a span of days.
create index runs_started on runs (workspace_id, started_at, campaign_id) where started_at is not null;

-- What devices report; 000006 fills it.
create table if not exists campaign_interactions (
  workspace_id text collate "C" not null,
  campaign_id text collate "C" not null,
  platform text not null check (platform in ('ANDROID', 'IOS', 'WEB')),
  kind text not null check (kind in ('IMPRESSION', 'CLICK', 'CLOSE')),
  total bigint not null,
  unique_devices bigint not null,
  primary key (workspace_id, campaign_id, platform, kind)
);
