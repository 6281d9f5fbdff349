-- Business events (facts 6.3): happenings of a business, such as a match that was won, that start campaigns.

create table business_events (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  name text collate "C" not null,
  -- [{"name", "type"}, …]: what a firing may say, and of which type.
  attributes jsonb not null check (jsonb_typeof(attributes) = 'array'),
  total_triggers bigint not null default 0,
  last_triggered_at timestamptz,
  created_by text not null,
  created_at timestamptz not null,
  unique (workspace_id, name)
);
create index business_events_newest on business_events (workspace_id, created_at desc, id desc);

-- The event that starts a campaign.
alter table campaigns add column business_event_id text collate "C" references business_events (id);
alter table campaigns add check (business_event_id is null or delivery_type = 'BUSINESS_EVENT_TRIGGERED');
create index campaigns_business_event on campaigns (business_event_id) where business_event_id is not null;

-- The firing that a run is the answer to: {"event", "attributes", "triggeredBy"}.
alter table runs add column business_event jsonb;
