-- The schema of Carillon.
--
-- Migrations are forward only: an applied file is known by the digest of its text and is never edited; a change is a new
-- file with the next number. This file makes an empty database, on one PostgreSQL (15 or newer) and on a cluster (Citus).
--
-- Rules that hold for every table:
-- * Users, identifiers, devices, segment members and deliveries have a bucket, the first byte of SHA-256(customer_id), at or
--   near the head of their primary key. Nothing joins, references or is unique across buckets, so a cluster can spread the
--   same tables by bucket. Which tables it spreads is in domain/cluster/distributed-tables.ts; what must be globally unique is
--   in small tables next to them.
-- * Ids are 24 lower-case hexadecimal characters in the order of creation; text that is an id compares bytewise
--   (collate "C").
-- * The caller gives every time. No column default reads a clock, so the sandbox and tests can move time.
-- * A column named …_sealed is encrypted under the master key with AES-256-GCM.
-- * A check of several columns has a name, so that a later migration can drop it.
-- * Row-level security keeps workspaces apart; see "The wall between workspaces" near the end.


-- The installation --------------------------------------------------------------------------------------------------

-- What is true of the whole installation; exactly one row.
create table installation (
  only_row boolean primary key default true check (only_row),
  created_at timestamptz not null,
  -- The word 'carillon', encrypted under the master key: a wrong key is noticed at the start, not at the first send.
  master_key_check bytea not null,
  -- Set when the demo workspace was made; production mode refuses to start then.
  demo_workspace_id text,
  -- Milliseconds that the sandbox adds to the clock.
  clock_offset_ms bigint not null default 0,
  -- The seed of the ids and keys of the demo workspace, so that a reset makes the same ones again.
  demo_seed_sealed bytea,
  -- Secrets that outlive a master key: values that were signed or derived before a rotation stay valid after it.
  interactions_secret_sealed bytea,
  simulator_secret_sealed bytea,
  -- Id of the master key that a rotation is leaving; null when no rotation is under way. While it is set, no node starts
  -- without that key.
  rotating_from_key_id text check (rotating_from_key_id ~ '^[0-9a-f]{8}$'),
  -- The real time at which the sandbox's clock was stopped, in addition to its offset; null while it runs.
  clock_frozen_at timestamptz,
  -- When a node last looked for alerts; one node at a time does.
  alerts_checked_at timestamptz,
  -- The instant of the newest complete backup that a node or `carillon backup` wrote; null before the first. A node that makes
  -- scheduled backups notes the newest of its folder.
  backup_made_at timestamptz,
  -- How often nodes make backups, and when one of those nodes last did its check. A late backup can then be detected while no
  -- such node runs. Null before the first.
  backup_hours integer check (backup_hours > 0),
  backup_looked_at timestamptz
);

-- Nodes report themselves every few seconds. A row is deleted when its node stops, or a day after its last report.
create table nodes (
  id text collate "C" primary key,
  host text not null,
  process_id integer not null,
  role text not null check (role in ('all', 'api', 'worker')),
  version text not null,
  started_at timestamptz not null,
  seen_at timestamptz not null,
  memory_bytes bigint not null check (memory_bytes >= 0),
  -- Each job of this node: its name, last run, what that did, and the last error.
  duties jsonb not null default '[]' check (jsonb_typeof(duties) = 'array'),
  -- Where the simulated providers of a sandbox listen, so that commands can reach them too.
  simulators jsonb,
  -- Ids of the master keys that the node knows; it encrypts under the first.
  master_key_ids text[] not null default '{}',
  -- Where the node serves the API, for the command line; null if it serves none.
  url text,
  -- The most connections that the node opens to the database.
  connections integer not null check (connections >= 0),
  -- When the certificate that the node serves expires; null if it serves none.
  certificate_ends_at timestamptz
);

-- What a node counted in a minute, and what it saw waiting: one row a minute and node, however much is sent.
create table node_minutes (
  minute timestamptz not null,
  node_id text collate "C" not null,
  -- Summed over nodes and minutes.
  counts jsonb not null check (jsonb_typeof(counts) = 'object'),
  -- Of these the maximum counts.
  gauges jsonb not null check (jsonb_typeof(gauges) = 'object'),
  primary key (minute, node_id)
);

-- A transaction leaves a receipt, by which a node finds out whether it was committed when the reply to the commit is lost
-- (decision 0029).
create table transaction_receipts (
  -- The pool of connections that made it, and the number of the transaction in that pool.
  pool_id uuid not null,
  number bigint not null,
  -- False: the node that asked came first, and the transaction can no longer be committed.
  is_stored boolean not null,
  -- Tells its age: receipts from before the oldest transaction of ten minutes ago can be deleted.
  made_in xid8 not null default pg_current_xact_id(),
  primary key (pool_id, number)
);


-- Workspaces, apps and provider accounts -----------------------------------------------------------------------------

create table workspaces (
  id text collate "C" primary key check (id ~ '^[A-Za-z0-9_-]{1,64}$'),
  db_name text collate "C" not null unique check (db_name ~ '^[A-Za-z0-9_.-]{1,64}$'),
  name text not null,
  time_zone text not null default 'UTC',
  data_center text not null default '01' check (data_center in ('01', '02', '03', '04', '05', '06', '101')),
  -- Stricter rules that a workspace may ask for (decision D19, D35a).
  secret_required_at_refresh boolean not null default false,
  signature_v2_required boolean not null default false,
  created_at timestamptz not null,
  -- Signs callbacks (Standard Webhooks); made with the first callback.
  webhook_secret_sealed bytea,
  campaign_versioning boolean not null default false,
  -- V1 search returns the bare array instead of an object with total_count (decision D41).
  v1_search_bare_array boolean not null default false,
  -- The most devices that a run sends to in a minute; null: as fast as the providers accept. A campaign can set its own.
  devices_per_minute integer check (devices_per_minute > 0),
  -- Frequency caps: at most cap_messages[i] messages to a user in cap_hours[i].
  cap_messages smallint[] not null default '{}',
  cap_hours smallint[] not null default '{}',
  -- Quiet hours in the user's local time: messages are held until they end, or dropped.
  quiet_from text,
  quiet_to text,
  quiet_mode text not null default 'HOLD' check (quiet_mode in ('HOLD', 'DROP')),
  minimum_delay_minutes integer check (minimum_delay_minutes between 1 and 10080),
  -- The user attribute that holds the user's time zone.
  zone_attribute text not null default 'time_zone' check (char_length(zone_attribute) between 1 and 256),
  -- Form of Android messages: by default data, which the app shows itself.
  android_mode text not null default 'data' check (android_mode in ('data', 'notification', 'both')),
  push_from text not null default 'carillon' check (push_from ~ '^[A-Za-z0-9._-]{1,64}$'),
  -- Prefix of the keys in the data of a message; null: the header prefix of the installation, in lower case.
  data_prefix text check (data_prefix ~ '^[a-z][a-z0-9]{0,15}$' and data_prefix not in ('gcm', 'google', 'kv')),
  -- How strictly bodies of pushes are parsed.
  push_bodies text not null default 'lenient' check (push_bodies in ('lenient', 'strict')),
  -- Stands for the workspace in the ledger, in four bytes.
  number integer generated always as identity unique,
  -- Percentage of users that the workspace excludes from campaigns that ask for it; null: none.
  control_group_percent smallint check (control_group_percent between 1 and 50),
  constraint workspaces_caps_check check (cardinality(cap_messages) = cardinality(cap_hours) and cardinality(cap_hours) <= 5),
  check (1 <= all (cap_messages) and 100 >= all (cap_messages)),
  check (1 <= all (cap_hours) and 720 >= all (cap_hours)),
  constraint workspaces_quiet_check check (
    (quiet_from is null) = (quiet_to is null) and quiet_from <> quiet_to
    and quiet_from ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$' and quiet_to ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$'
  )
);

-- Additional apps of a workspace on one platform: an Android package, a bundle id in one of Apple's two environments, the
-- origin of a site. Every workspace has an app `default` on each platform, which has no row.
create table apps (
  workspace_id text collate "C" not null references workspaces (id),
  platform text not null check (platform in ('ANDROID', 'IOS', 'WEB')),
  -- Chosen by the owner; each platform may have the same one.
  app_id text collate "C" not null check (app_id ~ '^[A-Za-z0-9._-]{1,64}$' and app_id <> 'default'),
  name text not null check (char_length(name) between 1 and 100),
  identifier text collate "C" not null check (char_length(identifier) between 1 and 255),
  environment text,
  created_at timestamptz not null,
  -- The package is named in the message, and FCM then delivers it only to that package.
  restrict_package boolean not null default false,
  -- Replaces settings of the workspace for this app: mode, names of keys, defaults of a content.
  settings jsonb not null default '{}' check (jsonb_typeof(settings) = 'object'),
  constraint apps_environment_check check (
    case when platform = 'IOS' then environment is not null and environment in ('production', 'sandbox') else environment is null end
  ),
  constraint apps_restrict_package_check check (not restrict_package or platform = 'ANDROID'),
  primary key (workspace_id, platform, app_id),
  constraint apps_identifier_key unique nulls not distinct (workspace_id, platform, identifier, environment)
);

create table provider_credentials (
  workspace_id text collate "C" not null references workspaces (id),
  provider text not null check (provider in ('fcm', 'apns', 'webpush', 'hms')),
  -- Workspace and provider are authenticated with the credential, so a row cannot be moved.
  sealed bytea not null,
  -- What may be shown: project, team, topic, public key.
  summary jsonb not null,
  simulated boolean not null,
  updated_at timestamptz not null,
  -- What the provider returned when the credential was last checked; replacing the credential clears it.
  checked_at timestamptz,
  check_verdict text check (check_verdict in ('ACCEPTED', 'REFUSED', 'UNKNOWN')),
  check_words text,
  app_id text collate "C" not null default 'default',
  primary key (workspace_id, provider, app_id),
  constraint provider_credentials_verdict_check check ((checked_at is null) = (check_verdict is null)),
  constraint provider_credentials_words_check check ((checked_at is null) = (check_words is null))
);

-- Recent answers to devices of one credential, and whether the credential is held because of them (decision 0064). One row a
-- key: workspace, provider, app, version of the credential, and environment, bundle id, platform or origin.
create table provider_evidence (
  key text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  provider text not null check (provider in ('fcm', 'apns', 'webpush', 'hms')),
  app_id text collate "C" not null,
  -- The last answers of at most twenty distinct devices: [{"deviceId", "code", "at", "wasAccepted"}]; code is null if accepted.
  remembered jsonb not null default '[]',
  -- When the hold began, with the provider's code and sentence. Without an end it lasts until a device is accepted.
  held_at timestamptz,
  held_code text,
  held_detail text,
  held_until timestamptz,
  -- False: the answers of many devices decided. A check with a made-up device says nothing about such a hold.
  held_for_sure boolean,
  -- When one message was last let through to find out whether the credential works again.
  probed_at timestamptz,
  updated_at timestamptz not null,
  constraint provider_evidence_held_check check (
    (held_at is null) = (held_code is null) and (held_at is null) = (held_detail is null)
    and (held_at is null) = (held_for_sure is null) and (held_at is not null or held_until is null)
  )
);
create index provider_evidence_held on provider_evidence (key) where held_at is not null;
create index provider_evidence_workspace on provider_evidence (workspace_id);
create index provider_evidence_updated on provider_evidence (updated_at);

