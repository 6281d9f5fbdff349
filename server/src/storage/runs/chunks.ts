import { testSuffix } from '../../domain/campaigns/turn-shares.ts';
import type { ToldRefusal } from '../../domain/delivery/evidence.ts';
import type { WinnerStep } from '../../domain/experiments/learning.ts';
import type { Lease, Database, Fragment, Queryable } from '../database.ts';
import { refusalsOfRun } from './run-refusals.ts';

/** A chunk this worker holds. Every later statement compares `owner` and `attempt`, which together prove the claim. */
export type ClaimedChunk = {
  runId: string;
  number: number;
  workspaceId: string;
  bucketFrom: number;
  bucketTo: number;
  owner: string;
  attempt: number;
  crashes: number;
  /** The window that was open when its worker died: its last position, and how many devices were in it. */
  windowBucket: number | null;
  windowPosition: string | null;
  windowDevices: number | null;
  /** The device that crashes workers is among this many devices after the cursor; null when none is suspected. */
  suspectDevices: number | null;
  /** How many devices were quarantined so far. */
  setAside: number;
};

/** After this many leases in a row end while a window is open, the window is halved each time to find the device in it. */
const crashesToSuspect = 3;

export type ChunkHold = Pick<ClaimedChunk, 'runId' | 'number' | 'owner' | 'attempt'>;

/** Inserts the chunks of a run, one row each; several bucket ranges in one statement. */
export async function insertChunks(
  tx: Queryable,
  run: {
    runId: string;
    workspaceId: string;
    lane: number;
    at: Date;
    notBefore?: Date;
    /** The variation that every user gets; null: the shares decide. */
    winner: number | null;
    /** Numbered in order, unless they have numbers. */
    ranges: { from: number; to: number; number?: number }[];
  },
): Promise<void> {
  const winners: WinnerStep[] | null = run.winner === null ? null : [{ after: -1, variation: run.winner }];
  await tx`
    insert into chunks (run_id, number, workspace_id, lane, bucket_from, bucket_to, state, not_before, winners,
      created_at)
    select ${run.runId}, range.number, ${run.workspaceId}, ${run.lane}, range.bucket_from, range.bucket_to,
      'READY', ${run.notBefore ?? run.at}, ${winners === null ? null : tx.json(winners)}::jsonb, ${run.at}
    from unnest(
      ${run.ranges.map(({ from }) => from)}::smallint[], ${run.ranges.map(({ to }) => to)}::smallint[],
      ${run.ranges.map(({ number }, index) => number ?? index)}::int[]
    ) as range (bucket_from, bucket_to, number)`;
}

/**
 * Claims up to `limit` chunks that are ready or whose lease ran out: transactional lane first, then oldest. Repeated
 * expired leases narrow down the device that crashes workers: it is in the window that was open then. Rows locked by
 * another claim are skipped, so workers never wait for each other. Audiences are claimed by turns (claimTurn); this
 * claim finds those that have no turn. Index: chunks_open.
 */
export async function claimChunks(
  database: Database,
  claim: {
    owner: string;
    lastLane: 0 | 1;
    limit: number;
    at: Date;
    namedRuns?: 'apart' | undefined;
    /** Workspaces whose audiences are left out, by the id that they share a turn with. */
    except?: readonly string[] | undefined;
  } & Lease,
): Promise<ClaimedChunk[]> {
  const { except = [] } = claim;
  const share = turnShare(database, database`chunks.workspace_id`);
  const isLeftOut = database`chunks.lane = 1 and ${share} = any (${[...except]}::text[])`;
  return database<ClaimedChunk[]>`
    with due as (
      select chunks.run_id, chunks.number
      from chunks
      join runs on runs.id = chunks.run_id
      where chunks.state in ('READY', 'CLAIMED')
        and chunks.lane <= ${claim.lastLane}
        and chunks.not_before <= ${claim.at}
        and (chunks.state = 'READY' or chunks.lease_until <= ${claim.leasedAt})
        and runs.status = 'SENDING'
        -- claimNamedChunks claims the others.
        and (${claim.namedRuns !== 'apart'}::boolean or chunks.lane > 0 or chunks.attempt > 0)
        and not (${except.length === 0 ? database`false` : isLeftOut})
      order by chunks.lane, chunks.not_before, chunks.created_at
      limit ${claim.limit}
      for update of chunks skip locked
    )
    update chunks
    set state = 'CLAIMED', owner = ${claim.owner}, attempt = chunks.attempt + 1, lease_until = ${claim.leaseUntil},
      ${crashCounts(database)}
    from due
    where chunks.run_id = due.run_id and chunks.number = due.number
    returning ${claimedColumns(database)}`;
}

