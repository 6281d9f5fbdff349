-- Silent challenges (decision 0079): an app that registers a push token of another device gets a code through that token, and the
-- token moves when the code comes back. On the coordinator of a cluster: few rows, which live for an hour.
create table push_token_challenges (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  -- The installation that wants the token.
  installation_id text collate "C" not null,
  -- SHA-256 of the token, as in push_addresses.
  address_hash bytea not null check (octet_length(address_hash) = 32),
  -- How the token is reached: platform, provider, token and app, as the installation sent them.
  address jsonb not null check (jsonb_typeof(address) = 'object'),
  -- SHA-256 of the code of the newest attempt; null until it is sent.
  code_hash bytea check (octet_length(code_hash) = 32),
  state text not null default 'WAITING' check (state in ('WAITING', 'ACCEPTED', 'GONE', 'REJECTED', 'FAILED', 'EXPIRED')),
  -- The provider's own word for the outcome.
  code text,
  attempts integer not null default 0,
  next_at timestamptz,
  lease_until timestamptz,
  send_until timestamptz not null,
  created_at timestamptz not null
);
create index push_token_challenges_due on push_token_challenges (next_at) where state = 'WAITING';
create index push_token_challenges_address on push_token_challenges (workspace_id, address_hash);
create index push_token_challenges_age on push_token_challenges (created_at);

-- The console lists the newest installations of a workspace.
create index installations_newest on installations (workspace_id, created_at desc);

select guard_workspace_table('push_token_challenges', 'push_token_challenges');
