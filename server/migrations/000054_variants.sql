-- What a campaign says in other languages and in other words, and who gets which; null: everybody gets `content`.
alter table campaigns add column variants jsonb;
alter table campaigns add constraint campaigns_variants_check check (jsonb_typeof(variants) = 'object');

-- The languages of a run's campaign when the run began: the ledger has their numbers.
alter table runs add column locales text[] collate "C";

-- Which of the contents a device got: a digit, and a letter from A on; null: there was one for all. Columns without a value take
-- no byte of a row.
alter table deliveries add column variation "char";
alter table deliveries add column locale "char";

-- Counters by content; 0 and an empty text where there is one for all. Rows of before stay as they are.
alter table run_counts add column variation smallint not null default 0;
alter table run_counts add column locale text collate "C" not null default '';
alter table run_counts drop constraint run_counts_pkey;
alter table run_counts add constraint run_counts_pkey primary key (run_id, bucket, platform, outcome, variation, locale);

-- And how many messages were reported of, each once whatever its device reported before: what is compared between contents.
alter table campaign_interactions add column variation smallint not null default 0;
alter table campaign_interactions add column locale text collate "C" not null default '';
alter table campaign_interactions add column messages bigint not null default 0;
alter table campaign_interactions drop constraint campaign_interactions_pkey;
alter table campaign_interactions add constraint campaign_interactions_pkey primary key (
  workspace_id, campaign_id, bucket, platform, kind, variation, locale
);

alter table conversions add column variation smallint;
alter table conversions add column locale text collate "C";

create or replace view readable_deliveries with (security_invoker = true) as
select deliveries.day, run.workspace_id, run.campaign_id, run.id as run_id, deliveries.bucket,
  encode(deliveries.user_id, 'hex') as user_id, encode(deliveries.device_id, 'hex') as device_id,
  case deliveries.platform when 'A' then 'ANDROID' when 'I' then 'IOS' when 'W' then 'WEB' end as platform,
  case deliveries.outcome when 'A' then 'ACCEPTED' when 'G' then 'GONE' when 'R' then 'REJECTED' when 'E' then 'EXPIRED'
    when 'F' then 'FAILED' when 'H' then 'WITHHELD' when 'W' then 'WAITING' end as outcome, deliveries.code,
  deliveries.attempts, deliveries.sent_at, deliveries.retry_at, deliveries.lease_until,
  deliveries.variation::integer - 48 as variation, run.locales[deliveries.locale::integer - 64] as locale
from deliveries join (select id, number, workspace_id, campaign_id, locales from runs) as run
  on run.number = deliveries.run_number;
