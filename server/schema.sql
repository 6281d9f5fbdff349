-- Made by `npm run schema:dump` from server/migrations; a test compares. Do not edit.

create table access_tokens (
  token_hash bytea not null,
  workspace_id text collate "C" not null,
  key_id text collate "C" not null,
  key_generation integer not null,
  refresh_token_hash bytea not null,
  issued_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  revoked_at timestamp with time zone,
  constraint access_tokens_token_hash_check CHECK ((octet_length(token_hash) = 32)),
  constraint access_tokens_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_keys(id),
  constraint access_tokens_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint access_tokens_pkey PRIMARY KEY (token_hash)
);
CREATE INDEX access_tokens_expiry ON access_tokens USING btree (expires_at);
CREATE INDEX access_tokens_refresh ON access_tokens USING btree (refresh_token_hash);

create table account_identities (
  issuer text collate "C" not null,
  subject text collate "C" not null,
  account_id text collate "C" not null,
  created_at timestamp with time zone not null,
  constraint account_identities_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint account_identities_pkey PRIMARY KEY (issuer, subject),
  constraint account_identities_issuer_account_id_key UNIQUE (issuer, account_id)
);

create table account_links (
  id text collate "C" not null,
  secret_hash bytea not null,
  purpose text not null,
  email text,
  role text,
  account_id text collate "C",
  created_by text not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  ended_as text,
  constraint account_links_check CHECK (((purpose = 'INVITATION'::text) = (email IS NOT NULL))),
  constraint account_links_check1 CHECK (((purpose = 'INVITATION'::text) = (role IS NOT NULL))),
  constraint account_links_check2 CHECK (((purpose = 'PASSWORD'::text) = (account_id IS NOT NULL))),
  constraint account_links_ended_as_check CHECK ((ended_as = ANY (ARRAY['USED'::text, 'WITHDRAWN'::text]))),
  constraint account_links_purpose_check CHECK ((purpose = ANY (ARRAY['SIGN_IN'::text, 'FIRST_OWNER'::text, 'INVITATION'::text, 'PASSWORD'::text]))),
  constraint account_links_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'marketer'::text, 'analyst'::text, 'developer'::text]))),
  constraint account_links_secret_hash_check CHECK ((octet_length(secret_hash) = 32)),
  constraint account_links_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint account_links_pkey PRIMARY KEY (id),
  constraint account_links_secret_hash_key UNIQUE (secret_hash)
);

create table accounts (
  id text collate "C" not null,
  email text not null,
  name text not null,
  role text not null,
  password_hash text,
  created_at timestamp with time zone not null,
  signed_in_at timestamp with time zone,
  disabled_at timestamp with time zone,
  constraint accounts_email_check CHECK (((char_length(email) >= 3) AND (char_length(email) <= 254))),
  constraint accounts_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 100))),
  constraint accounts_password_hash_check CHECK ((password_hash ~~ '$argon2id$%'::text)),
  constraint accounts_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'marketer'::text, 'analyst'::text, 'developer'::text]))),
  constraint accounts_pkey PRIMARY KEY (id)
);

CREATE UNIQUE INDEX accounts_email ON accounts USING btree (lower(email));

create table alert_settings (
  workspace_id text collate "C" not null,
  webhook_url text,
  emails text[] not null default '{}'::text[],
  muted_kinds text[] not null default '{}'::text[],
  updated_at timestamp with time zone not null,
  constraint alert_settings_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint alert_settings_pkey PRIMARY KEY (workspace_id)
);

create table alerts (
  id text collate "C" not null,
  workspace_id text collate "C" not null,
  kind text not null,
  subject text not null,
  what text not null,
  todo text not null,
  opened_at timestamp with time zone not null,
  seen_at timestamp with time zone not null,
  closed_at timestamp with time zone,
  constraint alerts_kind_check CHECK ((kind = ANY (ARRAY['provider'::text, 'queue'::text, 'node'::text, 'job'::text, 'credential'::text, 'backup'::text, 'certificate'::text]))),
  constraint alerts_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint alerts_pkey PRIMARY KEY (id)
);
CREATE INDEX alerts_closed ON alerts USING btree (closed_at) WHERE (closed_at IS NOT NULL);
CREATE INDEX alerts_newest ON alerts USING btree (workspace_id, opened_at DESC, id DESC);

CREATE UNIQUE INDEX alerts_open ON alerts USING btree (workspace_id, kind, subject) WHERE (closed_at IS NULL);

create table api_keys (
  id text collate "C" not null,
  workspace_id text collate "C" not null,
  kind text not null,
  name text not null,
  scopes text[] not null,
  secret_hash bytea not null,
  secret_sealed bytea,
  secret_hint text not null,
  access_token_minutes smallint not null default 15,
  generation integer not null default 1,
  created_at timestamp with time zone not null,
  last_used_at timestamp with time zone,
  archived_at timestamp with time zone,
  ends_at timestamp with time zone,
  constraint api_keys_access_token_minutes_check CHECK (((access_token_minutes >= 5) AND (access_token_minutes <= 60))),
  constraint api_keys_check CHECK (((secret_sealed IS NOT NULL) = (kind = 'push'::text))),
  constraint api_keys_kind_check CHECK ((kind = ANY (ARRAY['oauth'::text, 'data'::text, 'push'::text, 'campaigns'::text]))),
  constraint api_keys_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 100))),
  constraint api_keys_secret_hash_check CHECK ((octet_length(secret_hash) = 32)),
  constraint api_keys_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint api_keys_pkey PRIMARY KEY (id),
  constraint api_keys_secret_hash_key UNIQUE (secret_hash)
);
CREATE INDEX api_keys_ending ON api_keys USING btree (ends_at) WHERE ((ends_at IS NOT NULL) AND (archived_at IS NULL));
CREATE INDEX api_keys_workspace ON api_keys USING btree (workspace_id, kind) WHERE (archived_at IS NULL);

create table api_log (
  id text collate "C" not null,
  workspace_id text collate "C",
  received_at timestamp with time zone not null,
  method text not null,
  path text not null,
  route text not null,
  status smallint not null,
  duration_ms real not null,
  key_id text collate "C",
  error_name text,
  error_detail text,
  warnings text[] not null default '{}'::text[],
  request_body text,
  headers text,
  response_body text,
  constraint api_log_pkey PRIMARY KEY (id)
);
CREATE INDEX api_log_age ON api_log USING btree (received_at);
CREATE INDEX api_log_refused ON api_log USING btree (workspace_id, received_at DESC, id DESC) WHERE (error_name IS NOT NULL);
CREATE INDEX api_log_workspace ON api_log USING btree (workspace_id, received_at DESC, id DESC);

create table apps (
  workspace_id text collate "C" not null,
  platform text not null,
  app_id text collate "C" not null,
  name text not null,
  identifier text collate "C" not null,
  environment text,
  created_at timestamp with time zone not null,
  restrict_package boolean not null default false,
  settings jsonb not null default '{}'::jsonb,
  constraint apps_app_id_check CHECK (((app_id ~ '^[A-Za-z0-9._-]{1,64}$'::text) AND (app_id <> 'default'::text))),
  constraint apps_environment_check CHECK (
CASE
    WHEN (platform = 'IOS'::text) THEN ((environment IS NOT NULL) AND (environment = ANY (ARRAY['production'::text, 'sandbox'::text])))
    ELSE (environment IS NULL)
END),
  constraint apps_identifier_check CHECK (((char_length(identifier) >= 1) AND (char_length(identifier) <= 255))),
  constraint apps_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 100))),
  constraint apps_platform_check CHECK ((platform = ANY (ARRAY['ANDROID'::text, 'IOS'::text, 'WEB'::text]))),
  constraint apps_restrict_package_check CHECK (((NOT restrict_package) OR (platform = 'ANDROID'::text))),
  constraint apps_settings_check CHECK ((jsonb_typeof(settings) = 'object'::text)),
  constraint apps_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint apps_pkey PRIMARY KEY (workspace_id, platform, app_id),
  constraint apps_identifier_key UNIQUE NULLS NOT DISTINCT (workspace_id, platform, identifier, environment)
);

create table audience_limits (
  id text collate "C" not null,
  workspace_id text collate "C" not null,
  taken bigint not null,
  sent bigint not null,
  constraint audience_limits_check CHECK (((0 <= sent) AND (sent <= taken))),
  constraint audience_limits_pkey PRIMARY KEY (id)
);

create table audience_seats (
  limit_id text collate "C" not null,
  run_id text collate "C" not null,
  bucket smallint not null,
  user_id text collate "C" not null,
  workspace_id text collate "C" not null,
  constraint audience_seats_bucket_check CHECK (((bucket >= 0) AND (bucket <= 255))),
  constraint audience_seats_pkey PRIMARY KEY (limit_id, run_id, bucket, user_id)
);

create table audit_log (
  id text collate "C" not null,
  workspace_id text collate "C",
  at timestamp with time zone not null,
  actor_id text collate "C",
  actor_name text not null,
  action text not null,
  object_kind text not null,
  object_id text,
  object_name text,
  detail jsonb not null default '{}'::jsonb,
  shown_at timestamp with time zone,
  constraint audit_log_detail_check CHECK ((jsonb_typeof(detail) = 'object'::text)),
  constraint audit_log_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint audit_log_pkey PRIMARY KEY (id)
);
CREATE INDEX audit_log_object ON audit_log USING btree (workspace_id, object_kind, object_id, COALESCE(shown_at, at)) WHERE (object_id IS NOT NULL);
CREATE INDEX audit_log_workspace ON audit_log USING btree (workspace_id, id DESC);

create table bucket_shards (
  bucket smallint not null,
  constraint bucket_shards_pkey PRIMARY KEY (bucket)
);

create table business_events (
  id text collate "C" not null,
  workspace_id text collate "C" not null,
  name text collate "C" not null,
  attributes jsonb not null,
  total_triggers bigint not null default 0,
  last_triggered_at timestamp with time zone,
  created_by text not null,
  created_at timestamp with time zone not null,
  constraint business_events_attributes_check CHECK ((jsonb_typeof(attributes) = 'array'::text)),
  constraint business_events_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint business_events_pkey PRIMARY KEY (id),
  constraint business_events_workspace_id_name_key UNIQUE (workspace_id, name)
);
CREATE INDEX business_events_newest ON business_events USING btree (workspace_id, created_at DESC, id DESC);

create table callback_attempts (
  callback_id text collate "C" not null,
  number smallint not null,
  at timestamp with time zone not null,
  status smallint,
  error text,
  duration_ms real not null,
  constraint callback_attempts_callback_id_fkey FOREIGN KEY (callback_id) REFERENCES callbacks(id),
  constraint callback_attempts_pkey PRIMARY KEY (callback_id, number)
);

