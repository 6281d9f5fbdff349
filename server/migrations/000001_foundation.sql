-- The data model of Carillon. One rule shapes it: users, identifiers, devices, segment members and deliveries carry
-- (workspace_id, bucket) at the head of their primary key, and nothing joins, references or is unique across buckets,
-- so that the same tables can be spread over a cluster by bucket. Global uniqueness lives in small tables beside them.
-- Ids are 24 lower-case hexadecimal characters ordered by creation time; text compares bytewise (collate "C").
-- Every time is given by the caller: no column default reads a clock.

create table installation (
  only_row boolean primary key default true check (only_row),
  created_at timestamptz not null,
  -- Seals the word 'carillon' under the master key: a wrong key is noticed at the start, not at the first send.
  master_key_check bytea not null,
  -- Set when the demo workspace was made; production mode refuses to start then.
  demo_workspace_id text,
  -- Milliseconds added to the clock by the sandbox.
  clock_offset_ms bigint not null default 0
);

create table workspaces (
  id text collate "C" primary key check (id ~ '^[A-Za-z0-9_-]{1,64}$'),
  db_name text collate "C" not null unique check (db_name ~ '^[A-Za-z0-9_.-]{1,64}$'),
  name text not null,
  time_zone text not null default 'UTC',
  data_center text not null default '01' check (data_center in ('01', '02', '03', '04', '05', '06', '101')),
  -- Decisions D19, D35a: stricter rules a workspace may ask for.
  secret_required_at_refresh boolean not null default false,
  signature_v2_required boolean not null default false,
  created_at timestamptz not null
);

-- Secrets are 256 random bits. Those a caller presents are kept as SHA-256; a push key is never presented but signs
-- (interface 5), so it must be readable and is sealed under the master key as well.
create table api_keys (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  kind text not null check (kind in ('oauth', 'data', 'push', 'campaigns')),
  name text not null check (char_length(name) between 1 and 100),
  scopes text[] not null,
  secret_hash bytea not null unique check (octet_length(secret_hash) = 32),
  secret_sealed bytea check ((secret_sealed is not null) = (kind = 'push')),
  secret_hint text not null,
  access_token_minutes smallint not null default 15 check (access_token_minutes between 5 and 60),
  -- Raised when the secret is made anew; tokens carry the number they were issued under.
  generation integer not null default 1,
  created_at timestamptz not null,
  last_used_at timestamptz,
  archived_at timestamptz
);
create index api_keys_workspace on api_keys (workspace_id, kind) where archived_at is null;

create table refresh_tokens (
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  workspace_id text collate "C" not null references workspaces (id),
  key_id text collate "C" not null references api_keys (id),
  key_generation integer not null,
  issued_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz
);
create index refresh_tokens_expiry on refresh_tokens (expires_at);
create index refresh_tokens_key on refresh_tokens (key_id);

create table access_tokens (
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  workspace_id text collate "C" not null references workspaces (id),
  key_id text collate "C" not null references api_keys (id),
  key_generation integer not null,
  -- The refresh token it came with or from; revoking that one ends this one.
  refresh_token_hash bytea not null,
  issued_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz
);
create index access_tokens_expiry on access_tokens (expires_at);
create index access_tokens_refresh on access_tokens (refresh_token_hash);

-- Exact sliding windows of small limits (tokens, guesses, file operations): the times of the counted events, newest
-- last, in the row itself, so one statement under the row's lock decides and counts.
create table limit_windows (
  operation text not null,
  subject bytea not null check (octet_length(subject) = 32),
  events timestamptz[] not null,
  last_event_at timestamptz not null,
  primary key (operation, subject)
);
create index limit_windows_age on limit_windows (last_event_at);

-- Exact sliding windows of large limits (10,000 a minute): event number k passes when event number k - limit is at
-- least one window old. A mark says how many events had been counted at an instant, so a batch costs one row.
create table limit_counters (
  operation text not null,
  workspace_id text collate "C" not null,
  counted bigint not null,
  primary key (operation, workspace_id)
);
create table limit_marks (
  operation text not null,
  workspace_id text collate "C" not null,
  counted bigint not null,
  at timestamptz not null,
  primary key (operation, workspace_id, counted)
);
create index limit_marks_time on limit_marks (operation, workspace_id, at);

