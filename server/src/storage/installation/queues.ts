import type { Fragment, Queryable } from '../database.ts';
import { listActiveJourneys } from '../journeys/versions.ts';
import type { ActiveJourney } from '../journeys/versions.ts';
import { mayStart, listOpenDays } from '../runs/run-states.ts';

export const queueNames = [
  'runs',
  'chunks',
  'retries',
  'segment-files',
  'callbacks',
  'event-batches',
  'mails',
  'erasures',
] as const;
export type QueueName = (typeof queueNames)[number];

export type QueueState = {
  name: QueueName;
  /** Ready to be processed now; at most 100,000 are counted. */
  waiting: number;
  running: number;
  /** Not due yet: another attempt, a quiet hour. At most 100,000 are counted. */
  later: number;
  /** Failed in the last 24 hours. At most 100,000 are counted. */
  failed: number;
  /** Since when the oldest of the ready ones has been waiting. */
  oldestAt: Date | null;
};

const most = 100_000;
const dayMilliseconds = 24 * 3_600_000;

/**
 * Returns the state of every kind of work of the whole installation, in the order of `queueNames`. Deliveries have a
 * separate statement, because Citus refuses a recursive query, such as `mayStart`, next to a distributed table.
 */
export async function readQueues(tx: Queryable, at: Date): Promise<QueueState[]> {
  const states = [await readRetryQueue(tx, at), ...(await readCoordinatorQueues(tx, at))];
  return states.sort((one, other) => queueNames.indexOf(one.name) - queueNames.indexOf(other.name));
}

/** Counts rows up to a bound, so that measuring a backlog does not make it worse. */
const countUpTo = (tx: Queryable, rows: Fragment): Fragment =>
  tx`(select count(*) from (select 1 from ${rows} limit ${most}) as counted)`;

/**
 * Returns the state of the deliveries that wait for another attempt, the only work that is stored in the shards of a
 * cluster. Reads the partitions of open runs, and none while no run is open. Locks nothing. Index: deliveries_waiting.
 */
async function readRetryQueue(tx: Queryable, at: Date): Promise<QueueState> {
  const idle: QueueState = { name: 'retries', waiting: 0, running: 0, later: 0, failed: 0, oldestAt: null };
  const days = await listOpenDays(tx);
  if (days.length === 0) return idle;
  const retries = tx`deliveries where day = any(${days}::date[]) and outcome = 'W'`;
  const [row] = await tx<Pick<QueueState, 'waiting' | 'later' | 'oldestAt'>[]>`
    select ${countUpTo(tx, tx`${retries} and retry_at <= ${at}`)} as waiting,
      ${countUpTo(tx, tx`${retries} and retry_at > ${at}`)} as later,
      (select min(retry_at) from ${retries} and retry_at <= ${at}) as "oldestAt"`;
  return { ...idle, ...row! };
}

/**
 * Returns the state of all other work, whose tables a cluster keeps on the coordinator. Callbacks and batches of an
 * unresponsive receiver that is paused count as later, because no worker is late. Locks nothing. Indexes: runs_open,
 * chunks_open, chunks_quarantined, segment_operations_open, segment_operations_failed, callbacks_due,
 * callbacks_given_up, callback_receivers primary key, event_stream_batches_due, event_stream_batches_given_up,
 * mails_due, mails_failed, erasures_due, runs_failed.
 */
