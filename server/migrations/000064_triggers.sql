-- Campaigns that events of users start, by the campaign's own id: what event is meant, and the version that sends. Events received
-- before `live_since` start nothing.
create table trigger_conditions (
  campaign_id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  version_id text collate "C" not null references campaigns (id),
  event_names text[] not null,
  condition jsonb not null,
  live_since timestamptz not null,
  constraint trigger_conditions_event_names_check check (cardinality(event_names) > 0),
  constraint trigger_conditions_condition_check check (jsonb_typeof(condition) = 'object')
);
create index trigger_conditions_workspace on trigger_conditions (workspace_id);
create unique index trigger_conditions_version on trigger_conditions (version_id);

-- An event of a user that starts a campaign for this user: stored with the event, in one transaction. The key makes an event that is
-- sent twice one trigger.
create table triggers (
  workspace_id text collate "C" not null,
  bucket smallint not null,
  user_id text collate "C" not null,
  campaign_id text collate "C" not null,
  event_name text collate "C" not null,
  occurred_at timestamptz not null,
  received_at timestamptz not null,
  attributes jsonb not null,
  -- Null: the event says no time to count from.
  due_at timestamptz,
  state text not null,
  reason text,
  run_id text collate "C",
  ended_at timestamptz,
  constraint triggers_pkey primary key (workspace_id, bucket, user_id, campaign_id, event_name, occurred_at),
  constraint triggers_bucket_check check (bucket between 0 and 255),
  constraint triggers_attributes_check check (jsonb_typeof(attributes) = 'object'),
  constraint triggers_state_check check (state in ('WAITING', 'HELD', 'SENT', 'DROPPED')),
  constraint triggers_reason_check check (
    reason in ('LATE', 'CONDITION', 'AUDIENCE', 'CAMPAIGN_OVER', 'NO_TIME', 'TOO_FAR')
  ),
  constraint triggers_dropped_check check ((state = 'DROPPED') = (reason is not null)),
  constraint triggers_sent_check check ((state = 'SENT') = (run_id is not null)),
  constraint triggers_ended_check check ((state in ('SENT', 'DROPPED')) = (ended_at is not null)),
  constraint triggers_due_check check (due_at is not null or state = 'DROPPED')
);
create index triggers_due on triggers (due_at) where state = 'WAITING';
create index triggers_held on triggers (campaign_id) where state = 'HELD';
create index triggers_run on triggers (run_id, bucket, user_id) where run_id is not null;
create index triggers_ended on triggers (ended_at) where ended_at is not null;

select guard_workspace_table('trigger_conditions', 'trigger_conditions');
select guard_workspace_table('triggers', 'triggers');
