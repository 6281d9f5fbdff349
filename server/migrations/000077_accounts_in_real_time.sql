-- Sign-ins and the audit log run on real time (decision 0059). Rows that a sandbox made while its clock was ahead would last
-- for as long as it was: users sign in again there.
delete from console_sessions where exists (select 1 from installation where clock_offset_ms <> 0 or clock_frozen_at is not null);
delete from account_links where exists (select 1 from installation where clock_offset_ms <> 0 or clock_frozen_at is not null);
delete from company_sign_ins where exists (select 1 from installation where clock_offset_ms <> 0 or clock_frozen_at is not null);
delete from limit_windows
where exists (select 1 from installation where clock_offset_ms <> 0 or clock_frozen_at is not null)
  and operation in ('sign-in-account-address', 'sign-in-address', 'failed-sign-in-address', 'failed-sign-in');

-- What the sandbox's clock showed when a user was changed: the timeline of a user is in the sandbox's time.
alter table audit_log add column shown_at timestamptz;
drop index audit_log_object;
create index audit_log_object on audit_log (workspace_id, object_kind, object_id, (coalesce(shown_at, at)))
  where object_id is not null;

-- Why a link ended before its time, which expires_at then is: the row is kept for a while, so that the sign-in page can say
-- why the link opens nothing. Nodes of the version before refuse it by expires_at.
alter table account_links add column ended_as text check (ended_as in ('USED', 'WITHDRAWN'));
