-- Signing in by the account of a company's OpenID provider.

-- Null: the person has never had a password here.
alter table accounts alter column password_hash drop not null;

-- Who a person is to an issuer. A subject is for ever, an e-mail address is not, so that the address counts at the first
-- sign-in alone.
create table account_identities (
  issuer text collate "C" not null,
  subject text collate "C" not null,
  account_id text collate "C" not null references accounts (id),
  created_at timestamptz not null,
  primary key (issuer, subject),
  -- An address that was given to somebody else at the issuer does not open the account of its old owner.
  unique (issuer, account_id)
);

-- Sign-ins on their way to the issuer and back, each once and within ten minutes.
create table company_sign_ins (
  state_hash bytea primary key check (octet_length(state_hash) = 32),
  -- of a cookie of the browser that began it
  browser_hash bytea not null check (octet_length(browser_hash) = 32),
  -- nonce and PKCE verifier
  sealed bytea not null,
  expires_at timestamptz not null
);

create index company_sign_ins_expiry on company_sign_ins (expires_at);
