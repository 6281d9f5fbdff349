-- Of which trace the request was that a run came of (W3C Trace Context). Null where it was not sampled, as of all runs
-- before; adding it rewrites nothing.
alter table runs add column traceparent text collate "C";