async function readCoordinatorQueues(tx: Queryable, at: Date): Promise<QueueState[]> {
  const since = new Date(at.getTime() - dayMilliseconds);
  const count = (rows: Fragment) => countUpTo(tx, rows);
  const none = tx`0::bigint`;
  const callbacks = tx`callbacks where state = 'PENDING' and next_at <= ${at}`;
  const silentCallbacks = tx`exists (select 1 from callback_receivers as silent
    where silent.workspace_id = callbacks.workspace_id and silent.origin = callbacks.origin and silent.paused_until is not null)`;
  const batches = tx`event_stream_batches as batches where state = 'PENDING' and next_at <= ${at}`;
  const silentBatches = tx`exists (select 1 from event_streams as silent
    where silent.id = batches.stream_id and silent.paused_until is not null)`;
  const queuedRuns = tx`runs join campaigns on campaigns.id = runs.campaign_id where runs.status = 'QUEUED'`;
  return tx<QueueState[]>`
    select 'runs' as name, ${count(tx`${queuedRuns} and ${mayStart(tx)}`)} as waiting,
      ${count(tx`runs where status = 'SENDING'`)} as running,
      ${count(tx`${queuedRuns} and not (${mayStart(tx)})`)} as later, ${none} as failed,
      (select min(runs.created_at) from ${queuedRuns} and ${mayStart(tx)}) as "oldestAt"
    union all
    select 'chunks', ${count(tx`chunks where state = 'READY' and not_before <= ${at}`)},
      ${count(tx`chunks where state = 'CLAIMED'`)},
      ${count(tx`chunks where state = 'READY' and not_before > ${at}`)},
      ${count(tx`chunks where state = 'QUARANTINED' and ended_at > ${since}`)},
      (select min(greatest(not_before, created_at)) from chunks where state = 'READY' and not_before <= ${at})
    union all
    select 'segment-files', ${count(tx`segment_operations where state in ('QUEUED', 'WAITING') and not_before <= ${at}`)},
      ${count(tx`segment_operations where state = 'FILLING'`)},
      ${count(tx`segment_operations where state in ('QUEUED', 'WAITING') and not_before > ${at}`)},
      ${count(tx`segment_operations where state = 'FAILED' and ended_at > ${since}`)},
      (select min(not_before) from segment_operations where state in ('QUEUED', 'WAITING') and not_before <= ${at})
    union all
    select 'callbacks', ${count(tx`${callbacks} and not ${silentCallbacks}`)}, ${none},
      ${count(tx`callbacks where state = 'PENDING' and (next_at > ${at} or ${silentCallbacks})`)},
      ${count(tx`callbacks where state = 'GIVEN_UP' and ended_at > ${since}`)},
      (select min(next_at) from ${callbacks} and not ${silentCallbacks})
    union all
    select 'event-batches', ${count(tx`${batches} and not ${silentBatches}`)}, ${none},
      ${count(tx`event_stream_batches as batches where state = 'PENDING' and (next_at > ${at} or ${silentBatches})`)},
      ${count(tx`event_stream_batches where state = 'GIVEN_UP' and ended_at > ${since}`)},
      (select min(next_at) from ${batches} and not ${silentBatches})
    union all
    select 'mails', ${count(tx`mails where state = 'PENDING' and next_at <= ${at}`)}, ${none},
      ${count(tx`mails where state = 'PENDING' and next_at > ${at}`)},
      ${count(tx`mails where state = 'FAILED' and ended_at > ${since}`)},
      (select min(next_at) from mails where state = 'PENDING' and next_at <= ${at})
    union all
    select 'erasures', ${count(tx`erasures where state <> 'DONE' and due_at <= ${at}`)}, ${none},
      ${count(tx`erasures where state = 'PENDING' and due_at > ${at}`)}, ${none},
      (select min(due_at) from erasures where state <> 'DONE' and due_at <= ${at})`;
}

/**
 * Returns the first instant in a span at which work becomes due: a schedule, a waiting delivery or run, a chunk held
 * back by its throttle, a trigger, a fill, a report file, a callback, an email, the end of a segment, an erasure.
 * Returns undefined if there is none. Indexes: triggers_due, report_files_due, campaigns_due, runs_due,
 * deliveries_waiting, chunks_open, segment_operations_open, callbacks_due, mails_due, segments_expiry, erasures_due.
 * Reads the ledger partitions of runs that are being sent.
 */
export async function findNextDue(
  tx: Queryable,
  { after, until }: { after: Date; until: Date },
): Promise<Date | undefined> {
  const retryAt = await findNextRetry(tx, { after, until });
  const triggerAt = await findNextTrigger(tx, { after, until });
  const positionAt = await findNextPosition(tx, { after, until });
  const [row] = await tx<{ at: Date | null }[]>`
    select least(
      ${retryAt ?? null}::timestamptz, ${triggerAt ?? null}::timestamptz,
      ${positionAt ?? null}::timestamptz,
      (select min(next_at) from campaigns
        where next_at > ${after} and next_at <= ${until} and status in ('SCHEDULED', 'ACTIVE')),
      (select min(runs.due_at) from runs join campaigns on campaigns.id = runs.campaign_id
        where runs.status = 'QUEUED' and runs.due_at > ${after} and runs.due_at <= ${until}
          and campaigns.status <> 'PAUSED'),
      (select min(chunks.not_before) from chunks join runs on runs.id = chunks.run_id
        where chunks.state in ('READY', 'CLAIMED') and chunks.not_before > ${after} and chunks.not_before <= ${until}
          and runs.status = 'SENDING'),
      (select min(not_before) from segment_operations
        where state in ('QUEUED', 'FILLING', 'WAITING') and not_before > ${after} and not_before <= ${until}),
      (select min(next_at) from callbacks where state = 'PENDING' and next_at > ${after} and next_at <= ${until}),
      (select min(next_at) from event_stream_batches
        where state = 'PENDING' and next_at > ${after} and next_at <= ${until}),
      (select min(next_at) from mails where state = 'PENDING' and next_at > ${after} and next_at <= ${until}),
      (select min(next_at) from report_files where state = 'WAITING' and next_at > ${after} and next_at <= ${until}),
      (select min(expires_at) from segments
        where state <> 'ARCHIVED' and expires_at > ${after} and expires_at <= ${until}),
      (select min(due_at) from erasures where state <> 'DONE' and due_at > ${after} and due_at <= ${until}),
      (select min(until_at) from log_erasures where until_at > ${after} and until_at <= ${until})
    ) as at`;
  return row?.at ?? undefined;
}

