-- The language of a device as its app says it, and the number on the app's icon as it was last told; null: neither was said.
-- Columns without values are added without a row being read or written.
alter table devices add column locale text collate "C";
alter table devices add column badge_count integer;
alter table devices add constraint devices_badge_count_check check (badge_count between 0 and 99999);
