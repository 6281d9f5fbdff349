-- Who holds a delivery, a callback or an email is told apart from when it is due: the lease runs in the database's time,
-- the due time in that of the service, which a sandbox moves.
alter table deliveries add column lease_until timestamptz;
alter table callbacks add column lease_until timestamptz;
alter table mails add column lease_until timestamptz;