-- Apple counts token renewals against the whole team, so all nodes share one token (delivery 2).
create table provider_tokens (
  key text collate "C" primary key,
  sealed bytea not null,
  issued_at timestamptz not null
);

-- What nodes share about their sending rate: a token bucket for each provider account (`fcm:<project>`, `apns:<team>`,
-- `webpush:<site>:<origin>`) or run that has a limit or was asked to wait. Few rows: one for each account, one for each
-- throttled run while it is sent.
create table send_budgets (
  key text collate "C" primary key,
  tokens double precision not null check (tokens >= 0),
  refilled_at timestamptz not null,
  -- Start of the current use: an account that was idle is ramped up.
  busy_since timestamptz not null,
  -- The provider asked for a pause until then.
  silent_until timestamptz,
  silent_reason text,
  -- How often a push service answered that this site sends too much, and until when its lower rate applies.
  penalties smallint not null default 0 check (penalties >= 0),
  penalty_until timestamptz,
  constraint send_budgets_silent_check check ((silent_reason is null) = (silent_until is null))
);
create index send_budgets_silent on send_budgets (silent_until) where silent_until is not null;
create index send_budgets_penalty on send_budgets (penalty_until) where penalty_until is not null;


-- Callers of the API -------------------------------------------------------------------------------------------------

-- Secrets are 256 random bits. Those that a caller presents are stored as SHA-256. A push key is never presented but signs
-- (interface 5), so it must be readable and is stored encrypted as well.
create table api_keys (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  kind text not null check (kind in ('oauth', 'data', 'push', 'campaigns')),
  name text not null check (char_length(name) between 1 and 100),
  scopes text[] not null,
  secret_hash bytea not null unique check (octet_length(secret_hash) = 32),
  secret_sealed bytea,
  secret_hint text not null,
  access_token_minutes smallint not null default 15 check (access_token_minutes between 5 and 60),
  -- Raised when the secret is regenerated; tokens carry the number under which they were issued.
  generation integer not null default 1,
  created_at timestamptz not null,
  last_used_at timestamptz,
  archived_at timestamptz,
  -- A rotated key works until then, so that both keys work while callers switch.
  ends_at timestamptz,
  constraint api_keys_push_secret_check check ((secret_sealed is not null) = (kind = 'push'))
);
create index api_keys_workspace on api_keys (workspace_id, kind) where archived_at is null;
create index api_keys_ending on api_keys (ends_at) where ends_at is not null and archived_at is null;

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
  -- The refresh token that it was issued with or from; revoking that one revokes this one.
  refresh_token_hash bytea not null,
  issued_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz
);
create index access_tokens_expiry on access_tokens (expires_at);
create index access_tokens_refresh on access_tokens (refresh_token_hash);

-- Exact sliding windows of small limits (tokens, guesses, file operations): the times of the counted events, newest last, in
-- the row itself, so one statement under the row's lock decides and counts.
create table limit_windows (
  operation text not null,
  subject bytea not null check (octet_length(subject) = 32),
  events timestamptz[] not null,
  last_event_at timestamptz not null,
  primary key (operation, subject)
);
create index limit_windows_age on limit_windows (last_event_at);

-- Exact sliding windows of large limits (10,000 a minute): event number k passes if event number k - limit is at least one
-- window old. A mark says how many events had been counted at an instant, so a batch costs one row.
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
  -- The first response, encrypted because it may carry tokens. Null while the first request is in its transaction.
  answer_sealed bytea,
  created_at timestamptz not null,
  primary key (workspace_id, operation, key_hash)
);
create index idempotency_keys_age on idempotency_keys (created_at);

-- Calls of the API and their responses, the newest kept; never credentials or bodies of token calls.
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
  request_body text,
  -- Headers of both sides that say how the call was made: names of a closed list, none that authenticates a caller.
  headers text,
  response_body text
);
-- Pages follow each other by time and id.
create index api_log_workspace on api_log (workspace_id, received_at desc, id desc);
create index api_log_age on api_log (received_at);
-- Rejected calls are what the log is read for, and few among many; rejected pushes have status 200.
create index api_log_refused on api_log (workspace_id, received_at desc, id desc) where error_name is not null;


-- Users and devices --------------------------------------------------------------------------------------------------

create table users (
  workspace_id text collate "C" not null,
  bucket smallint not null check (bucket between 0 and 255),
  id text collate "C" not null,
  customer_id text collate "C" not null,
  attributes jsonb not null default '{}' check (jsonb_typeof(attributes) = 'object'),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Receives tests of campaigns.
  is_test boolean not null default false,
  primary key (workspace_id, bucket, id),
  unique (workspace_id, bucket, customer_id)
);
create index users_test on users (workspace_id, customer_id) where is_test;

-- Attribute values by which a file or a send names a user, in step with users.attributes. The value of a double is its
-- shortest decimal text, so 7, 7.0 and 7e0 are one value (decision D24). A value over 1,024 bytes has no row: no line of a file
-- may be that long either (decision D23).
create table identifiers (
  workspace_id text collate "C" not null,
  bucket smallint not null,
  user_id text collate "C" not null,
  attribute text collate "C" not null,
  type text not null check (type in ('string', 'double')),
  value text collate "C" not null check (octet_length(value) <= 1024),
  -- Rows are looked up by value, so the bucket comes after it (decision 0024). Two wide indexes were nine tenths of the cost of
  -- loading users.
  primary key (workspace_id, attribute, value, type, bucket, user_id)
);
-- One entry a user for all its identifiers. Measured: a quarter of the size of an index by value next to a key by user, and
-- loading takes a sixth less CPU.
create index identifiers_user on identifiers (workspace_id, bucket, user_id);

create table devices (
  workspace_id text collate "C" not null,
  bucket smallint not null check (bucket between 0 and 255),
  id text collate "C" not null,
  user_id text collate "C" not null,
  -- The caller's name for the device.
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
  -- When the app last confirmed push_id: an older "gone" answer does not drop the device.
  registered_at timestamptz not null,
  gone_at timestamptz,
  gone_reason text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- The state before the device was blocked, which unblocking restores; the caller that blocks it gives a reason.
  blocked_state text check (blocked_state in ('ACTIVE', 'OPTED_OUT', 'GONE')),
  blocked_at timestamptz,
  block_reason text,
  block_reference text,
  -- The app of the address; null: the default app of the platform.
  app_id text collate "C",
  -- The provider through which the device is reached; null: the usual one of its platform (FCM, APNs, the browser's service).
  push_provider text,
  -- The language of the device as its app reported it, and the last number on the app's icon; null: not reported.
  locale text collate "C",
  badge_count integer check (badge_count between 0 and 99999),
  -- The badge that the newest runs gave the device: a message that is repeated after a crash says the same number.
  badge_runs bigint[],
  badge_values integer[],
  -- Kind of push_id; null: the provider's usual one, a token. `fid`: a Firebase installation id, which FCM accepts besides
  -- tokens.
  push_id_type text,
  -- Devices that got answers which usually mean a dead address. They stay in the audience until three sends over three days
  -- confirm it. They are listed, and an operator can keep them.
  suspected_code text,
  suspected_sends smallint,
  suspected_since timestamptz,
  suspected_at timestamptz,
  primary key (workspace_id, bucket, id),
  unique (workspace_id, bucket, user_id, device_id),
  constraint devices_gone_check check ((state = 'GONE') = (gone_at is not null)),
  constraint devices_blocked_check check ((state = 'BLOCKED') = (blocked_state is not null)),
  constraint devices_blocked_at_check check ((state = 'BLOCKED') = (blocked_at is not null)),
  constraint devices_push_provider_check check (
    push_provider is null
    or platform = 'ANDROID' and push_provider = 'hms'
    or platform in ('IOS', 'WEB') and push_provider = 'fcm'
  ),
  constraint devices_push_id_type_check check (
    push_id_type is null
    or push_id_type = 'fid' and coalesce(push_provider, case platform when 'ANDROID' then 'fcm' end, '') = 'fcm'
  ),
  constraint devices_badge_runs_check check (
    cardinality(badge_runs) = cardinality(badge_values) and cardinality(badge_runs) <= 16
  ),
  constraint devices_suspected_check check (
    (suspected_code is null) = (suspected_sends is null) and (suspected_code is null) = (suspected_since is null)
    and (suspected_code is null) = (suspected_at is null) and suspected_sends > 0
  )
);
create index devices_suspected on devices (workspace_id, bucket, suspected_at desc) where suspected_code is not null;

-- The owner of each push address, over all buckets: an address that appears at another user moves to that user.
create table push_addresses (
  workspace_id text collate "C" not null,
  address_hash bytea not null check (octet_length(address_hash) = 32),
  bucket smallint not null,
  device_row_id text collate "C" not null,
  primary key (workspace_id, address_hash)
);

-- Customer ids of users that were merged into others: a caller that still sends one means the retained user. Found by the
-- bucket of its own customer id, like a user.
create table merged_users (
  workspace_id text collate "C" not null,
  bucket smallint not null check (bucket between 0 and 255),
  customer_id text collate "C" not null,
  -- The id of the merged user, which work that was under way may still write down.
  user_id text collate "C" not null,
  retained_bucket smallint not null check (retained_bucket between 0 and 255),
  retained_user_id text collate "C" not null,
  merged_at timestamptz not null,
  primary key (workspace_id, bucket, customer_id)
);
create index merged_users_retained on merged_users (workspace_id, retained_bucket, retained_user_id);

-- The newest messages of each user, written before they are sent, in a workspace or for a campaign that has caps or a minimum
-- delay. One row a user, so two nodes that send to one user meet in it: the revision says whether the row was changed since
-- it was read. A run is in it once, however many devices the user has and however often a window is sent.
create table user_messages (
  workspace_id text collate "C" not null,
  bucket smallint not null check (bucket between 0 and 255),
  user_id text collate "C" not null,
  revision integer not null,
  run_ids text[] not null,
  campaign_ids text[] not null,
  sent_at timestamptz[] not null,
  is_counted boolean[] not null,
  primary key (workspace_id, bucket, user_id),
  constraint user_messages_lengths_check check (
    cardinality(run_ids) <= 100 and cardinality(campaign_ids) = cardinality(run_ids)
    and cardinality(sent_at) = cardinality(run_ids) and cardinality(is_counted) = cardinality(run_ids)
  )
) with (fillfactor = 70);

-- One row for each requested deletion of a user; it stays as the proof. Nothing of the user is in it but the digest of the
-- workspace's id and the customer id, by which a caller that knows both finds it.
create table erasures (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  customer_digest bytea not null check (octet_length(customer_digest) = 32),
  state text not null check (state in ('PENDING', 'REMOVED', 'DONE')),
  bucket smallint not null,
  -- The user, and the users merged into it, whose rows are removed. Needed until the second pass.
  user_ids jsonb,
  requested_at timestamptz not null,
  -- When the next step is due.
  due_at timestamptz not null,
  removed_at timestamptz,
  -- Rows removed or made anonymous, by table.
  counts jsonb not null default '{}',
  constraint erasures_users_check check ((user_ids is null) = (state = 'DONE')),
  constraint erasures_removed_check check ((removed_at is null) = (state = 'PENDING'))
);
create unique index erasures_pending on erasures (workspace_id, user_ids) where state = 'PENDING';
create index erasures_due on erasures (due_at) where state <> 'DONE';
create index erasures_customer on erasures (workspace_id, customer_digest);
create index erasures_newest on erasures (workspace_id, requested_at desc);

-- Erased devices, by the SHA-256 of the id of their row, so that a report about a message sent before is not stored.
create table erased_devices (
  workspace_id text collate "C" not null,
  device_digest bytea not null check (octet_length(device_digest) = 32),
  primary key (workspace_id, device_digest)
);

-- Progress of an import, moved in the transaction of each batch: a repeated call continues after the last stored line. A file
-- is known by its kind, its size and the digest of its beginning and end.
create table imports (
  workspace_id text collate "C" not null references workspaces (id),
  kind text not null check (kind in ('users', 'devices', 'events')),
  file_digest bytea not null check (octet_length(file_digest) = 32),
  -- Lines that are stored or rejected.
  lines bigint not null default 0,
  users bigint not null default 0,
  devices bigint not null default 0,
  events bigint not null default 0,
  rejected bigint not null default 0,
  started_at timestamptz not null,
  updated_at timestamptz not null,
  ended_at timestamptz,
  primary key (workspace_id, kind, file_digest)
);


-- Campaigns ----------------------------------------------------------------------------------------------------------

-- Events of a business that start campaigns, such as a match that was won (fact 6.3).
create table business_events (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  name text collate "C" not null,
  -- [{"name", "type"}, …]: which attributes a trigger may carry, and of which type.
  attributes jsonb not null check (jsonb_typeof(attributes) = 'array'),
  total_triggers bigint not null default 0,
  last_triggered_at timestamptz,
  created_by text not null,
  created_at timestamptz not null,
  unique (workspace_id, name)
);
create index business_events_newest on business_events (workspace_id, created_at desc, id desc);

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
  -- When a scheduled campaign is next due; the scheduler claims by it.
  next_at timestamptz,
  created_by text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Audience USER of a campaign that is sent later: which users to look up when it is due. Null for one that is sent at once,
  -- whose users were found when its request was accepted.
  target_selector jsonb,
  -- The first version of a campaign that was revised, and which version this is. Null: never revised.
  version_of text collate "C" references campaigns (id),
  version_number integer check (version_number between 1 and 15),
  -- The id that all versions share.
  campaign_id text collate "C" not null generated always as (coalesce(version_of, id)) stored,
  -- Names are searched by any part, ignoring case in every script; lower() of the C locale knows A to Z only.
  name_folded text collate "C" not null generated always as (lower(name collate "und-x-icu")) stored,
  -- The parts of the campaign as the campaign API or the console sent them: what a draft keeps, and what search shows. Null for
  -- the push API.
  parts jsonb,
  updated_by text,
  -- A test send has its own campaign, which no search finds.
  is_test boolean not null default false,
  -- The event that starts the campaign.
  business_event_id text collate "C" references business_events (id),
  -- Campaigns of another service are kept as records. They have no runs, so the time of their sending is here.
  imported_sent_at timestamptz,
  -- Contents in other languages and wordings, and which users get which; null: every user gets `content`.
  variants jsonb check (jsonb_typeof(variants) = 'object'),
  -- The variation that every user gets to whom nothing was sent yet, and who named it; null: none was named.
  winner smallint,
  winner_named_at timestamptz,
  winner_named_by text,
  constraint campaigns_segment_check check ((audience = 'SEGMENT') = (segment_id is not null)),
  -- One-time campaigns pass SCHEDULED, SENDING, SENT; recurring ones ACTIVE, PAUSED, RETIRED (decision D46).
  constraint campaigns_recurring_check check (delivery_type = 'ONE_TIME' or status not in ('SCHEDULED', 'SENDING', 'SENT')),
  constraint campaigns_one_time_check check (delivery_type <> 'ONE_TIME' or status not in ('ACTIVE', 'RETIRED')),
  constraint campaigns_failed_check check (status <> 'FAILED' or status_reason is not null),
  constraint campaigns_target_check check (target_selector is null or audience = 'USER'),
  constraint campaigns_scheduled_check check (status <> 'SCHEDULED' or next_at is not null),
  constraint campaigns_version_check check (version_of is null or version_number > 1),
  constraint campaigns_business_event_check check (business_event_id is null or delivery_type = 'BUSINESS_EVENT_TRIGGERED'),
  constraint campaigns_imported_sent_check check (imported_sent_at is null or source = 'IMPORT'),
  -- A record is history: it waits for nothing and can never be sent.
  constraint campaigns_imported_check check (
    source <> 'IMPORT' or next_at is null and status in ('SENT', 'RETIRED', 'STOPPED', 'FAILED', 'ARCHIVED')
  ),
  constraint campaigns_winner_check check (
    winner between 1 and 9 and winner_named_at is not null and winner_named_by is not null
    or winner is null and winner_named_at is null and winner_named_by is null
  )
);
-- The planner multiplies the shares of a workspace and of a status as if they were independent; they are not.
create statistics campaigns_mix (mcv) on workspace_id, channel, delivery_type, status from campaigns;
-- Reading an index alone needs pages that are known to be visible to all: vacuum after 2 % of new rows instead of 20 %.
alter table campaigns set (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.05);

