-- What a workspace's Android messages are made of. New workspaces send data, which an app shows itself; those that are
-- there keep what their apps get today, a notification and data under fixed names, until they choose.
alter table workspaces add column android_mode text not null default 'both'
  check (android_mode in ('data', 'notification', 'both'));
alter table workspaces alter column android_mode set default 'data';
alter table workspaces add column push_from text not null default 'carillon'
  check (push_from ~ '^[A-Za-z0-9._-]{1,64}$');
-- Null: the header prefix of the installation, in lower case.
alter table workspaces add column data_prefix text
  check (data_prefix ~ '^[a-z][a-z0-9]{0,15}$' and data_prefix not in ('gcm', 'google', 'kv'));
update workspaces set data_prefix = 'svc';

-- What a person saw on the simulated device.
alter table sandbox_messages add column screen jsonb not null default '{}';
