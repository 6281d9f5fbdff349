-- What a transaction leaves to be found by when the answer to its commit is lost (docs/decisions/0029).
create table transaction_receipts (
  -- the pool of connections that made it, and which of that pool's transactions it was
  pool_id uuid not null,
  number bigint not null,
  -- false: whoever asked was first, and the transaction can no longer be stored
  is_stored boolean not null,
  -- which tells its age: everything before the oldest transaction of ten minutes ago may go
  made_in xid8 not null default pg_current_xact_id(),
  primary key (pool_id, number)
);
