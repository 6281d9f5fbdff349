-- As of when the newest backup is that a node or `carillon backup` wrote whole. Null before the first, and of those made before
-- this: a node that makes them by itself notes the newest of its folder.
alter table installation add column backup_made_at timestamptz;