create table idempotency_keys (
  workspace_id text collate "C" not null,
  operation text not null,
  key_hash bytea not null check (octet_length(key_hash) = 32),
  body_hash bytea not null check (octet_length(body_hash) = 32),
  -- The first answer, sealed: it may carry tokens. Null while the first request is in its transaction.
  answer_sealed bytea,
  created_at timestamptz not null,
  primary key (workspace_id, operation, key_hash)
);
create index idempotency_keys_age on idempotency_keys (created_at);

create table provider_credentials (
  workspace_id text collate "C" not null references workspaces (id),
  provider text not null check (provider in ('fcm', 'apns', 'webpush')),
  -- AES-256-GCM under the master key; workspace and provider are authenticated with it, so a row cannot be moved.
  sealed bytea not null,
  -- What may be shown: project, team, topic, public key.
  summary jsonb not null,
  simulated boolean not null,
  updated_at timestamptz not null,
  primary key (workspace_id, provider)
);

-- People. `bucket` is the first byte of SHA-256(customer_id).
create table users (
  workspace_id text collate "C" not null,
  bucket smallint not null check (bucket between 0 and 255),
  id text collate "C" not null,
  customer_id text collate "C" not null,
  attributes jsonb not null default '{}' check (jsonb_typeof(attributes) = 'object'),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, bucket, id),
  unique (workspace_id, bucket, customer_id)
);

-- Attribute values by which a file or a send names a user, in step with users.attributes. A double's value is its
-- shortest decimal text, so 7, 7.0 and 7e0 are one value (decisions D24). A value over 1,024 bytes has no row: no line
-- of a file may be that long either (decisions D23).
create table identifiers (
  workspace_id text collate "C" not null,
  bucket smallint not null,
  user_id text collate "C" not null,
  attribute text collate "C" not null,
  type text not null check (type in ('string', 'double')),
  value text collate "C" not null check (octet_length(value) <= 1024),
  primary key (workspace_id, bucket, user_id, attribute, type, value)
);
create index identifiers_value on identifiers (workspace_id, attribute, value, type) include (bucket, user_id);

create table devices (
  workspace_id text collate "C" not null,
  bucket smallint not null check (bucket between 0 and 255),
  id text collate "C" not null,
  user_id text collate "C" not null,
  -- The caller's own name of the device.
  device_id text collate "C" not null,
  platform text not null check (platform in ('ANDROID', 'IOS', 'WEB')),
  push_id text not null,
  state text not null check (state in ('ACTIVE', 'OPTED_OUT', 'BLOCKED', 'GONE')),
  provisional boolean not null default false,
  model text,
  app_version text,
  os_version text,
  gaid text,
  idfv text,
  -- When push_id was last confirmed by the app: an older "gone" answer does not drop the device.
  registered_at timestamptz not null,
  gone_at timestamptz,
  gone_reason text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, bucket, id),
  unique (workspace_id, bucket, user_id, device_id),
  check ((state = 'GONE') = (gone_at is not null))
);

-- Which device owns a push address, over all buckets: an address that appears at another user moves to that user.
create table push_addresses (
  workspace_id text collate "C" not null,
  address_hash bytea not null check (octet_length(address_hash) = 32),
  bucket smallint not null,
  device_row_id text collate "C" not null,
  primary key (workspace_id, address_hash)
);

create table segments (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  name text not null,
  kind text not null check (kind in ('FILE', 'FILTER', 'COHORT')),
  state text not null check (state in ('FILLING', 'READY', 'FAILED', 'ARCHIVED')),
  -- Members of another generation are not part of the segment; replacing is one update of this number.
  generation integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  expires_at timestamptz,
  unique (workspace_id, name)
);

create table segment_members (
  workspace_id text collate "C" not null,
  bucket smallint not null,
  segment_id text collate "C" not null,
  generation integer not null,
  user_id text collate "C" not null,
  primary key (workspace_id, bucket, segment_id, generation, user_id)
);

