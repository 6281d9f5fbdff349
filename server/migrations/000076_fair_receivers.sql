-- A receiver of callbacks is the origin of the address, in one workspace. The column is generated, so a node of the version before
-- can still insert. A host name has at most 253 characters; the limit keeps a hostile address from exceeding the size of an index row.
alter table callbacks add column origin text collate "C" not null generated always as (
  coalesce(left(lower(substring(url collate "C" from '^[^:/?#]+://[^/?#]+')), 300), '')
) stored;
create index callbacks_receivers on callbacks (workspace_id, origin, next_at) where state = 'PENDING';

-- Receivers that did not answer lately; the first answer deletes the row. While `paused_until` is ahead, nothing is posted to the
-- receiver. After it one callback is tried, by the node that sets `probe_until`.
create table callback_receivers (
  workspace_id text collate "C" not null references workspaces (id),
  origin text collate "C" not null,
  -- Attempts in a row without an answer.
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
select guard_workspace_table('callback_receivers', 'callback_receivers');

-- The same for the receiver of an event stream.
alter table event_streams
  add column failures integer not null default 0,
  add column silent_since timestamptz,
  add column paused_at timestamptz,
  add column paused_until timestamptz,
  add column probe_until timestamptz,
  add constraint event_streams_silent_check check ((failures = 0) = (silent_since is null)),
  add constraint event_streams_paused_check check ((paused_at is null) = (paused_until is null));
