-- The console lists users newest first, and finds them by any part of their customer id, name or e-mail address (decision 0093).

-- Newest first, whatever their bucket. Neither column ever changes, so an update of a user still touches no index. "POSIX" orders as
-- "C" does, but is another collation: the planner would otherwise use this index instead of the primary key to find single users.
create index users_newest on users (workspace_id, id collate "POSIX" desc);

-- Parts of texts are found by their trigrams, in lower case of every script. With btree_gin the indexes skip the rows of other
-- workspaces. Where pg_trgm is missing or forbidden, a search reads the users of the workspace, newest first.
do $$
declare
  of_workspace text := case when exists (select from pg_extension where extname = 'btree_gin') then 'workspace_id, ' else '' end;
begin
  execute format('create index users_search on users using gin (%s(lower(customer_id collate "und-x-icu") collate "C") gin_trgm_ops)', of_workspace);
  execute format(
    'create index identifiers_search on identifiers using gin (%s(lower(value collate "und-x-icu") collate "C") gin_trgm_ops) '
      || 'where attribute in (''u_n'', ''u_fn'', ''u_ln'', ''u_em'')',
    of_workspace
  );
exception when insufficient_privilege or undefined_file or undefined_object or feature_not_supported then
  raise notice 'pg_trgm is not available: searching users by a part of their name reads the users of the workspace';
end
$$;