create table campaigns (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  name text not null,
  channel text not null default 'PUSH' check (channel in ('PUSH', 'EMAIL', 'SMS')),
  source text not null check (source in ('PUSH_API', 'CAMPAIGN_API', 'CONSOLE', 'IMPORT')),
  delivery_type text not null check (delivery_type in ('ONE_TIME', 'PERIODIC', 'EVENT_TRIGGERED', 'BUSINESS_EVENT_TRIGGERED')),
  audience text not null check (audience in ('ALL_USERS', 'SEGMENT', 'USER')),
  segment_id text collate "C",
  platforms text[] not null,
  content jsonb not null,
  timing jsonb not null,
  tags text[] not null default '{}',
  conversion_goals jsonb not null default '[]',
  settings jsonb not null default '{}',
  status text not null check (
    status in ('DRAFT', 'SCHEDULED', 'SENDING', 'SENT', 'ACTIVE', 'PAUSED', 'RETIRED', 'STOPPED', 'FAILED', 'ARCHIVED')
  ),
  status_reason text,
  -- The next moment a scheduled campaign is due; the scheduler claims by it.
  next_at timestamptz,
  created_by text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((audience = 'SEGMENT') = (segment_id is not null)),
  -- Decisions D46: one-time campaigns pass SCHEDULED, SENDING, SENT; recurring ones ACTIVE, PAUSED, RETIRED.
  check (delivery_type = 'ONE_TIME' or status not in ('SCHEDULED', 'SENDING', 'SENT')),
  check (delivery_type <> 'ONE_TIME' or status not in ('ACTIVE', 'RETIRED')),
  check (status <> 'FAILED' or status_reason is not null)
);
create index campaigns_newest on campaigns (workspace_id, created_at desc, id desc);
create index campaigns_due on campaigns (next_at) where next_at is not null and status in ('SCHEDULED', 'ACTIVE');

-- Names compare after trimming, case-sensitively, archived ones included (decisions D33).
-- A name is taken first and its campaign follows in the same transaction, so the reference is checked at the end of it.
create table campaign_names (
  workspace_id text collate "C" not null,
  name text collate "C" not null,
  campaign_id text collate "C" not null references campaigns (id) deferrable initially deferred,
  primary key (workspace_id, name)
);

-- One row per answered push request: what was promised to the caller.
create table push_requests (
  response_id uuid primary key,
  workspace_id text collate "C" not null,
  request_id text not null,
  campaign_id text collate "C" not null references campaigns (id),
  run_id text collate "C",
  received_at timestamptz not null
);
create index push_requests_campaign on push_requests (campaign_id);

-- One sending of a campaign. A scheduled moment is fired once: (campaign_id, moment) is unique.
create table runs (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  campaign_id text collate "C" not null references campaigns (id),
  moment timestamptz,
  -- Transactional sends to named users go first.
  lane smallint not null check (lane in (0, 1)),
  status text not null check (status in ('QUEUED', 'SENDING', 'PAUSED', 'SENT', 'FAILED', 'STOPPED', 'MISSED')),
  status_reason text,
  -- A request's own content, when it differs from the campaign's (audience User, decisions D33).
  content jsonb,
  -- Audience User, resolved when the request was accepted: [[bucket, user id], …], at most 100.
  target_users jsonb,
  -- The greatest device id of the frozen audience; devices that register later are not part of the run.
  audience_bound text collate "C",
  audience_devices bigint,
  -- The partition of the ledger this run writes to.
  day date not null,
  -- Nothing is sent after this instant: the message's time to live.
  send_until timestamptz not null,
  created_at timestamptz not null,
  started_at timestamptz,
  ended_at timestamptz,
  check ((ended_at is not null) = (status in ('SENT', 'FAILED', 'STOPPED', 'MISSED'))),
  check (status not in ('FAILED', 'PAUSED', 'STOPPED', 'MISSED') or status_reason is not null),
  check (status <> 'SENDING' or started_at is not null)
);
create unique index runs_moment on runs (campaign_id, moment) where moment is not null;
create index runs_campaign on runs (campaign_id, created_at desc);
create index runs_open on runs (lane, created_at) where status in ('QUEUED', 'SENDING');

