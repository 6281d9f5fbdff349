-- Rotating the master key while nodes serve.

-- Secrets of the installation that outlive a master key: what was signed or derived before a rotation stays valid after
-- it. Null until the first start of a version that keeps them, which stores what it derived until then.
alter table installation add column interactions_secret_sealed bytea;
alter table installation add column simulator_secret_sealed bytea;

-- Id of the master key that a rotation is leaving; null when none is under way. As long as it stands, no node starts
-- without that key.
alter table installation add column rotating_from_key_id text
  check (rotating_from_key_id ~ '^[0-9a-f]{8}$');

-- Ids of the master keys a node knows, first the one it encrypts under.
alter table nodes add column master_key_ids text[] not null default '{}';
