-- Schedules: campaigns that are due at moments of their own, and runs that wait for one.

-- Audience User of a campaign that is sent later: whom to look up when it fires. Null for one that is sent at once,
-- whose users were found when its request was accepted.
alter table campaigns add column target_selector jsonb;
alter table campaigns add check (target_selector is null or audience = 'USER');
alter table campaigns add check (status <> 'SCHEDULED' or next_at is not null);
-- The sweep that retires recurring campaigns: those with no moment left.
create index campaigns_out_of_moments on campaigns (id)
  where status = 'ACTIVE' and delivery_type = 'PERIODIC' and next_at is null;

-- A request that joined a scheduled campaign (decisions D33): its users are looked up when the campaign's next moment
-- has come.
alter table runs add column target_selector jsonb;
alter table runs add column due_at timestamptz;
alter table runs add check ((target_selector is null) = (due_at is null));
create index runs_due on runs (due_at) where status = 'QUEUED' and due_at is not null;
create index runs_stopped on runs (ended_at) where status = 'STOPPED';