create table callback_receivers (
  workspace_id text collate "C" not null,
  origin text collate "C" not null,
  failures integer not null,
  silent_since timestamp with time zone not null,
  failed_at timestamp with time zone not null,
  paused_at timestamp with time zone,
  paused_until timestamp with time zone,
  probe_until timestamp with time zone,
  constraint callback_receivers_paused_check CHECK (((paused_at IS NULL) = (paused_until IS NULL))),
  constraint callback_receivers_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint callback_receivers_pkey PRIMARY KEY (workspace_id, origin)
);
CREATE INDEX callback_receivers_failed ON callback_receivers USING btree (failed_at);

create table callbacks (
  id text collate "C" not null,
  workspace_id text collate "C" not null,
  operation_id text collate "C",
  url text not null,
  body text not null,
  state text not null,
  attempts smallint not null default 0,
  next_at timestamp with time zone,
  created_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  lease_until timestamp with time zone,
  origin text collate "C" not null default COALESCE("left"(lower("substring"((url COLLATE "C"), '^[^:/?#]+://[^/?#]+'::text)), 300), ''::text),
  constraint callbacks_check CHECK (((state = 'PENDING'::text) = (next_at IS NOT NULL))),
  constraint callbacks_check1 CHECK (((state = 'PENDING'::text) = (ended_at IS NULL))),
  constraint callbacks_state_check CHECK ((state = ANY (ARRAY['PENDING'::text, 'DELIVERED'::text, 'GIVEN_UP'::text]))),
  constraint callbacks_operation_id_fkey FOREIGN KEY (operation_id) REFERENCES segment_operations(id),
  constraint callbacks_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint callbacks_pkey PRIMARY KEY (id)
);
CREATE INDEX callbacks_due ON callbacks USING btree (next_at) WHERE (state = 'PENDING'::text);
CREATE INDEX callbacks_given_up ON callbacks USING btree (ended_at) WHERE (state = 'GIVEN_UP'::text);
CREATE INDEX callbacks_given_up_newest ON callbacks USING btree (workspace_id, created_at DESC, id DESC) WHERE (state = 'GIVEN_UP'::text);
CREATE INDEX callbacks_newest ON callbacks USING btree (workspace_id, created_at DESC, id DESC);
CREATE INDEX callbacks_operation ON callbacks USING btree (operation_id);
CREATE INDEX callbacks_receivers ON callbacks USING btree (workspace_id, origin, next_at) WHERE (state = 'PENDING'::text);

create table campaign_interactions (
  workspace_id text collate "C" not null,
  campaign_id text collate "C" not null,
  platform text not null,
  kind text not null,
  total bigint not null,
  unique_devices bigint not null,
  bucket smallint not null,
  variation smallint not null default 0,
  locale text collate "C" not null default ''::text,
  messages bigint not null default 0,
  constraint campaign_interactions_bucket_check CHECK (((bucket >= 0) AND (bucket <= 255))),
  constraint campaign_interactions_kind_check CHECK ((kind = ANY (ARRAY['IMPRESSION'::text, 'CLICK'::text, 'CLOSE'::text]))),
  constraint campaign_interactions_platform_check CHECK ((platform = ANY (ARRAY['ANDROID'::text, 'IOS'::text, 'WEB'::text]))),
  constraint campaign_interactions_pkey PRIMARY KEY (workspace_id, campaign_id, bucket, platform, kind, variation, locale)
);

create table campaign_names (
  workspace_id text collate "C" not null,
  name text collate "C" not null,
  campaign_id text collate "C" not null,
  constraint campaign_names_campaign_id_fkey FOREIGN KEY (campaign_id) REFERENCES campaigns(id) DEFERRABLE INITIALLY DEFERRED,
  constraint campaign_names_pkey PRIMARY KEY (workspace_id, name)
);

create table campaign_request_ids (
  workspace_id text collate "C" not null,
  operation text not null,
  request_id text collate "C" not null,
  used_at timestamp with time zone not null,
  constraint campaign_request_ids_pkey PRIMARY KEY (workspace_id, operation, request_id)
);
CREATE INDEX campaign_request_ids_age ON campaign_request_ids USING btree (used_at);

create table campaign_templates (
  id text collate "C" not null,
  workspace_id text collate "C" not null,
  name text not null,
  parts jsonb not null,
  created_by text not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint campaign_templates_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 256))),
  constraint campaign_templates_parts_check CHECK ((jsonb_typeof(parts) = 'object'::text)),
  constraint campaign_templates_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint campaign_templates_pkey PRIMARY KEY (id)
);

CREATE UNIQUE INDEX campaign_templates_name ON campaign_templates USING btree (workspace_id, name);

create table campaigns (
  id text collate "C" not null,
  workspace_id text collate "C" not null,
  name text not null,
  channel text not null default 'PUSH'::text,
  source text not null,
  delivery_type text not null,
  audience text not null,
  segment_id text collate "C",
  platforms text[] not null,
  content jsonb not null,
  timing jsonb not null,
  tags text[] not null default '{}'::text[],
  conversion_goals jsonb not null default '[]'::jsonb,
  settings jsonb not null default '{}'::jsonb,
  status text not null,
  status_reason text,
  next_at timestamp with time zone,
  created_by text not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  target_selector jsonb,
  version_of text collate "C",
  version_number integer,
  campaign_id text collate "C" not null default COALESCE(version_of, id),
  name_folded text collate "C" not null default lower((name COLLATE "und-x-icu")),
  parts jsonb,
  updated_by text,
  is_test boolean not null default false,
  business_event_id text collate "C",
  imported_sent_at timestamp with time zone,
  variants jsonb,
  winner smallint,
  winner_named_at timestamp with time zone,
  winner_named_by text,
  constraint campaigns_audience_check CHECK ((audience = ANY (ARRAY['ALL_USERS'::text, 'SEGMENT'::text, 'USER'::text]))),
  constraint campaigns_channel_check CHECK ((channel = ANY (ARRAY['PUSH'::text, 'EMAIL'::text, 'SMS'::text]))),
  constraint campaigns_check CHECK (((audience = 'SEGMENT'::text) = (segment_id IS NOT NULL))),
  constraint campaigns_check1 CHECK (((delivery_type = 'ONE_TIME'::text) OR (status <> ALL (ARRAY['SCHEDULED'::text, 'SENDING'::text, 'SENT'::text])))),
  constraint campaigns_check2 CHECK (((delivery_type <> 'ONE_TIME'::text) OR (status <> ALL (ARRAY['ACTIVE'::text, 'RETIRED'::text])))),
  constraint campaigns_check3 CHECK (((status <> 'FAILED'::text) OR (status_reason IS NOT NULL))),
  constraint campaigns_check4 CHECK (((target_selector IS NULL) OR (audience = 'USER'::text))),
  constraint campaigns_check5 CHECK (((status <> 'SCHEDULED'::text) OR (next_at IS NOT NULL))),
  constraint campaigns_check6 CHECK (((version_of IS NULL) OR (version_number > 1))),
  constraint campaigns_check7 CHECK (((business_event_id IS NULL) OR (delivery_type = 'BUSINESS_EVENT_TRIGGERED'::text))),
  constraint campaigns_check8 CHECK (((imported_sent_at IS NULL) OR (source = 'IMPORT'::text))),
  constraint campaigns_check9 CHECK (((source <> 'IMPORT'::text) OR ((next_at IS NULL) AND (status = ANY (ARRAY['SENT'::text, 'RETIRED'::text, 'STOPPED'::text, 'FAILED'::text, 'ARCHIVED'::text]))))),
  constraint campaigns_delivery_type_check CHECK ((delivery_type = ANY (ARRAY['ONE_TIME'::text, 'PERIODIC'::text, 'EVENT_TRIGGERED'::text, 'BUSINESS_EVENT_TRIGGERED'::text]))),
  constraint campaigns_source_check CHECK ((source = ANY (ARRAY['PUSH_API'::text, 'CAMPAIGN_API'::text, 'CONSOLE'::text, 'IMPORT'::text]))),
  constraint campaigns_status_check CHECK ((status = ANY (ARRAY['DRAFT'::text, 'SCHEDULED'::text, 'SENDING'::text, 'SENT'::text, 'ACTIVE'::text, 'PAUSED'::text, 'RETIRED'::text, 'STOPPED'::text, 'FAILED'::text, 'ARCHIVED'::text]))),
  constraint campaigns_variants_check CHECK ((jsonb_typeof(variants) = 'object'::text)),
  constraint campaigns_version_number_check CHECK (((version_number >= 1) AND (version_number <= 15))),
  constraint campaigns_winner_check CHECK (((((winner >= 1) AND (winner <= 9)) AND (winner_named_at IS NOT NULL) AND (winner_named_by IS NOT NULL)) OR ((winner IS NULL) AND (winner_named_at IS NULL) AND (winner_named_by IS NULL)))),
  constraint campaigns_business_event_id_fkey FOREIGN KEY (business_event_id) REFERENCES business_events(id),
  constraint campaigns_version_of_fkey FOREIGN KEY (version_of) REFERENCES campaigns(id),
  constraint campaigns_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint campaigns_pkey PRIMARY KEY (id)
);
CREATE INDEX campaigns_business_event ON campaigns USING btree (business_event_id) WHERE (business_event_id IS NOT NULL);
CREATE INDEX campaigns_creator ON campaigns USING btree (workspace_id, created_by, created_at DESC, id DESC) INCLUDE (channel, delivery_type, status, version_number) WHERE (NOT is_test);
CREATE INDEX campaigns_due ON campaigns USING btree (next_at) WHERE ((next_at IS NOT NULL) AND (status = ANY (ARRAY['SCHEDULED'::text, 'ACTIVE'::text])));
CREATE INDEX campaigns_name ON campaigns USING gin (workspace_id, name_folded gin_trgm_ops);
CREATE INDEX campaigns_name_pairs ON campaigns USING gin (workspace_id, name_pairs(name_folded));
CREATE INDEX campaigns_newest ON campaigns USING btree (workspace_id, created_at DESC, id DESC) INCLUDE (channel, delivery_type, status, version_number, name_folded) WHERE (NOT is_test);
CREATE INDEX campaigns_next ON campaigns USING btree (workspace_id, next_at) WHERE ((next_at IS NOT NULL) AND (status = ANY (ARRAY['SCHEDULED'::text, 'ACTIVE'::text])));
CREATE INDEX campaigns_out_of_moments ON campaigns USING btree (id) WHERE ((status = 'ACTIVE'::text) AND (delivery_type = 'PERIODIC'::text) AND (next_at IS NULL));
CREATE INDEX campaigns_rare_channel ON campaigns USING btree (workspace_id, channel, created_at DESC, id DESC) INCLUDE (delivery_type, status, version_number) WHERE ((channel <> 'PUSH'::text) AND (NOT is_test));
CREATE INDEX campaigns_rare_status ON campaigns USING btree (workspace_id, status, created_at DESC, id DESC) INCLUDE (channel, delivery_type, version_number) WHERE ((status <> 'SENT'::text) AND (NOT is_test));
CREATE INDEX campaigns_rare_type ON campaigns USING btree (workspace_id, delivery_type, created_at DESC, id DESC) INCLUDE (channel, status, version_number) WHERE ((delivery_type <> 'ONE_TIME'::text) AND (NOT is_test));
CREATE INDEX campaigns_tags ON campaigns USING gin (workspace_id, tags);
CREATE INDEX campaigns_version_of ON campaigns USING btree (version_of) WHERE (version_of IS NOT NULL);