-- A chunk is a range of buckets of one run: the unit of claim, cursor and restart.
create table chunks (
  run_id text collate "C" not null references runs (id),
  number integer not null,
  workspace_id text collate "C" not null,
  lane smallint not null,
  bucket_from smallint not null,
  bucket_to smallint not null,
  -- The last device whose outcome is stored. Null: none yet.
  cursor_bucket smallint,
  cursor_device_id text collate "C",
  -- The window about to be sent, written before its first request: after a crash exactly these may be repeated.
  window_opened_at timestamptz,
  window_bucket smallint,
  window_device_id text collate "C",
  window_devices integer,
  state text not null check (state in ('READY', 'CLAIMED', 'DONE', 'QUARANTINED')),
  owner text,
  -- Raised by every claim; with the owner it fences off a worker that lost its lease.
  attempt integer not null default 0,
  -- Leases that ran out since the last stored window: the sign of a message that kills its worker.
  crashes smallint not null default 0,
  lease_until timestamptz,
  -- Not claimed before this instant (a provider asked to wait).
  not_before timestamptz not null,
  created_at timestamptz not null,
  ended_at timestamptz,
  primary key (run_id, number),
  check (bucket_from <= bucket_to),
  check ((cursor_bucket is null) = (cursor_device_id is null)),
  check ((window_opened_at is null) = (window_device_id is null)),
  check ((state = 'CLAIMED') = (owner is not null)),
  check ((state = 'CLAIMED') = (lease_until is not null)),
  check ((ended_at is not null) = (state in ('DONE', 'QUARANTINED')))
);
create index chunks_open on chunks (lane, not_before, created_at) where state in ('READY', 'CLAIMED');

-- Outcomes per chunk, platform and kind, added in the transaction that stores the outcomes themselves.
create table run_counts (
  run_id text collate "C" not null,
  chunk_number integer not null,
  platform text not null check (platform in ('ANDROID', 'IOS', 'WEB')),
  outcome text not null check (outcome in ('ACCEPTED', 'GONE', 'REJECTED', 'EXPIRED', 'FAILED', 'WAITING')),
  devices bigint not null,
  primary key (run_id, chunk_number, platform, outcome)
);

-- The ledger: one row per (run, device), partitioned by the run's day so that retention drops a partition.
create table deliveries (
  day date not null,
  workspace_id text collate "C" not null,
  bucket smallint not null,
  run_id text collate "C" not null,
  device_id text collate "C" not null,
  user_id text collate "C" not null,
  chunk_number integer not null,
  platform text not null check (platform in ('ANDROID', 'IOS', 'WEB')),
  outcome text not null check (outcome in ('ACCEPTED', 'GONE', 'REJECTED', 'EXPIRED', 'FAILED', 'WAITING')),
  -- The provider's own word: UNREGISTERED, BadDeviceToken, 410.
  code text,
  provider_message_id text,
  attempts smallint not null,
  sent_at timestamptz not null,
  retry_at timestamptz,
  primary key (day, workspace_id, bucket, run_id, device_id),
  check ((outcome = 'WAITING') = (retry_at is not null))
) partition by range (day);
create index deliveries_waiting on deliveries (retry_at) where outcome = 'WAITING';

-- What callers sent and what they were answered, newest kept; credentials and bodies of token calls never.
create table api_log (
  id text collate "C" primary key,
  workspace_id text collate "C",
  received_at timestamptz not null,
  method text not null,
  path text not null,
  route text not null,
  status smallint not null,
  duration_ms real not null,
  key_id text collate "C",
  error_name text,
  error_detail text,
  warnings text[] not null default '{}',
  request_body text
);
create index api_log_workspace on api_log (workspace_id, received_at desc);
create index api_log_age on api_log (received_at);

-- The phones of the sandbox.
create table sandbox_messages (
  id text collate "C" primary key,
  workspace_id text collate "C" not null,
  platform text not null check (platform in ('ANDROID', 'IOS', 'WEB')),
  device_token text not null,
  title text not null,
  body text not null,
  collapse_id text not null,
  campaign_id text collate "C",
  message_id text not null,
  payload jsonb not null,
  received_at timestamptz not null
);
create index sandbox_messages_workspace on sandbox_messages (workspace_id, id desc);

create table console_sessions (
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  -- A sign-in link is a session that has not been opened yet.
  state text not null check (state in ('LINK', 'OPEN')),
  created_at timestamptz not null,
  expires_at timestamptz not null
);