create index campaigns_due on campaigns (next_at) where next_at is not null and status in ('SCHEDULED', 'ACTIVE');
create index campaigns_next on campaigns (workspace_id, next_at)
  where next_at is not null and status in ('SCHEDULED', 'ACTIVE');
-- The job that retires recurring campaigns finds those with no occurrence left.
create index campaigns_out_of_moments on campaigns (id)
  where status = 'ACTIVE' and delivery_type = 'PERIODIC' and next_at is null;
create unique index campaigns_versions on campaigns (workspace_id, campaign_id, version_number)
  where version_number is not null;
create index campaigns_version_of on campaigns (version_of) where version_of is not null;
create index campaigns_business_event on campaigns (business_event_id) where business_event_id is not null;
create index campaigns_with_goals on campaigns (workspace_id) where conversion_goals <> '[]';

-- The indexes of search leave out tests: a page is found in the index alone only if the index knows what is left out.
-- Newest first, with the columns of most filters, so that a page that few rows match is found in the index alone.
create index campaigns_newest on campaigns (workspace_id, created_at desc, id desc)
  include (channel, delivery_type, status, version_number, name_folded) where not is_test;
create index campaigns_creator on campaigns (workspace_id, created_by, created_at desc, id desc)
  include (channel, delivery_type, status, version_number) where not is_test;
-- Nearly every campaign of the push API is a PUSH, ONE_TIME and SENT; the rare values have small indexes, which cost a push
-- nothing once it is sent.
create index campaigns_rare_channel on campaigns (workspace_id, channel, created_at desc, id desc)
  include (delivery_type, status, version_number) where channel <> 'PUSH' and not is_test;
create index campaigns_rare_type on campaigns (workspace_id, delivery_type, created_at desc, id desc)
  include (channel, status, version_number) where delivery_type <> 'ONE_TIME' and not is_test;
create index campaigns_rare_status on campaigns (workspace_id, status, created_at desc, id desc)
  include (channel, delivery_type, version_number) where status <> 'SENT' and not is_test;

-- A part of a name of one or two characters has no trigram: in a workspace of 400,000 campaigns 0.2 s were read to find that
-- no name has "zq". This function returns the characters of a folded name and its pairs of neighbours, so that such a part is
-- looked up. For the pairs the name is cut in two, then, a character later, once more. 6 µs a name; no name has U+0001.
create function name_pairs(folded text) returns text[]
-- Not an SQL function: PostgreSQL inlines those into the statement, and the planner would assume that this work costs nothing.
language plpgsql immutable strict parallel safe cost 500
as $$
begin
  return string_to_array(folded, null)
    || string_to_array(regexp_replace(folded, '(..)', '\1' || chr(1), 'g'), chr(1))
    || string_to_array(regexp_replace(substr(folded, 2), '(..)', '\1' || chr(1), 'g'), chr(1));
end
$$;

-- A part of a name that few campaigns have is found by its trigrams. Two extensions serve the search. Both are "trusted" and
-- come with nearly every PostgreSQL. Where pg_trgm is missing or forbidden, campaigns_newest is read instead, about 0.1 s for
-- 600,000 rows.
do $$
begin
  create extension if not exists pg_trgm;
  create index campaigns_name on campaigns using gin (name_folded gin_trgm_ops);
exception when insufficient_privilege or undefined_file or undefined_object or feature_not_supported then
  raise notice 'pg_trgm is not available: searching campaigns by name reads the workspace''s names';
end
$$;
-- With btree_gin the index skips the rows of other workspaces; without it, the workspace is not part of the index.
do $$
begin
  create extension if not exists btree_gin;
  create index campaigns_tags on campaigns using gin (workspace_id, tags);
  create index campaigns_name_pairs on campaigns using gin (workspace_id, name_pairs(name_folded));
  if to_regclass('campaigns_name') is not null then
    drop index campaigns_name;
    create index campaigns_name on campaigns using gin (workspace_id, name_folded gin_trgm_ops);
  end if;
exception when insufficient_privilege or undefined_file or undefined_object or feature_not_supported then
  create index campaigns_tags on campaigns using gin (tags);
  create index campaigns_name_pairs on campaigns using gin (name_pairs(name_folded));
  raise notice 'btree_gin is not available: tags and names are found in the campaigns of all workspaces first';
end
$$;

-- Names are compared after trimming, case-sensitively, archived ones included (decision D33). The name is inserted before its
-- campaign in one transaction, so the reference is checked at the end of it.
create table campaign_names (
  workspace_id text collate "C" not null,
  name text collate "C" not null,
  campaign_id text collate "C" not null references campaigns (id) deferrable initially deferred,
  primary key (workspace_id, name)
);

-- A request_id of V1 can be used once in an hour (fact 6.1).
create table campaign_request_ids (
  workspace_id text collate "C" not null,
  operation text not null,
  request_id text collate "C" not null,
  used_at timestamptz not null,
  primary key (workspace_id, operation, request_id)
);
create index campaign_request_ids_age on campaign_request_ids (used_at);

-- One row per accepted push request: what was promised to the caller. No foreign key: the row is inserted in the transaction of
-- its campaign or run, and runs keep their campaigns. Checking three such references row by row was a fifth of the database's
-- work for a push.
create table push_requests (
  response_id uuid primary key,
  workspace_id text collate "C" not null,
  request_id text not null,
  campaign_id text collate "C" not null,
  run_id text collate "C",
  received_at timestamptz not null
);
create index push_requests_campaign on push_requests (campaign_id);
create index push_requests_age on push_requests (received_at);

