-- To how many users a campaign (or a run of it) with a limit is being sent: `taken` seats, of which `sent` are of users with an
-- accepted message. Its lock decides who gets the last seat.
create table audience_limits (
  -- The campaign, by the id that all of its versions have, or the run.
  id text collate "C" not null,
  workspace_id text collate "C" not null,
  taken bigint not null,
  sent bigint not null,
  constraint audience_limits_pkey primary key (id),
  constraint audience_limits_check check (0 <= sent and sent <= taken)
);
select guard_workspace_table('audience_limits', 'audience_limits');

-- A user to whom a run with a limit is being sent: written before anything is sent, so that whoever sends a window again knows whom it
-- was for, and deleted when a message was accepted, which the ledger knows from then on.
create table audience_seats (
  limit_id text collate "C" not null,
  run_id text collate "C" not null,
  bucket smallint not null,
  user_id text collate "C" not null,
  workspace_id text collate "C" not null,
  constraint audience_seats_pkey primary key (limit_id, run_id, bucket, user_id),
  constraint audience_seats_bucket_check check (bucket between 0 and 255)
);
select guard_workspace_table('audience_seats', 'audience_seats');
