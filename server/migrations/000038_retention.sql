-- What goes when it is old, and what stays of it.

-- Why deliveries failed, of runs whose day of the ledger is dropped: filled from that day before it goes.
create table run_failures (
  run_id text collate "C" not null,
  workspace_id text collate "C" not null,
  platform text not null,
  outcome text not null,
  -- The provider's word, or ours.
  code text not null,
  devices bigint not null,
  last_at timestamptz not null,
  constraint run_failures_platform_check check (platform in ('ANDROID', 'IOS', 'WEB')),
  constraint run_failures_outcome_check check (outcome in ('GONE', 'REJECTED', 'EXPIRED', 'FAILED', 'WITHHELD')),
  primary key (run_id, platform, outcome, code)
);
select guard_workspace_table('run_failures', 'run_failures');

-- Oldest first. Everything else that is trimmed is found by an id that begins with its time, or by an index it has.
create index push_requests_age on push_requests (received_at);
create index device_interactions_age on device_interactions (first_at);
-- An operation is deleted when no email belongs to it any more.
create index mails_operation on mails (operation_id) where operation_id is not null;

-- `create … partition of` takes the table for itself alone: senders and readers would wait. A table that is made beside it
-- and then attached lets them go on.
create or replace function make_day_partition(parent text, day date) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  partition text := format('%s_%s', parent, to_char(day, 'YYYYMMDD'));
begin
  if parent not in ('deliveries', 'events') then
    raise exception 'no table of days: %', parent;
  end if;
  if to_regclass(partition) is null then
    execute format('create table public.%I (like public.%I including all excluding indexes)', partition, parent);
    perform guard_workspace_table(partition::regclass, parent::regclass);
    execute format(
      'alter table public.%I attach partition public.%I for values from (%L) to (%L)', parent, partition, day, day + 1
    );
  end if;
  -- A node of an older version, which owns the tables, makes it without.
  if not (select relrowsecurity from pg_class where oid = partition::regclass) then
    perform guard_workspace_table(partition::regclass, parent::regclass);
  end if;
end $$;

-- Drops one day, if it is at least as old as asked and there. Dropping detaches it, and takes the table for itself alone for some
-- milliseconds: whoever comes meanwhile waits behind this. So it gives up after a tenth of a second, and is asked again.
-- `detach … concurrently` is no way: it runs in no function, and waits for every reader, however long.
create function drop_day_partition(parent text, day date, kept_days integer) returns boolean
language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '100ms' as $$
declare
  partition text := format('%s_%s', parent, to_char(day, 'YYYYMMDD'));
begin
  if parent not in ('deliveries', 'events') then
    raise exception 'no table of days: %', parent;
  end if;
  -- By the database's own clock: whoever asks cannot say that it is later.
  if kept_days < 14 or day > (clock_timestamp() at time zone 'UTC')::date - kept_days then
    raise exception 'not old enough to be dropped: %', day;
  end if;
  if not exists (
    select 1 from pg_inherits where inhrelid = to_regclass(partition) and inhparent = parent::regclass
  ) then
    return false;
  end if;
  execute format('drop table public.%I', partition);
  return true;
end $$;
revoke execute on function drop_day_partition(text, date, integer) from public;