-- Campaigns that are written once and used again under other names.
create table campaign_templates (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  name text not null check (char_length(name) between 1 and 256),
  -- In the form of the campaign API.
  parts jsonb not null check (jsonb_typeof(parts) = 'object'),
  created_by text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index campaign_templates_name on campaign_templates (workspace_id, name);


-- Segments -----------------------------------------------------------------------------------------------------------

-- Sets of users that are filled from files, described by filters, or kept in step by a partner.
--
-- Members are versioned: every operation on a segment has a number; a member is added in one operation and may be removed in
-- a later one. What is read at a version stays the same while the next operation runs, so a run keeps its audience and a
-- reader sees all of an operation or nothing. Operations on one segment follow each other.
create table segments (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  name text not null,
  kind text not null check (kind in ('FILE', 'FILTER', 'COHORT')),
  state text not null check (state in ('FILLING', 'READY', 'FAILED', 'ARCHIVED')),
  state_reason text,
  -- Where it was made: the API, the console or command line, or a partner's synchronisation.
  source text not null check (source in ('API', 'CONSOLE', 'PARTNER')),
  -- FILE: the user attribute whose values its files hold.
  attribute_name text,
  attribute_type text check (attribute_type in ('string', 'double')),
  -- FILTER: the trees as they were sent, a sentence made of them, their digest, and the segments that they name.
  included_filters jsonb,
  excluded_filters jsonb,
  description text,
  filters_digest bytea check (octet_length(filters_digest) = 32),
  uses_segments text[] not null default '{}',
  -- COHORT: the partner, and the partner's id of the segment.
  partner text,
  cohort_id text,
  -- The last operation whose result is visible. 0: none yet.
  version integer not null default 0,
  -- Members at that version. Null for FILTER, whose members are found when they are needed.
  user_count bigint,
  expiry_days integer check (expiry_days between 1 and 3650),
  expires_at timestamptz,
  archived_at timestamptz,
  -- Thirty days after archiving the members are deleted for good (fact 2.2).
  members_deleted_at timestamptz,
  created_by text not null,
  updated_by text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- The filters of one campaign are a segment that no list shows and no limit counts. In a transaction the campaign may be
  -- inserted after it.
  campaign_id text collate "C" references campaigns (id) deferrable initially deferred,
  unique (workspace_id, name),
  constraint segments_attribute_check check ((kind = 'FILE') = (attribute_name is not null)),
  constraint segments_attribute_kind_check check ((kind = 'FILE') = (attribute_type is not null)),
  constraint segments_filters_check check ((kind = 'FILTER') = (included_filters is not null)),
  constraint segments_digest_check check ((kind = 'FILTER') = (filters_digest is not null)),
  constraint segments_cohort_check check ((kind = 'COHORT') = (cohort_id is not null)),
  constraint segments_filter_ready_check check (kind <> 'FILTER' or state in ('READY', 'ARCHIVED')),
  constraint segments_archived_check check ((state = 'ARCHIVED') = (archived_at is not null)),
  constraint segments_failed_check check (state <> 'FAILED' or state_reason is not null),
  constraint segments_campaign_check check (campaign_id is null or kind = 'FILTER')
);
create unique index segments_cohort on segments (workspace_id, partner, cohort_id) where kind = 'COHORT';
create index segments_newest on segments (workspace_id, created_at desc, id desc);
create index segments_expiry on segments (expires_at) where state <> 'ARCHIVED' and expires_at is not null;
create index segments_archived on segments (archived_at) where archived_at is not null and members_deleted_at is null;
create index segments_campaign on segments (campaign_id) where campaign_id is not null;

create table segment_members (
  workspace_id text collate "C" not null,
  bucket smallint not null check (bucket between 0 and 255),
  -- The id of a segment, or of a run: the frozen audience of a run to a filter segment.
  segment_id text collate "C" not null,
  user_id text collate "C" not null,
  added_in integer not null,
  removed_in integer,
  constraint segment_members_removed_check check (removed_in > added_in),
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
  -- Null: the file was uploaded, see segment_file_pieces.
  file_url text,
  callback_url text,
  emails text[] not null default '{}',
  state text not null check (state in ('QUEUED', 'FILLING', 'WAITING', 'SUCCEEDED', 'FAILED')),
  -- Downloads that were started; the fourth is the last (decision D25).
  attempts smallint not null default 0,
  -- Leases that expired and unexpected errors; the third ends the operation with status 500.
  crashes smallint not null default 0,
  -- Not claimed before this time: a download that failed waits.
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
  constraint segment_operations_owner_check check ((state = 'FILLING') = (owner is not null)),
  constraint segment_operations_lease_check check ((state = 'FILLING') = (lease_until is not null)),
  constraint segment_operations_ended_check check ((state in ('SUCCEEDED', 'FAILED')) = (ended_at is not null)),
  constraint segment_operations_result_check check ((state in ('SUCCEEDED', 'FAILED')) = (status is not null)),
  constraint segment_operations_error_check check ((state = 'FAILED') = (error_message is not null)),
  constraint segment_operations_counted_check check ((state = 'SUCCEEDED') = (counted_users is not null))
);
create index segment_operations_open on segment_operations (not_before, id) where state in ('QUEUED', 'FILLING', 'WAITING');
create index segment_operations_users on segment_operations (workspace_id, ended_at) where state = 'SUCCEEDED';
create index segment_operations_failed on segment_operations (ended_at) where state = 'FAILED';

-- The first 10,000 lines of an operation's file that named no usable user, with the reason.
create table segment_rejects (
  operation_id text collate "C" not null references segment_operations (id),
  line integer not null,
  reason text not null,
  primary key (operation_id, line)
);

-- An uploaded file, in pieces, until its operation has ended.
create table segment_file_pieces (
  operation_id text collate "C" not null references segment_operations (id),
  number integer not null,
  bytes bytea not null,
  primary key (operation_id, number)
);


-- Runs: sending a campaign -------------------------------------------------------------------------------------------

-- One sending of a campaign. A scheduled occurrence is sent once: (campaign_id, moment) is unique. No foreign key to the
-- workspace, which a push would pay for: a run is of its campaign's workspace, and the campaign's is checked.
create table runs (
  id text collate "C" primary key,
  workspace_id text collate "C" not null,
  campaign_id text collate "C" not null references campaigns (id),
  moment timestamptz,
  -- 0: sends to named users, which go first. 1: campaigns.
  lane smallint not null check (lane in (0, 1)),
  status text not null check (status in ('QUEUED', 'SENDING', 'PAUSED', 'SENT', 'FAILED', 'STOPPED', 'MISSED')),
  status_reason text,
  -- The content of a request, when it differs from the campaign's (audience USER, decision D33).
  content jsonb,
  -- Audience USER, resolved when the request was accepted: [[bucket, user id], …], at most 100.
  target_users jsonb,
  -- The greatest device id of the frozen audience; devices that register later are not part of the run.
  audience_bound text collate "C",
  audience_devices bigint,
  -- The partition of the ledger that this run writes to.
  day date not null,
  -- Nothing is sent after this time: the message's time to live.
  send_until timestamptz not null,
  created_at timestamptz not null,
  started_at timestamptz,
  ended_at timestamptz,
  -- The audience of a run to a segment, as it was when the run began: members of segment_members under this id and at this
  -- version. For a filter segment the id is the run's.
  audience_segment_id text collate "C",
  audience_version integer,
  audience_dropped_at timestamptz,
  -- A request that joined a scheduled campaign (decision D33): its users are looked up when the campaign is next due.
  target_selector jsonb,
  due_at timestamptz,
  -- The most devices in a minute: from the campaign, else from its workspace; null: as fast as the providers accept.
  devices_per_minute integer check (devices_per_minute > 0),
  is_test boolean not null default false,
  -- The business event that started the run: {"event", "attributes", "triggeredBy"}.
  business_event jsonb,
  -- Users of the audience when the run began, with a device or not; null for runs to named users.
  audience_users bigint check (audience_users >= 0),
  -- The platform whose refusal paused the run, while it is PAUSED; null when a user paused it.
  paused_platform text check (paused_platform in ('ANDROID', 'IOS', 'WEB')),
  -- A stopped run from which nothing more can come is settled, and no job looks at it again.
  settled_at timestamptz,
  -- Stands for the run in the ledger, in eight bytes.
  number bigint generated always as identity unique,
  -- The workspace's control group percentage when the run began: every window of the run uses it.
  global_control_percent smallint,
  -- Of a run with control groups: how many users they excluded and how many not, by platform, counted at its start.
  group_users jsonb check (jsonb_typeof(group_users) = 'array'),
  -- The languages of the campaign when the run began: the ledger stores their numbers.
  locales text[] collate "C",
  -- Of a run whose campaign learns: by what, and a digest of its contents. It learns from its runs with the same contents.
  learns_by text check (learns_by in ('CLICKS', 'GOAL')),
  contents_digest text collate "C",
  -- How many users the run has by platform, with a device that is sent to and with one that has the app: counted when it
  -- begins; null for runs to named users.
  audience_platforms jsonb check (jsonb_typeof(audience_platforms) = 'array'),
  -- The trace of the request that the run came from (W3C Trace Context); null if it was not sampled.
  traceparent text collate "C",
  constraint runs_ended_check check ((ended_at is not null) = (status in ('SENT', 'FAILED', 'STOPPED', 'MISSED'))),
  constraint runs_reason_check check (status not in ('FAILED', 'PAUSED', 'STOPPED', 'MISSED') or status_reason is not null),
  constraint runs_started_check check (status <> 'SENDING' or started_at is not null),
  constraint runs_audience_check check ((audience_segment_id is null) = (audience_version is null)),
  constraint runs_due_check check ((target_selector is null) = (due_at is null)),
  constraint runs_settled_check check (settled_at is null or status = 'STOPPED'),
  constraint runs_learning_check check ((learns_by is null) = (contents_digest is null))
);
create unique index runs_moment on runs (campaign_id, moment) where moment is not null;
create index runs_campaign on runs (campaign_id, created_at desc);
create index runs_open on runs (lane, created_at) where status in ('QUEUED', 'SENDING');
create index runs_due on runs (due_at) where status = 'QUEUED' and due_at is not null;
create index runs_stopped on runs (ended_at) where status = 'STOPPED' and settled_at is null;
create index runs_frozen_audience on runs (ended_at)
  where audience_segment_id = id and ended_at is not null and audience_dropped_at is null;
-- The campaigns that were sent in a span of days.
create index runs_started on runs (workspace_id, started_at, campaign_id) where started_at is not null;
-- The overview reads each of these every two seconds. Sends to named users (lane 0) come by the thousand and are short, so only
-- those of campaigns are in the first.
create index runs_sending on runs (workspace_id, created_at desc) where status in ('QUEUED', 'SENDING') and lane = 1;
create index runs_paused on runs (workspace_id, created_at desc) where status = 'PAUSED';
create index runs_failed on runs (workspace_id, ended_at desc) where status in ('FAILED', 'MISSED');

-- A chunk is a range of buckets of one run: the unit of claim and restart. No foreign key to the run, which a push would pay
-- for: a chunk is inserted by the statement that inserts its run, or under the run's lock, and a run is deleted after its
-- chunks.
create table chunks (
  run_id text collate "C" not null,
  number integer not null,
  workspace_id text collate "C" not null,
  lane smallint not null,
  bucket_from smallint not null,
  bucket_to smallint not null,
  -- The window about to be sent, written before its first request: after a crash exactly these messages may be repeated. A
  -- position is the id of a device, or in the audience of a segment the ids of a user and a device together.
  window_opened_at timestamptz,
  window_bucket smallint,
  window_position text collate "C",
  window_devices integer,
  state text not null check (state in ('READY', 'CLAIMED', 'DONE', 'QUARANTINED')),
  owner text,
  -- Raised by every claim; with the owner it fences off a worker that lost its lease.
  attempt integer not null default 0,
  -- Leases that expired since the last stored window: the sign of a message that kills its worker.
  crashes smallint not null default 0,
  lease_until timestamptz,
  -- Not claimed before this time (a provider asked to wait).
  not_before timestamptz not null,
  created_at timestamptz not null,
  ended_at timestamptz,
  -- The device whose message kills workers is found by halving the window that was open when they died.
  suspect_devices integer check (suspect_devices > 0),
  -- How many devices were quarantined.
  set_aside smallint not null default 0,
  -- From which bucket of the chunk on every user gets which variation, as [{"after": bucket, "variation": number or null}], a
  -- step for each time that a winner was named; null: none was. Buckets that had begun keep their shares.
  winners jsonb check (jsonb_typeof(winners) = 'array'),
  primary key (run_id, number),
  constraint chunks_buckets_check check (bucket_from <= bucket_to),
  constraint chunks_window_check check ((window_opened_at is null) = (window_position is null)),
  constraint chunks_owner_check check ((state = 'CLAIMED') = (owner is not null)),
  constraint chunks_lease_check check ((state = 'CLAIMED') = (lease_until is not null)),
  constraint chunks_ended_check check ((ended_at is not null) = (state in ('DONE', 'QUARANTINED')))
);
create index chunks_open on chunks (lane, not_before, created_at) where state in ('READY', 'CLAIMED');
-- What went wrong lately; callbacks, mails and segment_operations have such an index too.
create index chunks_quarantined on chunks (ended_at) where state = 'QUARANTINED';

-- What the outcomes of a window change is stored by bucket, like the outcomes: a window of one bucket is then a transaction in
-- one place, also where the buckets are on several machines (decision 0032). A cursor says how far a run has come in a bucket.
create table run_cursors (
  run_id text collate "C" not null,
  workspace_id text collate "C" not null,
  bucket smallint not null check (bucket between 0 and 255),
  position text collate "C" not null,
  primary key (run_id, bucket)
);

-- Outcomes per bucket, platform, kind and content, added in the transaction that stores the outcomes themselves. Only sums are
-- read.
create table run_counts (
  run_id text collate "C" not null,
  workspace_id text collate "C" not null,
  bucket smallint not null check (bucket between 0 and 255),
  platform text not null check (platform in ('ANDROID', 'IOS', 'WEB')),
  -- WITHHELD: not sent because of a cap, a delay or quiet hours.
  outcome text not null check (outcome in ('ACCEPTED', 'GONE', 'REJECTED', 'EXPIRED', 'FAILED', 'WITHHELD', 'WAITING')),
  devices bigint not null,
  -- 0 and an empty text if all users get one content.
  variation smallint not null default 0,
  locale text collate "C" not null default '',
  primary key (run_id, bucket, platform, outcome, variation, locale)
);

-- Why deliveries failed, of runs whose day of the ledger is dropped: filled from that day before it is dropped.
create table run_failures (
  run_id text collate "C" not null,
  workspace_id text collate "C" not null,
  platform text not null check (platform in ('ANDROID', 'IOS', 'WEB')),
  outcome text not null check (outcome in ('GONE', 'REJECTED', 'EXPIRED', 'FAILED', 'WITHHELD')),
  -- The provider's code, or Carillon's.
  code text not null,
  devices bigint not null,
  last_at timestamptz not null,
  primary key (run_id, platform, outcome, code)
);

-- What providers refused of a run: a credential, or something that a Firebase project lacks for one platform. Devices that it
-- would reach wait; the others are sent to. A row is deleted when those devices are retried, and with its run.
create table run_refusals (
  run_id text collate "C" not null references runs (id),
  workspace_id text collate "C" not null references workspaces (id),
  provider text not null check (provider in ('fcm', 'apns', 'webpush', 'hms')),
  -- The app of the credential.
  app_id text collate "C" not null,
  -- Null: all that the credential serves.
  platform text check (platform in ('ANDROID', 'IOS', 'WEB')),
  -- The provider's credentials at the time; when there are others, or this one was changed, the devices are retried.
  credentials text collate "C" not null,
  words text not null,
  refused_at timestamptz not null,
  -- A refusal that the answers of a key of provider_evidence decided ends with the hold of that key.
  evidence_key text collate "C",
  constraint run_refusals_key unique nulls not distinct (run_id, provider, app_id, platform, credentials, evidence_key)
);
create index run_refusals_workspace on run_refusals (workspace_id);
create index run_refusals_evidence on run_refusals (evidence_key) where evidence_key is not null;

-- The share of each variation in a run of a campaign that learns, and what the run has learned. The shares of a bucket are
-- written once, before its first window is sent, by the worker that comes first: every node and every worker after a crash
-- sends by the same shares.
create table run_variations (
  run_id text collate "C" not null,
  workspace_id text collate "C" not null,
  bucket smallint not null check (bucket between 0 and 255),
  variation smallint not null check (variation between 1 and 9),
  -- Of 10,000 users; null while it is not written.
  share smallint check (share between 0 and 10000),
  -- Messages that a provider accepted, and how many of them were clicked, or followed by the goal.
  trials bigint not null default 0,
  successes bigint not null default 0,
  primary key (run_id, bucket, variation)
);

-- To how many users a campaign (or a run of it) with an audience limit is being sent: `taken` seats, of which `sent` are of
-- users with an accepted message. The lock of the row decides who gets the last seat.
create table audience_limits (
  -- The id that all versions of the campaign share, or the id of the run.
  id text collate "C" primary key,
  workspace_id text collate "C" not null,
  taken bigint not null,
  sent bigint not null,
  constraint audience_limits_check check (0 <= sent and sent <= taken)
);

-- A user to whom a run with a limit is being sent: written before anything is sent, so that a worker that repeats a window
-- knows which users it was for. Deleted when a message was accepted, which the ledger knows from then on.
create table audience_seats (
  limit_id text collate "C" not null,
  run_id text collate "C" not null,
  bucket smallint not null check (bucket between 0 and 255),
  user_id text collate "C" not null,
  workspace_id text collate "C" not null,
  primary key (limit_id, run_id, bucket, user_id)
);


-- The ledger ---------------------------------------------------------------------------------------------------------

-- One row per run and device, partitioned by the run's day so that retention drops a partition. In about 200 bytes with its
-- indexes (decision 0037), a quarter of a row of texts: ids of 12 bytes, numbers for run and workspace, letters for words, one
-- key that begins with the user, and indexes that hold the rows of a window in one entry.
--
-- Columns of eight bytes first, then four, two, and those of any length: none is padded up to its neighbour.
create table deliveries (
  sent_at timestamptz not null,
  retry_at timestamptz,
  -- The lease is in the database's time; the time when a delivery is due is in the service's time, which a sandbox moves.
  lease_until timestamptz,
  run_number bigint not null,
  day date not null,
  workspace_number integer not null,
  bucket smallint not null,
  attempts smallint not null,
  -- ANDROID, IOS, WEB.
  platform "char" not null check (platform in ('A', 'I', 'W')),
  -- ACCEPTED, GONE, REJECTED, EXPIRED, FAILED, WITHHELD, WAITING.
  outcome "char" not null check (outcome in ('A', 'G', 'R', 'E', 'F', 'H', 'W')),
  user_id bytea not null,
  device_id bytea not null,
  -- Packed by domain/ledger/message-id.ts.
  provider_message_id bytea,
  -- The provider's code: UNREGISTERED, BadDeviceToken, 410. For WITHHELD: which cap, delay or hours.
  code text,
  -- Which content the device got: a digit, and a letter from A on (the number in runs.locales); null: there was one for all.
  -- Columns without a value take no byte of a row.
  variation "char",
  locale "char",
  constraint deliveries_waiting_check check ((outcome = 'W') = (retry_at is not null)),
  constraint deliveries_ids_check check (octet_length(user_id) = 12 and octet_length(device_id) = 12),
  -- The user comes first: a user's messages, and those of a window in the order in which it is stored. The day comes before
  -- the run: the other way round each entry is padded by eight bytes.
  primary key (bucket, user_id, device_id, day, run_number)
) partition by range (day);
-- One entry for all rows of a window, which share one time. The run comes last, so that a run's rows are found in it as well.
create index deliveries_log on deliveries (workspace_number, platform, sent_at, run_number) where outcome = 'A';
-- Rows that were not accepted are few, and looked at more closely.
create index deliveries_log_other on deliveries (workspace_number, outcome, platform, sent_at, run_number)
  where outcome <> 'A';
create index deliveries_log_code on deliveries (workspace_number, code, sent_at, run_number) where outcome <> 'A';
-- With the workspace, so that a caller bound to one need not read the rows.
create index deliveries_failed on deliveries (run_number, platform, outcome, code, sent_at, workspace_number)
  where outcome <> 'A';
create index deliveries_waiting on deliveries (retry_at) where outcome = 'W';

-- The ledger in the words of the other tables, for people and tests. The rights and policies are those of the caller. It joins a
-- selection of the runs instead of the table: joined as they are, and behind the policies of both, the two tables crash the
-- server of a cluster (Citus 13.2.2).
create view readable_deliveries with (security_invoker = true) as
select deliveries.day, run.workspace_id, run.campaign_id, run.id as run_id, deliveries.bucket,
  encode(deliveries.user_id, 'hex') as user_id, encode(deliveries.device_id, 'hex') as device_id,
  case deliveries.platform when 'A' then 'ANDROID' when 'I' then 'IOS' when 'W' then 'WEB' end as platform,
  case deliveries.outcome when 'A' then 'ACCEPTED' when 'G' then 'GONE' when 'R' then 'REJECTED' when 'E' then 'EXPIRED'
    when 'F' then 'FAILED' when 'H' then 'WITHHELD' when 'W' then 'WAITING' end as outcome, deliveries.code,
  deliveries.attempts, deliveries.sent_at, deliveries.retry_at, deliveries.lease_until,
  deliveries.variation::integer - 48 as variation, run.locales[deliveries.locale::integer - 64] as locale
from deliveries join (select id, number, workspace_id, campaign_id, locales from runs) as run
  on run.number = deliveries.run_number;


-- Events of users, and conversions -----------------------------------------------------------------------------------

-- One row per event, partitioned by the day it was received, so that retention drops a partition: an event may be about a time
-- long past, and a partition of that day would be made for it.
create table events (
  day date not null,
  workspace_id text collate "C" not null,
  bucket smallint not null check (bucket between 0 and 255),
  id text collate "C" not null,
  user_id text collate "C" not null,
  name text collate "C" not null,
  attributes jsonb not null check (jsonb_typeof(attributes) = 'object'),
  occurred_at timestamptz not null,
  received_at timestamptz not null,
  platform text check (platform in ('ANDROID', 'IOS', 'WEB', 'TV', 'UNKNOWN')),
  app_version text,
  -- The user's distance from UTC.
  utc_offset_seconds integer check (utc_offset_seconds between -54000 and 54000),
  -- The row of the device that the caller named; null when it named none, or one that is not known.
  device_row_id text collate "C",
  constraint events_occurred_check check (occurred_at <= received_at),
  primary key (day, workspace_id, bucket, id)
) partition by range (day);
-- What one user did: to show it page by page, newest first, to move it or to erase it.
create index events_user on events (workspace_id, bucket, user_id, occurred_at);

-- Events that are not yet matched with goals. A row is deleted in the transaction that counts its event, so each is counted
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
-- Events are claimed from one bucket a statement, the oldest first.
create index unattributed_events_bucket on unattributed_events (bucket, received_at);

-- One row per event that met a goal (by its index in campaigns.conversion_goals) and per attribution: the total is rows, the
-- unique number is users, for any set of runs. The key makes a second count of one event impossible.
create table conversions (
  workspace_id text collate "C" not null,
  bucket smallint not null check (bucket between 0 and 255),
  campaign_id text collate "C" not null,
  goal smallint not null check (goal >= 0),
  event_id text collate "C" not null,
  user_id text collate "C" not null,
  -- The run of the message that the event is attributed to.
  run_id text collate "C" not null,
  platform text not null check (platform in ('ANDROID', 'IOS', 'WEB')),
  occurred_at timestamptz not null,
  -- Null: the run's message reached the user. Else the user was meant and not reached, or is in a control group.
  reach text check (reach in ('NOT_REACHED', 'GLOBAL_CONTROL_GROUP', 'CAMPAIGN_CONTROL_GROUP')),
  variation smallint,
  locale text collate "C",
  -- Which of the five ways of counting makes the event a conversion; each that holds has a row, with the message that it is by.
  attribution text not null default 'TOTAL_CONVERSIONS' check (
    attribution in ('VIEW_THROUGH', 'CLICK_THROUGH', 'IN_SESSION', 'TOTAL_CONVERSIONS', 'CLICK_CONVERSIONS')
  ),
  -- What the event brought, where the goal names an attribute of it.
  revenue numeric,
  -- A user whom the message did not reach has neither seen nor clicked it.
  constraint conversions_unreached_check check (reach is null or attribution = 'TOTAL_CONVERSIONS'),
  primary key (workspace_id, bucket, campaign_id, goal, event_id, attribution)
);
create index conversions_campaign on conversions (workspace_id, campaign_id, run_id, platform, goal, user_id);


-- Campaigns that events start ----------------------------------------------------------------------------------------

-- One row per campaign, by the id that its versions share: which event is meant, and the version that sends. Events received
-- before `live_since` start nothing.
create table trigger_conditions (
  campaign_id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  version_id text collate "C" not null references campaigns (id),
  event_names text[] not null check (cardinality(event_names) > 0),
  condition jsonb not null check (jsonb_typeof(condition) = 'object'),
  live_since timestamptz not null
);
create index trigger_conditions_workspace on trigger_conditions (workspace_id);
create unique index trigger_conditions_version on trigger_conditions (version_id);

-- An event of a user that starts a campaign for this user: stored with the event, in one transaction. The key makes an event that
-- is sent twice one trigger.
create table triggers (
  workspace_id text collate "C" not null,
  bucket smallint not null check (bucket between 0 and 255),
  user_id text collate "C" not null,
  campaign_id text collate "C" not null,
  event_name text collate "C" not null,
  occurred_at timestamptz not null,
  received_at timestamptz not null,
  attributes jsonb not null check (jsonb_typeof(attributes) = 'object'),
  -- Null: the event has no time to count from.
  due_at timestamptz,
  state text not null check (state in ('WAITING', 'HELD', 'SENT', 'DROPPED')),
  reason text check (reason in ('LATE', 'CONDITION', 'AUDIENCE', 'CAMPAIGN_OVER', 'NO_TIME', 'TOO_FAR')),
  run_id text collate "C",
  ended_at timestamptz,
  primary key (workspace_id, bucket, user_id, campaign_id, event_name, occurred_at),
  constraint triggers_dropped_check check ((state = 'DROPPED') = (reason is not null)),
  constraint triggers_sent_check check ((state = 'SENT') = (run_id is not null)),
  constraint triggers_ended_check check ((state in ('SENT', 'DROPPED')) = (ended_at is not null)),
  constraint triggers_due_check check (due_at is not null or state = 'DROPPED')
);
create index triggers_due on triggers (due_at) where state = 'WAITING';
create index triggers_held on triggers (campaign_id) where state = 'HELD';
create index triggers_run on triggers (run_id, bucket, user_id) where run_id is not null;
create index triggers_ended on triggers (ended_at) where ended_at is not null;


-- Interactions: what devices report of messages ----------------------------------------------------------------------

-- What each device reported of each run: shown, clicked, closed. The key finds a device in every run of a campaign with one
-- look-up.
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
  count integer not null,
  first_at timestamptz not null,
  -- The phone reported that FCM delivered the message with a lower priority than it was sent with, and later.
  lowered boolean not null default false,
  constraint device_interactions_count_check check (count = cardinality(report_digests)),
  primary key (workspace_id, bucket, campaign_id, device_id, kind, run_id)
);
create index device_interactions_device on device_interactions (workspace_id, bucket, device_id, first_at);
create index device_interactions_age on device_interactions (first_at);

