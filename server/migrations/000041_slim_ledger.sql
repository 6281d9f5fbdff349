-- The ledger in a quarter of the bytes, on disk and in the log of the database (decision 0037): ids of 12 bytes, numbers for
-- run and workspace, letters for words, one key that begins with the user, and indexes that hold a window's rows in one entry.
-- Its rows are written anew in this one transaction, so the disk needs room for a quarter of the ledger beside it. Nobody sends
-- meanwhile.

alter table workspaces add column number integer generated always as identity;
alter table workspaces add constraint workspaces_number_key unique (number);
alter table runs add column number bigint generated always as identity;
alter table runs add constraint runs_number_key unique (number);

-- A bound transaction knows the number of its workspace as well, for the policies of the ledger.
create or replace function bind_workspace(id text) returns void
language plpgsql as $$
declare
  found text;
begin
  execute pg_catalog.format('set local carillon.workspace_id = %L', id);
  select workspaces.number::text into found from public.workspaces where workspaces.id = bind_workspace.id;
  execute pg_catalog.format('set local carillon.workspace_number = %L', coalesce(found, ''));
end $$;

create or replace function guard_workspace_table(guarded regclass, parent regclass) returns void
language plpgsql set search_path = public, pg_temp as $$
declare
  across text;
  given record;
begin
  execute format('alter table %s enable row level security', guarded);
  execute format('alter table %s force row level security', guarded);
  if exists (select from pg_attribute where attrelid = guarded and attname = 'workspace_number' and not attisdropped) then
    execute format(
      'create policy own_workspace on %s using '
        || '(workspace_number = nullif(current_setting(''carillon.workspace_number'', true), '''')::integer)',
      guarded
    );
  elsif exists (select from pg_attribute where attrelid = guarded and attname = 'bucket' and not attisdropped) then
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

-- Columns of eight bytes first, then four, two, and those of any length: none is filled up to its neighbour.
create table slim_deliveries (
  sent_at timestamptz not null,
  retry_at timestamptz,
  lease_until timestamptz,
  run_number bigint not null,
  day date not null,
  workspace_number integer not null,
  bucket smallint not null,
  attempts smallint not null,
  platform "char" not null,
  outcome "char" not null,
  user_id bytea not null,
  device_id bytea not null,
  provider_message_id bytea,
  code text,
  constraint deliveries_waiting_check check ((outcome = 'W') = (retry_at is not null)),
  -- ANDROID, IOS, WEB.
  constraint deliveries_platform_check check (platform in ('A', 'I', 'W')),
  -- ACCEPTED, GONE, REJECTED, EXPIRED, FAILED, WITHHELD, WAITING.
  constraint deliveries_outcome_check check (outcome in ('A', 'G', 'R', 'E', 'F', 'H', 'W')),
  constraint deliveries_ids_check check (octet_length(user_id) = 12 and octet_length(device_id) = 12)
) partition by range (day);

do $$
begin
  if is_distributed('public.deliveries') then
    -- What follows touches tables and their rows in one transaction.
    perform set_config('citus.multi_shard_modify_mode', 'sequential', true);
    execute 'select create_distributed_table(''public.slim_deliveries'', ''bucket'', colocate_with => ''public.bucket_shards'')';
  end if;
end $$;

do $$
declare
  filled record;
begin
  for filled in
    select relname as name, pg_get_expr(relpartbound, pg_class.oid) as bounds
    from pg_inherits join pg_class on pg_class.oid = inhrelid
    where inhparent = 'public.deliveries'::regclass order by relname
  loop
    execute format('create table public.slim_%s partition of public.slim_deliveries %s', filled.name, filled.bounds);
    execute format(
      'with workspace as materialized (select id, number from public.workspaces),
        run as materialized (select id, number from public.runs)
      insert into public.slim_%1$s (
        sent_at, retry_at, lease_until, run_number, day, workspace_number, platform, outcome, bucket, attempts, user_id,
        device_id, provider_message_id, code
      )
      select filled.sent_at, filled.retry_at, filled.lease_until, run.number, filled.day, workspace.number,
        left(filled.platform, 1)::"char",
        case filled.outcome when ''WITHHELD'' then ''H'' else left(filled.outcome, 1) end::"char", filled.bucket,
        filled.attempts,
        decode(filled.user_id, ''hex''), decode(filled.device_id, ''hex''),
        ''\x00''::bytea || convert_to(filled.provider_message_id, ''UTF8''), filled.code
      from public.%1$s as filled
      join workspace on workspace.id = filled.workspace_id
      join run on run.id = filled.run_id
      order by filled.bucket, filled.user_id', filled.name
    );
    execute format('drop table public.%I', filled.name);
    execute format('alter table public.slim_%1$s rename to %1$s', filled.name);
  end loop;
end $$;

drop table deliveries;
alter table slim_deliveries rename to deliveries;

-- Whose row it is comes first: a person's messages, the ones of a window in the order in which it is stored. The day before the
-- run, since the other way round each entry is filled up by eight bytes.
alter table deliveries add constraint deliveries_pkey primary key (bucket, user_id, device_id, day, run_number);
-- One entry for all rows of a window: they have one time. The run comes last, so that a run's rows are found in it as well.
create index deliveries_log on deliveries (workspace_number, platform, sent_at, run_number) where outcome = 'A';
-- What was not accepted is little, and looked at more closely.
create index deliveries_log_other on deliveries (workspace_number, outcome, platform, sent_at, run_number)
  where outcome <> 'A';
create index deliveries_log_code on deliveries (workspace_number, code, sent_at, run_number) where outcome <> 'A';
-- With the workspace, so that who is bound to one need not look into the rows.
create index deliveries_failed on deliveries (run_number, platform, outcome, code, sent_at, workspace_number)
  where outcome <> 'A';
create index deliveries_waiting on deliveries (retry_at) where outcome = 'W';

do $$
declare
  guarded record;
begin
  perform guard_workspace_table('public.deliveries', 'public.deliveries');
  for guarded in
    select inhrelid::regclass as name from pg_inherits where inhparent = 'public.deliveries'::regclass order by 1
  loop
    perform guard_workspace_table(guarded.name, 'public.deliveries');
  end loop;
end $$;

-- For people: the ledger with its ids as everywhere else. The rights and policies are those of who asks.
-- What is selected of the runs instead of the runs: joined with the ledger as they are, and behind the policies of both, they
-- end the server of a cluster (Citus 13.2.2).
create view readable_deliveries with (security_invoker = true) as
select deliveries.day, run.workspace_id, run.campaign_id, run.id as run_id, deliveries.bucket,
  encode(deliveries.user_id, 'hex') as user_id, encode(deliveries.device_id, 'hex') as device_id,
  case deliveries.platform when 'A' then 'ANDROID' when 'I' then 'IOS' when 'W' then 'WEB' end as platform,
  case deliveries.outcome when 'A' then 'ACCEPTED' when 'G' then 'GONE' when 'R' then 'REJECTED' when 'E' then 'EXPIRED'
    when 'F' then 'FAILED' when 'H' then 'WITHHELD' when 'W' then 'WAITING' end as outcome, deliveries.code,
  deliveries.attempts, deliveries.sent_at, deliveries.retry_at, deliveries.lease_until
from deliveries join (select id, number, workspace_id, campaign_id from runs) as run on run.number = deliveries.run_number;
