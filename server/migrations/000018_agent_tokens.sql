-- Tokens with which agents call the node's MCP endpoint, with the rights of an account (decision 0098).
create table agent_tokens (
  id text collate "C" primary key,
  token_hash bytea not null unique check (octet_length(token_hash) = 32),
  -- Null: made in a sandbox, whose console opens without an account. Valid only in a sandbox.
  account_id text collate "C" references accounts (id),
  name text not null check (char_length(name) between 1 and 100),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index agent_tokens_expiry on agent_tokens (expires_at);
