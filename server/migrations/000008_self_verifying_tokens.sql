-- Tokens verify themselves (decision 0072): a token names its key by number and is signed under a secret, and nothing is stored
-- when it is issued. Tokens that were stored before stay valid until they expire; their tables only shrink from now on.

-- Tokens name their key by this number, because ids of 24 characters would lengthen every token. Adding the column rewrites a
-- table of tens of rows a workspace. A number is never used again: a sequence gives it.
alter table api_keys add column number bigint generated always as identity unique;

-- Raised by a restore, and by an operator who ends all tokens. A token of another epoch is not valid.
alter table installation add column token_epoch bigint not null default 1
  check (token_epoch between 1 and 281474976710655);

-- The secrets that sign tokens, encrypted under the master key. The newest one that is not retired issues; at most one more
-- accepts. Rows are never deleted: an expired token of a retired secret is still recognised as expired.
create table token_secrets (
  number integer primary key check (number between 1 and 65535),
  secret_sealed bytea not null,
  created_at timestamptz not null,
  -- When a newer secret took over; null while this one issues.
  succeeded_at timestamptz,
  -- From then on no token under it is valid.
  retired_at timestamptz
);

-- Tokens that were revoked before they expired (RFC 7009). A subject of 16 bytes is the id of an access token, one of 8 bytes a
-- grant: a refresh token with all access tokens that were issued from it.
create table token_revocations (
  key_id text collate "C" not null references api_keys (id),
  subject bytea not null check (octet_length(subject) in (8, 16)),
  workspace_id text collate "C" not null references workspaces (id),
  revoked_at timestamptz not null,
  -- When the last access token that the row revokes has expired. Nodes keep rows in memory until then.
  access_until timestamptz not null,
  -- When the last token that the row revokes has expired, and the row is deleted.
  expires_at timestamptz not null,
  primary key (key_id, subject)
);
create index token_revocations_access on token_revocations (key_id, access_until);
create index token_revocations_expiry on token_revocations (expires_at);

select guard_workspace_table('token_revocations', 'token_revocations');
