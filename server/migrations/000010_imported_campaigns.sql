-- Campaigns of another service, kept as records: they have no runs, so what they say of their sending stands here.
alter table campaigns add column imported_sent_at timestamptz;
alter table campaigns add check (imported_sent_at is null or source = 'IMPORT');
-- A record is history: it waits for nothing and can never be sent.
alter table campaigns add check (
  source <> 'IMPORT' or next_at is null and status in ('SENT', 'RETIRED', 'STOPPED', 'FAILED', 'ARCHIVED')
);
