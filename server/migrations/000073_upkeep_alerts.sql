-- How often a node makes backups by itself, and when one that does was last at it: who sees that they are late needs no such
-- node to be there. Null before the first.
alter table installation add column backup_hours integer;
alter table installation add column backup_looked_at timestamptz;
alter table installation add constraint installation_backup_hours_check check (backup_hours > 0);

-- When the certificate ends that a node serves; null of one that serves none, and of a version that did not say.
alter table nodes add column certificate_ends_at timestamptz;

alter table alerts drop constraint alerts_kind_check;
alter table alerts add constraint alerts_kind_check
  check (kind in ('provider', 'queue', 'node', 'job', 'credential', 'backup', 'certificate'));
