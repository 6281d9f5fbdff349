import { turnShareOf } from '../../domain/campaigns/turn-shares.ts';
import type { Database, Fragment, Lease, Queryable } from '../database.ts';
import { claimedColumns, crashCounts, turnNow, turnShare } from './chunks.ts';
import type { ClaimedChunk } from './chunks.ts';

/** A run waits if no worker has sent a window of it for this long; a chunk of another run is then given back. */
const waitingMilliseconds = 500;
/** After this long, its turn comes before its time, so that it has a window every two seconds. */
const overdueMilliseconds = 1_250;
/** A claim counts this much of a turn at once, so that other claims take other workspaces; the rest at its end. */
const claimMilliseconds = 10;
/** Bounds the work of a claim. Rows that a claim passes are corrected within a second (correctTurns). */
const [candidateRuns, candidateShares] = [8, 16];
/** The served_at of a run that no worker has sent a window of. */
const never = new Date(0);

/**
 * Adds a run that is starting, or notes that a run has more chunks. Call it with the chunks. `devices`: how many the run has, `more`:
 * how many more than was known before.
 */
export async function insertTurn(
  tx: Queryable,
  run: { runId: string; workspaceId: string; devices: number; more?: number },
): Promise<void> {
  const { more = 0 } = run;
  await tx`
    with run as (
      insert into run_turns (run_id, workspace_id, share_id, devices_left, served_at, is_parked)
      values (${run.runId}, ${run.workspaceId}, ${turnShareOf(run.workspaceId)}, ${run.devices}, ${never}, false)
      on conflict (run_id) do update
        set is_parked = false, devices_left = greatest(0, run_turns.devices_left + ${more}::bigint)
      returning share_id
    )
    insert into workspace_turns (workspace_id, turn, has_work)
    select share_id, ${turnNow(tx)}, true from run
    on conflict (workspace_id) do update
      set has_work = true,
        turn = case when workspace_turns.has_work then workspace_turns.turn
          else greatest(workspace_turns.turn, excluded.turn) end`;
}

/** Notes how many devices more a run has. It waits as it did: a paused one is not claimed. Index: primary key. */
export async function noteMoreDevices(tx: Queryable, { runId, more }: { runId: string; more: number }): Promise<void> {
  await tx`
    update run_turns set devices_left = greatest(0, devices_left + ${more}::bigint) where run_id = ${runId}`;
}

/** How many devices a run has: estimated while they are counted. */
const devicesOfRun = (tx: Queryable): Fragment =>
  tx`coalesce(runs.audience_devices, (runs.audience_pass ->> 'estimate')::bigint, 0)`;

/** `devices`: how many devices the chunk has, estimated. */
export type ClaimedTurn = ClaimedChunk & { devices: number };

type TurnClaim = {
  owner: string;
  first: 'waiting' | 'fair';
  /** Workspaces that are left out, by the id that they share a turn with. */
  except: readonly string[];
  at: Date;
} & Lease;

/** The runs that a claim looks at, in its order: those that wait longest, and those of the workspaces that used the workers least. */
function candidatesOf(tx: Queryable, claim: TurnClaim): Fragment {
  const waitingSince = new Date(claim.leasedAt.getTime() - overdueMilliseconds);
  const except = [...claim.except];
  const fromWaiting = tx`select run_id from waiting`;
  const fromFair = tx`select run_id from fair`;
  return tx`waiting as materialized (
      select run_id from run_turns
      where not is_parked and served_at <= ${waitingSince} and share_id <> all (${except}::text[])
      order by served_at, devices_left
      limit ${candidateRuns}
    ), share as materialized (
      select workspace_id from workspace_turns
      where has_work and workspace_id <> all (${except}::text[])
      order by turn
      limit ${candidateShares}
    ), fair as materialized (
      select run.run_id
      from share
      cross join lateral (
        select run_id from run_turns
        where share_id = share.workspace_id and not is_parked
        order by devices_left
        limit ${candidateRuns}
      ) as run
    ), candidate as materialized (
      ${claim.first === 'fair' ? tx`${fromFair} union all ${fromWaiting}` : tx`${fromWaiting} union all ${fromFair}`}
    )`;
}