-- The figures of a run: figures of some days are those of the runs that began in them.
create table run_interactions (
  run_id text collate "C" not null,
  workspace_id text collate "C" not null,
  bucket smallint not null check (bucket between 0 and 255),
  platform text not null check (platform in ('ANDROID', 'IOS', 'WEB')),
  kind text not null check (kind in ('IMPRESSION', 'CLICK', 'CLOSE')),
  -- 0 and an empty text if all users get one content.
  variation smallint not null default 0,
  locale text collate "C" not null default '',
  total bigint not null,
  -- Each message once.
  messages bigint not null,
  primary key (run_id, bucket, platform, kind, variation, locale)
);

-- The figures of a campaign. They are read by campaign, so the bucket comes after it. One row a bucket: devices that report at
-- the same time seldom meet in one row, and a cluster counts a report in the transaction and the place of that report.
create table campaign_interactions (
  workspace_id text collate "C" not null,
  campaign_id text collate "C" not null,
  platform text not null check (platform in ('ANDROID', 'IOS', 'WEB')),
  kind text not null check (kind in ('IMPRESSION', 'CLICK', 'CLOSE')),
  total bigint not null,
  -- A device counts once, however many runs and reports it had.
  unique_devices bigint not null,
  bucket smallint not null check (bucket between 0 and 255),
  variation smallint not null default 0,
  locale text collate "C" not null default '',
  -- Messages that were reported, each once whatever its device reported before: what is compared between contents.
  messages bigint not null default 0,
  primary key (workspace_id, campaign_id, bucket, platform, kind, variation, locale)
);


