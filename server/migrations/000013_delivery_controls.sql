-- What a workspace asks of its campaigns (frequency caps, quiet hours, a minimum delay), and what it takes to keep it.

-- Caps: at most cap_messages[i] to a user in cap_hours[i]. Quiet hours are local to the user.
alter table workspaces add column cap_messages smallint[] not null default '{}';
alter table workspaces add column cap_hours smallint[] not null default '{}';
alter table workspaces add column quiet_from text;
alter table workspaces add column quiet_to text;
alter table workspaces add column quiet_mode text not null default 'HOLD' check (quiet_mode in ('HOLD', 'DROP'));
alter table workspaces add column minimum_delay_minutes integer check (minimum_delay_minutes between 1 and 10080);
alter table workspaces add column zone_attribute text not null default 'time_zone'
  check (char_length(zone_attribute) between 1 and 256);
alter table workspaces add check (cardinality(cap_messages) = cardinality(cap_hours) and cardinality(cap_hours) <= 5);
alter table workspaces add check (1 <= all (cap_messages) and 100 >= all (cap_messages));
alter table workspaces add check (1 <= all (cap_hours) and 720 >= all (cap_hours));
alter table workspaces add check (
  (quiet_from is null) = (quiet_to is null) and quiet_from <> quiet_to
  and quiet_from ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$' and quiet_to ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$'
);

-- The newest messages of each user, written before they are sent, in a workspace or for a campaign that asks for them.
-- One row a user, so that two nodes that send to one user meet in it: the revision says whether it was changed since it
-- was read. A run stands in it once, however many devices it has and however often a window is sent.
create table user_messages (
  workspace_id text collate "C" not null,
  bucket smallint not null check (bucket between 0 and 255),
  user_id text collate "C" not null,
  revision integer not null,
  run_ids text[] not null,
  campaign_ids text[] not null,
  sent_at timestamptz[] not null,
  is_counted boolean[] not null,
  primary key (workspace_id, bucket, user_id),
  check (
    cardinality(run_ids) <= 100 and cardinality(campaign_ids) = cardinality(run_ids)
    and cardinality(sent_at) = cardinality(run_ids) and cardinality(is_counted) = cardinality(run_ids)
  )
) with (fillfactor = 70);

-- WITHHELD: not sent, because of a cap, a delay or the hour; the code says which.
alter table deliveries drop constraint deliveries_outcome_check;
alter table deliveries add constraint deliveries_outcome_check
  check (outcome in ('ACCEPTED', 'GONE', 'REJECTED', 'EXPIRED', 'FAILED', 'WITHHELD', 'WAITING'));
alter table run_counts drop constraint run_counts_outcome_check;
alter table run_counts add constraint run_counts_outcome_check
  check (outcome in ('ACCEPTED', 'GONE', 'REJECTED', 'EXPIRED', 'FAILED', 'WITHHELD', 'WAITING'));
drop index deliveries_failed;
create index deliveries_failed on deliveries (run_id, platform, code, outcome)
  where outcome in ('GONE', 'REJECTED', 'EXPIRED', 'FAILED', 'WITHHELD');