/**
 * Claims the next chunk of an audience. Every second claim of a worker is `fair`: of the workspace that used the workers least,
 * the run with the least left. The others are for the run that waits longest, if one waits, so that each open run moves. The chunk is
 * ready, or its lease ran out (see claimChunks).
 *
 * Reads a bounded number of index entries, however many runs are open. Indexes: run_turns_waiting, workspace_turns_next,
 * run_turns_share, chunks_of_audience, primary keys. Locks a run's turn before its workspace's, as all statements do.
 */
export async function claimTurn(database: Database, claim: TurnClaim): Promise<ClaimedTurn | undefined> {
  const [chunk] = await database<ClaimedTurn[]>`
    with ${candidatesOf(database, claim)}, due as materialized (
      select chunk.*
      from candidate
      cross join lateral (
        select chunks.run_id, chunks.number,
          (${devicesOfRun(database)} * (chunks.bucket_to - chunks.bucket_from + 1) / 256)::int as devices
        from chunks
        join runs on runs.id = chunks.run_id
        where chunks.run_id = candidate.run_id and chunks.lane = 1 and chunks.state in ('READY', 'CLAIMED')
          and chunks.not_before <= ${claim.at}
          and (chunks.state = 'READY' or chunks.lease_until <= ${claim.leasedAt})
          and runs.status = 'SENDING'
        order by chunks.number
        limit 1
        for update of chunks skip locked
      ) as chunk
      limit 1
    ), served as (
      update run_turns
      set served_at = ${claim.leasedAt}, is_parked = not exists (
          select 1 from chunks
          where chunks.run_id = due.run_id and chunks.lane = 1 and chunks.state = 'READY' and chunks.not_before <= ${claim.at}
            and chunks.number <> due.number
        )
      from due where run_turns.run_id = due.run_id
      returning run_turns.share_id, due.devices
    ), counted as (
      update workspace_turns set turn = turn + ${claimMilliseconds}
      where workspace_id = (select share_id from served)
    )
    update chunks
    set state = 'CLAIMED', owner = ${claim.owner}, attempt = chunks.attempt + 1, lease_until = ${claim.leaseUntil},
      ${crashCounts(database)}
    from due, served
    where chunks.run_id = due.run_id and chunks.number = due.number
    returning ${claimedColumns(database)}, served.devices`;
  return chunk;
}

/**
 * Counts a turn at its end: the time for the workspace, and for the run the devices of a chunk that has ended. Indexes: primary
 * keys.
 */
export async function countTurn(
  database: Database,
  turn: { runId: string; milliseconds: number; endedDevices: number },
): Promise<void> {
  await database`
    with run as (
      update run_turns set devices_left = greatest(0, devices_left - ${turn.endedDevices}::bigint)
      where run_id = ${turn.runId}
      returning share_id
    )
    update workspace_turns set turn = turn + ${turn.milliseconds - claimMilliseconds}::float8
    where workspace_id = (select share_id from run)`;
}

/** True for runs with work: one that waits for a window, or any. */
export type OthersWithWork = { isWaiting: boolean; isAny: boolean };

/**
 * Notes that a worker sends windows of a run, and returns what else there is to send. Indexes: primary key, run_turns_waiting.
 */
export async function keepTurn(
  database: Database,
  { runId, except, at }: { runId: string; except: readonly string[]; at: Date },
): Promise<OthersWithWork> {
  const waitingSince = new Date(at.getTime() - waitingMilliseconds);
  const isOther = database`not is_parked and run_id <> ${runId} and share_id <> all (${[...except]}::text[])`;
  const [others] = await database<OthersWithWork[]>`
    with served as (update run_turns set served_at = ${at} where run_id = ${runId} and served_at < ${at})
    select exists (select 1 from run_turns where served_at <= ${waitingSince} and ${isOther}) as "isWaiting",
      exists (select 1 from run_turns where ${isOther}) as "isAny"`;
  return others!;
}

