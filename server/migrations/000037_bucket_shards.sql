-- Empty for ever: on a cluster its shards say which buckets lie together, and all tables with a bucket lie beside them. By
-- the hash of the bucket alone, the largest of 32 shards would have twice what is its part; these are cut so that each has
-- as many buckets, while there is nothing in them.
create table bucket_shards (
  bucket smallint primary key
);

-- The figures of campaigns lie beside the reports that they count, in the transaction of a report.
alter policy own_workspace on campaign_interactions
  using (workspace_id = current_setting('carillon.workspace_id', true));
