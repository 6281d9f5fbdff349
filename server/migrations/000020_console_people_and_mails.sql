-- People whom a test of a campaign is sent to.
alter table users add column is_test boolean not null default false;
create index users_test on users (workspace_id, customer_id) where is_test;

-- A person's timeline, newest first and page by page, out of indexes: events by the moment they happened (so far by the
-- user alone), the rows of the ledger that are not ACCEPTED, what devices reported, and changes made in the console.
drop index events_user;
create index events_user on events (workspace_id, bucket, user_id, occurred_at);
drop index deliveries_user_other;
create index deliveries_user_other on deliveries (workspace_id, bucket, user_id, sent_at) where outcome <> 'ACCEPTED';
create index device_interactions_device on device_interactions (workspace_id, bucket, device_id, first_at);
create index audit_log_object on audit_log (workspace_id, object_kind, object_id, at) where object_id is not null;

-- Every attempt at a mail, as of a callback. Numbers come in rounds of ten, a round for each "send again".
create table mail_attempts (
  mail_id text collate "C" not null references mails (id),
  number smallint not null,
  at timestamptz not null,
  -- What the server said, or why nobody answered.
  answer text not null,
  is_taken boolean not null,
  duration_ms real not null,
  primary key (mail_id, number)
);
-- Pages of callbacks and mails follow each other by moment and id.
drop index callbacks_newest;
create index callbacks_newest on callbacks (workspace_id, created_at desc, id desc);
create index callbacks_given_up_newest on callbacks (workspace_id, created_at desc, id desc) where state = 'GIVEN_UP';
drop index mails_newest;
create index mails_newest on mails (workspace_id, created_at desc, id desc);
create index mails_failed_newest on mails (workspace_id, created_at desc, id desc) where state = 'FAILED';

-- What the ids and keys of the demo workspace are made from, sealed, so that a reset makes the same again.
alter table installation add column demo_seed_sealed bytea;