CREATE UNIQUE INDEX campaigns_versions ON campaigns USING btree (workspace_id, campaign_id, version_number) WHERE (version_number IS NOT NULL);
CREATE INDEX campaigns_with_goals ON campaigns USING btree (workspace_id) WHERE (conversion_goals <> '[]'::jsonb);

create table chunks (
  run_id text collate "C" not null,
  number integer not null,
  workspace_id text collate "C" not null,
  lane smallint not null,
  bucket_from smallint not null,
  bucket_to smallint not null,
  window_opened_at timestamp with time zone,
  window_bucket smallint,
  window_position text collate "C",
  window_devices integer,
  state text not null,
  owner text,
  attempt integer not null default 0,
  crashes smallint not null default 0,
  lease_until timestamp with time zone,
  not_before timestamp with time zone not null,
  created_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  suspect_devices integer,
  set_aside smallint not null default 0,
  winners jsonb,
  constraint chunks_check CHECK ((bucket_from <= bucket_to)),
  constraint chunks_check2 CHECK (((window_opened_at IS NULL) = (window_position IS NULL))),
  constraint chunks_check3 CHECK (((state = 'CLAIMED'::text) = (owner IS NOT NULL))),
  constraint chunks_check4 CHECK (((state = 'CLAIMED'::text) = (lease_until IS NOT NULL))),
  constraint chunks_check5 CHECK (((ended_at IS NOT NULL) = (state = ANY (ARRAY['DONE'::text, 'QUARANTINED'::text])))),
  constraint chunks_state_check CHECK ((state = ANY (ARRAY['READY'::text, 'CLAIMED'::text, 'DONE'::text, 'QUARANTINED'::text]))),
  constraint chunks_suspect_devices_check CHECK ((suspect_devices > 0)),
  constraint chunks_winners_check CHECK ((jsonb_typeof(winners) = 'array'::text)),
  constraint chunks_pkey PRIMARY KEY (run_id, number)
);
CREATE INDEX chunks_open ON chunks USING btree (lane, not_before, created_at) WHERE (state = ANY (ARRAY['READY'::text, 'CLAIMED'::text]));
CREATE INDEX chunks_quarantined ON chunks USING btree (ended_at) WHERE (state = 'QUARANTINED'::text);

create table company_sign_ins (
  state_hash bytea not null,
  browser_hash bytea not null,
  sealed bytea not null,
  expires_at timestamp with time zone not null,
  constraint company_sign_ins_browser_hash_check CHECK ((octet_length(browser_hash) = 32)),
  constraint company_sign_ins_state_hash_check CHECK ((octet_length(state_hash) = 32)),
  constraint company_sign_ins_pkey PRIMARY KEY (state_hash)
);
CREATE INDEX company_sign_ins_expiry ON company_sign_ins USING btree (expires_at);

create table console_sessions (
  token_hash bytea not null,
  id text collate "C" not null,
  account_id text collate "C",
  source_address text not null,
  user_agent text not null,
  created_at timestamp with time zone not null,
  last_seen_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  constraint console_sessions_token_hash_check CHECK ((octet_length(token_hash) = 32)),
  constraint console_sessions_user_agent_check CHECK ((char_length(user_agent) <= 300)),
  constraint console_sessions_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint console_sessions_pkey PRIMARY KEY (token_hash),
  constraint console_sessions_id_key UNIQUE (id)
);
CREATE INDEX console_sessions_account ON console_sessions USING btree (account_id);
CREATE INDEX console_sessions_expiry ON console_sessions USING btree (expires_at);

create table conversions (
  workspace_id text collate "C" not null,
  bucket smallint not null,
  campaign_id text collate "C" not null,
  goal smallint not null,
  event_id text collate "C" not null,
  user_id text collate "C" not null,
  run_id text collate "C" not null,
  platform text not null,
  occurred_at timestamp with time zone not null,
  reach text,
  variation smallint,
  locale text collate "C",
  attribution text not null default 'TOTAL_CONVERSIONS'::text,
  revenue numeric,
  constraint conversions_attribution_check CHECK ((attribution = ANY (ARRAY['VIEW_THROUGH'::text, 'CLICK_THROUGH'::text, 'IN_SESSION'::text, 'TOTAL_CONVERSIONS'::text, 'CLICK_CONVERSIONS'::text]))),
  constraint conversions_bucket_check CHECK (((bucket >= 0) AND (bucket <= 255))),
  constraint conversions_goal_check CHECK ((goal >= 0)),
  constraint conversions_platform_check CHECK ((platform = ANY (ARRAY['ANDROID'::text, 'IOS'::text, 'WEB'::text]))),
  constraint conversions_reach_check CHECK ((reach = ANY (ARRAY['NOT_REACHED'::text, 'GLOBAL_CONTROL_GROUP'::text, 'CAMPAIGN_CONTROL_GROUP'::text]))),
  constraint conversions_unreached_check CHECK (((reach IS NULL) OR (attribution = 'TOTAL_CONVERSIONS'::text))),
  constraint conversions_pkey PRIMARY KEY (workspace_id, bucket, campaign_id, goal, event_id, attribution)
);
CREATE INDEX conversions_campaign ON conversions USING btree (workspace_id, campaign_id, run_id, platform, goal, user_id);

create table deliveries (
  sent_at timestamp with time zone not null,
  retry_at timestamp with time zone,
  lease_until timestamp with time zone,
  run_number bigint not null,
  day date not null,
  workspace_number integer not null,
  bucket smallint not null,
  attempts smallint not null,
  platform "char" not null,
  outcome "char" not null,
  user_id bytea not null,
  device_id bytea not null,
  provider_message_id bytea,
  code text,
  variation "char",
  locale "char",
  constraint deliveries_ids_check CHECK (((octet_length(user_id) = 12) AND (octet_length(device_id) = 12))),
  constraint deliveries_outcome_check CHECK ((outcome = ANY (ARRAY['A'::"char", 'G'::"char", 'R'::"char", 'E'::"char", 'F'::"char", 'H'::"char", 'W'::"char"]))),
  constraint deliveries_platform_check CHECK ((platform = ANY (ARRAY['A'::"char", 'I'::"char", 'W'::"char"]))),
  constraint deliveries_waiting_check CHECK (((outcome = 'W'::"char") = (retry_at IS NOT NULL))),
  constraint deliveries_pkey PRIMARY KEY (bucket, user_id, device_id, day, run_number)
) partition by range (day);
CREATE INDEX deliveries_failed ON deliveries USING btree (run_number, platform, outcome, code, sent_at, workspace_number) WHERE (outcome <> 'A'::"char");
CREATE INDEX deliveries_log ON deliveries USING btree (workspace_number, platform, sent_at, run_number) WHERE (outcome = 'A'::"char");
CREATE INDEX deliveries_log_code ON deliveries USING btree (workspace_number, code, sent_at, run_number) WHERE (outcome <> 'A'::"char");
CREATE INDEX deliveries_log_other ON deliveries USING btree (workspace_number, outcome, platform, sent_at, run_number) WHERE (outcome <> 'A'::"char");
CREATE INDEX deliveries_waiting ON deliveries USING btree (retry_at) WHERE (outcome = 'W'::"char");

create table device_interactions (
  workspace_id text collate "C" not null,
  bucket smallint not null,
  campaign_id text collate "C" not null,
  device_id text collate "C" not null,
  kind text not null,
  run_id text collate "C" not null,
  platform text not null,
  action text,
  report_digests bytea[] not null,
  count integer not null,
  first_at timestamp with time zone not null,
  lowered boolean not null default false,
  constraint device_interactions_action_check CHECK ((char_length(action) <= 64)),
  constraint device_interactions_bucket_check CHECK (((bucket >= 0) AND (bucket <= 255))),
  constraint device_interactions_check CHECK ((count = cardinality(report_digests))),
  constraint device_interactions_kind_check CHECK ((kind = ANY (ARRAY['IMPRESSION'::text, 'CLICK'::text, 'CLOSE'::text]))),
  constraint device_interactions_platform_check CHECK ((platform = ANY (ARRAY['ANDROID'::text, 'IOS'::text, 'WEB'::text]))),
  constraint device_interactions_pkey PRIMARY KEY (workspace_id, bucket, campaign_id, device_id, kind, run_id)
);
CREATE INDEX device_interactions_age ON device_interactions USING btree (first_at);
CREATE INDEX device_interactions_device ON device_interactions USING btree (workspace_id, bucket, device_id, first_at);

