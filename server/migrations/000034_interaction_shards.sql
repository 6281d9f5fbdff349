-- The figures of a campaign, one row a bucket: devices that report at the same time meet in few of them, and what a device
-- reported is counted beside the rows of that device. What was counted before stands in bucket 0. Figures are read by
-- campaign, so the bucket comes after it.
alter table campaign_interactions add column bucket smallint not null default 0;
alter table campaign_interactions add constraint campaign_interactions_bucket_check check (bucket between 0 and 255);
alter table campaign_interactions alter column bucket drop default;
alter table campaign_interactions drop constraint campaign_interactions_pkey;
alter table campaign_interactions add constraint campaign_interactions_pkey
  primary key (workspace_id, campaign_id, bucket, platform, kind);
