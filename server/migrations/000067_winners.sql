-- The variation of a campaign that everybody gets who was not sent to yet, and who named it; null: nobody has.
alter table campaigns add column winner smallint;
alter table campaigns add column winner_named_at timestamptz;
alter table campaigns add column winner_named_by text;
alter table campaigns add constraint campaigns_winner_check check (
  winner between 1 and 9 and winner_named_at is not null and winner_named_by is not null
  or winner is null and winner_named_at is null and winner_named_by is null
);

-- Of a run's chunk: from which of its buckets on everybody gets which variation, as [{"after": bucket, "variation": number or
-- null}], a step for each time that a winner was named; null: nobody has. Buckets that had begun keep their shares.
alter table chunks add column winners jsonb;
alter table chunks add constraint chunks_winners_check check (jsonb_typeof(winners) = 'array');