create table devices (
  workspace_id text collate "C" not null,
  bucket smallint not null,
  id text collate "C" not null,
  user_id text collate "C" not null,
  device_id text collate "C" not null,
  platform text not null,
  push_id text not null,
  state text not null,
  provisional boolean not null default false,
  model text,
  app_version text,
  os_version text,
  gaid text,
  idfv text,
  registered_at timestamp with time zone not null,
  gone_at timestamp with time zone,
  gone_reason text,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  blocked_state text,
  blocked_at timestamp with time zone,
  block_reason text,
  block_reference text,
  app_id text collate "C",
  push_provider text,
  locale text collate "C",
  badge_count integer,
  badge_runs bigint[],
  badge_values integer[],
  push_id_type text,
  suspected_code text,
  suspected_sends smallint,
  suspected_since timestamp with time zone,
  suspected_at timestamp with time zone,
  constraint devices_badge_count_check CHECK (((badge_count >= 0) AND (badge_count <= 99999))),
  constraint devices_badge_runs_check CHECK (((cardinality(badge_runs) = cardinality(badge_values)) AND (cardinality(badge_runs) <= 16))),
  constraint devices_blocked_state_check CHECK ((blocked_state = ANY (ARRAY['ACTIVE'::text, 'OPTED_OUT'::text, 'GONE'::text]))),
  constraint devices_bucket_check CHECK (((bucket >= 0) AND (bucket <= 255))),
  constraint devices_check CHECK (((state = 'GONE'::text) = (gone_at IS NOT NULL))),
  constraint devices_check1 CHECK (((state = 'BLOCKED'::text) = (blocked_state IS NOT NULL))),
  constraint devices_check2 CHECK (((state = 'BLOCKED'::text) = (blocked_at IS NOT NULL))),
  constraint devices_platform_check CHECK ((platform = ANY (ARRAY['ANDROID'::text, 'IOS'::text, 'WEB'::text]))),
  constraint devices_push_id_type_check CHECK (((push_id_type IS NULL) OR ((push_id_type = 'fid'::text) AND (COALESCE(push_provider,
CASE platform
    WHEN 'ANDROID'::text THEN 'fcm'::text
    ELSE NULL::text
END, ''::text) = 'fcm'::text)))) NOT VALID,
  constraint devices_push_provider_check CHECK (((push_provider IS NULL) OR ((platform = 'ANDROID'::text) AND (push_provider = 'hms'::text)) OR ((platform = ANY (ARRAY['IOS'::text, 'WEB'::text])) AND (push_provider = 'fcm'::text)))) NOT VALID,
  constraint devices_state_check CHECK ((state = ANY (ARRAY['ACTIVE'::text, 'OPTED_OUT'::text, 'BLOCKED'::text, 'GONE'::text]))),
  constraint devices_suspected_check CHECK ((((suspected_code IS NULL) = (suspected_sends IS NULL)) AND ((suspected_code IS NULL) = (suspected_since IS NULL)) AND ((suspected_code IS NULL) = (suspected_at IS NULL)) AND (suspected_sends > 0))),
  constraint devices_pkey PRIMARY KEY (workspace_id, bucket, id),
  constraint devices_workspace_id_bucket_user_id_device_id_key UNIQUE (workspace_id, bucket, user_id, device_id)
);
CREATE INDEX devices_suspected ON devices USING btree (workspace_id, bucket, suspected_at DESC) WHERE (suspected_code IS NOT NULL);

create table erased_devices (
  workspace_id text collate "C" not null,
  device_digest bytea not null,
  constraint erased_devices_device_digest_check CHECK ((octet_length(device_digest) = 32)),
  constraint erased_devices_pkey PRIMARY KEY (workspace_id, device_digest)
);

create table erasures (
  id text collate "C" not null,
  workspace_id text collate "C" not null,
  customer_digest bytea not null,
  state text not null,
  bucket smallint not null,
  user_ids jsonb,
  requested_at timestamp with time zone not null,
  due_at timestamp with time zone not null,
  removed_at timestamp with time zone,
  counts jsonb not null default '{}'::jsonb,
  constraint erasures_check CHECK (((user_ids IS NULL) = (state = 'DONE'::text))),
  constraint erasures_check1 CHECK (((removed_at IS NULL) = (state = 'PENDING'::text))),
  constraint erasures_customer_digest_check CHECK ((octet_length(customer_digest) = 32)),
  constraint erasures_state_check CHECK ((state = ANY (ARRAY['PENDING'::text, 'REMOVED'::text, 'DONE'::text]))),
  constraint erasures_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint erasures_pkey PRIMARY KEY (id)
);
CREATE INDEX erasures_customer ON erasures USING btree (workspace_id, customer_digest);
CREATE INDEX erasures_due ON erasures USING btree (due_at) WHERE (state <> 'DONE'::text);
CREATE INDEX erasures_newest ON erasures USING btree (workspace_id, requested_at DESC);

CREATE UNIQUE INDEX erasures_pending ON erasures USING btree (workspace_id, user_ids) WHERE (state = 'PENDING'::text);

create table event_stream_batches (
  id text collate "C" not null,
  stream_id text collate "C" not null,
  workspace_id text collate "C" not null,
  events jsonb not null,
  state text not null,
  attempts smallint not null default 0,
  next_at timestamp with time zone,
  lease_until timestamp with time zone,
  last_status smallint,
  last_error text,
  created_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  constraint event_stream_batches_ended_check CHECK (((state = 'PENDING'::text) = (ended_at IS NULL))),
  constraint event_stream_batches_next_check CHECK (((state = 'PENDING'::text) = (next_at IS NOT NULL))),
  constraint event_stream_batches_state_check CHECK ((state = ANY (ARRAY['PENDING'::text, 'GIVEN_UP'::text]))),
  constraint event_stream_batches_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES event_streams(id) ON DELETE CASCADE,
  constraint event_stream_batches_pkey PRIMARY KEY (id)
);
CREATE INDEX event_stream_batches_due ON event_stream_batches USING btree (stream_id, next_at) WHERE (state = 'PENDING'::text);
CREATE INDEX event_stream_batches_given_up ON event_stream_batches USING btree (stream_id, id) WHERE (state = 'GIVEN_UP'::text);
CREATE INDEX event_stream_batches_newest ON event_stream_batches USING btree (workspace_id, created_at);

create table event_stream_marks (
  stream_id text collate "C" not null,
  number bigint not null,
  workspace_id text collate "C" not null,
  run_id text collate "C" not null,
  buckets smallint[] not null,
  events integer not null,
  at timestamp with time zone not null,
  kind text,
  device_id text collate "C",
  platform text,
  action text,
  event_uuid uuid,
  variation smallint,
  locale text collate "C",
  constraint event_stream_marks_report_check CHECK (((kind IS NULL) = (event_uuid IS NULL))),
  constraint event_stream_marks_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES event_streams(id) ON DELETE CASCADE,
  constraint event_stream_marks_pkey PRIMARY KEY (stream_id, number)
);
CREATE INDEX event_stream_marks_device ON event_stream_marks USING btree (workspace_id, device_id) WHERE (device_id IS NOT NULL);

create table event_streams (
  id text collate "C" not null,
  workspace_id text collate "C" not null,
  url text not null,
  secret_sealed bytea not null,
  events text[] not null,
  user_attributes text[] not null,
  device_attributes text[] not null,
  delivered_events bigint not null default 0,
  last_delivered_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  failures integer not null default 0,
  silent_since timestamp with time zone,
  paused_at timestamp with time zone,
  paused_until timestamp with time zone,
  probe_until timestamp with time zone,
  constraint event_streams_events_check CHECK (((cardinality(events) > 0) AND (events <@ ARRAY['delivered'::text, 'clicked'::text, 'cleared'::text, 'control_group'::text]))),
  constraint event_streams_paused_check CHECK (((paused_at IS NULL) = (paused_until IS NULL))),
  constraint event_streams_silent_check CHECK (((failures = 0) = (silent_since IS NULL))),
  constraint event_streams_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint event_streams_pkey PRIMARY KEY (id)
);
CREATE INDEX event_streams_workspace ON event_streams USING btree (workspace_id);

create table events (
  day date not null,
  workspace_id text collate "C" not null,
  bucket smallint not null,
  id text collate "C" not null,
  user_id text collate "C" not null,
  name text collate "C" not null,
  attributes jsonb not null,
  occurred_at timestamp with time zone not null,
  received_at timestamp with time zone not null,
  platform text,
  app_version text,
  utc_offset_seconds integer,
  device_row_id text collate "C",
  constraint events_attributes_check CHECK ((jsonb_typeof(attributes) = 'object'::text)),
  constraint events_bucket_check CHECK (((bucket >= 0) AND (bucket <= 255))),
  constraint events_check CHECK ((occurred_at <= received_at)),
  constraint events_platform_check CHECK ((platform = ANY (ARRAY['ANDROID'::text, 'IOS'::text, 'WEB'::text, 'TV'::text, 'UNKNOWN'::text]))),
  constraint events_utc_offset_seconds_check CHECK (((utc_offset_seconds >= '-54000'::integer) AND (utc_offset_seconds <= 54000))),
  constraint events_pkey PRIMARY KEY (day, workspace_id, bucket, id)
) partition by range (day);
CREATE INDEX events_user ON events USING btree (workspace_id, bucket, user_id, occurred_at);

create table idempotency_keys (
  workspace_id text collate "C" not null,
  operation text not null,
  key_hash bytea not null,
  body_hash bytea not null,
  answer_sealed bytea,
  created_at timestamp with time zone not null,
  constraint idempotency_keys_body_hash_check CHECK ((octet_length(body_hash) = 32)),
  constraint idempotency_keys_key_hash_check CHECK ((octet_length(key_hash) = 32)),
  constraint idempotency_keys_pkey PRIMARY KEY (workspace_id, operation, key_hash)
);
CREATE INDEX idempotency_keys_age ON idempotency_keys USING btree (created_at);

create table identifiers (
  workspace_id text collate "C" not null,
  bucket smallint not null,
  user_id text collate "C" not null,
  attribute text collate "C" not null,
  type text not null,
  value text collate "C" not null,
  constraint identifiers_type_check CHECK ((type = ANY (ARRAY['string'::text, 'double'::text]))),
  constraint identifiers_value_check CHECK ((octet_length(value) <= 1024)),
  constraint identifiers_pkey PRIMARY KEY (workspace_id, attribute, value, type, bucket, user_id)
);
CREATE INDEX identifiers_user ON identifiers USING btree (workspace_id, bucket, user_id);

create table imports (
  workspace_id text collate "C" not null,
  kind text not null,
  file_digest bytea not null,
  lines bigint not null default 0,
  users bigint not null default 0,
  devices bigint not null default 0,
  events bigint not null default 0,
  rejected bigint not null default 0,
  started_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  constraint imports_file_digest_check CHECK ((octet_length(file_digest) = 32)),
  constraint imports_kind_check CHECK ((kind = ANY (ARRAY['users'::text, 'devices'::text, 'events'::text]))),
  constraint imports_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint imports_pkey PRIMARY KEY (workspace_id, kind, file_digest)
);

create table installation (
  only_row boolean not null default true,
  created_at timestamp with time zone not null,
  master_key_check bytea not null,
  demo_workspace_id text,
  clock_offset_ms bigint not null default 0,
  demo_seed_sealed bytea,
  interactions_secret_sealed bytea,
  simulator_secret_sealed bytea,
  rotating_from_key_id text,
  clock_frozen_at timestamp with time zone,
  alerts_checked_at timestamp with time zone,
  backup_made_at timestamp with time zone,
  backup_hours integer,
  backup_looked_at timestamp with time zone,
  constraint installation_backup_hours_check CHECK ((backup_hours > 0)),
  constraint installation_only_row_check CHECK (only_row),
  constraint installation_rotating_from_key_id_check CHECK ((rotating_from_key_id ~ '^[0-9a-f]{8}$'::text)),
  constraint installation_pkey PRIMARY KEY (only_row)
);

