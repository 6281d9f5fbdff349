-- How far the loading of a file has come, moved in the transaction of each batch: a repeated call goes on behind the last
-- line stored. A file is known by its kind, its size and the digest of its beginning and end.
create table imports (
  workspace_id text collate "C" not null references workspaces (id),
  kind text not null check (kind in ('users', 'devices', 'events')),
  file_digest bytea not null check (octet_length(file_digest) = 32),
  -- Lines that are stored or rejected.
  lines bigint not null default 0,
  users bigint not null default 0,
  devices bigint not null default 0,
  events bigint not null default 0,
  rejected bigint not null default 0,
  started_at timestamptz not null,
  updated_at timestamptz not null,
  ended_at timestamptz,
  primary key (workspace_id, kind, file_digest)
);
