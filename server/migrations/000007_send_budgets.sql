-- What nodes share of their sending: how much goes through a provider account or a run, and which account is silent.

-- A bucket of tokens for each account (`fcm:<project>`, `apns:<team>`, `webpush:<site>:<origin>`) or run that has a limit
-- or was asked to wait. Few rows: one for each account, one for each throttled run while it is sent.
create table send_budgets (
  key text collate "C" primary key,
  tokens double precision not null check (tokens >= 0),
  refilled_at timestamptz not null,
  -- Begin of the present use: an account that was idle is ramped up.
  busy_since timestamptz not null,
  silent_until timestamptz,
  silent_reason text check ((silent_reason is null) = (silent_until is null)),
  -- A push service that judged this site noisy: how often, and until when its lower rate holds.
  penalties smallint not null default 0 check (penalties >= 0),
  penalty_until timestamptz
);
create index send_budgets_silent on send_budgets (silent_until) where silent_until is not null;
create index send_budgets_penalty on send_budgets (penalty_until) where penalty_until is not null;

-- Apple counts renewals against the whole team, so the nodes use one token (design of delivery 2). Sealed.
create table provider_tokens (
  key text collate "C" primary key,
  sealed bytea not null,
  issued_at timestamptz not null
);

-- Most devices a minute: from the campaign, else from its workspace; null is as fast as the providers take it.
alter table runs add column devices_per_minute integer check (devices_per_minute > 0);
alter table workspaces add column devices_per_minute integer check (devices_per_minute > 0);
