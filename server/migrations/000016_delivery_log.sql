-- The delivery log of the console: newest first by every filter it has, without reading what the filter leaves out. The
-- first two take every row; rows of a day come in the order of time, so they grow at one end.
create index deliveries_log on deliveries (workspace_id, outcome, platform, sent_at desc, run_id desc, device_id desc);
create index deliveries_log_run on deliveries (run_id, outcome, platform, sent_at desc, device_id desc);
create index deliveries_log_code on deliveries (workspace_id, code, sent_at desc, run_id desc, device_id desc)
  where outcome <> 'ACCEPTED';
create index deliveries_log_run_code on deliveries (run_id, code, sent_at desc, device_id desc)
  where outcome <> 'ACCEPTED';
