-- The second wall between workspaces. Whoever is bound to a workspace (`carillon.workspace_id`, set in each transaction)
-- reads and writes rows of that one; whoever is bound to none reaches no row. `migrate` adds a policy for the role that
-- works across workspaces. Forced: the owner of the tables is held as well.

-- Guards one table, or one partition as its parent is: its own policies and rights hold when it is named itself.
create function guard_workspace_table(guarded regclass, parent regclass) returns void
language plpgsql set search_path = public, pg_temp as $$
declare
  across text;
  given record;
begin
  execute format('alter table %s enable row level security', guarded);
  execute format('alter table %s force row level security', guarded);
  -- In brackets: asked once a statement, not once a row, and an index can be entered with it.
  execute format(
    'create policy own_workspace on %s using (workspace_id = (select current_setting(''carillon.workspace_id'', true)))',
    guarded
  );
  select string_agg(quote_ident(rolname), ', ') into across
  from pg_policy join pg_roles on pg_roles.oid = any(polroles)
  where polrelid = parent and polname = 'across_workspaces';
  -- Nodes that sign in as the owner go on while this is applied.
  across := coalesce(across, quote_ident(current_user));
  execute format('create policy across_workspaces on %s to %s using (true)', guarded, across);
  for given in
    select rolname, privilege_type from pg_class, aclexplode(relacl) as acl join pg_roles on pg_roles.oid = acl.grantee
    where pg_class.oid = parent and acl.grantee <> relowner and guarded <> parent
  loop
    execute format('grant %s on %s to %I', given.privilege_type, guarded, given.rolname);
  end loop;
end $$;
revoke execute on function guard_workspace_table(regclass, regclass) from public;

do $$
declare
  guarded record;
begin
  for guarded in
    select pg_class.oid::regclass as name, coalesce(inhparent, pg_class.oid)::regclass as parent
    from pg_class
    join pg_attribute on attrelid = pg_class.oid and attname = 'workspace_id' and not attisdropped
    left join pg_inherits on inhrelid = pg_class.oid
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
    order by relispartition, relname
  loop
    perform guard_workspace_table(guarded.name, guarded.parent);
  end loop;
end $$;

-- What the application may not do itself, because it owns nothing: these run with the owner's rights, and make or touch
-- nothing but what their names say.

create function make_day_partition(parent text, day date) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  partition text := format('%s_%s', parent, to_char(day, 'YYYYMMDD'));
begin
  if parent not in ('deliveries', 'events') then
    raise exception 'no table of days: %', parent;
  end if;
  if to_regclass(partition) is null then
    execute format(
      'create table public.%I partition of public.%I for values from (%L) to (%L)', partition, parent, day, day + 1
    );
  end if;
  -- A node of an older version, which owns the tables, makes it without.
  if not (select relrowsecurity from pg_class where oid = partition::regclass) then
    perform guard_workspace_table(partition::regclass, parent::regclass);
  end if;
end $$;
revoke execute on function make_day_partition(text, date) from public;

-- Staging tables hold values of one workspace and no workspace_id: only who works across workspaces may read them.
create function make_segment_staging(staging text) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  across record;
begin
  if staging ~ '^segment_lines_[0-9a-f]{24}_[0-9]+$' then
    execute format(
      'create unlogged table public.%I (line integer not null, value text collate "C" not null) with (autovacuum_enabled = off)',
      staging
    );
  elsif staging ~ '^segment_matches_[0-9a-f]{24}_[0-9]+$' then
    execute format(
      'create unlogged table public.%I (bucket smallint not null, user_id text collate "C" not null) with (autovacuum_enabled = off)',
      staging
    );
  else
    raise exception 'no name of a staging table: %', staging;
  end if;
  for across in
    select rolname from pg_policy join pg_roles on pg_roles.oid = any(polroles)
    where polrelid = 'segment_members'::regclass and polname = 'across_workspaces'
  loop
    execute format('grant select, insert on public.%I to %I', staging, across.rolname);
  end loop;
end $$;
revoke execute on function make_segment_staging(text) from public;

create function drop_segment_staging(staging text) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if staging !~ '^segment_(lines|matches)_[0-9a-f]{24}_[0-9]+$' then
    raise exception 'no name of a staging table: %', staging;
  end if;
  execute format('drop table if exists public.%I', staging);
end $$;
revoke execute on function drop_segment_staging(text) from public;

-- Asked for by who does not own a table, `analyze` warns, does nothing and succeeds.
create function analyze_table(analyzed text) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  execute format('analyze public.%I', analyzed);
end $$;
revoke execute on function analyze_table(text) from public;
