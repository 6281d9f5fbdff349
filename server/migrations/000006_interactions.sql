-- What devices report of messages they were sent: shown, clicked, closed.

-- The figures of a campaign. A device counts once in unique_devices, however many runs and reports it had.
create table if not exists campaign_interactions (
  workspace_id text collate "C" not null,
  campaign_id text collate "C" not null,
  platform text not null check (platform in ('ANDROID', 'IOS', 'WEB')),
  kind text not null check (kind in ('IMPRESSION', 'CLICK', 'CLOSE')),
  total bigint not null,
  unique_devices bigint not null,
  primary key (workspace_id, campaign_id, platform, kind)
);

-- What each device reported of each run. The key finds a device in every run of a campaign with one look.
create table device_interactions (
  workspace_id text collate "C" not null,
  bucket smallint not null check (bucket between 0 and 255),
  campaign_id text collate "C" not null,
  device_id text collate "C" not null,
  kind text not null check (kind in ('IMPRESSION', 'CLICK', 'CLOSE')),
  run_id text collate "C" not null,
  platform text not null check (platform in ('ANDROID', 'IOS', 'WEB')),
  -- The button of the newest click that named one.
  action text check (char_length(action) <= 64),
  -- Digests of the reports that were counted, so that a repeat counts once.
  report_digests bytea[] not null,
  count integer not null check (count = cardinality(report_digests)),
  first_at timestamptz not null,
  primary key (workspace_id, bucket, campaign_id, device_id, kind, run_id)
);