/** As turnShareOf decides. */
export const turnShare = (tx: Queryable, workspaceId: Fragment): Fragment =>
  tx`regexp_replace(${workspaceId}, ${`${testSuffix}$`}::text, '')`;

/** What a claim changes after an expired lease: several in a row narrow down the device that crashes workers. */
export const crashCounts = (tx: Queryable): Fragment => tx`
  crashes = chunks.crashes + (chunks.state = 'CLAIMED')::int,
  suspect_devices = case
    when chunks.state = 'CLAIMED' and chunks.window_devices is not null
      and (chunks.suspect_devices is not null or chunks.crashes + 1 >= ${crashesToSuspect})
    then chunks.window_devices else chunks.suspect_devices end`;

export const claimedColumns = (tx: Queryable): Fragment => tx`
  chunks.run_id as "runId", chunks.number, chunks.workspace_id as "workspaceId",
  chunks.bucket_from as "bucketFrom", chunks.bucket_to as "bucketTo",
  chunks.owner, chunks.attempt, chunks.crashes, chunks.window_bucket as "windowBucket",
  chunks.window_position as "windowPosition", chunks.window_devices as "windowDevices",
  chunks.suspect_devices as "suspectDevices", chunks.set_aside as "setAside"`;

/** Selects, per chunk and as one value, where all users of a run get the same variation. Index: primary key. */
export const winnersOfRun = (
  tx: Queryable,
): Fragment => tx`case when campaigns.variants is null then '[]' else coalesce((
  select jsonb_agg(jsonb_build_object('bucketFrom', bucket_from, 'bucketTo', bucket_to, 'steps', winners))
  from chunks where run_id = runs.id and winners is not null
), '[]') end`;

/** What is read about a run when one of its windows is opened. */
export type OpenedWindow = {
  /** The run's refusals so far. */
  refusals: ToldRefusal[];
  /** From which bucket of the chunk on every user gets one variation. It does not change for what this window sends. */
  winners: WinnerStep[] | null;
};

/**
 * Records the window that is about to be sent, before its first request. Also renews the lease. Index: primary key.
 *
 * @returns undefined when this worker no longer holds the chunk, or its run is not sending any more
 */
export async function openWindow(
  database: Database,
  hold: ChunkHold & { at: Date; leaseUntil: Date; bucket: number; position: string; devices: number },
): Promise<OpenedWindow | undefined> {
  const [opened] = await database<OpenedWindow[]>`
    update chunks
    set window_opened_at = ${hold.at}, window_bucket = ${hold.bucket}, window_position = ${hold.position},
      window_devices = ${hold.devices}, lease_until = ${hold.leaseUntil}
    from runs
    where chunks.run_id = ${hold.runId} and chunks.number = ${hold.number}
      and chunks.state = 'CLAIMED' and chunks.owner = ${hold.owner} and chunks.attempt = ${hold.attempt}
      and runs.id = chunks.run_id and runs.status = 'SENDING'
    returning ${refusalsOfRun(database)} as refusals, chunks.winners`;
  return opened;
}

/**
 * Clears the window whose outcomes this transaction stores. It must be the transaction's first statement: the row's
 * lock keeps the claim until the end. Index: primary key.
 *
 * @returns undefined when this worker no longer holds the chunk: the caller must roll back
 */