/**
 * Returns when the first delivery of a run that is being sent is due again. Reads the runs first, because a cluster
 * does not join a distributed table with one of the coordinator. Indexes: runs_open, deliveries_waiting of the runs'
 * days.
 */
async function findNextRetry(tx: Queryable, { after, until }: { after: Date; until: Date }): Promise<Date | undefined> {
  const { days, numbers } = await listSendingRuns(tx);
  if (numbers.length === 0) return undefined;
  const [row] = await tx<{ at: Date | null }[]>`
    select min(retry_at) as at from deliveries
    where day = any(${days}::date[]) and outcome = 'W' and retry_at > ${after} and retry_at <= ${until}
      and run_number = any(${numbers}::bigint[])`;
  return row?.at ?? undefined;
}

/**
 * True if due work is not done yet: the work that findNextDue looks for, runs to be released, and runs that are no
 * longer held back. Work that waits for a segment being filled counts as part of that fill; work for a paused receiver
 * is not due. Asks in the order in which work goes on, from journeys to triggers, runs and the ledger, so that what goes on
 * meanwhile is met at its next place. Queries the ledger last, and only while runs are being sent, because each new day of it
 * makes the database plan again. Indexes: as findNextDue.
 */
export async function hasDueWork(tx: Queryable, at: Date): Promise<boolean> {
  if (await hasDuePositions(tx, at)) return true;
  if (await hasDueTriggers(tx, at)) return true;
  if (await hasDueRecords(tx, at)) return true;
  return hasDueDeliveries(tx, at);
}

/** Campaigns, runs, files, calls and emails. */
async function hasDueRecords(tx: Queryable, at: Date): Promise<boolean> {
  const [row] = await tx<{ isLeft: boolean }[]>`
    select
      exists (select 1 from campaigns where next_at <= ${at} and status in ('SCHEDULED', 'ACTIVE'))
      or exists (
        select 1 from runs join campaigns on campaigns.id = runs.campaign_id
        where runs.status = 'QUEUED' and runs.due_at <= ${at} and campaigns.status <> 'PAUSED'
      )
      or exists (
        select 1 from runs
        where status = 'QUEUED' and due_at is null and not exists (
          select 1 from segments where segments.workspace_id = runs.workspace_id and segments.state = 'FILLING'
        )
      )
      or exists (
        select 1 from chunks join runs on runs.id = chunks.run_id
        where chunks.state in ('READY', 'CLAIMED') and chunks.not_before <= ${at} and runs.status = 'SENDING'
      )
      or exists (
        select 1 from runs where audience_cut is not null and audience_devices is null and status = 'SENDING'
      )
      or exists (
        select 1 from segment_operations where state in ('QUEUED', 'FILLING', 'WAITING') and not_before <= ${at}
      )
      or exists (select 1 from log_erasures where until_at <= ${at})
      or exists (select 1 from callbacks where state = 'PENDING' and next_at <= ${at} and not exists (
        select 1 from callback_receivers as silent
        where silent.workspace_id = callbacks.workspace_id and silent.origin = callbacks.origin and silent.paused_until > ${at}
      ))
      -- Marks may be waiting for batches that wait for another attempt.
      or exists (select 1 from event_stream_marks as mark where not exists (
        select 1 from event_stream_batches as batch where batch.stream_id = mark.stream_id and batch.state = 'PENDING'
      ))
      or exists (select 1 from event_stream_batches as batch where state = 'PENDING' and next_at <= ${at} and not exists (
        select 1 from event_streams as silent where silent.id = batch.stream_id and silent.paused_until > ${at}
      ))
      or exists (select 1 from mails where state = 'PENDING' and next_at <= ${at})
      or exists (select 1 from report_files where state = 'WAITING' and next_at <= ${at})
      or exists (select 1 from segments where state <> 'ARCHIVED' and expires_at <= ${at})
      or exists (select 1 from erasures where state <> 'DONE' and due_at <= ${at})
      as "isLeft"`;
  return row!.isLeft;
}

