-- Campaigns made and changed through the campaign API (facts 6), and their tests.

-- The parts of the record as they were sent: what a draft keeps, and what search shows. Null for the push API.
alter table campaigns add column parts jsonb;
alter table campaigns add column updated_by text;
-- A test send has a campaign of its own, which no search finds.
alter table campaigns add column is_test boolean not null default false;
alter table runs add column is_test boolean not null default false;

-- The filters of one campaign: a segment that is nobody else's, that no list shows and no limit counts. A campaign may
-- follow its filters in the same transaction.
alter table segments add column campaign_id text collate "C" references campaigns (id) deferrable initially deferred;
alter table segments add check (campaign_id is null or kind = 'FILTER');
create index segments_campaign on segments (campaign_id) where campaign_id is not null;

-- A request_id of V1 is taken once in an hour (facts 6.1).
create table campaign_request_ids (
  workspace_id text collate "C" not null,
  operation text not null,
  request_id text collate "C" not null,
  used_at timestamptz not null,
  primary key (workspace_id, operation, request_id)
);
create index campaign_request_ids_age on campaign_request_ids (used_at);

-- The indexes of search, without tests: a page is found in the index alone only if the index knows what is left out.
drop index campaigns_newest;
create index campaigns_newest on campaigns (workspace_id, created_at desc, id desc)
  include (channel, delivery_type, status, version_number, name_folded) where not is_test;
drop index campaigns_creator;
create index campaigns_creator on campaigns (workspace_id, created_by, created_at desc, id desc)
  include (channel, delivery_type, status, version_number) where not is_test;
drop index campaigns_rare_channel;
create index campaigns_rare_channel on campaigns (workspace_id, channel, created_at desc, id desc)
  include (delivery_type, status, version_number) where channel <> 'PUSH' and not is_test;
drop index campaigns_rare_type;
create index campaigns_rare_type on campaigns (workspace_id, delivery_type, created_at desc, id desc)
  include (channel, status, version_number) where delivery_type <> 'ONE_TIME' and not is_test;
drop index campaigns_rare_status;
create index campaigns_rare_status on campaigns (workspace_id, status, created_at desc, id desc)
  include (channel, delivery_type, version_number) where status <> 'SENT' and not is_test;