export async function closeWindow(
  tx: Queryable,
  hold: ChunkHold & {
    leaseUntil: Date;
    suspectDevices: number | null;
    /** 1 if the window was a single device that was quarantined. */
    setAside: 0 | 1;
    workspaceId: string;
  },
): Promise<{ isStreamed: boolean } | undefined> {
  const [row] = await tx<{ isStreamed: boolean }[]>`
    update chunks
    set window_opened_at = null, window_bucket = null, window_position = null, window_devices = null,
      lease_until = ${hold.leaseUntil}, crashes = 0, suspect_devices = ${hold.suspectDevices},
      set_aside = set_aside + ${hold.setAside}
    where run_id = ${hold.runId} and number = ${hold.number}
      and state = 'CLAIMED' and owner = ${hold.owner} and attempt = ${hold.attempt}
    returning exists (select 1 from event_streams where workspace_id = ${hold.workspaceId}) as "isStreamed"`;
  return row;
}

/** Ends the lease of a chunk whose window failed here, as if its worker had died, but without the wait. */
export async function abandonChunk(tx: Queryable, hold: ChunkHold & { at: Date }): Promise<void> {
  await tx`
    update chunks set lease_until = ${hold.at}
    where run_id = ${hold.runId} and number = ${hold.number}
      and state = 'CLAIMED' and owner = ${hold.owner} and attempt = ${hold.attempt}`;
}

/**
 * Does the same for a window that was sent and cannot be stored. The search begins at once, since each try sends the
 * window again.
 */
export async function suspectWindow(
  tx: Queryable,
  hold: ChunkHold & { at: Date; window?: Window | undefined },
): Promise<void> {
  const { window } = hold;
  const windowOpened = window
    ? tx`, window_opened_at = ${hold.at}, window_bucket = ${window.bucket}, window_position = ${window.position},
        window_devices = ${window.devices}`
    : tx``;
  await tx`
    update chunks set lease_until = ${hold.at}, crashes = greatest(crashes, ${crashesToSuspect - 1})${windowOpened}
    where run_id = ${hold.runId} and number = ${hold.number}
      and state = 'CLAIMED' and owner = ${hold.owner} and attempt = ${hold.attempt}`;
}

/** Ends a chunk whose audience is exhausted (`DONE`) or that crashed its worker too often (`QUARANTINED`). */
export async function endChunk(
  tx: Queryable,
  hold: ChunkHold & { state: 'DONE' | 'QUARANTINED'; at: Date },
): Promise<boolean> {
  const rows = await tx`
    update chunks
    set state = ${hold.state}, owner = null, lease_until = null, ended_at = ${hold.at}
    where run_id = ${hold.runId} and number = ${hold.number}
      and state = 'CLAIMED' and owner = ${hold.owner} and attempt = ${hold.attempt}
    returning 1`;
  return rows.length === 1;
}

/**
 * Releases a chunk before its end: on a graceful stop, because its run was paused, or because others have their turn.
 * The next claim does not count as a crash.
 *
 * With `until`, the chunk is postponed in the same statement: released first, it would be claimed again at once.
 */
export async function releaseChunk(tx: Queryable, hold: ChunkHold & { until?: Date }): Promise<void> {
  const { until = null } = hold;
  await tx`
    with released as (
      update chunks set state = 'READY', owner = null, lease_until = null,
        not_before = greatest(not_before, ${until}::timestamptz)
      where run_id = ${hold.runId} and number = ${hold.number}
        and state = 'CLAIMED' and owner = ${hold.owner} and attempt = ${hold.attempt}
      returning run_id
    ), unparked as (
      update run_turns set is_parked = false
      from released
      where run_turns.run_id = released.run_id and run_turns.is_parked and ${until}::timestamptz is null
      returning run_turns.share_id
    )
    update workspace_turns set has_work = true, turn = greatest(turn, ${turnNow(tx)})
    from unparked where workspace_turns.workspace_id = unparked.share_id and not has_work`;
}

