-- Through which provider a device is reached; null: the usual one of its platform (FCM, APNs, the browser's own service). A
-- column without a value is added without a row being read or written, and rows of before have nothing to check.
alter table devices add column push_provider text;
alter table devices add constraint devices_push_provider_check check (
  push_provider is null
  or platform = 'ANDROID' and push_provider = 'hms'
  or platform in ('IOS', 'WEB') and push_provider = 'fcm'
) not valid;

alter table provider_credentials drop constraint provider_credentials_provider_check;
alter table provider_credentials add constraint provider_credentials_provider_check check (
  provider in ('fcm', 'apns', 'webpush', 'hms')
);
