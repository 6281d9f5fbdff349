-- What a transaction leaves to be found by when the answer to its commit is lost (docs/decisions/0029).
create table transaction_receipts (
  -- the pool of connections that made it, and which of that pool's transactions it was
  pool_id uuid not null,
  number bigint not null,
  -- false: whoever asked was first, and the transaction can no longer be stored
  is_stored boolean not null,
  made_at timestamptz not null default now(),
  primary key (pool_id, number)
);
