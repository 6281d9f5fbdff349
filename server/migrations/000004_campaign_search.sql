-- Campaign search (interface 4.6, 9): versions, and what finds a page of a million campaigns quickly.

alter table workspaces add column campaign_versioning boolean not null default false;
-- Decisions D41: V1 search answers the bare array instead of an object with total_count.
alter table workspaces add column v1_search_bare_array boolean not null default false;

-- One rewrite of the table for all of it.
alter table campaigns
  -- The first version of a campaign that was revised, and which version this is. Null: never revised.
  add column version_of text collate "C" references campaigns (id),
  add column version_number integer check (version_number between 1 and 15),
  -- What all versions share.
  add column campaign_id text collate "C" not null generated always as (coalesce(version_of, id)) stored,
  -- Names are searched by any part, ignoring case in every script; lower() of the C locale knows A to Z only.
  add column name_folded text collate "C" not null generated always as (lower(name collate "und-x-icu")) stored;
alter table campaigns add check (version_of is null or version_number > 1);
create unique index campaigns_versions on campaigns (workspace_id, campaign_id, version_number)
  where version_number is not null;
create index campaigns_version_of on campaigns (version_of) where version_of is not null;

-- Newest first, with what most filters ask for: a page that few rows match is found in the index alone.
drop index campaigns_newest;
create index campaigns_newest on campaigns (workspace_id, created_at desc, id desc)
  include (channel, delivery_type, status, version_number, name_folded);
create index campaigns_creator on campaigns (workspace_id, created_by, created_at desc, id desc)
  include (channel, delivery_type, status, version_number);
-- Nearly every campaign of the push API is a PUSH, ONE_TIME and SENT; the rare values have small indexes of their own,
-- which cost a push nothing once it is sent.
create index campaigns_rare_channel on campaigns (workspace_id, channel, created_at desc, id desc)
  include (delivery_type, status, version_number) where channel <> 'PUSH';
create index campaigns_rare_type on campaigns (workspace_id, delivery_type, created_at desc, id desc)
  include (channel, status, version_number) where delivery_type <> 'ONE_TIME';
create index campaigns_rare_status on campaigns (workspace_id, status, created_at desc, id desc)
  include (channel, delivery_type, version_number) where status <> 'SENT';
create index campaigns_tags on campaigns using gin (tags);

-- A part of a name that few campaigns hold is found by its trigrams. The extension is "trusted" and comes with nearly
-- every PostgreSQL; where it is missing or forbidden, campaigns_newest is read instead, about 0.1 s for 600,000 rows.
do $$
begin
  create extension if not exists pg_trgm;
  create index campaigns_name on campaigns using gin (name_folded gin_trgm_ops);
exception when insufficient_privilege or undefined_file or undefined_object or feature_not_supported then
  raise notice 'pg_trgm is not available: searching campaigns by name reads the workspace''s names';
end
$$;

-- The planner multiplies the shares of a workspace and of a status as if they were independent; they are not.
create statistics campaigns_mix (mcv) on workspace_id, channel, delivery_type, status from campaigns;

-- Reading the index alone needs pages known to be visible to all: vacuum after 2 % of new rows instead of 20 %.
alter table campaigns set (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.05);
