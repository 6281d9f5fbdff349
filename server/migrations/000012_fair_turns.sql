-- Which run gets the next free worker (decision 0074). A row for each run to an audience that has open chunks. The rows only
-- decide an order: a run without one is still sent, and a job writes what is missing. On the coordinator of a cluster, next to
-- the chunks.
create table run_turns (
  run_id text collate "C" primary key,
  workspace_id text collate "C" not null,
  -- Takes turns as one: a workspace and its test workspace, by the id of the first.
  share_id text collate "C" not null,
  -- Estimated; runs of one workspace with the least left go first.
  devices_left bigint not null,
  -- By real time: when a worker last sent a window of the run.
  served_at timestamptz not null,
  -- No worker could claim a chunk of the run: all are held, or wait for a time, or the run is paused.
  is_parked boolean not null
);
create index run_turns_waiting on run_turns (served_at, devices_left) where not is_parked;
create index run_turns_share on run_turns (share_id, devices_left) where not is_parked;

-- How long each workspace has used the workers, in milliseconds, counted from the workspace that had used them least when it
-- began. The workspace with the lowest number is next.
create table workspace_turns (
  workspace_id text collate "C" primary key,
  turn float8 not null,
  has_work boolean not null
);
create index workspace_turns_next on workspace_turns (turn) where has_work;

-- The next chunk of a run, without passing those that have ended. Chunks of named users are not in it.
create index chunks_of_audience on chunks (run_id, number) where lane = 1 and state in ('READY', 'CLAIMED');

select guard_workspace_table('run_turns', 'run_turns');
select guard_workspace_table('workspace_turns', 'workspace_turns');
