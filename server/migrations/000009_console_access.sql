-- Roles per workspace and second factors of console accounts (decision 0078).

-- A role of the installation applies in every workspace. Null: none; the account may have roles in single workspaces.
alter table accounts alter column role drop not null;
-- The role of the installation that the groups of the company account gave at the last sign-in.
alter table accounts add column group_role text check (group_role in ('owner', 'marketer', 'analyst', 'developer'));

create table account_roles (
  account_id text collate "C" not null references accounts (id),
  workspace_id text collate "C" not null references workspaces (id),
  -- Assigned by an owner.
  role text check (role in ('owner', 'marketer', 'analyst', 'developer')),
  -- Given by the groups of the company account at the last sign-in.
  group_role text check (group_role in ('owner', 'marketer', 'analyst', 'developer')),
  primary key (account_id, workspace_id),
  check (role is not null or group_role is not null)
);

select guard_workspace_table('account_roles', 'account_roles');

-- An invitation offers a role of the installation, roles in workspaces by the workspace's id, or both.
alter table account_links add column workspace_roles jsonb not null default '{}'
  check (jsonb_typeof(workspace_roles) = 'object');
alter table account_links drop constraint account_links_invited_role_check;
alter table account_links add constraint account_links_invited_role_check
  check ((purpose = 'INVITATION') = (role is not null or workspace_roles <> '{}'));

-- A session of stage SECOND_FACTOR may only present a second factor, one of stage ENROLMENT only add the first one.
alter table console_sessions add column stage text not null default 'OPEN'
  check (stage in ('OPEN', 'SECOND_FACTOR', 'ENROLMENT'));
-- What the next passkey of this session must sign (WebAuthn Level 3 section 13.4.3). Each works once.
alter table console_sessions add column challenge bytea check (octet_length(challenge) = 32);
alter table console_sessions add column challenge_until timestamptz;
alter table console_sessions add constraint console_sessions_challenge_until_check
  check ((challenge is null) = (challenge_until is null));

-- An authenticator app (RFC 6238), at most one an account.
create table account_authenticators (
  account_id text collate "C" primary key references accounts (id),
  secret_sealed bytea not null,
  created_at timestamptz not null,
  -- Null until the app proved its first code. Until then the account has no second factor by it.
  confirmed_at timestamptz,
  -- The step of the newest code that was accepted. An equal or older one is a repetition (RFC 6238 §5.2).
  last_step bigint not null default 0
);

create table account_passkeys (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts (id),
  credential_id bytea not null unique check (octet_length(credential_id) between 1 and 1023),
  -- COSE.
  public_key bytea not null,
  -- The authenticator's counter of signatures; authenticators without one report 0.
  sign_count bigint not null,
  -- How browsers reach the authenticator.
  transports text[] not null default '{}',
  name text not null check (char_length(name) between 1 and 100),
  created_at timestamptz not null,
  used_at timestamptz
);
create index account_passkeys_account on account_passkeys (account_id);

-- Codes for a user without the authenticator. A code has 125 random bits, so its SHA-256 needs no salt (NIST SP 800-63B 3.1.2.2).
create table account_recovery_codes (
  account_id text collate "C" not null references accounts (id),
  code_hash bytea not null check (octet_length(code_hash) = 32),
  used_at timestamptz,
  primary key (account_id, code_hash)
);

-- Addresses from which an account was opened. Guesses of its password from elsewhere are limited over all addresses.
create table account_sources (
  account_id text collate "C" not null references accounts (id),
  source_hash bytea not null check (octet_length(source_hash) = 32),
  seen_at timestamptz not null,
  primary key (account_id, source_hash)
);
