-- Live Activities of iPhones. What a start, an update or an end is to be sent to is written down in one transaction with it; a
-- job sends it. An activity lives twelve hours at most at Apple, and a day here.
create table live_activities (
  workspace_id text collate "C" not null references workspaces (id),
  app_id text collate "C" not null,
  -- Chosen by its owner.
  activity_id text collate "C" not null,
  -- Of the newest event, in epoch seconds: a phone passes by what is not newer.
  last_timestamp bigint not null,
  changed_at timestamptz not null,
  primary key (workspace_id, app_id, activity_id)
);
create index live_activities_changed on live_activities (changed_at);

create table live_activity_tokens (
  workspace_id text collate "C" not null references workspaces (id),
  app_id text collate "C" not null,
  activity_id text collate "C" not null,
  -- START: of a phone that is to start it. UPDATE: of a phone that has it.
  kind text not null,
  token text collate "C" not null,
  constraint live_activity_tokens_kind_check check (kind in ('START', 'UPDATE')),
  primary key (workspace_id, app_id, activity_id, kind, token)
);

create table live_activity_messages (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  app_id text collate "C" not null,
  activity_id text collate "C" not null,
  event text not null,
  "timestamp" bigint not null,
  token text collate "C" not null,
  priority smallint not null,
  -- As it is sent.
  body text not null,
  state text not null default 'WAITING',
  -- The provider's word, or why it was not sent.
  code text,
  attempts smallint not null default 0,
  next_at timestamptz,
  lease_until timestamptz,
  -- Not sent after this.
  send_until timestamptz not null,
  created_at timestamptz not null,
  constraint live_activity_messages_event_check check (event in ('start', 'update', 'end')),
  constraint live_activity_messages_priority_check check (priority in (5, 10)),
  constraint live_activity_messages_state_check check (
    state in ('WAITING', 'ACCEPTED', 'GONE', 'REJECTED', 'FAILED', 'EXPIRED', 'SUPERSEDED')
  ),
  constraint live_activity_messages_next_check check ((state = 'WAITING') = (next_at is not null))
);
create index live_activity_messages_due on live_activity_messages (next_at) where state = 'WAITING';
create index live_activity_messages_activity
  on live_activity_messages (workspace_id, app_id, activity_id, "timestamp");

select guard_workspace_table('live_activities', 'live_activities');
select guard_workspace_table('live_activity_tokens', 'live_activity_tokens');
select guard_workspace_table('live_activity_messages', 'live_activity_messages');
