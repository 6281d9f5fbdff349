-- What the outcomes of a window change is kept by bucket, as they are: so that a window of one bucket is a transaction in
-- one place, also where the buckets lie on several machines. A cursor says how far a run has come in a bucket.
create table run_cursors (
  run_id text collate "C" not null,
  workspace_id text collate "C" not null,
  bucket smallint not null check (bucket between 0 and 255),
  position text collate "C" not null,
  primary key (run_id, bucket)
);

insert into run_cursors (run_id, workspace_id, bucket, position)
select run_id, workspace_id, cursor_bucket, cursor_position from chunks
where cursor_bucket is not null and state in ('READY', 'CLAIMED');

alter table chunks drop constraint chunks_check1;
alter table chunks drop column cursor_bucket, drop column cursor_position;

-- A chunk's counters go on as those of its first bucket: only sums of them are read.
create table run_counts_by_bucket (
  run_id text collate "C" not null,
  workspace_id text collate "C" not null,
  bucket smallint not null check (bucket between 0 and 255),
  platform text not null,
  outcome text not null,
  devices bigint not null,
  primary key (run_id, bucket, platform, outcome)
);

insert into run_counts_by_bucket (run_id, workspace_id, bucket, platform, outcome, devices)
select run_counts.run_id, runs.workspace_id, coalesce(chunks.bucket_from, 0), run_counts.platform, run_counts.outcome,
  sum(run_counts.devices)
from run_counts
join runs on runs.id = run_counts.run_id
left join chunks on chunks.run_id = run_counts.run_id and chunks.number = run_counts.chunk_number
group by 1, 2, 3, 4, 5;

drop table run_counts;
alter table run_counts_by_bucket rename to run_counts;
alter table run_counts rename constraint run_counts_by_bucket_pkey to run_counts_pkey;
alter table run_counts rename constraint run_counts_by_bucket_bucket_check to run_counts_bucket_check;
alter table run_counts add constraint run_counts_platform_check check (platform in ('ANDROID', 'IOS', 'WEB'));
alter table run_counts add constraint run_counts_outcome_check
  check (outcome in ('ACCEPTED', 'GONE', 'REJECTED', 'EXPIRED', 'FAILED', 'WITHHELD', 'WAITING'));

alter table deliveries drop column chunk_number;

select guard_workspace_table('run_cursors', 'run_cursors');
select guard_workspace_table('run_counts', 'run_counts');
