-- What an operator sees of the installation as a whole.

-- Nodes, as they report themselves every few seconds. A row goes when its node stops, or a day after its last word.
create table nodes (
  id text collate "C" primary key,
  host text not null,
  process_id integer not null,
  role text not null check (role in ('all', 'api', 'worker')),
  version text not null,
  started_at timestamptz not null,
  seen_at timestamptz not null,
  memory_bytes bigint not null check (memory_bytes >= 0),
  -- name, last round, what it did, and the last fault of each duty of this node
  duties jsonb not null default '[]' check (jsonb_typeof(duties) = 'array'),
  -- where the simulated providers of a sandbox listen, so that a command can ask them too
  simulators jsonb
);

-- What a provider said of a credential when it was last asked; replacing the credential forgets it.
alter table provider_credentials
  add column checked_at timestamptz,
  add column check_verdict text check (check_verdict in ('ACCEPTED', 'REFUSED', 'UNKNOWN')),
  add column check_words text,
  add check ((checked_at is null) = (check_verdict is null)),
  add check ((checked_at is null) = (check_words is null));

-- Whose refusal paused a run. It says so while the run is PAUSED; null when a person paused it.
alter table runs add column paused_platform text check (paused_platform in ('ANDROID', 'IOS', 'WEB'));

-- The overview asks each of these every two seconds. Sends to named users (lane 0) come by the thousand and are short, so
-- that only those of campaigns are listed.
create index runs_sending on runs (workspace_id, created_at desc) where status in ('QUEUED', 'SENDING') and lane = 1;
create index runs_paused on runs (workspace_id, created_at desc) where status = 'PAUSED';
create index runs_failed on runs (workspace_id, ended_at desc) where status in ('FAILED', 'MISSED');
create index campaigns_next on campaigns (workspace_id, next_at)
  where next_at is not null and status in ('SCHEDULED', 'ACTIVE');

-- What went wrong lately, per queue.
create index chunks_quarantined on chunks (ended_at) where state = 'QUARANTINED';
create index callbacks_given_up on callbacks (ended_at) where state = 'GIVEN_UP';
create index mails_failed on mails (ended_at) where state = 'FAILED';
create index segment_operations_failed on segment_operations (ended_at) where state = 'FAILED';
