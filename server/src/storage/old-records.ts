import { lastIdAt } from '../domain/ids.ts';
import type { Queryable, Transaction } from './database.ts';
import { countSeats } from './runs/audience-seats.ts';

/** Tables whose ids begin with the creation time, so that old rows are found by primary key. */
export type DatedTable =
  'runs' | 'callbacks' | 'mails' | 'event_stream_batches' | 'segment_operations' | 'audit_log' | 'erasures';

/**
 * Lists the next ids of rows created before `before`, oldest first. Rows that must stay, such as a paused run, are
 * skipped once per run of the job. Index: primary key.
 */
export async function listOldIds(
  tx: Queryable,
  { table, after, before, limit }: { table: DatedTable; after: string; before: Date; limit: number },
): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select id from ${tx(table)} where id > ${after} and id <= ${lastIdAt(before)} order by id limit ${limit}`;
  return rows.map(({ id }) => id);
}

type Old = { ids: readonly string[]; before: Date };

/** Callbacks and emails: each has a table of messages, and one of delivery attempts. */
export const messageTables = [
  { table: 'callbacks', attempts: 'callback_attempts', key: 'callback_id' },
  { table: 'mails', attempts: 'mail_attempts', key: 'mail_id' },
] as const;

/**
 * Deletes callbacks or emails that ended before `before`, with their attempts. One that is being sent again stays.
 * Indexes: primary keys.
 */
export async function deleteOldMessages(
  tx: Transaction,
  { of, ids, before }: Old & { of: (typeof messageTables)[number] },
): Promise<number> {
  const rows = await tx<{ id: string }[]>`
    select id from ${tx(of.table)} where id = any(${[...ids]}) and state <> 'PENDING' and ended_at < ${before}
    order by id for update skip locked`;
  const old = rows.map(({ id }) => id);
  await tx`delete from ${tx(of.attempts)} where ${tx(of.key)} = any(${old})`;
  await tx`delete from ${tx(of.table)} where id = any(${old})`;
  return old.length;
}

/**
 * Deletes batches of outgoing events that were given up before `before`. One that is being sent again stays. Index:
 * primary key.
 */
export async function deleteOldEventBatches(tx: Transaction, { ids, before }: Old): Promise<number> {
  const rows = await tx`
    delete from event_stream_batches where id in (
      select id from event_stream_batches
      where id = any(${[...ids]}) and state = 'GIVEN_UP' and ended_at < ${before}
      order by id for update skip locked
    )`;
  return rows.count;
}

/**
 * Deletes file operations that ended before `before`, with their skipped lines and what is left of their files. The
 * newest of a segment stays, because the next one continues its number. So does one that a callback or an email still
 * belongs to. Indexes: primary key, segment_operations key, callbacks_operation, mails_operation, and the primary keys
 * of the parts.
 */
export async function deleteOldOperations(tx: Transaction, { ids, before }: Old): Promise<number> {
  const rows = await tx<{ id: string }[]>`
    select id from segment_operations as operation
    where id = any(${[...ids]}) and state in ('SUCCEEDED', 'FAILED') and ended_at < ${before}
      and exists (
        select 1 from segment_operations as later
        where later.segment_id = operation.segment_id and later.number > operation.number
      )
      and not exists (select 1 from callbacks where callbacks.operation_id = operation.id)
      and not exists (select 1 from mails where mails.operation_id = operation.id)
    order by id for update skip locked`;
  const old = rows.map(({ id }) => id);
  await tx`delete from segment_rejects where operation_id = any(${old})`;
  await tx`delete from segment_file_pieces where operation_id = any(${old})`;
  await tx`delete from segment_operations where id = any(${old})`;
  return old.length;
}

/** Index: primary key. */
export async function deleteOldAuditLines(tx: Transaction, { ids, before }: Old): Promise<number> {
  return (await tx`delete from audit_log where id = any(${[...ids]}) and at < ${before}`).count;
}

/** Deletes records of erasures that were completed before `before`. Index: primary key. */
export async function deleteOldErasures(tx: Transaction, { ids, before }: Old): Promise<number> {
  return (await tx`delete from erasures where id = any(${[...ids]}) and state = 'DONE' and due_at < ${before}`).count;
}

type Batch = { before: Date; limit: number };

/** Deletes the records of which run a push request created, oldest first. Index: push_requests_age. */
export async function deleteOldPushRequests(tx: Queryable, { before, limit }: Batch): Promise<number> {
  const rows = await tx`
    delete from push_requests
    where response_id in (
      select response_id from push_requests where received_at < ${before} order by received_at limit ${limit}
      for update skip locked
    )`;
  return rows.count;
}

/** Deletes interactions that devices first reported before `before`, oldest first. Index: device_interactions_age. */
export async function deleteOldInteractions(tx: Queryable, { before, limit }: Batch): Promise<number> {
  const rows = await tx`
    delete from device_interactions
    where (workspace_id, bucket, campaign_id, device_id, kind, run_id) in (
      select workspace_id, bucket, campaign_id, device_id, kind, run_id from device_interactions
      where first_at < ${before} order by first_at limit ${limit}
    )`;
  return rows.count;
}

/**
 * Deletes imports that were not continued since `before`, so that their files count as new. Reads the table, which has
 * one row per file.
 */
export async function deleteOldImports(tx: Queryable, { before, limit }: Batch): Promise<number> {
  const rows = await tx`
    delete from imports
    where (workspace_id, kind, file_digest) in (
      select workspace_id, kind, file_digest from imports where updated_at < ${before} limit ${limit} for update skip locked
    )`;
  return rows.count;
}

/**
 * Deletes the given runs that ended before `before`, each with its chunks, counters, failures and conversions. A run
 * stays while its day of the ledger exists, a worker holds one of its chunks, or its frozen audience is not deleted
 * yet. Runs that another transaction has locked are left for the next time. Indexes: primary keys of runs, chunks,
 * run_counts, run_interactions and run_failures; conversions_campaign.
 *
 * @returns how many runs
 */
export async function deleteOldRuns(
  tx: Transaction,
  { ids, before }: { ids: readonly string[]; before: Date },
): Promise<number> {
  const runs = await tx<{ id: string; workspaceId: string; campaignId: string }[]>`
    select id, workspace_id as "workspaceId", campaign_id as "campaignId" from runs
    where id = any(${[...ids]}) and ended_at < ${before}
      and status in ('SENT', 'FAILED', 'STOPPED', 'MISSED')
      and to_regclass('deliveries_' || to_char(day, 'YYYYMMDD')) is null
      and (audience_segment_id is distinct from id or audience_dropped_at is not null)
      and not exists (select 1 from chunks where chunks.run_id = runs.id and chunks.state in ('READY', 'CLAIMED'))
    order by id
    for update skip locked`;
  if (runs.length === 0) return 0;
  const old = runs.map(({ id }) => id);
  for (const [campaignId, own] of Map.groupBy(runs, (run) => run.campaignId))
    await tx`
      delete from conversions
      where workspace_id = ${own[0]!.workspaceId} and campaign_id = ${campaignId}
        and run_id = any(${own.map(({ id }) => id)})`;
  await tx`delete from run_failures where run_id = any(${old})`;
  await tx`delete from run_refusals where run_id = any(${old})`;
  await tx`delete from run_cursors where run_id = any(${old})`;
  await tx`delete from run_variations where run_id = any(${old})`;
  await deleteSeats(tx, old);
  await tx`delete from run_interactions where run_id = any(${old})`;
  await tx`delete from run_counts where run_id = any(${old})`;
  await tx`delete from inbox_counts where run_id = any(${old})`;
  await tx`delete from chunks where run_id = any(${old})`;
  await tx`delete from runs where id = any(${old})`;
  return old.length;
}

/** Deletes the remaining seats of runs, and the limits that belong to these runs alone. Index: audience_limits primary key. */
async function deleteSeats(tx: Transaction, runIds: readonly string[]): Promise<void> {
  const left = await tx<{ limitId: string }[]>`
    delete from audience_seats where run_id = any(${[...runIds]}) returning limit_id as "limitId"`;
  const limits = Map.groupBy(left, ({ limitId }) => limitId);
  for (const [id, own] of [...limits].sort(([one], [other]) => (one < other ? -1 : 1)))
    await countSeats(tx, { id, taken: -own.length, sent: 0 });
  await tx`delete from audience_limits where id = any(${[...runIds]})`;
}