-- Event streams ------------------------------------------------------------------------------------------------------

-- Receivers of a workspace's message events: what providers accepted, what devices clicked and cleared, which users a control
-- group excluded.
create table event_streams (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  url text not null,
  secret_sealed bytea not null,
  events text[] not null check (
    cardinality(events) > 0 and events <@ array['delivered', 'clicked', 'cleared', 'control_group']
  ),
  user_attributes text[] not null,
  device_attributes text[] not null,
  delivered_events bigint not null default 0,
  last_delivered_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- A receiver that does not respond is paused, like those of callbacks (callback_receivers).
  failures integer not null default 0,
  silent_since timestamptz,
  paused_at timestamptz,
  paused_until timestamptz,
  probe_until timestamptz,
  constraint event_streams_silent_check check ((failures = 0) = (silent_since is null)),
  constraint event_streams_paused_check check ((paused_at is null) = (paused_until is null))
);
create index event_streams_workspace on event_streams (workspace_id);

-- What was stored and is not yet in a batch, noted by the transaction that stored it: a window of the ledger by its run, buckets
-- and time, or a device's report. A row is deleted in the transaction that makes batches of it.
create table event_stream_marks (
  stream_id text collate "C" not null references event_streams (id) on delete cascade,
  number bigint generated always as identity,
  workspace_id text collate "C" not null,
  run_id text collate "C" not null,
  buckets smallint[] not null,
  -- Of a window: how many of its rows are events.
  events integer not null,
  at timestamptz not null,
  -- Of a report: what was done, by which device. The device is set to null when its user is erased.
  kind text,
  device_id text collate "C",
  platform text,
  action text,
  event_uuid uuid,
  -- Of a report: which content the message had; null where there is one for all.
  variation smallint,
  locale text collate "C",
  constraint event_stream_marks_report_check check ((kind is null) = (event_uuid is null)),
  primary key (stream_id, number)
);
create index event_stream_marks_device on event_stream_marks (workspace_id, device_id) where device_id is not null;

-- At most a hundred events that are posted together, by their ids: the body is written for each attempt, so it says nothing of
-- users that were erased meanwhile. A batch that was accepted is deleted; one that was given up stays to be sent again.
create table event_stream_batches (
  id text collate "C" primary key,
  stream_id text collate "C" not null references event_streams (id) on delete cascade,
  workspace_id text collate "C" not null,
  events jsonb not null,
  state text not null check (state in ('PENDING', 'GIVEN_UP')),
  attempts smallint not null default 0,
  next_at timestamptz,
  lease_until timestamptz,
  last_status smallint,
  last_error text,
  created_at timestamptz not null,
  ended_at timestamptz,
  constraint event_stream_batches_next_check check ((state = 'PENDING') = (next_at is not null)),
  constraint event_stream_batches_ended_check check ((state = 'PENDING') = (ended_at is null))
);
create index event_stream_batches_due on event_stream_batches (stream_id, next_at) where state = 'PENDING';
create index event_stream_batches_given_up on event_stream_batches (stream_id, id) where state = 'GIVEN_UP';
create index event_stream_batches_newest on event_stream_batches (workspace_id, created_at);


-- Live Activities ----------------------------------------------------------------------------------------------------

-- Live Activities of iPhones. The messages of a start, an update or an end are stored in one transaction with it; a job sends
-- them. An activity lives twelve hours at most at Apple, and a day here.
create table live_activities (
  workspace_id text collate "C" not null references workspaces (id),
  app_id text collate "C" not null,
  -- Chosen by the caller.
  activity_id text collate "C" not null,
  -- Time of the newest event, in epoch seconds: a phone ignores an event that is not newer.
  last_timestamp bigint not null,
  changed_at timestamptz not null,
  primary key (workspace_id, app_id, activity_id)
);
create index live_activities_changed on live_activities (changed_at);

create table live_activity_tokens (
  workspace_id text collate "C" not null references workspaces (id),
  app_id text collate "C" not null,
  activity_id text collate "C" not null,
  -- START: of a phone that is to start the activity. UPDATE: of a phone that shows it.
  kind text not null check (kind in ('START', 'UPDATE')),
  token text collate "C" not null,
  primary key (workspace_id, app_id, activity_id, kind, token)
);

create table live_activity_messages (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  app_id text collate "C" not null,
  activity_id text collate "C" not null,
  event text not null check (event in ('start', 'update', 'end')),
  "timestamp" bigint not null,
  token text collate "C" not null,
  priority smallint not null check (priority in (5, 10)),
  -- As it is sent.
  body text not null,
  state text not null default 'WAITING' check (
    state in ('WAITING', 'ACCEPTED', 'GONE', 'REJECTED', 'FAILED', 'EXPIRED', 'SUPERSEDED')
  ),
  -- The provider's code, or why it was not sent.
  code text,
  attempts smallint not null default 0,
  next_at timestamptz,
  lease_until timestamptz,
  -- Not sent after this.
  send_until timestamptz not null,
  created_at timestamptz not null,
  constraint live_activity_messages_next_check check ((state = 'WAITING') = (next_at is not null))
);
create index live_activity_messages_due on live_activity_messages (next_at) where state = 'WAITING';
create index live_activity_messages_activity
  on live_activity_messages (workspace_id, app_id, activity_id, "timestamp");