/**
 * Corrects the turns each second: adds runs that have none, removes those without open chunks, and parks or unparks the others.
 * Skips rows that a worker is changing. Reads each run that has open chunks. Indexes: runs_open, chunks_of_audience.
 *
 * @returns how many runs and workspaces have work again
 */
export async function correctTurns(
  database: Database,
  { at, leasedAt }: { at: Date; leasedAt: Date },
): Promise<number> {
  const hasOpenChunk = (runId: Fragment) => database`exists (
    select 1 from chunks where chunks.run_id = ${runId} and chunks.lane = 1 and chunks.state in ('READY', 'CLAIMED')
  )`;
  const [runs] = await database<{ open: number; woken: number }[]>`
    with added as (
      insert into run_turns (run_id, workspace_id, share_id, devices_left, served_at, is_parked)
      select id, workspace_id, ${turnShare(database, database`workspace_id`)}, ${devicesOfRun(database)}, ${never}, false
      from runs
      where status = 'SENDING' and lane = 1 and ${hasOpenChunk(database`runs.id`)}
        and not exists (select 1 from run_turns where run_turns.run_id = runs.id)
      on conflict (run_id) do nothing
      returning run_id
    ), ended as (
      delete from run_turns where run_id in (
        select run_id from run_turns where not ${hasOpenChunk(database`run_turns.run_id`)}
        order by run_id for update skip locked
      )
    ), judged as materialized (
      select run_turns.run_id, not exists (
        select 1 from chunks join runs on runs.id = chunks.run_id
        where chunks.run_id = run_turns.run_id and chunks.lane = 1 and chunks.state in ('READY', 'CLAIMED')
          and chunks.not_before <= ${at} and (chunks.state = 'READY' or chunks.lease_until <= ${leasedAt})
          and runs.status = 'SENDING'
      ) as is_parked
      from run_turns
    ), corrected as (
      update run_turns set is_parked = judged.is_parked
      from judged
      where run_turns.run_id = judged.run_id and run_turns.is_parked <> judged.is_parked
        and run_turns.run_id in (
          select run_id from run_turns where ${hasOpenChunk(database`run_turns.run_id`)} order by run_id for update skip locked
        )
      returning run_turns.is_parked
    )
    select (select count(*) from run_turns)::int + (select count(*) from added)::int as open,
      (select count(*) from added)::int + (select count(*) from corrected where not is_parked)::int as woken`;

  return runs!.woken + (await correctShares(database));
}

/** Does the same for workspaces. A workspace without runs is removed in the round after it was found without work. */
async function correctShares(database: Database): Promise<number> {
  const hasRun = (tx: Queryable) => tx`exists (
    select 1 from run_turns where run_turns.share_id = workspace_turns.workspace_id and not is_parked
  )`;
  const rows = await database<{ hasWork: boolean }[]>`
    with missing as (
      insert into workspace_turns (workspace_id, turn, has_work)
      select distinct share_id, ${turnNow(database)}, true from run_turns
      where not exists (select 1 from workspace_turns where workspace_turns.workspace_id = run_turns.share_id)
      on conflict (workspace_id) do nothing
      returning has_work
    ), removed as (
      delete from workspace_turns where workspace_id in (
        select workspace_id from workspace_turns
        where not has_work and not exists (select 1 from run_turns where run_turns.share_id = workspace_turns.workspace_id)
        order by workspace_id for update skip locked
      )
    ), corrected as (
      update workspace_turns
      set has_work = not has_work, turn = case when has_work then turn else greatest(turn, ${turnNow(database)}) end
      where workspace_id in (
        select workspace_id from workspace_turns
        where has_work <> ${hasRun(database)} and exists (
          select 1 from run_turns where run_turns.share_id = workspace_turns.workspace_id
        ) or has_work and not exists (select 1 from run_turns where run_turns.share_id = workspace_turns.workspace_id)
        order by workspace_id for update skip locked
      )
      returning has_work
    )
    select has_work as "hasWork" from missing union all select has_work from corrected`;
  return rows.filter(({ hasWork }) => hasWork).length;
}
