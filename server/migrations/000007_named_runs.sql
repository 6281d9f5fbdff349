-- Workers claim the runs to named users of many workspaces with one statement, an equal share of each workspace.
create index chunks_named on chunks (workspace_id, not_before)
  where lane = 0 and state = 'READY' and attempt = 0;
