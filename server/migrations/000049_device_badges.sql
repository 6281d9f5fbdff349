-- What the newest runs that changed a device's badge made of it: a message that is sent again after a crash says the same
-- number. Columns without values are added without a row being read or written.
alter table devices add column badge_runs bigint[];
alter table devices add column badge_values integer[];
alter table devices add constraint devices_badge_runs_check check (
  cardinality(badge_runs) = cardinality(badge_values) and cardinality(badge_runs) <= 16
);
