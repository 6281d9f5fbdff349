-- Two nodes that need a day at the same moment: the second waits for the first, and finds the day made. Without that it failed
-- by what it met first of the other's table: its name, its row type, its policies or its bounds, each under a code of its own.
create or replace function make_day_partition(parent text, day date) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  partition text := format('%s_%s', parent, to_char(day, 'YYYYMMDD'));
begin
  if parent not in ('deliveries', 'events') then
    raise exception 'no table of days: %', parent;
  end if;
  perform pg_advisory_xact_lock(hashtextextended('make_day_partition', 0));
  -- A question of its own, which sees what was committed during the wait: to_regclass answers by what this session knows.
  if not exists (select 1 from pg_class where relname = partition and relnamespace = 'public'::regnamespace) then
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
