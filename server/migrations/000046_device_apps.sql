-- Of which app a device's address is; null: of the default app of its platform. A column without a value is added without a
-- row being read or written.
alter table devices add column app_id text collate "C";

-- FCM delivers what names a package only to that one.
alter table apps add column restrict_package boolean not null default false;
alter table apps add constraint apps_restrict_package_check check (not restrict_package or platform = 'ANDROID');
