-- Agents write drafts and propose to send them; a person decides (decision 0103).

-- False for the tokens that exist: they were given as tokens that read.
alter table agent_tokens add column may_propose boolean not null default false;

-- Drafts that an agent created or changed, until a person publishes them. On the coordinator of a cluster: few rows, and none is a user's.
create table agent_drafts (
  campaign_id text collate "C" primary key references campaigns (id),
  workspace_id text collate "C" not null references workspaces (id),
  -- The agent's last change. A person who publishes the draft names it, so that no later change is sent with it.
  change_id text collate "C" not null,
  agent_name text not null,
  changed_at timestamptz not null,
  -- The draft before the first change by an agent; null if an agent created it.
  base jsonb
);

-- What agents propose to send. The draft is a copy: only a draft that is still the same is sent.
create table agent_proposals (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  campaign_id text collate "C" not null references campaigns (id),
  kind text not null check (kind in ('PUBLISH', 'TEST')),
  state text not null check (state in ('PENDING', 'APPROVED', 'REFUSED', 'WITHDRAWN')),
  token_id text collate "C" not null,
  agent_name text not null,
  note text not null check (char_length(note) <= 1000),
  base jsonb,
  parts jsonb not null,
  -- The users of a test, until it is decided.
  customer_ids text[],
  proposed_at timestamptz not null,
  expires_at timestamptz not null,
  decided_at timestamptz,
  decided_by text,
  reason text check (char_length(reason) <= 1000),
  check ((state = 'PENDING') = (decided_at is null)),
  check ((kind = 'TEST' and state = 'PENDING') = (customer_ids is not null))
);
create unique index agent_proposals_pending on agent_proposals (campaign_id, kind) where state = 'PENDING';
create index agent_proposals_newest on agent_proposals (workspace_id, id);
create index agent_proposals_age on agent_proposals (proposed_at);

select guard_workspace_table('agent_drafts', 'agent_drafts');
select guard_workspace_table('agent_proposals', 'agent_proposals');
