-- Apps register themselves with a public key (decision 0079): installations, the keys that verify identity tokens, and what apps of
-- a workspace may do.

-- The key of an app is shipped in it. It opens the routes below /v1/app and nothing else.
alter table api_keys drop constraint api_keys_kind_check;
alter table api_keys add constraint api_keys_kind_check check (kind in ('oauth', 'data', 'push', 'campaigns', 'app'));

-- What the apps of a workspace may do; no row: no site may call, and no attribute is written.
create table app_access (
  workspace_id text collate "C" primary key references workspaces (id),
  -- Origins of sites that may call from a browser, such as https://shop.example.
  web_origins text[] not null check (cardinality(web_origins) <= 50),
  -- Attributes that apps may write, without the prefix under which they are stored.
  attributes text[] not null check (cardinality(attributes) <= 100),
  updated_at timestamptz not null
);

-- Keys that verify identity tokens. Two of a workspace are valid at a time, so that a key can be replaced without a gap.
create table identity_keys (
  workspace_id text collate "C" not null references workspaces (id),
  -- The `kid` of tokens.
  id text collate "C" not null,
  algorithm text not null check (algorithm in ('HS256', 'ES256')),
  -- HS256: the shared secret, encrypted under the master key.
  secret_sealed bytea,
  -- ES256: the public key in SPKI PEM.
  public_key text,
  created_at timestamptz not null,
  primary key (workspace_id, id),
  constraint identity_keys_material_check check (
    (secret_sealed is not null) = (algorithm = 'HS256') and (public_key is not null) = (algorithm = 'ES256')
  )
);

-- Installations of apps: a phone's app or a browser's site. The bucket is that of the installation's own id, because requests name
-- nothing else; the user is in another bucket.
create table installations (
  workspace_id text collate "C" not null,
  bucket smallint not null check (bucket between 0 and 255),
  -- Made by the app, like the secret, of which only the SHA-256 is stored.
  id text collate "C" not null,
  secret_hash bytea not null check (octet_length(secret_hash) = 32),
  -- The key that the app sent last.
  key_id text collate "C" not null,
  -- The last registration, as it is used to register the device with another user.
  registration jsonb not null check (jsonb_typeof(registration) = 'object'),
  -- Null: no user yet, because neither a push token nor an event was sent.
  user_bucket smallint check (user_bucket between 0 and 255),
  user_id text collate "C",
  -- True: the user was proved by an identity token. False: the user exists for this installation alone.
  is_identified boolean not null default false,
  created_at timestamptz not null,
  refreshed_at timestamptz not null,
  signed_in_at timestamptz,
  signed_out_at timestamptz,
  primary key (workspace_id, bucket, id),
  constraint installations_user_check check (
    (user_bucket is null) = (user_id is null) and (user_id is not null or not is_identified)
  )
);
create index installations_user on installations (workspace_id, user_bucket, user_id) where user_id is not null;
create index installations_idle on installations (refreshed_at) where user_id is null;

-- Ids that apps gave their events and changes of attributes: a repeat changes nothing.
create table app_event_ids (
  workspace_id text collate "C" not null,
  bucket smallint not null check (bucket between 0 and 255),
  installation_id text collate "C" not null,
  event_id text collate "C" not null,
  received_at timestamptz not null,
  primary key (workspace_id, bucket, installation_id, event_id)
);
create index app_event_ids_age on app_event_ids (received_at);

-- True: the device registered itself through a public route. Its failures are no evidence against a credential until a provider
-- has accepted it (decision 0064).
alter table devices add column is_from_app boolean not null default false;

select guard_workspace_table('app_access', 'app_access');
select guard_workspace_table('identity_keys', 'identity_keys');
select guard_workspace_table('installations', 'installations');
select guard_workspace_table('app_event_ids', 'app_event_ids');