create table limit_counters (
  operation text not null,
  workspace_id text collate "C" not null,
  counted bigint not null,
  constraint limit_counters_pkey PRIMARY KEY (operation, workspace_id)
);

create table limit_marks (
  operation text not null,
  workspace_id text collate "C" not null,
  counted bigint not null,
  at timestamp with time zone not null,
  constraint limit_marks_pkey PRIMARY KEY (operation, workspace_id, counted)
);
CREATE INDEX limit_marks_time ON limit_marks USING btree (operation, workspace_id, at);

create table limit_windows (
  operation text not null,
  subject bytea not null,
  events timestamp with time zone[] not null,
  last_event_at timestamp with time zone not null,
  constraint limit_windows_subject_check CHECK ((octet_length(subject) = 32)),
  constraint limit_windows_pkey PRIMARY KEY (operation, subject)
);
CREATE INDEX limit_windows_age ON limit_windows USING btree (last_event_at);

create table live_activities (
  workspace_id text collate "C" not null,
  app_id text collate "C" not null,
  activity_id text collate "C" not null,
  last_timestamp bigint not null,
  changed_at timestamp with time zone not null,
  constraint live_activities_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint live_activities_pkey PRIMARY KEY (workspace_id, app_id, activity_id)
);
CREATE INDEX live_activities_changed ON live_activities USING btree (changed_at);

create table live_activity_messages (
  id text collate "C" not null,
  workspace_id text collate "C" not null,
  app_id text collate "C" not null,
  activity_id text collate "C" not null,
  event text not null,
  timestamp bigint not null,
  token text collate "C" not null,
  priority smallint not null,
  body text not null,
  state text not null default 'WAITING'::text,
  code text,
  attempts smallint not null default 0,
  next_at timestamp with time zone,
  lease_until timestamp with time zone,
  send_until timestamp with time zone not null,
  created_at timestamp with time zone not null,
  constraint live_activity_messages_event_check CHECK ((event = ANY (ARRAY['start'::text, 'update'::text, 'end'::text]))),
  constraint live_activity_messages_next_check CHECK (((state = 'WAITING'::text) = (next_at IS NOT NULL))),
  constraint live_activity_messages_priority_check CHECK ((priority = ANY (ARRAY[5, 10]))),
  constraint live_activity_messages_state_check CHECK ((state = ANY (ARRAY['WAITING'::text, 'ACCEPTED'::text, 'GONE'::text, 'REJECTED'::text, 'FAILED'::text, 'EXPIRED'::text, 'SUPERSEDED'::text]))),
  constraint live_activity_messages_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint live_activity_messages_pkey PRIMARY KEY (id)
);
CREATE INDEX live_activity_messages_activity ON live_activity_messages USING btree (workspace_id, app_id, activity_id, "timestamp");
CREATE INDEX live_activity_messages_due ON live_activity_messages USING btree (next_at) WHERE (state = 'WAITING'::text);

create table live_activity_tokens (
  workspace_id text collate "C" not null,
  app_id text collate "C" not null,
  activity_id text collate "C" not null,
  kind text not null,
  token text collate "C" not null,
  constraint live_activity_tokens_kind_check CHECK ((kind = ANY (ARRAY['START'::text, 'UPDATE'::text]))),
  constraint live_activity_tokens_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint live_activity_tokens_pkey PRIMARY KEY (workspace_id, app_id, activity_id, kind, token)
);

create table mail_attempts (
  mail_id text collate "C" not null,
  number smallint not null,
  at timestamp with time zone not null,
  answer text not null,
  is_taken boolean not null,
  duration_ms real not null,
  constraint mail_attempts_mail_id_fkey FOREIGN KEY (mail_id) REFERENCES mails(id),
  constraint mail_attempts_pkey PRIMARY KEY (mail_id, number)
);

create table mails (
  id text collate "C" not null,
  workspace_id text collate "C" not null,
  operation_id text collate "C",
  recipients text[] not null,
  subject text not null,
  body text not null,
  state text not null,
  attempts smallint not null default 0,
  next_at timestamp with time zone,
  error text,
  created_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  lease_until timestamp with time zone,
  constraint mails_check CHECK (((state = 'PENDING'::text) = (next_at IS NOT NULL))),
  constraint mails_check1 CHECK (((state = 'PENDING'::text) = (ended_at IS NULL))),
  constraint mails_state_check CHECK ((state = ANY (ARRAY['PENDING'::text, 'SENT'::text, 'KEPT'::text, 'FAILED'::text]))),
  constraint mails_operation_id_fkey FOREIGN KEY (operation_id) REFERENCES segment_operations(id),
  constraint mails_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint mails_pkey PRIMARY KEY (id)
);
CREATE INDEX mails_due ON mails USING btree (next_at) WHERE (state = 'PENDING'::text);
CREATE INDEX mails_failed ON mails USING btree (ended_at) WHERE (state = 'FAILED'::text);
CREATE INDEX mails_failed_newest ON mails USING btree (workspace_id, created_at DESC, id DESC) WHERE (state = 'FAILED'::text);
CREATE INDEX mails_newest ON mails USING btree (workspace_id, created_at DESC, id DESC);
CREATE INDEX mails_operation ON mails USING btree (operation_id) WHERE (operation_id IS NOT NULL);

create table merged_users (
  workspace_id text collate "C" not null,
  bucket smallint not null,
  customer_id text collate "C" not null,
  user_id text collate "C" not null,
  retained_bucket smallint not null,
  retained_user_id text collate "C" not null,
  merged_at timestamp with time zone not null,
  constraint merged_users_bucket_check CHECK (((bucket >= 0) AND (bucket <= 255))),
  constraint merged_users_retained_bucket_check CHECK (((retained_bucket >= 0) AND (retained_bucket <= 255))),
  constraint merged_users_pkey PRIMARY KEY (workspace_id, bucket, customer_id)
);
CREATE INDEX merged_users_retained ON merged_users USING btree (workspace_id, retained_bucket, retained_user_id);

create table node_minutes (
  minute timestamp with time zone not null,
  node_id text collate "C" not null,
  counts jsonb not null,
  gauges jsonb not null,
  constraint node_minutes_counts_check CHECK ((jsonb_typeof(counts) = 'object'::text)),
  constraint node_minutes_gauges_check CHECK ((jsonb_typeof(gauges) = 'object'::text)),
  constraint node_minutes_pkey PRIMARY KEY (minute, node_id)
);

create table nodes (
  id text collate "C" not null,
  host text not null,
  process_id integer not null,
  role text not null,
  version text not null,
  started_at timestamp with time zone not null,
  seen_at timestamp with time zone not null,
  memory_bytes bigint not null,
  duties jsonb not null default '[]'::jsonb,
  simulators jsonb,
  master_key_ids text[] not null default '{}'::text[],
  url text,
  connections integer not null,
  certificate_ends_at timestamp with time zone,
  constraint nodes_connections_check CHECK ((connections >= 0)),
  constraint nodes_duties_check CHECK ((jsonb_typeof(duties) = 'array'::text)),
  constraint nodes_memory_bytes_check CHECK ((memory_bytes >= 0)),
  constraint nodes_role_check CHECK ((role = ANY (ARRAY['all'::text, 'api'::text, 'worker'::text]))),
  constraint nodes_pkey PRIMARY KEY (id)
);

create table provider_credentials (
  workspace_id text collate "C" not null,
  provider text not null,
  sealed bytea not null,
  summary jsonb not null,
  simulated boolean not null,
  updated_at timestamp with time zone not null,
  checked_at timestamp with time zone,
  check_verdict text,
  check_words text,
  app_id text collate "C" not null default 'default'::text,
  constraint provider_credentials_check CHECK (((checked_at IS NULL) = (check_verdict IS NULL))),
  constraint provider_credentials_check1 CHECK (((checked_at IS NULL) = (check_words IS NULL))),
  constraint provider_credentials_check_verdict_check CHECK ((check_verdict = ANY (ARRAY['ACCEPTED'::text, 'REFUSED'::text, 'UNKNOWN'::text]))),
  constraint provider_credentials_provider_check CHECK ((provider = ANY (ARRAY['fcm'::text, 'apns'::text, 'webpush'::text, 'hms'::text]))),
  constraint provider_credentials_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint provider_credentials_pkey PRIMARY KEY (workspace_id, provider, app_id)
);

create table provider_evidence (
  key text collate "C" not null,
  workspace_id text collate "C" not null,
  provider text not null,
  app_id text collate "C" not null,
  remembered jsonb not null default '[]'::jsonb,
  held_at timestamp with time zone,
  held_code text,
  held_detail text,
  held_until timestamp with time zone,
  held_for_sure boolean,
  probed_at timestamp with time zone,
  updated_at timestamp with time zone not null,
  constraint provider_evidence_held_check CHECK ((((held_at IS NULL) = (held_code IS NULL)) AND ((held_at IS NULL) = (held_detail IS NULL)) AND ((held_at IS NULL) = (held_for_sure IS NULL)) AND ((held_at IS NOT NULL) OR (held_until IS NULL)))),
  constraint provider_evidence_provider_check CHECK ((provider = ANY (ARRAY['fcm'::text, 'apns'::text, 'webpush'::text, 'hms'::text]))),
  constraint provider_evidence_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint provider_evidence_pkey PRIMARY KEY (key)
);
CREATE INDEX provider_evidence_held ON provider_evidence USING btree (key) WHERE (held_at IS NOT NULL);
CREATE INDEX provider_evidence_updated ON provider_evidence USING btree (updated_at);
CREATE INDEX provider_evidence_workspace ON provider_evidence USING btree (workspace_id);

create table provider_tokens (
  key text collate "C" not null,
  sealed bytea not null,
  issued_at timestamp with time zone not null,
  constraint provider_tokens_pkey PRIMARY KEY (key)
);

create table push_addresses (
  workspace_id text collate "C" not null,
  address_hash bytea not null,
  bucket smallint not null,
  device_row_id text collate "C" not null,
  constraint push_addresses_address_hash_check CHECK ((octet_length(address_hash) = 32)),
  constraint push_addresses_pkey PRIMARY KEY (workspace_id, address_hash)
);

