-- Erasing a user also empties the calls of the API log that name the user (decision 0013). The log has no index by user, so a
-- job reads it once, a page at a time, for all users of a workspace who were erased meanwhile. Until the end of that pass, a row
-- keeps the texts by which the calls are found.
create table log_erasures (
  workspace_id text collate "C" not null references workspaces (id),
  erasure_id text collate "C" not null references erasures (id) on delete cascade,
  -- The calls of the workspace, or those that named no known workspace.
  calls text not null check (calls in ('WORKSPACE', 'UNKNOWN')),
  names jsonb not null check (jsonb_typeof(names) = 'array'),
  -- Calls received until then are read. The log stores a call within half a second, so this time is a minute after the erasure.
  until_at timestamptz not null,
  -- The last call that was read. Null: the pass has not begun.
  read_at timestamptz,
  read_id text collate "C",
  primary key (workspace_id, erasure_id, calls),
  constraint log_erasures_read_check check ((read_at is null) = (read_id is null))
);
create index log_erasures_due on log_erasures (until_at);

select guard_workspace_table('log_erasures', 'log_erasures');