-- Callbacks and emails -----------------------------------------------------------------------------------------------

-- A result that is posted to the caller's address, kept until the receiver accepted it (interface 6).
create table callbacks (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  -- Null: of an alert, which belongs to no file operation.
  operation_id text collate "C" references segment_operations (id),
  url text not null,
  -- The exact text that is posted, the same on every attempt.
  body text not null,
  state text not null check (state in ('PENDING', 'DELIVERED', 'GIVEN_UP')),
  attempts smallint not null default 0,
  -- When the next attempt is due, in the service's time, which a sandbox moves.
  next_at timestamptz,
  created_at timestamptz not null,
  ended_at timestamptz,
  -- Until when a node holds the callback, in the database's time.
  lease_until timestamptz,
  -- A receiver of callbacks is the origin of the address, in one workspace. A host name has at most 253 characters; the limit
  -- keeps a hostile address from exceeding the size of an index row.
  origin text collate "C" not null generated always as (
    coalesce(left(lower(substring(url collate "C" from '^[^:/?#]+://[^/?#]+')), 300), '')
  ) stored,
  constraint callbacks_next_check check ((state = 'PENDING') = (next_at is not null)),
  constraint callbacks_ended_check check ((state = 'PENDING') = (ended_at is null))
);
create index callbacks_due on callbacks (next_at) where state = 'PENDING';
create index callbacks_receivers on callbacks (workspace_id, origin, next_at) where state = 'PENDING';
create index callbacks_operation on callbacks (operation_id);
-- Pages follow each other by time and id.
create index callbacks_newest on callbacks (workspace_id, created_at desc, id desc);
create index callbacks_given_up_newest on callbacks (workspace_id, created_at desc, id desc) where state = 'GIVEN_UP';
create index callbacks_given_up on callbacks (ended_at) where state = 'GIVEN_UP';

create table callback_attempts (
  callback_id text collate "C" not null references callbacks (id),
  number smallint not null,
  at timestamptz not null,
  -- Null: no response.
  status smallint,
  -- Why the attempt failed, in words that name neither addresses nor what responds there.
  error text,
  duration_ms real not null,
  primary key (callback_id, number)
);

-- Receivers that did not respond lately; the first response deletes the row. Until `paused_until` nothing is posted to the
-- receiver. After it one callback is tried, by the node that sets `probe_until` (decision 0058).
create table callback_receivers (
  workspace_id text collate "C" not null references workspaces (id),
  origin text collate "C" not null,
  -- Attempts in a row without a response.
  failures integer not null,
  silent_since timestamptz not null,
  failed_at timestamptz not null,
  paused_at timestamptz,
  paused_until timestamptz,
  probe_until timestamptz,
  constraint callback_receivers_paused_check check ((paused_at is null) = (paused_until is null)),
  primary key (workspace_id, origin)
);
create index callback_receivers_failed on callback_receivers (failed_at);

-- Reports and alerts by email. Without SMTP they are KEPT and shown.
create table mails (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  operation_id text collate "C" references segment_operations (id),
  recipients text[] not null,
  subject text not null,
  body text not null,
  state text not null check (state in ('PENDING', 'SENT', 'KEPT', 'FAILED')),
  attempts smallint not null default 0,
  -- The due time is the service's, the lease the database's, as of a callback.
  next_at timestamptz,
  error text,
  created_at timestamptz not null,
  ended_at timestamptz,
  lease_until timestamptz,
  constraint mails_next_check check ((state = 'PENDING') = (next_at is not null)),
  constraint mails_ended_check check ((state = 'PENDING') = (ended_at is null))
);
create index mails_due on mails (next_at) where state = 'PENDING';
create index mails_newest on mails (workspace_id, created_at desc, id desc);
create index mails_failed_newest on mails (workspace_id, created_at desc, id desc) where state = 'FAILED';
create index mails_failed on mails (ended_at) where state = 'FAILED';
-- An operation is deleted when no email belongs to it any more.
create index mails_operation on mails (operation_id) where operation_id is not null;

-- Attempts are numbered in rounds of ten, a round for each "send again".
create table mail_attempts (
  mail_id text collate "C" not null references mails (id),
  number smallint not null,
  at timestamptz not null,
  -- What the server returned, or why there was no response.
  answer text not null,
  is_taken boolean not null,
  duration_ms real not null,
  primary key (mail_id, number)
);


-- Report files -------------------------------------------------------------------------------------------------------

-- Requested files of figures: a worker makes them piece by piece, any node serves them, and they are deleted after seven days.
create table report_files (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  name text collate "C" not null unique,
  -- Which figures, of which days, counted how.
  request jsonb not null,
  -- The key of the request, as it was then: when it is archived or regenerated, its signatures open nothing. Null: requested by
  -- the command line; its signature opens the file until the file is deleted.
  key_id text collate "C",
  key_generation integer,
  -- SHA-256 of the signature that opens the file.
  signature_hash bytea not null check (octet_length(signature_hash) = 32),
  state text not null default 'WAITING' check (state in ('WAITING', 'READY', 'FAILED')),
  attempts smallint not null default 0,
  -- Of a file that is still to be made.
  next_at timestamptz,
  lease_until timestamptz,
  campaigns integer,
  bytes bigint,
  reason text,
  created_at timestamptz not null,
  ended_at timestamptz,
  expires_at timestamptz not null,
  constraint report_files_key_check check ((key_id is null) = (key_generation is null)),
  constraint report_files_next_check check ((state = 'WAITING') = (next_at is not null)),
  constraint report_files_ended_check check ((state = 'WAITING') = (ended_at is null)),
  constraint report_files_ready_check check ((state = 'READY') = (campaigns is not null and bytes is not null))
);
create index report_files_workspace on report_files (workspace_id, expires_at);
create index report_files_due on report_files (next_at) where state = 'WAITING';
create index report_files_expiry on report_files (expires_at);

-- The part of a file that is made; a later attempt deletes the pieces of the one before.
create table report_file_pieces (
  report_id text collate "C" not null references report_files (id) on delete cascade,
  number integer not null,
  workspace_id text collate "C" not null,
  bytes bytea not null,
  primary key (report_id, number)
);
-- The bytes are compressed already.
alter table report_file_pieces alter column bytes set storage external;
create index report_file_pieces_workspace on report_file_pieces (workspace_id);


-- The console --------------------------------------------------------------------------------------------------------

-- Accounts of the console. They belong to the installation, not to a workspace.
create table accounts (
  id text collate "C" primary key,
  email text not null check (char_length(email) between 3 and 254),
  name text not null check (char_length(name) between 1 and 100),
  role text not null check (role in ('owner', 'marketer', 'analyst', 'developer')),
  -- argon2id in the PHC form, which names its parameters. Null: the account never had a password here.
  password_hash text check (password_hash like '$argon2id$%'),
  created_at timestamptz not null,
  signed_in_at timestamptz,
  disabled_at timestamptz
);
-- One account an address, however it is spelled.
create unique index accounts_email on accounts (lower(email));

-- The identity of an account at an OpenID issuer. A subject is permanent and an email address is not, so the address counts at
-- the first sign-in alone.
create table account_identities (
  issuer text collate "C" not null,
  subject text collate "C" not null,
  account_id text collate "C" not null references accounts (id),
  created_at timestamptz not null,
  primary key (issuer, subject),
  -- An address that the issuer gave to another user does not open the account of its previous owner.
  unique (issuer, account_id)
);

-- Sign-ins on their way to the issuer and back, each once and within ten minutes.
create table company_sign_ins (
  state_hash bytea primary key check (octet_length(state_hash) = 32),
  -- Of a cookie of the browser that began it.
  browser_hash bytea not null check (octet_length(browser_hash) = 32),
  -- Nonce and PKCE verifier.
  sealed bytea not null,
  expires_at timestamptz not null
);
create index company_sign_ins_expiry on company_sign_ins (expires_at);

-- One-time links.
create table account_links (
  id text collate "C" primary key,
  secret_hash bytea not null unique check (octet_length(secret_hash) = 32),
  -- SIGN_IN opens the console of a sandbox; FIRST_OWNER makes the first account; INVITATION one more; PASSWORD resets one.
  purpose text not null check (purpose in ('SIGN_IN', 'FIRST_OWNER', 'INVITATION', 'PASSWORD')),
  email text,
  role text check (role in ('owner', 'marketer', 'analyst', 'developer')),
  account_id text collate "C" references accounts (id),
  created_by text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- Why a link ended early; expires_at is then that time. The row is kept for a while, so that the sign-in page can say why the
  -- link opens nothing.
  ended_as text check (ended_as in ('USED', 'WITHDRAWN')),
  constraint account_links_invited_email_check check ((purpose = 'INVITATION') = (email is not null)),
  constraint account_links_invited_role_check check ((purpose = 'INVITATION') = (role is not null)),
  constraint account_links_account_check check ((purpose = 'PASSWORD') = (account_id is not null))
);

-- Sessions run on real time, also in a sandbox whose clock is moved (decision 0059); so do links and the audit log.
create table console_sessions (
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  id text collate "C" not null unique,
  -- Null: opened by the start link of a sandbox.
  account_id text collate "C" references accounts (id),
  source_address text not null,
  user_agent text not null check (char_length(user_agent) <= 300),
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  expires_at timestamptz not null
);
create index console_sessions_account on console_sessions (account_id);
create index console_sessions_expiry on console_sessions (expires_at);

-- Filters of a screen that a user saved: the search of the screen's address, under a name.
create table saved_views (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  -- Null: of users that signed in by the start link of a sandbox, who have no account.
  account_id text collate "C" references accounts (id),
  screen text not null check (screen in ('campaigns', 'segments', 'deliveries', 'calls', 'audit')),
  name text not null check (char_length(name) between 1 and 100),
  search text not null check (char_length(search) <= 4000),
  created_at timestamptz not null
);
create unique index saved_views_name on saved_views (workspace_id, screen, coalesce(account_id, ''), name);

-- Who did what, when, to which object. Names are those of the time, so that a line stays readable.
create table audit_log (
  id text collate "C" primary key,
  workspace_id text collate "C" references workspaces (id),
  at timestamptz not null,
  actor_id text collate "C",
  actor_name text not null,
  action text not null,
  object_kind text not null,
  object_id text,
  object_name text,
  detail jsonb not null default '{}' check (jsonb_typeof(detail) = 'object'),
  -- The time of the sandbox's clock when a user was changed: the timeline of a user is in the sandbox's time.
  shown_at timestamptz
);
create index audit_log_workspace on audit_log (workspace_id, id desc);
create index audit_log_object on audit_log (workspace_id, object_kind, object_id, (coalesce(shown_at, at)))
  where object_id is not null;


-- Alerts -------------------------------------------------------------------------------------------------------------

-- Where a workspace is notified of problems that block its messages. Without a row no notification is sent, and alerts are
-- shown in the console.
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
  kind text not null check (kind in ('provider', 'queue', 'node', 'job', 'credential', 'backup', 'certificate')),
  -- Which provider, job or key.
  subject text not null,
  what text not null,
  todo text not null,
  opened_at timestamptz not null,
  -- When the problem was last found.
  seen_at timestamptz not null,
  closed_at timestamptz
);
create unique index alerts_open on alerts (workspace_id, kind, subject) where closed_at is null;
create index alerts_newest on alerts (workspace_id, opened_at desc, id desc);
create index alerts_closed on alerts (closed_at) where closed_at is not null;