create table push_requests (
  response_id uuid not null,
  workspace_id text collate "C" not null,
  request_id text not null,
  campaign_id text collate "C" not null,
  run_id text collate "C",
  received_at timestamp with time zone not null,
  constraint push_requests_pkey PRIMARY KEY (response_id)
);
CREATE INDEX push_requests_age ON push_requests USING btree (received_at);
CREATE INDEX push_requests_campaign ON push_requests USING btree (campaign_id);

create table refresh_tokens (
  token_hash bytea not null,
  workspace_id text collate "C" not null,
  key_id text collate "C" not null,
  key_generation integer not null,
  issued_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  revoked_at timestamp with time zone,
  constraint refresh_tokens_token_hash_check CHECK ((octet_length(token_hash) = 32)),
  constraint refresh_tokens_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_keys(id),
  constraint refresh_tokens_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint refresh_tokens_pkey PRIMARY KEY (token_hash)
);
CREATE INDEX refresh_tokens_expiry ON refresh_tokens USING btree (expires_at);
CREATE INDEX refresh_tokens_key ON refresh_tokens USING btree (key_id);

create table report_file_pieces (
  report_id text collate "C" not null,
  number integer not null,
  workspace_id text collate "C" not null,
  bytes bytea not null,
  constraint report_file_pieces_report_id_fkey FOREIGN KEY (report_id) REFERENCES report_files(id) ON DELETE CASCADE,
  constraint report_file_pieces_pkey PRIMARY KEY (report_id, number)
);
CREATE INDEX report_file_pieces_workspace ON report_file_pieces USING btree (workspace_id);

create table report_files (
  id text collate "C" not null,
  workspace_id text collate "C" not null,
  name text collate "C" not null,
  request jsonb not null,
  key_id text collate "C",
  key_generation integer,
  signature_hash bytea not null,
  state text not null default 'WAITING'::text,
  attempts smallint not null default 0,
  next_at timestamp with time zone,
  lease_until timestamp with time zone,
  campaigns integer,
  bytes bigint,
  reason text,
  created_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  expires_at timestamp with time zone not null,
  constraint report_files_ended_check CHECK (((state = 'WAITING'::text) = (ended_at IS NULL))),
  constraint report_files_key_check CHECK (((key_id IS NULL) = (key_generation IS NULL))),
  constraint report_files_next_check CHECK (((state = 'WAITING'::text) = (next_at IS NOT NULL))),
  constraint report_files_ready_check CHECK (((state = 'READY'::text) = ((campaigns IS NOT NULL) AND (bytes IS NOT NULL)))),
  constraint report_files_signature_hash_check CHECK ((octet_length(signature_hash) = 32)),
  constraint report_files_state_check CHECK ((state = ANY (ARRAY['WAITING'::text, 'READY'::text, 'FAILED'::text]))),
  constraint report_files_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint report_files_pkey PRIMARY KEY (id),
  constraint report_files_name_key UNIQUE (name)
);
CREATE INDEX report_files_due ON report_files USING btree (next_at) WHERE (state = 'WAITING'::text);
CREATE INDEX report_files_expiry ON report_files USING btree (expires_at);
CREATE INDEX report_files_workspace ON report_files USING btree (workspace_id, expires_at);

create table run_counts (
  run_id text collate "C" not null,
  workspace_id text collate "C" not null,
  bucket smallint not null,
  platform text not null,
  outcome text not null,
  devices bigint not null,
  variation smallint not null default 0,
  locale text collate "C" not null default ''::text,
  constraint run_counts_bucket_check CHECK (((bucket >= 0) AND (bucket <= 255))),
  constraint run_counts_outcome_check CHECK ((outcome = ANY (ARRAY['ACCEPTED'::text, 'GONE'::text, 'REJECTED'::text, 'EXPIRED'::text, 'FAILED'::text, 'WITHHELD'::text, 'WAITING'::text]))),
  constraint run_counts_platform_check CHECK ((platform = ANY (ARRAY['ANDROID'::text, 'IOS'::text, 'WEB'::text]))),
  constraint run_counts_pkey PRIMARY KEY (run_id, bucket, platform, outcome, variation, locale)
);

create table run_cursors (
  run_id text collate "C" not null,
  workspace_id text collate "C" not null,
  bucket smallint not null,
  position text collate "C" not null,
  constraint run_cursors_bucket_check CHECK (((bucket >= 0) AND (bucket <= 255))),
  constraint run_cursors_pkey PRIMARY KEY (run_id, bucket)
);

create table run_failures (
  run_id text collate "C" not null,
  workspace_id text collate "C" not null,
  platform text not null,
  outcome text not null,
  code text not null,
  devices bigint not null,
  last_at timestamp with time zone not null,
  constraint run_failures_outcome_check CHECK ((outcome = ANY (ARRAY['GONE'::text, 'REJECTED'::text, 'EXPIRED'::text, 'FAILED'::text, 'WITHHELD'::text]))),
  constraint run_failures_platform_check CHECK ((platform = ANY (ARRAY['ANDROID'::text, 'IOS'::text, 'WEB'::text]))),
  constraint run_failures_pkey PRIMARY KEY (run_id, platform, outcome, code)
);

create table run_interactions (
  run_id text collate "C" not null,
  workspace_id text collate "C" not null,
  bucket smallint not null,
  platform text not null,
  kind text not null,
  variation smallint not null default 0,
  locale text collate "C" not null default ''::text,
  total bigint not null,
  messages bigint not null,
  constraint run_interactions_bucket_check CHECK (((bucket >= 0) AND (bucket <= 255))),
  constraint run_interactions_kind_check CHECK ((kind = ANY (ARRAY['IMPRESSION'::text, 'CLICK'::text, 'CLOSE'::text]))),
  constraint run_interactions_platform_check CHECK ((platform = ANY (ARRAY['ANDROID'::text, 'IOS'::text, 'WEB'::text]))),
  constraint run_interactions_pkey PRIMARY KEY (run_id, bucket, platform, kind, variation, locale)
);

create table run_refusals (
  run_id text collate "C" not null,
  workspace_id text collate "C" not null,
  provider text not null,
  app_id text collate "C" not null,
  platform text,
  credentials text collate "C" not null,
  words text not null,
  refused_at timestamp with time zone not null,
  evidence_key text collate "C",
  constraint run_refusals_platform_check CHECK ((platform = ANY (ARRAY['ANDROID'::text, 'IOS'::text, 'WEB'::text]))),
  constraint run_refusals_provider_check CHECK ((provider = ANY (ARRAY['fcm'::text, 'apns'::text, 'webpush'::text, 'hms'::text]))),
  constraint run_refusals_run_id_fkey FOREIGN KEY (run_id) REFERENCES runs(id),
  constraint run_refusals_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint run_refusals_key UNIQUE NULLS NOT DISTINCT (run_id, provider, app_id, platform, credentials, evidence_key)
);
CREATE INDEX run_refusals_evidence ON run_refusals USING btree (evidence_key) WHERE (evidence_key IS NOT NULL);
CREATE INDEX run_refusals_workspace ON run_refusals USING btree (workspace_id);

create table run_variations (
  run_id text collate "C" not null,
  workspace_id text collate "C" not null,
  bucket smallint not null,
  variation smallint not null,
  share smallint,
  trials bigint not null default 0,
  successes bigint not null default 0,
  constraint run_variations_bucket_check CHECK (((bucket >= 0) AND (bucket <= 255))),
  constraint run_variations_share_check CHECK (((share >= 0) AND (share <= 10000))),
  constraint run_variations_variation_check CHECK (((variation >= 1) AND (variation <= 9))),
  constraint run_variations_pkey PRIMARY KEY (run_id, bucket, variation)
);

create table runs (
  id text collate "C" not null,
  workspace_id text collate "C" not null,
  campaign_id text collate "C" not null,
  moment timestamp with time zone,
  lane smallint not null,
  status text not null,
  status_reason text,
  content jsonb,
  target_users jsonb,
  audience_bound text collate "C",
  audience_devices bigint,
  day date not null,
  send_until timestamp with time zone not null,
  created_at timestamp with time zone not null,
  started_at timestamp with time zone,
  ended_at timestamp with time zone,
  audience_segment_id text collate "C",
  audience_version integer,
  audience_dropped_at timestamp with time zone,
  target_selector jsonb,
  due_at timestamp with time zone,
  devices_per_minute integer,
  is_test boolean not null default false,
  business_event jsonb,
  audience_users bigint,
  paused_platform text,
  settled_at timestamp with time zone,
  number bigint not null,
  global_control_percent smallint,
  group_users jsonb,
  locales text[] collate "C",
  learns_by text,
  contents_digest text collate "C",
  audience_platforms jsonb,
  traceparent text collate "C",
  constraint runs_audience_platforms_check CHECK ((jsonb_typeof(audience_platforms) = 'array'::text)),
  constraint runs_audience_users_check CHECK ((audience_users >= 0)),
  constraint runs_check CHECK (((ended_at IS NOT NULL) = (status = ANY (ARRAY['SENT'::text, 'FAILED'::text, 'STOPPED'::text, 'MISSED'::text])))),
  constraint runs_check1 CHECK (((status <> ALL (ARRAY['FAILED'::text, 'PAUSED'::text, 'STOPPED'::text, 'MISSED'::text])) OR (status_reason IS NOT NULL))),
  constraint runs_check2 CHECK (((status <> 'SENDING'::text) OR (started_at IS NOT NULL))),
  constraint runs_check3 CHECK (((audience_segment_id IS NULL) = (audience_version IS NULL))),
  constraint runs_check4 CHECK (((target_selector IS NULL) = (due_at IS NULL))),
  constraint runs_devices_per_minute_check CHECK ((devices_per_minute > 0)),
  constraint runs_group_users_check CHECK ((jsonb_typeof(group_users) = 'array'::text)),
  constraint runs_lane_check CHECK ((lane = ANY (ARRAY[0, 1]))),
  constraint runs_learning_check CHECK (((learns_by IS NULL) = (contents_digest IS NULL))),
  constraint runs_learns_by_check CHECK ((learns_by = ANY (ARRAY['CLICKS'::text, 'GOAL'::text]))),
  constraint runs_paused_platform_check CHECK ((paused_platform = ANY (ARRAY['ANDROID'::text, 'IOS'::text, 'WEB'::text]))),
  constraint runs_settled_check CHECK (((settled_at IS NULL) OR (status = 'STOPPED'::text))),
  constraint runs_status_check CHECK ((status = ANY (ARRAY['QUEUED'::text, 'SENDING'::text, 'PAUSED'::text, 'SENT'::text, 'FAILED'::text, 'STOPPED'::text, 'MISSED'::text]))),
  constraint runs_campaign_id_fkey FOREIGN KEY (campaign_id) REFERENCES campaigns(id),
  constraint runs_pkey PRIMARY KEY (id),
  constraint runs_number_key UNIQUE (number)
);
CREATE INDEX runs_campaign ON runs USING btree (campaign_id, created_at DESC);
CREATE INDEX runs_due ON runs USING btree (due_at) WHERE ((status = 'QUEUED'::text) AND (due_at IS NOT NULL));
CREATE INDEX runs_failed ON runs USING btree (workspace_id, ended_at DESC) WHERE (status = ANY (ARRAY['FAILED'::text, 'MISSED'::text]));
CREATE INDEX runs_frozen_audience ON runs USING btree (ended_at) WHERE ((audience_segment_id = id) AND (ended_at IS NOT NULL) AND (audience_dropped_at IS NULL));

