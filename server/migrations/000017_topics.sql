-- Topics that users can leave or join, and what each user chose (decision 0097).

-- On the coordinator of a cluster: at most 50 rows per workspace, and none is a user's.
create table topics (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  -- The name in requests and campaigns. It is free again once the topic is removed.
  key text collate "C" not null check (key ~ '^[a-z0-9][a-z0-9_-]{0,63}$'),
  name text not null,
  description text not null,
  -- Whether users without a choice are in the topic. It never changes, because that would change consent without a choice.
  is_in_by_default boolean not null,
  -- The order in lists; topics with equal numbers are sorted by key.
  position integer not null check (position between 0 and 1000),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Not null: no route and no campaign finds it any more, and a job deletes its choices, then this row.
  removed_at timestamptz
);
create unique index topics_key on topics (workspace_id, key) where removed_at is null;
create index topics_removed on topics (removed_at) where removed_at is not null;

-- The explicit choices of users; a user without a row follows the default of the topic.
create table topic_choices (
  workspace_id text collate "C" not null,
  bucket smallint not null check (bucket between 0 and 255),
  user_id text collate "C" not null,
  topic_id text collate "C" not null,
  is_in boolean not null,
  -- Where the user, or a server for the user, made the choice.
  source text not null check (source in ('API', 'APP', 'PAGE', 'CONSOLE', 'IMPORT')),
  chosen_at timestamptz not null,
  primary key (workspace_id, bucket, user_id, topic_id)
);

select guard_workspace_table('topics', 'topics');
select guard_workspace_table('topic_choices', 'topic_choices');
