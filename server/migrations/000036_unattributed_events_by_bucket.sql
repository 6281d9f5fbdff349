-- Events are taken for goals from one bucket a statement, the oldest first.
create index unattributed_events_bucket on unattributed_events (bucket, received_at);
