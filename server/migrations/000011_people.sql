-- Blocked devices.

-- What a device was before it was blocked, and is again when it is unblocked; who blocked it says why.
alter table devices
  add column blocked_state text check (blocked_state in ('ACTIVE', 'OPTED_OUT', 'GONE')),
  add column blocked_at timestamptz,
  add column block_reason text,
  add column block_reference text;
update devices set blocked_state = 'ACTIVE', blocked_at = updated_at where state = 'BLOCKED';
alter table devices
  add check ((state = 'BLOCKED') = (blocked_state is not null)),
  add check ((state = 'BLOCKED') = (blocked_at is not null));

-- Merged people.

-- The customer ids of users that were merged into others: whoever still sends one means the retained user. Found by the
-- bucket of its own customer id, like a user.
create table merged_users (
  workspace_id text collate "C" not null,
  bucket smallint not null check (bucket between 0 and 255),
  customer_id text collate "C" not null,
  -- The row it was, which work that was under way may still write down.
  user_id text collate "C" not null,
  retained_bucket smallint not null check (retained_bucket between 0 and 255),
  retained_user_id text collate "C" not null,
  merged_at timestamptz not null,
  primary key (workspace_id, bucket, customer_id)
);
create index merged_users_retained on merged_users (workspace_id, retained_bucket, retained_user_id);

-- What one user did and was sent, to move or to erase it. The ledger has its accepted rows indexed already; the others
-- are few.
create index events_user on events (workspace_id, bucket, user_id);
create index deliveries_user_other on deliveries (workspace_id, bucket, user_id) where outcome <> 'ACCEPTED';

-- Erased people.

-- One row per deletion that was asked for; it stays as the proof, with nothing of the person in it but the digest of the
-- workspace's id and the customer id, by which somebody who knows them finds it.
create table erasures (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  customer_digest bytea not null check (octet_length(customer_digest) = 32),
  state text not null check (state in ('PENDING', 'REMOVED', 'DONE')),
  bucket smallint not null,
  -- Whose rows are removed: the user, and the rows merged into it. Needed until the second look.
  user_ids jsonb check ((user_ids is null) = (state = 'DONE')),
  requested_at timestamptz not null,
  -- When the next step is due.
  due_at timestamptz not null,
  removed_at timestamptz check ((removed_at is null) = (state = 'PENDING')),
  -- Rows removed or made anonymous, by table.
  counts jsonb not null default '{}'
);
create unique index erasures_pending on erasures (workspace_id, user_ids) where state = 'PENDING';
create index erasures_due on erasures (due_at) where state <> 'DONE';
create index erasures_customer on erasures (workspace_id, customer_digest);
create index erasures_newest on erasures (workspace_id, requested_at desc);

-- Devices that were erased, by the SHA-256 of their row's id, so that a report about a message sent before is not kept.
create table erased_devices (
  workspace_id text collate "C" not null,
  device_digest bytea not null check (octet_length(device_digest) = 32),
  primary key (workspace_id, device_digest)
);
