import type { Platform } from '../../domain/content/content.ts';
import type { StreamedKind } from '../../domain/events/event-streams.ts';
import { controlGroups } from '../../domain/experiments/control-groups.ts';
import type { ControlGroup } from '../../domain/experiments/control-groups.ts';
import type { Queryable, Transaction } from '../database.ts';
import { idText, isOutcome, ledgerLocale, ledgerVariation, platformWord } from '../ledger/ledger-encoding.ts';
import type { LedgerVariant } from '../ledger/ledger-encoding.ts';

/** Ledger rows of one run that one transaction stores with the same timestamp. */
export type LedgerMark = {
  workspaceId: string;
  runId: string;
  buckets: number[];
  kinds: StreamedKind[];
  events: number;
};

/**
 * Marks the stored rows for the streams of their workspaces. Runs in the transaction that stores the rows, so a mark
 * becomes visible together with its rows, and no row is missed. Index: event_streams_workspace.
 */
export async function markDeliveries(
  tx: Transaction,
  { marks, at }: { marks: readonly LedgerMark[]; at: Date },
): Promise<void> {
  if (marks.length === 0) return;
  await tx`
    insert into event_stream_marks (stream_id, workspace_id, run_id, buckets, events, at)
    select streams.id, streams.workspace_id, mark."runId", array(select jsonb_array_elements_text(mark.buckets)::smallint),
      mark.events, ${at}
    from jsonb_to_recordset(${JSON.stringify(marks)}::text::jsonb)
      as mark ("workspaceId" text, "runId" text, buckets jsonb, kinds jsonb, events integer)
    join event_streams as streams on streams.workspace_id = mark."workspaceId" collate "C"
    where mark.kinds ?| streams.events`;
}

export type ReportMark = {
  workspaceId: string;
  runId: string;
  bucket: number;
  kind: 'clicked' | 'cleared';
  deviceId: string;
  platform: Platform;
  action: string | null;
  uuid: string;
  /** Null if there is only one variation. */
  variation: number | null;
  locale: string | null;
};

/** Records reports of devices, which are themselves events. Index: event_streams_workspace. */
export async function markReports(
  tx: Transaction,
  { marks, at }: { marks: readonly ReportMark[]; at: Date },
): Promise<void> {
  if (marks.length === 0) return;
  await tx`
    insert into event_stream_marks (
      stream_id, workspace_id, run_id, buckets, events, at, kind, device_id, platform, action, event_uuid,
      variation, locale
    )
    select streams.id, streams.workspace_id, mark."runId", array[mark.bucket], 1, ${at}, mark.kind, mark."deviceId",
      mark.platform, mark.action, mark.uuid, mark.variation, mark.locale
    from jsonb_to_recordset(${JSON.stringify(marks)}::text::jsonb) as mark (
      "workspaceId" text, "runId" text, bucket smallint, kind text, "deviceId" text, platform text, action text, uuid uuid,
      variation smallint, locale text
    )
    join event_streams as streams on streams.workspace_id = mark."workspaceId" collate "C"
    where mark.kind = any(streams.events)`;
}

export type MarkedStream = { id: string; workspaceId: string; events: StreamedKind[]; isObjectStore: boolean };

/**
 * Lists streams that have marks and fewer than `maxPending` batches to deliver. The backlog of a slow receiver waits as
 * marks, which are small. Locks nothing. Indexes: event_stream_marks primary key, event_stream_batches_due.
 */
export async function listMarkedStreams(tx: Queryable, maxPending: number): Promise<MarkedStream[]> {
  return tx<MarkedStream[]>`
    select streams.id, streams.workspace_id as "workspaceId", streams.events,
      streams.s3_region is not null as "isObjectStore"
    from event_streams as streams
    where exists (select 1 from event_stream_marks as marks where marks.stream_id = streams.id)
      and (
        select count(*) from event_stream_batches as batches
        where batches.stream_id = streams.id and batches.state = 'PENDING'
      ) < ${maxPending}
    order by streams.id`;
}

export type TakenMark = {
  number: number;
  runId: string;
  buckets: number[];
  at: Date;
  kind: 'clicked' | 'cleared' | null;
  deviceId: string | null;
  platform: Platform | null;
  action: string | null;
  uuid: string | null;
  variation: number | null;
  locale: string | null;
};

// The remaining marks are taken in another transaction.
const maxMarks = 1_000;

/**
 * Takes the oldest marks of a stream, with about `maxEvents` events, out of the table. They are deleted when the
 * transaction that turns them into batches commits. Returns nothing if another node is taking marks of the stream. Index: primary key.
 */
