-- A campaign of one-time passwords has millions of runs, and whether one is open, or failed, was found by reading all of them.
create index runs_unfinished on runs (campaign_id) where status in ('QUEUED', 'SENDING', 'PAUSED');
create index runs_failure on runs (campaign_id, created_at, id) where status = 'FAILED';

-- Campaigns that pushes to named users join stay open while they are joined often, and a job looks at all of them.
create index campaigns_joined on campaigns (id)
  where status = 'SENDING' and delivery_type = 'ONE_TIME' and audience = 'USER';