CREATE UNIQUE INDEX runs_moment ON runs USING btree (campaign_id, moment) WHERE (moment IS NOT NULL);
CREATE INDEX runs_open ON runs USING btree (lane, created_at) WHERE (status = ANY (ARRAY['QUEUED'::text, 'SENDING'::text]));
CREATE INDEX runs_paused ON runs USING btree (workspace_id, created_at DESC) WHERE (status = 'PAUSED'::text);
CREATE INDEX runs_sending ON runs USING btree (workspace_id, created_at DESC) WHERE ((status = ANY (ARRAY['QUEUED'::text, 'SENDING'::text])) AND (lane = 1));
CREATE INDEX runs_started ON runs USING btree (workspace_id, started_at, campaign_id) WHERE (started_at IS NOT NULL);
CREATE INDEX runs_stopped ON runs USING btree (ended_at) WHERE ((status = 'STOPPED'::text) AND (settled_at IS NULL));

create table sandbox_messages (
  id text collate "C" not null,
  workspace_id text collate "C" not null,
  platform text not null,
  device_token text not null,
  title text not null,
  body text not null,
  collapse_id text not null,
  campaign_id text collate "C",
  message_id text not null,
  payload jsonb not null,
  received_at timestamp with time zone not null,
  transport jsonb not null default '{}'::jsonb,
  screen jsonb not null default '{}'::jsonb,
  headers jsonb not null default '{}'::jsonb,
  constraint sandbox_messages_headers_check CHECK ((jsonb_typeof(headers) = 'object'::text)),
  constraint sandbox_messages_platform_check CHECK ((platform = ANY (ARRAY['ANDROID'::text, 'IOS'::text, 'WEB'::text]))),
  constraint sandbox_messages_transport_check CHECK ((jsonb_typeof(transport) = 'object'::text)),
  constraint sandbox_messages_pkey PRIMARY KEY (id)
);
CREATE INDEX sandbox_messages_workspace ON sandbox_messages USING btree (workspace_id, id DESC);

create table saved_views (
  id text collate "C" not null,
  workspace_id text collate "C" not null,
  account_id text collate "C",
  screen text not null,
  name text not null,
  search text not null,
  created_at timestamp with time zone not null,
  constraint saved_views_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 100))),
  constraint saved_views_screen_check CHECK ((screen = ANY (ARRAY['campaigns'::text, 'segments'::text, 'deliveries'::text, 'calls'::text, 'audit'::text]))),
  constraint saved_views_search_check CHECK ((char_length(search) <= 4000)),
  constraint saved_views_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint saved_views_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint saved_views_pkey PRIMARY KEY (id)
);

CREATE UNIQUE INDEX saved_views_name ON saved_views USING btree (workspace_id, screen, COALESCE(account_id, ''::text), name);

create table schema_migrations (
  name text not null,
  digest text not null,
  applied_at timestamp with time zone not null,
  constraint schema_migrations_pkey PRIMARY KEY (name)
);

create table segment_file_pieces (
  operation_id text collate "C" not null,
  number integer not null,
  bytes bytea not null,
  constraint segment_file_pieces_operation_id_fkey FOREIGN KEY (operation_id) REFERENCES segment_operations(id),
  constraint segment_file_pieces_pkey PRIMARY KEY (operation_id, number)
);

create table segment_members (
  workspace_id text collate "C" not null,
  bucket smallint not null,
  segment_id text collate "C" not null,
  user_id text collate "C" not null,
  added_in integer not null,
  removed_in integer,
  constraint segment_members_bucket_check CHECK (((bucket >= 0) AND (bucket <= 255))),
  constraint segment_members_check CHECK ((removed_in > added_in)),
  constraint segment_members_pkey PRIMARY KEY (workspace_id, bucket, segment_id, user_id, added_in)
);
CREATE INDEX segment_members_removed ON segment_members USING btree (workspace_id, segment_id, removed_in) WHERE (removed_in IS NOT NULL);

create table segment_operations (
  id text collate "C" not null,
  workspace_id text collate "C" not null,
  segment_id text collate "C" not null,
  number integer not null,
  kind text not null,
  request_id text collate "C" not null,
  file_url text,
  callback_url text,
  emails text[] not null default '{}'::text[],
  state text not null,
  attempts smallint not null default 0,
  crashes smallint not null default 0,
  not_before timestamp with time zone not null,
  owner text,
  lease_until timestamp with time zone,
  bytes_read bigint not null default 0,
  values_found bigint not null default 0,
  values_processed bigint,
  user_count bigint,
  counted_users bigint,
  status smallint,
  error_message text,
  error_detail text,
  requested_by text not null,
  created_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  constraint segment_operations_check CHECK (((state = 'FILLING'::text) = (owner IS NOT NULL))),
  constraint segment_operations_check1 CHECK (((state = 'FILLING'::text) = (lease_until IS NOT NULL))),
  constraint segment_operations_check2 CHECK (((state = ANY (ARRAY['SUCCEEDED'::text, 'FAILED'::text])) = (ended_at IS NOT NULL))),
  constraint segment_operations_check3 CHECK (((state = ANY (ARRAY['SUCCEEDED'::text, 'FAILED'::text])) = (status IS NOT NULL))),
  constraint segment_operations_check4 CHECK (((state = 'FAILED'::text) = (error_message IS NOT NULL))),
  constraint segment_operations_check5 CHECK (((state = 'SUCCEEDED'::text) = (counted_users IS NOT NULL))),
  constraint segment_operations_kind_check CHECK ((kind = ANY (ARRAY['CREATE'::text, 'ADD'::text, 'REMOVE'::text, 'REPLACE'::text]))),
  constraint segment_operations_request_id_check CHECK ((request_id ~ '^[0-9a-f]{32}$'::text)),
  constraint segment_operations_state_check CHECK ((state = ANY (ARRAY['QUEUED'::text, 'FILLING'::text, 'WAITING'::text, 'SUCCEEDED'::text, 'FAILED'::text]))),
  constraint segment_operations_status_check CHECK ((status = ANY (ARRAY[201, 400, 500]))),
  constraint segment_operations_segment_id_fkey FOREIGN KEY (segment_id) REFERENCES segments(id),
  constraint segment_operations_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint segment_operations_pkey PRIMARY KEY (id),
  constraint segment_operations_request_id_key UNIQUE (request_id),
  constraint segment_operations_segment_id_number_key UNIQUE (segment_id, number)
);
CREATE INDEX segment_operations_failed ON segment_operations USING btree (ended_at) WHERE (state = 'FAILED'::text);
CREATE INDEX segment_operations_open ON segment_operations USING btree (not_before, id) WHERE (state = ANY (ARRAY['QUEUED'::text, 'FILLING'::text, 'WAITING'::text]));
CREATE INDEX segment_operations_users ON segment_operations USING btree (workspace_id, ended_at) WHERE (state = 'SUCCEEDED'::text);

create table segment_rejects (
  operation_id text collate "C" not null,
  line integer not null,
  reason text not null,
  constraint segment_rejects_operation_id_fkey FOREIGN KEY (operation_id) REFERENCES segment_operations(id),
  constraint segment_rejects_pkey PRIMARY KEY (operation_id, line)
);

create table segments (
  id text collate "C" not null,
  workspace_id text collate "C" not null,
  name text not null,
  kind text not null,
  state text not null,
  state_reason text,
  source text not null,
  attribute_name text,
  attribute_type text,
  included_filters jsonb,
  excluded_filters jsonb,
  description text,
  filters_digest bytea,
  uses_segments text[] not null default '{}'::text[],
  partner text,
  cohort_id text,
  version integer not null default 0,
  user_count bigint,
  expiry_days integer,
  expires_at timestamp with time zone,
  archived_at timestamp with time zone,
  members_deleted_at timestamp with time zone,
  created_by text not null,
  updated_by text,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  campaign_id text collate "C",
  constraint segments_attribute_type_check CHECK ((attribute_type = ANY (ARRAY['string'::text, 'double'::text]))),
  constraint segments_check CHECK (((kind = 'FILE'::text) = (attribute_name IS NOT NULL))),
  constraint segments_check1 CHECK (((kind = 'FILE'::text) = (attribute_type IS NOT NULL))),
  constraint segments_check2 CHECK (((kind = 'FILTER'::text) = (included_filters IS NOT NULL))),
  constraint segments_check3 CHECK (((kind = 'FILTER'::text) = (filters_digest IS NOT NULL))),
  constraint segments_check4 CHECK (((kind = 'COHORT'::text) = (cohort_id IS NOT NULL))),
  constraint segments_check5 CHECK (((kind <> 'FILTER'::text) OR (state = ANY (ARRAY['READY'::text, 'ARCHIVED'::text])))),
  constraint segments_check6 CHECK (((state = 'ARCHIVED'::text) = (archived_at IS NOT NULL))),
  constraint segments_check7 CHECK (((state <> 'FAILED'::text) OR (state_reason IS NOT NULL))),
  constraint segments_check8 CHECK (((campaign_id IS NULL) OR (kind = 'FILTER'::text))),
  constraint segments_expiry_days_check CHECK (((expiry_days >= 1) AND (expiry_days <= 3650))),
  constraint segments_filters_digest_check CHECK ((octet_length(filters_digest) = 32)),
  constraint segments_kind_check CHECK ((kind = ANY (ARRAY['FILE'::text, 'FILTER'::text, 'COHORT'::text]))),
  constraint segments_source_check CHECK ((source = ANY (ARRAY['API'::text, 'CONSOLE'::text, 'PARTNER'::text]))),
  constraint segments_state_check CHECK ((state = ANY (ARRAY['FILLING'::text, 'READY'::text, 'FAILED'::text, 'ARCHIVED'::text]))),
  constraint segments_campaign_id_fkey FOREIGN KEY (campaign_id) REFERENCES campaigns(id) DEFERRABLE INITIALLY DEFERRED,
  constraint segments_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint segments_pkey PRIMARY KEY (id),
  constraint segments_workspace_id_name_key UNIQUE (workspace_id, name)
);
CREATE INDEX segments_archived ON segments USING btree (archived_at) WHERE ((archived_at IS NOT NULL) AND (members_deleted_at IS NULL));
CREATE INDEX segments_campaign ON segments USING btree (campaign_id) WHERE (campaign_id IS NOT NULL);

