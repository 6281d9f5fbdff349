-- What the report of a campaign needs beside the counters.

-- People of the audience when the run began, with a device or not; null for runs of before.
alter table runs add column audience_users bigint check (audience_users >= 0);

-- A key that was rotated goes on until then, so that both work while callers change over.
alter table api_keys add column ends_at timestamptz;
create index api_keys_ending on api_keys (ends_at) where ends_at is not null and archived_at is null;
