-- What the statements of a cluster need, which PostgreSQL does on one machine as well.

-- Whether the rows of a table lie in the shards of a cluster (Citus).
create function is_distributed(relation text) returns boolean
language plpgsql stable as $$
declare
  answer boolean := false;
begin
  if to_regclass('pg_catalog.pg_dist_partition') is not null then
    execute 'select exists (select from pg_catalog.pg_dist_partition where logicalrelid = $1::regclass and partmethod = ''h'')'
      into answer using relation;
  end if;
  return answer;
end $$;

-- A recursive query is none that a cluster takes. Each name is one look-up of the index; policies hold in this function and
-- the next, because they run with the caller's rights.
create function list_identifier_attributes(of_workspace text, most integer) returns setof text
language plpgsql stable as $$
declare
  last_attribute text collate "C" := '';
begin
  for number in 1..most loop
    select attribute into last_attribute from identifiers
    where workspace_id = of_workspace and attribute > last_attribute
    order by attribute limit 1;
    exit when not found;
    return next last_attribute;
  end loop;
end $$;

-- The attributes of the newest users of each bucket. A cluster takes no sub-select a bucket, and one statement a bucket is
-- three times the work where all are in one place.
create function sample_user_attributes(of_workspace text, per_bucket integer) returns setof jsonb
language plpgsql stable as $$
begin
  if not is_distributed('users') then
    return query
      select newest.attributes
      from generate_series(0, 255) as part (bucket)
      cross join lateral (
        select users.attributes from users
        where users.workspace_id = of_workspace and users.bucket = part.bucket::smallint
        order by users.id desc limit per_bucket
      ) as newest;
    return;
  end if;
  for part in 0..255 loop
    return query
      select users.attributes from users
      where users.workspace_id = of_workspace and users.bucket = part::smallint
      order by users.id desc limit per_bucket;
  end loop;
end $$;

-- As before, and where members lie in shards, each shard has its part of the matches beside them.
create or replace function make_segment_staging(staging text) returns void
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
    if is_distributed('public.segment_members') then
      execute format(
        'select create_distributed_table(%L, ''bucket'', colocate_with => ''public.segment_members'')', 'public.' || staging
      );
    end if;
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
