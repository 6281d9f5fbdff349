-- What an app has of its own where others of the workspace have the workspace's: mode, names of keys, defaults of a content.
alter table apps add column settings jsonb not null default '{}';
alter table apps add constraint apps_settings_check check (jsonb_typeof(settings) = 'object');
