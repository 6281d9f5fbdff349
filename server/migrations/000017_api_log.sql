-- Pages of the API log follow each other by moment and id. Refused calls are what it is read for, and few among many;
-- pushes are refused with status 200.
drop index api_log_workspace;
create index api_log_workspace on api_log (workspace_id, received_at desc, id desc);
create index api_log_refused on api_log (workspace_id, received_at desc, id desc) where error_name is not null;
