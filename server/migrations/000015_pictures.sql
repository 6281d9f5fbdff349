-- Pictures that people upload for notifications (decision 0092). On the coordinator of a cluster: few rows, and none is a user's.
create table pictures (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id) on delete cascade,
  -- The part of the public address that cannot be guessed: 128 random bits.
  name text collate "C" not null check (name ~ '^[0-9a-f]{32}$'),
  media_type text not null check (media_type in ('image/jpeg', 'image/png')),
  width integer not null check (width > 0),
  height integer not null check (height > 0),
  bytes integer not null check (bytes > 0),
  -- SHA-256 of the stored file: a picture that the workspace has already is not stored again.
  digest bytea not null check (octet_length(digest) = 32),
  -- True: the file is in the object store. False: it is in picture_files.
  is_external boolean not null,
  created_by text not null,
  created_at timestamptz not null,
  -- Null: the object store has not confirmed the file.
  stored_at timestamptz,
  -- When a person uploaded it last, or a template or an unfinished campaign was last seen to contain its address.
  used_at timestamptz not null,
  -- When its address was last looked up in templates and campaigns.
  looked_up_at timestamptz not null,
  -- It is not served any more, and its file is deleted next.
  removed_at timestamptz
);
create unique index pictures_name on pictures (name);
create index pictures_digest on pictures (workspace_id, digest) where removed_at is null;
create index pictures_newest on pictures (workspace_id, created_at desc, id desc) where removed_at is null;
create index pictures_looked_up on pictures (looked_up_at) where removed_at is null;
create index pictures_leftover on pictures (id) where removed_at is not null or stored_at is null;

create table picture_files (
  picture_id text collate "C" primary key references pictures (id) on delete cascade,
  workspace_id text collate "C" not null,
  bytes bytea not null
);
-- Compressed already.
alter table picture_files alter column bytes set storage external;
create index picture_files_workspace on picture_files (workspace_id);

select guard_workspace_table('pictures', 'pictures');
select guard_workspace_table('picture_files', 'picture_files');
