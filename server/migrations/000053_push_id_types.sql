-- What kind of address push_id is; null: the provider's usual one, a token. `fid`: a Firebase installation id, which FCM takes
-- beside tokens. A column without a value is added without a row being read or written, and rows of before have nothing to check.
alter table devices add column push_id_type text;
alter table devices add constraint devices_push_id_type_check check (
  push_id_type is null
  or push_id_type = 'fid' and coalesce(push_provider, case platform when 'ANDROID' then 'fcm' end, '') = 'fcm'
) not valid;
