-- What the devices of one credential got lately, and whether the credential is held because of it. One row a key: workspace, provider,
-- app, version of the credential, and environment, bundle id, platform or origin (decision 0064).
create table provider_evidence (
  key text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  provider text not null,
  app_id text collate "C" not null,
  -- The last answers of at most twenty distinct devices: [{"deviceId", "code", "at", "wasAccepted"}]; code is null if accepted.
  remembered jsonb not null default '[]',
  -- Held since, with the provider's word and sentence. Without an end it lasts until a device is accepted.
  held_at timestamptz,
  held_code text,
  held_detail text,
  held_until timestamptz,
  -- False: the answers of many devices decided. A check with a made-up device says nothing about such a hold.
  held_for_sure boolean,
  -- When one message was last let through to find out whether the credential works again.
  probed_at timestamptz,
  updated_at timestamptz not null,
  constraint provider_evidence_provider_check check (provider in ('fcm', 'apns', 'webpush', 'hms')),
  constraint provider_evidence_held_check check (
    (held_at is null) = (held_code is null) and (held_at is null) = (held_detail is null)
    and (held_at is null) = (held_for_sure is null) and (held_at is not null or held_until is null)
  )
);
create index provider_evidence_held on provider_evidence (key) where held_at is not null;
create index provider_evidence_workspace on provider_evidence (workspace_id);
create index provider_evidence_updated on provider_evidence (updated_at);
select guard_workspace_table('provider_evidence', 'event_streams');

-- A refusal that was decided by the answers of a key ends with the hold of that key.
alter table run_refusals add column evidence_key text collate "C";
alter table run_refusals drop constraint run_refusals_key;
alter table run_refusals add constraint run_refusals_key
  unique nulls not distinct (run_id, provider, app_id, platform, credentials, evidence_key);
create index run_refusals_evidence on run_refusals (evidence_key) where evidence_key is not null;

-- Devices that got answers which usually mean a dead address. They stay in the audience until three sends over three days say so;
-- they are listed, and a person can keep them.
alter table devices add column suspected_code text;
alter table devices add column suspected_sends smallint;
alter table devices add column suspected_since timestamptz;
alter table devices add column suspected_at timestamptz;
alter table devices add constraint devices_suspected_check check (
  (suspected_code is null) = (suspected_sends is null) and (suspected_code is null) = (suspected_since is null)
  and (suspected_code is null) = (suspected_at is null) and suspected_sends > 0
);
create index devices_suspected on devices (workspace_id, bucket, suspected_at desc) where suspected_code is not null;
