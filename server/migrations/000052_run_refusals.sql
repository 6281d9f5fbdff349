-- What providers refused of a run: a credential, or what a Firebase project lacks for one platform. Devices that it would reach
-- wait; those of others are sent to. A row goes when they are tried again, and with its run.
create table run_refusals (
  run_id text collate "C" not null references runs (id),
  workspace_id text collate "C" not null references workspaces (id),
  provider text not null,
  -- Whose credential it is.
  app_id text collate "C" not null,
  -- Null: all that the credential serves.
  platform text,
  -- Which credentials of the provider there were; when there are others, or this one was changed, they are tried.
  credentials text collate "C" not null,
  words text not null,
  refused_at timestamptz not null,
  constraint run_refusals_provider_check check (provider in ('fcm', 'apns', 'webpush', 'hms')),
  constraint run_refusals_platform_check check (platform in ('ANDROID', 'IOS', 'WEB')),
  constraint run_refusals_key unique nulls not distinct (run_id, provider, app_id, platform, credentials)
);
create index run_refusals_workspace on run_refusals (workspace_id);
select guard_workspace_table('run_refusals', 'run_refusals');
