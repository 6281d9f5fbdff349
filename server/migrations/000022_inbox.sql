-- Messages that campaigns keep for users, who read them in apps and on sites (decision 0102).

-- A user has at most one message of a run. Its content is in inbox_contents, unless it was rendered for this user.
create table inbox_messages (
  workspace_id text collate "C" not null,
  bucket smallint not null check (bucket between 0 and 255),
  user_id text collate "C" not null,
  run_id text collate "C" not null,
  campaign_id text collate "C" not null,
  content_id text collate "C",
  content jsonb,
  -- From the campaign; null: none. Feeds can be filtered by them.
  tags text[],
  -- Each node continues a stream of changes after the last one that it sent, so a change of any kind sets changed_at.
  kept_at timestamptz not null,
  expires_at timestamptz not null,
  read_at timestamptz,
  archived_at timestamptz,
  changed_at timestamptz not null,
  primary key (workspace_id, bucket, user_id, run_id),
  constraint inbox_messages_content_check check ((content_id is null) <> (content is null))
);
create index inbox_messages_expires on inbox_messages (expires_at);

-- Contents that are the same for many users: one row for each language and variation of a run. On the coordinator of a cluster.
create table inbox_contents (
  workspace_id text collate "C" not null,
  run_id text collate "C" not null,
  -- The start of the SHA-256 of the content.
  id text collate "C" not null,
  content jsonb not null,
  expires_at timestamptz not null,
  primary key (workspace_id, run_id, id)
);
create index inbox_contents_expires on inbox_contents (expires_at);

-- What became of the messages that a run kept. Each bucket counts separately, and only sums are read.
create table inbox_counts (
  run_id text collate "C" not null,
  workspace_id text collate "C" not null,
  bucket smallint not null check (bucket between 0 and 255),
  kept bigint not null default 0,
  read bigint not null default 0,
  archived bigint not null default 0,
  primary key (run_id, bucket)
);

select guard_workspace_table('inbox_messages', 'topic_choices');
select guard_workspace_table('inbox_contents', 'topics');
select guard_workspace_table('inbox_counts', 'topic_choices');