CREATE UNIQUE INDEX segments_cohort ON segments USING btree (workspace_id, partner, cohort_id) WHERE (kind = 'COHORT'::text);
CREATE INDEX segments_expiry ON segments USING btree (expires_at) WHERE ((state <> 'ARCHIVED'::text) AND (expires_at IS NOT NULL));
CREATE INDEX segments_newest ON segments USING btree (workspace_id, created_at DESC, id DESC);

create table send_budgets (
  key text collate "C" not null,
  tokens double precision not null,
  refilled_at timestamp with time zone not null,
  busy_since timestamp with time zone not null,
  silent_until timestamp with time zone,
  silent_reason text,
  penalties smallint not null default 0,
  penalty_until timestamp with time zone,
  constraint send_budgets_check CHECK (((silent_reason IS NULL) = (silent_until IS NULL))),
  constraint send_budgets_penalties_check CHECK ((penalties >= 0)),
  constraint send_budgets_tokens_check CHECK ((tokens >= (0)::double precision)),
  constraint send_budgets_pkey PRIMARY KEY (key)
);
CREATE INDEX send_budgets_penalty ON send_budgets USING btree (penalty_until) WHERE (penalty_until IS NOT NULL);
CREATE INDEX send_budgets_silent ON send_budgets USING btree (silent_until) WHERE (silent_until IS NOT NULL);

create table transaction_receipts (
  pool_id uuid not null,
  number bigint not null,
  is_stored boolean not null,
  made_in xid8 not null default pg_current_xact_id(),
  constraint transaction_receipts_pkey PRIMARY KEY (pool_id, number)
);

create table trigger_conditions (
  campaign_id text collate "C" not null,
  workspace_id text collate "C" not null,
  version_id text collate "C" not null,
  event_names text[] not null,
  condition jsonb not null,
  live_since timestamp with time zone not null,
  constraint trigger_conditions_condition_check CHECK ((jsonb_typeof(condition) = 'object'::text)),
  constraint trigger_conditions_event_names_check CHECK ((cardinality(event_names) > 0)),
  constraint trigger_conditions_version_id_fkey FOREIGN KEY (version_id) REFERENCES campaigns(id),
  constraint trigger_conditions_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint trigger_conditions_pkey PRIMARY KEY (campaign_id)
);

CREATE UNIQUE INDEX trigger_conditions_version ON trigger_conditions USING btree (version_id);
CREATE INDEX trigger_conditions_workspace ON trigger_conditions USING btree (workspace_id);

create table triggers (
  workspace_id text collate "C" not null,
  bucket smallint not null,
  user_id text collate "C" not null,
  campaign_id text collate "C" not null,
  event_name text collate "C" not null,
  occurred_at timestamp with time zone not null,
  received_at timestamp with time zone not null,
  attributes jsonb not null,
  due_at timestamp with time zone,
  state text not null,
  reason text,
  run_id text collate "C",
  ended_at timestamp with time zone,
  constraint triggers_attributes_check CHECK ((jsonb_typeof(attributes) = 'object'::text)),
  constraint triggers_bucket_check CHECK (((bucket >= 0) AND (bucket <= 255))),
  constraint triggers_dropped_check CHECK (((state = 'DROPPED'::text) = (reason IS NOT NULL))),
  constraint triggers_due_check CHECK (((due_at IS NOT NULL) OR (state = 'DROPPED'::text))),
  constraint triggers_ended_check CHECK (((state = ANY (ARRAY['SENT'::text, 'DROPPED'::text])) = (ended_at IS NOT NULL))),
  constraint triggers_reason_check CHECK ((reason = ANY (ARRAY['LATE'::text, 'CONDITION'::text, 'AUDIENCE'::text, 'CAMPAIGN_OVER'::text, 'NO_TIME'::text, 'TOO_FAR'::text]))),
  constraint triggers_sent_check CHECK (((state = 'SENT'::text) = (run_id IS NOT NULL))),
  constraint triggers_state_check CHECK ((state = ANY (ARRAY['WAITING'::text, 'HELD'::text, 'SENT'::text, 'DROPPED'::text]))),
  constraint triggers_pkey PRIMARY KEY (workspace_id, bucket, user_id, campaign_id, event_name, occurred_at)
);
CREATE INDEX triggers_due ON triggers USING btree (due_at) WHERE (state = 'WAITING'::text);
CREATE INDEX triggers_ended ON triggers USING btree (ended_at) WHERE (ended_at IS NOT NULL);
CREATE INDEX triggers_held ON triggers USING btree (campaign_id) WHERE (state = 'HELD'::text);
CREATE INDEX triggers_run ON triggers USING btree (run_id, bucket, user_id) WHERE (run_id IS NOT NULL);

create table unattributed_events (
  workspace_id text collate "C" not null,
  bucket smallint not null,
  event_id text collate "C" not null,
  day date not null,
  received_at timestamp with time zone not null,
  constraint unattributed_events_pkey PRIMARY KEY (workspace_id, bucket, event_id)
);
CREATE INDEX unattributed_events_bucket ON unattributed_events USING btree (bucket, received_at);
CREATE INDEX unattributed_events_received ON unattributed_events USING btree (received_at);

create table user_messages (
  workspace_id text collate "C" not null,
  bucket smallint not null,
  user_id text collate "C" not null,
  revision integer not null,
  run_ids text[] not null,
  campaign_ids text[] not null,
  sent_at timestamp with time zone[] not null,
  is_counted boolean[] not null,
  constraint user_messages_bucket_check CHECK (((bucket >= 0) AND (bucket <= 255))),
  constraint user_messages_check CHECK (((cardinality(run_ids) <= 100) AND (cardinality(campaign_ids) = cardinality(run_ids)) AND (cardinality(sent_at) = cardinality(run_ids)) AND (cardinality(is_counted) = cardinality(run_ids)))),
  constraint user_messages_pkey PRIMARY KEY (workspace_id, bucket, user_id)
);

create table users (
  workspace_id text collate "C" not null,
  bucket smallint not null,
  id text collate "C" not null,
  customer_id text collate "C" not null,
  attributes jsonb not null default '{}'::jsonb,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  is_test boolean not null default false,
  constraint users_attributes_check CHECK ((jsonb_typeof(attributes) = 'object'::text)),
  constraint users_bucket_check CHECK (((bucket >= 0) AND (bucket <= 255))),
  constraint users_pkey PRIMARY KEY (workspace_id, bucket, id),
  constraint users_workspace_id_bucket_customer_id_key UNIQUE (workspace_id, bucket, customer_id)
);
CREATE INDEX users_test ON users USING btree (workspace_id, customer_id) WHERE is_test;

create table workspaces (
  id text collate "C" not null,
  db_name text collate "C" not null,
  name text not null,
  time_zone text not null default 'UTC'::text,
  data_center text not null default '01'::text,
  secret_required_at_refresh boolean not null default false,
  signature_v2_required boolean not null default false,
  created_at timestamp with time zone not null,
  webhook_secret_sealed bytea,
  campaign_versioning boolean not null default false,
  v1_search_bare_array boolean not null default false,
  devices_per_minute integer,
  cap_messages smallint[] not null default '{}'::smallint[],
  cap_hours smallint[] not null default '{}'::smallint[],
  quiet_from text,
  quiet_to text,
  quiet_mode text not null default 'HOLD'::text,
  minimum_delay_minutes integer,
  zone_attribute text not null default 'time_zone'::text,
  android_mode text not null default 'data'::text,
  push_from text not null default 'carillon'::text,
  data_prefix text,
  push_bodies text not null default 'lenient'::text,
  number integer not null,
  control_group_percent smallint,
  constraint workspaces_android_mode_check CHECK ((android_mode = ANY (ARRAY['data'::text, 'notification'::text, 'both'::text]))),
  constraint workspaces_cap_hours_check CHECK (((1 <= ALL (cap_hours)) AND (720 >= ALL (cap_hours)))),
  constraint workspaces_cap_messages_check CHECK (((1 <= ALL (cap_messages)) AND (100 >= ALL (cap_messages)))),
  constraint workspaces_check CHECK (((cardinality(cap_messages) = cardinality(cap_hours)) AND (cardinality(cap_hours) <= 5))),
  constraint workspaces_check1 CHECK ((((quiet_from IS NULL) = (quiet_to IS NULL)) AND (quiet_from <> quiet_to) AND (quiet_from ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$'::text) AND (quiet_to ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$'::text))),
  constraint workspaces_control_group_percent_check CHECK (((control_group_percent >= 1) AND (control_group_percent <= 50))),
  constraint workspaces_data_center_check CHECK ((data_center = ANY (ARRAY['01'::text, '02'::text, '03'::text, '04'::text, '05'::text, '06'::text, '101'::text]))),
  constraint workspaces_data_prefix_check CHECK (((data_prefix ~ '^[a-z][a-z0-9]{0,15}$'::text) AND (data_prefix <> ALL (ARRAY['gcm'::text, 'google'::text, 'kv'::text])))),
  constraint workspaces_db_name_check CHECK ((db_name ~ '^[A-Za-z0-9_.-]{1,64}$'::text)),
  constraint workspaces_devices_per_minute_check CHECK ((devices_per_minute > 0)),
  constraint workspaces_id_check CHECK ((id ~ '^[A-Za-z0-9_-]{1,64}$'::text)),
  constraint workspaces_minimum_delay_minutes_check CHECK (((minimum_delay_minutes >= 1) AND (minimum_delay_minutes <= 10080))),
  constraint workspaces_push_bodies_check CHECK ((push_bodies = ANY (ARRAY['lenient'::text, 'strict'::text]))),
  constraint workspaces_push_from_check CHECK ((push_from ~ '^[A-Za-z0-9._-]{1,64}$'::text)),
  constraint workspaces_quiet_mode_check CHECK ((quiet_mode = ANY (ARRAY['HOLD'::text, 'DROP'::text]))),
  constraint workspaces_zone_attribute_check CHECK (((char_length(zone_attribute) >= 1) AND (char_length(zone_attribute) <= 256))),
  constraint workspaces_pkey PRIMARY KEY (id),
  constraint workspaces_db_name_key UNIQUE (db_name),
  constraint workspaces_number_key UNIQUE (number)
);
