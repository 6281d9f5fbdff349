-- A source and a sink of events: the libraries of Segment, and object stores that speak S3.

-- Messages of Segment's libraries that were stored (decision 0099): a repeat changes nothing.
create table source_messages (
  workspace_id text collate "C" not null,
  -- The first byte of the hash, so that the messages of a workspace are in all buckets.
  bucket smallint not null check (bucket between 0 and 255),
  -- SHA-256 of the messageId, which may be any text.
  message_hash bytea not null check (octet_length(message_hash) = 32),
  received_at timestamptz not null,
  primary key (workspace_id, bucket, message_hash)
);
create index source_messages_age on source_messages (received_at);

select guard_workspace_table('source_messages', 'source_messages');

-- Event streams to an object store: `url` is the bucket, and `secret_sealed` the secret of the access key (decision 0099).
alter table event_streams add column s3_region text;
alter table event_streams add column s3_key_id text;
alter table event_streams add constraint event_streams_s3_check check ((s3_region is null) = (s3_key_id is null));
