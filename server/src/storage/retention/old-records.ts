import { lastIdAt } from '../../domain/ids.ts';
import type { Queryable, Transaction } from '../database.ts';

/** Tables whose ids begin with the time they were made at, so that the old ones are found by their primary key. */
export type DatedTable =
  'runs' | 'callbacks' | 'mails' | 'event_stream_batches' | 'segment_operations' | 'audit_log' | 'erasures';

/**
 * The next ids of rows made before `before`, oldest first. What must stay, such as a paused run, is passed by once a
 * round. Index: primary key.
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

/** Callbacks and emails: a table of what is delivered, and one of the attempts at it. */
export const messageTables = [
  { table: 'callbacks', attempts: 'callback_attempts', key: 'callback_id' },
  { table: 'mails', attempts: 'mail_attempts', key: 'mail_id' },
] as const;

/**
 * Callbacks or emails that ended before, with their attempts. One that is sent again just now stays. Indexes: primary
 * keys.
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

/** Batches of outgoing events that were given up before. One that is sent again just now stays. Index: primary key. */
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
 * File operations that ended before, with their skipped lines and what is left of their files. The newest of a segment
 * stays: its number is what the next one counts on from. So does one that a callback or an email still belongs to.
 * Indexes: primary key, segment_operations key, callbacks_operation, mails_operation, and the primary keys of the parts.
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

/** Proofs of erasures that were done before. Index: primary key. */
export async function deleteOldErasures(tx: Transaction, { ids, before }: Old): Promise<number> {
  return (await tx`delete from erasures where id = any(${[...ids]}) and state = 'DONE' and due_at < ${before}`).count;
}

type Batch = { before: Date; limit: number };

/** Which run a push request became, oldest first. Index: push_requests_age. */
export async function deleteOldPushRequests(tx: Queryable, { before, limit }: Batch): Promise<number> {
  const rows = await tx`
    delete from push_requests
    where response_id in (
      select response_id from push_requests where received_at < ${before} order by received_at limit ${limit}
      for update skip locked
    )`;
  return rows.count;
}

/** What devices reported first before, oldest first. Index: device_interactions_age. */
export async function deleteOldInteractions(tx: Queryable, { before, limit }: Batch): Promise<number> {
  const rows = await tx`
    delete from device_interactions
    where (workspace_id, bucket, campaign_id, device_id, kind, run_id) in (
      select workspace_id, bucket, campaign_id, device_id, kind, run_id from device_interactions
      where first_at < ${before} order by first_at limit ${limit}
    )`;
  return rows.count;
}

/** Imports that nobody went on with since, so that their files count as new. Reads the table, which has a row a file. */
export async function deleteOldImports(tx: Queryable, { before, limit }: Batch): Promise<number> {
  const rows = await tx`
    delete from imports
    where (workspace_id, kind, file_digest) in (
      select workspace_id, kind, file_digest from imports where updated_at < ${before} limit ${limit} for update skip locked
    )`;
  return rows.count;
}
