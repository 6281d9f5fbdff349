-- What a run of a campaign that learns gives to whom, and what it has learned. The shares of a bucket are written once, before its
-- first window is sent, by whoever comes first: every node and every worker after a crash sends by the same.
create table run_variations (
  run_id text collate "C" not null,
  workspace_id text collate "C" not null,
  bucket smallint not null,
  variation smallint not null,
  -- Of 10,000 users; null while nobody has written it.
  share smallint,
  -- Messages that a provider accepted, and how many of them were clicked, or followed by the goal.
  trials bigint not null default 0,
  successes bigint not null default 0,
  constraint run_variations_pkey primary key (run_id, bucket, variation),
  constraint run_variations_bucket_check check (bucket between 0 and 255),
  constraint run_variations_variation_check check (variation between 1 and 9),
  constraint run_variations_share_check check (share between 0 and 10000)
);
select guard_workspace_table('run_variations', 'run_variations');

-- Of a run whose campaign learns: by what, and a digest of its contents. It learns from its runs with the same contents.
alter table runs add column learns_by text;
alter table runs add constraint runs_learns_by_check check (learns_by in ('CLICKS', 'GOAL'));
alter table runs add column contents_digest text collate "C";
alter table runs add constraint runs_learning_check check ((learns_by is null) = (contents_digest is null));