-- The sandbox --------------------------------------------------------------------------------------------------------

-- The inbox of the sandbox's simulated devices.
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
  received_at timestamptz not null,
  -- How the message was to be carried (apns-priority, TTL, urgency), which its payload does not show.
  transport jsonb not null default '{}' check (jsonb_typeof(transport) = 'object'),
  -- What a user saw on the simulated device.
  screen jsonb not null default '{}',
  -- Headers that the simulated provider received; of the authorization only its scheme.
  headers jsonb not null default '{}' check (jsonb_typeof(headers) = 'object')
);
create index sandbox_messages_workspace on sandbox_messages (workspace_id, id desc);


-- A cluster ----------------------------------------------------------------------------------------------------------

-- Always empty: on a cluster its shards say which buckets lie together, and all tables with a bucket lie next to them. With shards
-- by the hash of the bucket alone, the largest of 32 would have twice its part; these are cut, while the table is empty, so that
-- each has the same number of buckets.
create table bucket_shards (
  bucket smallint primary key
);

-- True if the rows of a table are in the shards of a cluster (Citus).
create function is_distributed(relation text) returns boolean
language plpgsql stable as $$
declare
  answer boolean := false;
begin
  if to_regclass('pg_catalog.pg_dist_partition') is not null then
    execute 'select exists (select from pg_catalog.pg_dist_partition where logicalrelid = $1::regclass and partmethod = ''h'')'
      into answer using relation;
  end if;
  return answer;
end $$;

-- A cluster does not accept a recursive query, so this loop finds the distinct attributes. Each name is one look-up of the index.
-- Policies hold in this function and the next, because they run with the caller's rights.
create function list_identifier_attributes(of_workspace text, most integer) returns setof text
language plpgsql stable as $$
declare
  last_attribute text collate "C" := '';
begin
  for number in 1..most loop
    select attribute into last_attribute from identifiers
    where workspace_id = of_workspace and attribute > last_attribute
    order by attribute limit 1;
    exit when not found;
    return next last_attribute;
  end loop;
end $$;

-- The attributes of the newest users of each bucket. A cluster does not accept a sub-select per bucket, and one statement per bucket
-- is three times the work where all buckets are in one place.
create function sample_user_attributes(of_workspace text, per_bucket integer) returns setof jsonb
language plpgsql stable as $$
begin
  if not is_distributed('users') then
    return query
      select newest.attributes
      from generate_series(0, 255) as part (bucket)
      cross join lateral (
        select users.attributes from users
        where users.workspace_id = of_workspace and users.bucket = part.bucket::smallint
        order by users.id desc limit per_bucket
      ) as newest;
    return;
  end if;
  for part in 0..255 loop
    return query
      select users.attributes from users
      where users.workspace_id = of_workspace and users.bucket = part::smallint
      order by users.id desc limit per_bucket;
  end loop;
end $$;


-- The wall between workspaces ----------------------------------------------------------------------------------------

-- The second wall, besides the conditions of the statements (decision 0031). A transaction that is bound to a workspace reads
-- and writes rows of that one; a transaction that is bound to none reaches no row. `carillon migrate` adds the role that works across
-- workspaces to the policy `across_workspaces`. Row-level security is forced, so it holds the owner of the tables as well.

-- Binds a transaction to a workspace. Citus repeats to the workers what `set local` sets, and nothing that set_config sets. The
-- ledger's policies need the number of the workspace. Without a search_path of the function: a function that has one undoes
-- all settings when it ends.
create function bind_workspace(id text) returns void
language plpgsql as $$
declare
  found text;
begin
  execute pg_catalog.format('set local carillon.workspace_id = %L', id);
  select workspaces.number::text into found from public.workspaces where workspaces.id = bind_workspace.id;
  execute pg_catalog.format('set local carillon.workspace_number = %L', coalesce(found, ''));
end $$;

-- Guards one table, or one partition like its parent: a partition's own policies and rights hold when a statement names it.
create function guard_workspace_table(guarded regclass, parent regclass) returns void
language plpgsql set search_path = public, pg_temp as $$
declare
  across text;
  given record;
begin
  execute format('alter table %s enable row level security', guarded);
  execute format('alter table %s force row level security', guarded);
  -- Policies of tables that a cluster distributes have no subquery, which Citus refuses. PostgreSQL then reads the setting once a
  -- scan if an index is entered with it, and once a row if not.
  if exists (select from pg_attribute where attrelid = guarded and attname = 'workspace_number' and not attisdropped) then
    execute format(
      'create policy own_workspace on %s using '
        || '(workspace_number = nullif(current_setting(''carillon.workspace_number'', true), '''')::integer)',
      guarded
    );
  elsif exists (select from pg_attribute where attrelid = guarded and attname = 'bucket' and not attisdropped) then
    execute format(
      'create policy own_workspace on %s using (workspace_id = current_setting(''carillon.workspace_id'', true))', guarded
    );
  else
    -- In brackets: read once a statement, not once a row, and an index can be entered with it.
    execute format(
      'create policy own_workspace on %s using (workspace_id = (select current_setting(''carillon.workspace_id'', true)))',
      guarded
    );
  end if;
  select string_agg(quote_ident(rolname), ', ') into across
  from pg_policy join pg_roles on pg_roles.oid = any(polroles)
  where polrelid = parent and polname = 'across_workspaces';
  -- Nodes that sign in as the owner keep working while this is applied.
  across := coalesce(across, quote_ident(current_user));
  execute format('create policy across_workspaces on %s to %s using (true)', guarded, across);
  for given in
    select rolname, privilege_type from pg_class, aclexplode(relacl) as acl join pg_roles on pg_roles.oid = acl.grantee
    where pg_class.oid = parent and acl.grantee <> relowner and guarded <> parent
  loop
    execute format('grant %s on %s to %I', given.privilege_type, guarded, given.rolname);
  end loop;
end $$;
revoke execute on function guard_workspace_table(regclass, regclass) from public;

-- Every table that knows its workspace. A later migration guards its tables by name: select guard_workspace_table('t', 't').
do $$
declare
  guarded regclass;
begin
  for guarded in
    select pg_class.oid::regclass
    from pg_class
    join pg_attribute on attrelid = pg_class.oid and attname in ('workspace_id', 'workspace_number') and not attisdropped
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
    order by relname
  loop
    perform guard_workspace_table(guarded, guarded);
  end loop;
end $$;


-- What the owner of the tables does for the application --------------------------------------------------------------

-- The application owns nothing, so it may not do these things itself. The functions run with the owner's rights, and make or
-- touch nothing but what their names say.

-- Makes the partition of a day, if it is not there.
create function make_day_partition(parent text, day date) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  partition text := format('%s_%s', parent, to_char(day, 'YYYYMMDD'));
begin
  if parent not in ('deliveries', 'events') then
    raise exception 'no table of days: %', parent;
  end if;
  -- Of two nodes that need a day at the same time, the second waits for the first and finds the day made. Without the lock it
  -- failed by what it met first of the other's table: its name, its row type, its policies or its bounds, each under another code.
  perform pg_advisory_xact_lock(hashtextextended('make_day_partition', 0));
  -- A separate query, which sees what was committed during the wait: to_regclass returns what this session has cached.
  if not exists (select 1 from pg_class where relname = partition and relnamespace = 'public'::regnamespace) then
    -- `create … partition of` locks the parent exclusively: senders and readers would wait. A table that is made first and then
    -- attached lets them go on.
    execute format('create table public.%I (like public.%I including all excluding indexes)', partition, parent);
    perform guard_workspace_table(partition::regclass, parent::regclass);
    execute format(
      'alter table public.%I attach partition public.%I for values from (%L) to (%L)', parent, partition, day, day + 1
    );
  end if;
  -- A partition that the owner of the tables made by hand has no policies yet.
  if not (select relrowsecurity from pg_class where oid = partition::regclass) then
    perform guard_workspace_table(partition::regclass, parent::regclass);
  end if;
end $$;
revoke execute on function make_day_partition(text, date) from public;

-- Drops the partition of a day, if it exists. Raises an error for a day that is not old enough. Dropping detaches the partition and
-- locks the parent exclusively for some milliseconds, and all other statements wait behind it. So the function gives up after a
-- tenth of a second, and the caller retries. `detach … concurrently` is no alternative: it does not run in a function, and waits
-- for every reader, however long.
create function drop_day_partition(parent text, day date, kept_days integer) returns boolean
language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '100ms' as $$
declare
  partition text := format('%s_%s', parent, to_char(day, 'YYYYMMDD'));
begin
  if parent not in ('deliveries', 'events') then
    raise exception 'no table of days: %', parent;
  end if;
  -- By the database's clock: a caller cannot claim that it is later.
  if kept_days < 14 or day > (clock_timestamp() at time zone 'UTC')::date - kept_days then
    raise exception 'not old enough to be dropped: %', day;
  end if;
  if not exists (
    select 1 from pg_inherits where inhrelid = to_regclass(partition) and inhparent = parent::regclass
  ) then
    return false;
  end if;
  execute format('drop table public.%I', partition);
  return true;
end $$;
revoke execute on function drop_day_partition(text, date, integer) from public;

-- Makes a staging table of a segment's file or matches. It holds values of one workspace and no workspace_id: only the role that
-- works across workspaces may read it. Where members are in shards, each shard has its part of the matches next to them.
create function make_segment_staging(staging text) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  across record;
begin
  if staging ~ '^segment_lines_[0-9a-f]{24}_[0-9]+$' then
    execute format(
      'create unlogged table public.%I (line integer not null, value text collate "C" not null) with (autovacuum_enabled = off)',
      staging
    );
  elsif staging ~ '^segment_matches_[0-9a-f]{24}_[0-9]+$' then
    execute format(
      'create unlogged table public.%I (bucket smallint not null, user_id text collate "C" not null) with (autovacuum_enabled = off)',
      staging
    );
    if is_distributed('public.segment_members') then
      execute format(
        'select create_distributed_table(%L, ''bucket'', colocate_with => ''public.segment_members'')', 'public.' || staging
      );
    end if;
  else
    raise exception 'no name of a staging table: %', staging;
  end if;
  for across in
    select rolname from pg_policy join pg_roles on pg_roles.oid = any(polroles)
    where polrelid = 'segment_members'::regclass and polname = 'across_workspaces'
  loop
    execute format('grant select, insert on public.%I to %I', staging, across.rolname);
  end loop;
end $$;
revoke execute on function make_segment_staging(text) from public;

create function drop_segment_staging(staging text) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if staging !~ '^segment_(lines|matches)_[0-9a-f]{24}_[0-9]+$' then
    raise exception 'no name of a staging table: %', staging;
  end if;
  execute format('drop table if exists public.%I', staging);
end $$;
revoke execute on function drop_segment_staging(text) from public;

-- Updates the statistics of a table. If the caller does not own the table, `analyze` only warns, does nothing and succeeds.
create function analyze_table(analyzed text) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  execute format('analyze public.%I', analyzed);
end $$;
revoke execute on function analyze_table(text) from public;
