-- People who use the console, and what they did there.

create table accounts (
  id text collate "C" primary key,
  email text not null check (char_length(email) between 3 and 254),
  name text not null check (char_length(name) between 1 and 100),
  role text not null check (role in ('owner', 'marketer', 'analyst', 'developer')),
  -- argon2id in the PHC form, which names its own parameters
  password_hash text not null check (password_hash like '$argon2id$%'),
  created_at timestamptz not null,
  signed_in_at timestamptz,
  disabled_at timestamptz
);

-- One account an address, however it is written.
create unique index accounts_email on accounts (lower(email));

-- One-time links. A row goes when its link is used.
create table account_links (
  id text collate "C" primary key,
  secret_hash bytea not null unique check (octet_length(secret_hash) = 32),
  -- SIGN_IN opens the console of a sandbox; FIRST_OWNER makes the first account; INVITATION one more; PASSWORD sets one anew.
  purpose text not null check (purpose in ('SIGN_IN', 'FIRST_OWNER', 'INVITATION', 'PASSWORD')),
  email text,
  role text check (role in ('owner', 'marketer', 'analyst', 'developer')),
  account_id text collate "C" references accounts (id),
  created_by text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  check ((purpose = 'INVITATION') = (email is not null)),
  check ((purpose = 'INVITATION') = (role is not null)),
  check ((purpose = 'PASSWORD') = (account_id is not null))
);

-- Sessions of before have no account; whoever had one signs in again.
drop table console_sessions;

create table console_sessions (
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  id text collate "C" not null unique,
  -- null: opened by the start link of a sandbox
  account_id text collate "C" references accounts (id),
  source_address text not null,
  user_agent text not null check (char_length(user_agent) <= 300),
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  expires_at timestamptz not null
);

create index console_sessions_account on console_sessions (account_id);
create index console_sessions_expiry on console_sessions (expires_at);

-- Who did what, when, to which object. Names are those of the moment, so that a line stays readable.
create table audit_log (
  id text collate "C" primary key,
  workspace_id text collate "C" references workspaces (id),
  at timestamptz not null,
  actor_id text collate "C",
  actor_name text not null,
  action text not null,
  object_kind text not null,
  object_id text,
  object_name text,
  detail jsonb not null default '{}' check (jsonb_typeof(detail) = 'object')
);

create index audit_log_workspace on audit_log (workspace_id, id desc);
