-- Several apps of a workspace on one platform: an Android package, a bundle id in one of Apple's two environments, the origin
-- of a site. Those called `default` have no row: what was there before belongs to them, and every workspace has them.
create table apps (
  workspace_id text collate "C" not null references workspaces (id),
  platform text not null,
  -- Chosen by its owner; the same may stand on each platform.
  app_id text collate "C" not null,
  name text not null,
  identifier text collate "C" not null,
  environment text,
  created_at timestamptz not null,
  constraint apps_platform_check check (platform in ('ANDROID', 'IOS', 'WEB')),
  constraint apps_app_id_check check (app_id ~ '^[A-Za-z0-9._-]{1,64}$' and app_id <> 'default'),
  constraint apps_name_check check (char_length(name) between 1 and 100),
  constraint apps_identifier_check check (char_length(identifier) between 1 and 255),
  constraint apps_environment_check check (
    case when platform = 'IOS' then environment is not null and environment in ('production', 'sandbox') else environment is null end
  ),
  primary key (workspace_id, platform, app_id),
  constraint apps_identifier_key unique nulls not distinct (workspace_id, platform, identifier, environment)
);
select guard_workspace_table('apps', 'apps');

-- A credential of each app. Those that are there are of the default apps.
alter table provider_credentials add column app_id text collate "C" not null default 'default';
alter table provider_credentials drop constraint provider_credentials_pkey;
alter table provider_credentials add constraint provider_credentials_pkey primary key (workspace_id, provider, app_id);
