-- Amazon Device Messaging is a fifth provider: the checks that list the providers accept `adm`, on Android devices.
--
-- Each check is replaced by a wider one, so no stored row can violate it, and `not valid` spares the scan that would hold
-- the lock: rows written from now on are checked. Nodes of the previous version go on meanwhile; they write none of the new
-- values and must not read them, so the first Amazon credential and device are stored after all nodes were replaced
-- (docs/upgrade.md).

alter table provider_credentials drop constraint provider_credentials_provider_check;
alter table provider_credentials add constraint provider_credentials_provider_check
  check (provider in ('fcm', 'apns', 'webpush', 'hms', 'adm')) not valid;

alter table provider_evidence drop constraint provider_evidence_provider_check;
alter table provider_evidence add constraint provider_evidence_provider_check
  check (provider in ('fcm', 'apns', 'webpush', 'hms', 'adm')) not valid;

alter table run_refusals drop constraint run_refusals_provider_check;
alter table run_refusals add constraint run_refusals_provider_check
  check (provider in ('fcm', 'apns', 'webpush', 'hms', 'adm')) not valid;

alter table devices drop constraint devices_push_provider_check;
alter table devices add constraint devices_push_provider_check check (
  push_provider is null
  or platform = 'ANDROID' and push_provider in ('hms', 'adm')
  or platform in ('IOS', 'WEB') and push_provider = 'fcm'
) not valid;