/**
 * True if a run that is being sent has due deliveries or is not held back. Indexes: runs_open, chunks primary key,
 * deliveries_waiting of the runs' days.
 */
async function hasDueDeliveries(tx: Queryable, at: Date): Promise<boolean> {
  const { days, numbers } = await listSendingRuns(tx);
  if (numbers.length === 0) return false;
  const waiting = await tx<{ number: number; isDue: boolean; isLater: boolean }[]>`
    select run_number as number, bool_or(retry_at <= ${at}) as "isDue", bool_or(retry_at > ${at}) as "isLater"
    from deliveries where day = any(${days}::date[]) and outcome = 'W' and run_number = any(${numbers}::bigint[])
    group by run_number`;
  if (waiting.some(({ isDue }) => isDue)) return true;
  const later = waiting.filter(({ isLater }) => isLater).map(({ number }) => number);
  const [row] = await tx<{ isLeft: boolean }[]>`
    select
      -- Includes runs that started to send after the first query.
      exists (
        select 1 from runs where status = 'SENDING' and number <> all(${later}::bigint[]) and not exists (
          select 1 from chunks
          where chunks.run_id = runs.id and chunks.state in ('READY', 'CLAIMED') and chunks.not_before > ${at}
        )
      ) as "isLeft"`;
  return row!.isLeft;
}

/**
 * Returns when the first waiting trigger is due. A separate statement, because a cluster has triggers in its shards.
 * Index: triggers_due.
 */
async function findNextTrigger(
  tx: Queryable,
  { after, until }: { after: Date; until: Date },
): Promise<Date | undefined> {
  const [row] = await tx<{ at: Date | null }[]>`
    select min(due_at) as at from triggers where state = 'WAITING' and due_at > ${after} and due_at <= ${until}`;
  return row?.at ?? undefined;
}

/** True if a trigger is due. Index: triggers_due. */
async function hasDueTriggers(tx: Queryable, at: Date): Promise<boolean> {
  const rows = await tx`select 1 from triggers where state = 'WAITING' and due_at <= ${at} limit 1`;
  return rows.length > 0;
}

/** Returns when the first person in a journey goes on. Index: journey_positions_due. */
async function findNextPosition(
  tx: Queryable,
  { after, until }: { after: Date; until: Date },
): Promise<Date | undefined> {
  const journeys = await listActiveJourneys(tx);
  if (journeys.length === 0) return undefined;
  const [row] = await tx<{ at: Date | null }[]>`
    select min(due_at) as at from journey_positions
    where ${isOfJourney(tx, journeys)} and due_at > ${after} and due_at <= ${until}`;
  return row?.at ?? undefined;
}

/** True if a person in a journey goes on now. Index: journey_positions_due. */
async function hasDuePositions(tx: Queryable, at: Date): Promise<boolean> {
  const journeys = await listActiveJourneys(tx);
  if (journeys.length === 0) return false;
  const rows = await tx`
    select 1 from journey_positions where ${isOfJourney(tx, journeys)} and due_at <= ${at} limit 1`;
  return rows.length > 0;
}

/** Both begin the index journey_positions_due; ids of journeys are unique. */
function isOfJourney(tx: Queryable, journeys: readonly ActiveJourney[]): Fragment {
  const workspaceIds = [...new Set(journeys.map(({ workspaceId }) => workspaceId))];
  return tx`
    workspace_id = any(${workspaceIds}) and journey_id = any(${journeys.map(({ journeyId }) => journeyId)})`;
}

/** Index: runs_open. */
async function listSendingRuns(tx: Queryable): Promise<{ days: string[]; numbers: number[] }> {
  const rows = await tx<{ number: number; day: string }[]>`
    select number, day::text as day from runs where status = 'SENDING'`;
  return { days: [...new Set(rows.map(({ day }) => day))], numbers: rows.map(({ number }) => number) };
}
