-- Row-level security on a cluster of PostgreSQL with Citus, where the policies are held by the workers.

-- A transaction's workspace. Citus repeats to the workers what is set by `set local`, and nothing that set_config sets. Not
-- with a search_path of its own: a function that sets something undoes all that it set when it ends.
create function bind_workspace(id text) returns void
language plpgsql as $$
begin
  execute pg_catalog.format('set local carillon.workspace_id = %L', id);
end $$;

-- Policies of tables that a cluster distributes have no subquery, which Citus refuses. The setting is asked for once a scan
-- where an index is entered with it, as before, and once a row where none is.

create or replace function guard_workspace_table(guarded regclass, parent regclass) returns void
language plpgsql set search_path = public, pg_temp as $$
declare
  across text;
  given record;
begin
  execute format('alter table %s enable row level security', guarded);
  execute format('alter table %s force row level security', guarded);
  if exists (select from pg_attribute where attrelid = guarded and attname = 'bucket' and not attisdropped) then
    execute format(
      'create policy own_workspace on %s using (workspace_id = current_setting(''carillon.workspace_id'', true))', guarded
    );
  else
    -- In brackets: asked once a statement, not once a row, and an index can be entered with it.
    execute format(
      'create policy own_workspace on %s using (workspace_id = (select current_setting(''carillon.workspace_id'', true)))',
      guarded
    );
  end if;
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

do $$
declare
  guarded record;
begin
  for guarded in
    select polrelid::regclass as name
    from pg_policy
    join pg_class on pg_class.oid = polrelid
    join pg_attribute on attrelid = polrelid and attname = 'bucket' and not attisdropped
    where polname = 'own_workspace' and relnamespace = 'public'::regnamespace
    order by relispartition, relname
  loop
    execute format(
      'alter policy own_workspace on %s using (workspace_id = current_setting(''carillon.workspace_id'', true))',
      guarded.name
    );
  end loop;
end $$;