/** The turn of a workspace that had no work: it has no credit for that time. */
export const turnNow = (tx: Queryable): Fragment => tx`coalesce(
  (select min(turn) from workspace_turns where has_work), (select max(turn) from workspace_turns), 0
)`;

/**
 * Postpones the ready chunks of a throttled run that sends nothing before `until`. Workers do not claim them until
 * then, so that they do not find it out one after the other. Chunks with one of the buckets `besides` are not
 * postponed: the others wait for them. In the order of the primary key.
 */
export async function postponeChunks(
  tx: Queryable,
  run: { runId: string; until: Date; besides: readonly number[] },
): Promise<void> {
  await tx`
    update chunks set not_before = ${run.until}
    where (run_id, number) in (
      select run_id, number from chunks
      where run_id = ${run.runId} and state = 'READY' and not_before < ${run.until}
        and not exists (
          select 1 from unnest(${[...run.besides]}::smallint[]) as beside (bucket)
          where beside.bucket between bucket_from and bucket_to
        )
      order by number
      for update skip locked
    )`;
}

/**
 * Heartbeat: renews the leases of the chunks that are being worked on. It does not renew all chunks with the owner's
 * name: a chunk that its worker gave up after a fault must become free. Index: primary key.
 */
export async function renewLeases(
  database: Database,
  hold: { chunks: readonly ChunkHold[]; leaseUntil: Date },
): Promise<number> {
  const { chunks } = hold;
  const rows = await database`
    update chunks set lease_until = ${hold.leaseUntil}
    from unnest(
      ${chunks.map((chunk) => chunk.runId)}::text[], ${chunks.map((chunk) => chunk.number)}::int[],
      ${chunks.map((chunk) => chunk.owner)}::text[], ${chunks.map((chunk) => chunk.attempt)}::int[]
    ) as held (run_id, number, owner, attempt)
    where chunks.run_id = held.run_id collate "C" and chunks.number = held.number and chunks.state = 'CLAIMED'
      and chunks.owner = held.owner and chunks.attempt = held.attempt`;
  return rows.count;
}

/** A window of a chunk: where it ends, and how many devices are in it. */
export type Window = Cursor & { devices: number };

/** How far a chunk has progressed: all users up to a position in a bucket, and all of its earlier buckets. */
export type Cursor = { bucket: number; position: string };

/**
 * Moves the cursor past the window whose outcomes this transaction stores. The cursor is in the bucket in which the
 * window ends, next to the outcomes: on a cluster they are stored together or not at all. Index: primary key.
 */
export async function moveCursor(
  tx: Queryable,
  { runId, workspaceId, bucket, position }: Cursor & { runId: string; workspaceId: string },
): Promise<void> {
  await tx`
    insert into run_cursors (run_id, workspace_id, bucket, position)
    values (${runId}, ${workspaceId}, ${bucket}::smallint, ${position})
    on conflict (run_id, bucket) do update set position = excluded.position`;
}

/**
 * Returns where a chunk continues: the cursor in the last of its buckets that has one. Call it after the claim, which
 * the previous worker cannot pass: everything it stores is stored by then, or never. Index: primary key.
 */
export async function findCursor(
  database: Database,
  chunk: { runId: string; bucketFrom: number; bucketTo: number },
): Promise<Cursor | undefined> {
  const isOne = chunk.bucketFrom === chunk.bucketTo;
  const isInChunk = isOne
    ? database`bucket = ${chunk.bucketFrom}::smallint`
    : database`bucket between ${chunk.bucketFrom} and ${chunk.bucketTo}`;
  const [cursor] = await database<Cursor[]>`
    select bucket, position from run_cursors
    where run_id = ${chunk.runId} and ${isInChunk}
    order by bucket desc
    limit 1`;
  return cursor;
}
