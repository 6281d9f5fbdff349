-- Files of figures that were asked for: made by a worker piece by piece, read by whichever node is asked, gone after seven days.
create table report_files (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  name text collate "C" not null unique,
  -- Whose figures, of which days, counted how.
  request jsonb not null,
  -- The key behind the request, as it was then: when it is archived or regenerated, its signatures open nothing.
  key_id text collate "C" not null,
  key_generation integer not null,
  -- SHA-256 of the signature that opens the file.
  signature_hash bytea not null check (octet_length(signature_hash) = 32),
  state text not null default 'WAITING',
  attempts smallint not null default 0,
  -- Of a file that is to be made.
  next_at timestamptz,
  lease_until timestamptz,
  campaigns integer,
  bytes bigint,
  reason text,
  created_at timestamptz not null,
  ended_at timestamptz,
  expires_at timestamptz not null,
  constraint report_files_state_check check (state in ('WAITING', 'READY', 'FAILED')),
  constraint report_files_next_check check ((state = 'WAITING') = (next_at is not null)),
  constraint report_files_ended_check check ((state = 'WAITING') = (ended_at is null)),
  constraint report_files_ready_check check ((state = 'READY') = (campaigns is not null and bytes is not null))
);
create index report_files_workspace on report_files (workspace_id, expires_at);
create index report_files_due on report_files (next_at) where state = 'WAITING';
create index report_files_expiry on report_files (expires_at);

-- What of a file is made; an attempt that began later has deleted the pieces of the one before.
create table report_file_pieces (
  report_id text collate "C" not null references report_files (id) on delete cascade,
  number integer not null,
  workspace_id text collate "C" not null,
  bytes bytea not null,
  primary key (report_id, number)
);
-- They are compressed.
alter table report_file_pieces alter column bytes set storage external;
create index report_file_pieces_workspace on report_file_pieces (workspace_id);

select guard_workspace_table('report_files', 'report_files');
select guard_workspace_table('report_file_pieces', 'report_file_pieces');
