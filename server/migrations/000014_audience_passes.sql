-- The audience of a large run is counted bucket by bucket while the run is being sent (decision 0075). How many buckets are
-- counted, and what they contain; both null if the audience was counted when the run began, and again when all are counted.
alter table runs add column audience_cut smallint check (audience_cut between 0 and 255);
alter table runs add column audience_pass jsonb;
alter table runs add constraint runs_pass_check check ((audience_cut is null) = (audience_pass is null));

create index runs_passes on runs (audience_cut, created_at)
  where audience_cut is not null and status in ('QUEUED', 'SENDING', 'PAUSED');

-- The frozen audiences that still exist: an erasure looks in each.
create index runs_frozen on runs (workspace_id) where audience_segment_id = id and audience_dropped_at is null;
