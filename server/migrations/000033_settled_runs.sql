-- A stopped run of which nothing more can come is settled, and is not looked at again.
alter table runs add column settled_at timestamptz;
alter table runs add constraint runs_settled_check check (settled_at is null or status = 'STOPPED');
drop index runs_stopped;
create index runs_stopped on runs (ended_at) where status = 'STOPPED' and settled_at is null;