export async function takeMarks(
  tx: Transaction,
  { streamId, maxEvents }: { streamId: string; maxEvents: number },
): Promise<TakenMark[]> {
  // 7312849 is arbitrary; it only has to be the same on every node.
  const [lock] = await tx<{ isHeld: boolean }[]>`
    select pg_try_advisory_xact_lock(7312849, hashtext(${streamId})) as "isHeld"`;
  if (!lock!.isHeld) return [];
  return tx<TakenMark[]>`
    with oldest as (
      select number, events from event_stream_marks where stream_id = ${streamId} order by number limit ${maxMarks}
    ), fitting as (
      select number, sum(events) over (order by number) - events as before from oldest
    ), taken as (
      delete from event_stream_marks
      where stream_id = ${streamId} and number in (select number from fitting where before < ${maxEvents})
      returning *
    )
    select number, run_id as "runId", buckets, at, kind, device_id as "deviceId", platform, action, event_uuid as uuid,
      variation, locale
    from taken order by number`;
}

/** A run that rows or reports belong to. */
export type MarkedRun = { id: string; number: number; day: string; workspaceNumber: number; locales: string[] | null };

/** Finds runs by id, without test runs, which produce no events. Index: runs primary key. */
export async function findMarkedRuns(tx: Queryable, ids: readonly string[]): Promise<MarkedRun[]> {
  return tx<MarkedRun[]>`
    select runs.id, runs.number, runs.day::text as day, workspaces.number as "workspaceNumber",
      runs.locales
    from runs join workspaces on workspaces.id = runs.workspace_id
    where runs.id = any(${[...ids]}) and not runs.is_test`;
}

export type MarkedRow = {
  runNumber: number;
  at: Date;
  bucket: number;
  userId: string;
  deviceId: string;
  platform: Platform;
  controlGroup: ControlGroup | null;
  /** `locale` is the number of the locale in the run. */
} & LedgerVariant;

export type RowsOf = {
  outcome: 'ACCEPTED' | 'WITHHELD';
  workspaceNumber: number;
  days: readonly string[];
  buckets: readonly number[];
  /** Pairs of a run and a time at which it stored rows. */
  times: readonly { runNumber: number; at: Date }[];
};

/**
 * Lists the rows that were stored at these times. Withheld rows are listed only if the user is in a control group.
 * Indexes: deliveries_log, deliveries_log_other of the days.
 */
export async function listMarkedRows(tx: Queryable, of: RowsOf): Promise<MarkedRow[]> {
  const isWanted =
    of.outcome === 'ACCEPTED'
      ? isOutcome(tx, 'ACCEPTED')
      : tx`${isOutcome(tx, 'WITHHELD')} and deliveries.code = any(${[...controlGroups]}::text[])`;
  return tx<MarkedRow[]>`
    select deliveries.run_number as "runNumber", deliveries.sent_at as at, deliveries.bucket,
      ${idText(tx, tx`deliveries.user_id`)} as "userId", ${idText(tx, tx`deliveries.device_id`)} as "deviceId",
      ${platformWord(tx, tx`deliveries.platform`)} as platform, deliveries.code as "controlGroup",
      ${ledgerVariation(tx)} as variation, ${ledgerLocale(tx)} as locale
    from unnest(
      ${of.times.map(({ runNumber }) => runNumber)}::bigint[], ${of.times.map(({ at }) => at.toISOString())}::timestamptz[]
    ) as given (run_number, at)
    join deliveries on deliveries.run_number = given.run_number and deliveries.sent_at = given.at
    where deliveries.day = any(${[...of.days]}::date[]) and deliveries.bucket = any(${[...of.buckets]}::smallint[])
      and deliveries.workspace_number = ${of.workspaceNumber}::integer and deliveries.platform = any('{A,I,W}'::"char"[])
      and ${isWanted}`;
}

/**
 * Removes users and devices from the events that wait for a receiver; the events stay, without an owner. Indexes:
 * event_stream_marks_device; the workspace's batches are read, by event_stream_batches_newest.
 *
 * @returns the number of batches that named them
 */
export async function eraseStreamedEvents(
  tx: Queryable,
  erased: { workspaceId: string; userIds: readonly string[]; deviceIds: readonly string[] },
): Promise<number> {
  const { workspaceId } = erased;
  const [userIds, deviceIds] = [[...erased.userIds], [...erased.deviceIds]];
  await tx`
    update event_stream_marks set device_id = null
    where workspace_id = ${workspaceId} and device_id = any(${deviceIds}::text[])`;
  const isTheirs = tx`(
    event ->> 'userId' = any(${userIds}::text[]) or event ->> 'deviceId' = any(${deviceIds}::text[])
  )`;
  const rows = await tx`
    update event_stream_batches
    set events = (
      select jsonb_agg(
        case when ${isTheirs} then event || '{"userId": null, "deviceId": null}'::jsonb else event end order by place
      )
      from jsonb_array_elements(events) with ordinality as element (event, place)
    )
    where workspace_id = ${workspaceId}
      and exists (select 1 from jsonb_array_elements(events) as element (event) where ${isTheirs})`;
  return rows.count;
}
