-- What devices reported of each run, as campaign_interactions has it of each campaign: figures of some days are of the runs that
-- began in them.
create table run_interactions (
  run_id text collate "C" not null,
  workspace_id text collate "C" not null,
  bucket smallint not null,
  platform text not null,
  kind text not null,
  -- 0 and an empty text where there is one content for all.
  variation smallint not null default 0,
  locale text collate "C" not null default '',
  total bigint not null,
  -- Each message once.
  messages bigint not null,
  constraint run_interactions_pkey primary key (run_id, bucket, platform, kind, variation, locale),
  constraint run_interactions_bucket_check check (bucket between 0 and 255),
  constraint run_interactions_platform_check check (platform in ('ANDROID', 'IOS', 'WEB')),
  constraint run_interactions_kind_check check (kind in ('IMPRESSION', 'CLICK', 'CLOSE'))
);
select guard_workspace_table('run_interactions', 'run_interactions');

-- Reports of before, as far as they are kept; the content of a message stands in the ledger alone, so theirs is of all.
insert into run_interactions (run_id, workspace_id, bucket, platform, kind, total, messages)
select run_id, workspace_id, bucket, platform, kind, sum(count), count(*)
from device_interactions group by run_id, workspace_id, bucket, platform, kind
on conflict do nothing;

-- How many users a run has by platform, with a device that is sent to and with one that has the app: counted when it begins; null
-- of runs to named users, and of those of before.
alter table runs add column audience_platforms jsonb;
alter table runs add constraint runs_audience_platforms_check check (jsonb_typeof(audience_platforms) = 'array');
