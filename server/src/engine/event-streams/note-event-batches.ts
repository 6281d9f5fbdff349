import { maxEventsPerBatch } from '../../domain/event-streams/limits.ts';
import { eventUuid } from '../../domain/event-streams/streamed-event.ts';
import type { StreamedEvent } from '../../domain/event-streams/streamed-event.ts';
import { namedVariant, variationName } from '../../domain/experiments/variants.ts';
import type { NamedVariant } from '../../domain/experiments/variants.ts';
import { makeId } from '../../domain/ids.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { insertEventBatches } from '../../storage/event-streams/stream-batches.ts';
import {
  findMarkedRuns,
  listMarkedRows,
  listMarkedStreams,
  takeMarks,
} from '../../storage/event-streams/stream-marks.ts';
import type { MarkedRow, MarkedRun, MarkedStream, TakenMark } from '../../storage/event-streams/stream-marks.ts';
import type { Job } from '../job.ts';

export type NoteEventBatchesDependencies = { database: Database; onNoted: () => void };

/** A receiver that is slow has so many batches before it; the rest waits as marks. */
const maxPending = 200;
/** Of one transaction. A window of the ledger has at most a few thousand rows. */
const maxEventsAtOnce = 5_000;

/**
 * The job that makes batches of what the streams were told was stored. Marks go and batches come in one transaction, so
 * that each event is in one batch of a stream, whatever dies.
 */
export function makeNoteEventBatches({ database, onNoted }: NoteEventBatchesDependencies): Job {
  return {
    name: 'note-event-batches',
    intervalMilliseconds: 1000,
    async runOnce(now) {
      let taken = 0;
      for (const stream of await listMarkedStreams(database, maxPending))
        taken += await inTransaction(database, (tx) => noteBatches(tx, { stream, at: now }));
      if (taken > 0) onNoted();
      return taken;
    },
  };
}

/** @returns how many marks were taken */
async function noteBatches(tx: Transaction, { stream, at }: { stream: MarkedStream; at: Date }): Promise<number> {
  const marks = await takeMarks(tx, { streamId: stream.id, maxEvents: maxEventsAtOnce });
  if (marks.length === 0) return 0;
  const runs = new Map(
    (await findMarkedRuns(tx, [...new Set(marks.map(({ runId }) => runId))])).map((run) => [run.id, run]),
  );
  const known = marks.filter(({ runId }) => runs.has(runId));
  const events = [...known.flatMap(reportOf), ...(await listDeliveries(tx, { stream, marks: known, runs }))];
  const different = [...new Map(events.map((event) => [event.uuid, event])).values()];
  const batches = Array.from({ length: Math.ceil(different.length / maxEventsPerBatch) }, (_, index) => ({
    id: makeId(at),
    events: different.slice(index * maxEventsPerBatch, (index + 1) * maxEventsPerBatch),
  }));
  await insertEventBatches(tx, { stream, batches, at });
  return marks.length;
}

function reportOf({ kind, uuid, buckets, at, action, variation, locale, ...report }: TakenMark): StreamedEvent[] {
  if (kind === null || uuid === null) return [];
  const { runId, deviceId, platform } = report;
  const event = { kind, uuid, runId, bucket: buckets[0]!, userId: null, deviceId, platform, at: at.toISOString() };
  const named = { variation: variation === null ? null : variationName(variation), locale };
  return [{ ...event, ...contentOf(named), ...(action === null ? {} : { action }) }];
}

/** What an event says of the content; of one for all nothing. */
function contentOf({ variation, locale }: NamedVariant): Pick<StreamedEvent, 'variation' | 'locale'> {
  return { ...(variation === null ? {} : { variation }), ...(locale === null ? {} : { locale }) };
}

type Marked = { stream: MarkedStream; marks: readonly TakenMark[]; runs: ReadonlyMap<string, MarkedRun> };

async function listDeliveries(tx: Transaction, { stream, marks, runs }: Marked): Promise<StreamedEvent[]> {
  const windows = marks.filter(({ kind }) => kind === null);
  if (windows.length === 0) return [];
  const runOf = new Map(windows.map(({ runId }) => [runs.get(runId)!.number, runs.get(runId)!]));
  const own = windows.map(({ runId }) => runs.get(runId)!);
  const of = {
    workspaceNumber: own[0]!.workspaceNumber,
    days: [...new Set(own.map(({ day }) => day))],
    buckets: [...new Set(windows.flatMap(({ buckets }) => buckets))],
    times: [
      ...new Map(
        windows.map(({ runId, at }) => [`${runId} ${at.getTime()}`, { runNumber: runs.get(runId)!.number, at }]),
      ).values(),
    ],
  };
  // What another transaction stored at the same time is in its own mark.
  const isMarked = new Set(
    windows.flatMap(({ runId, at, buckets }) =>
      buckets.map((bucket) => `${runs.get(runId)!.number} ${at.getTime()} ${bucket}`),
    ),
  );
  const rows = [
    ...(stream.events.includes('delivered') ? await listMarkedRows(tx, { ...of, outcome: 'ACCEPTED' }) : []),
    ...(stream.events.includes('control_group') ? await listMarkedRows(tx, { ...of, outcome: 'WITHHELD' }) : []),
  ];
  return rows
    .filter((row) => isMarked.has(`${row.runNumber} ${row.at.getTime()} ${row.bucket}`))
    .map((row) => deliveryOf(row, runOf.get(row.runNumber)!));
}

/** A control group keeps out users, not devices: whoever has two devices is one event. */
function deliveryOf({ controlGroup, userId, deviceId, ...row }: MarkedRow, run: MarkedRun): StreamedEvent {
  const { bucket, platform } = row;
  const runId = run.id;
  const event = { runId, bucket, userId, at: row.at.toISOString() };
  if (controlGroup !== null)
    return {
      ...event,
      ...{ kind: 'control_group', uuid: eventUuid(['control_group', runId, userId]) },
      ...{ deviceId: null, platform: null, controlGroup },
    };
  return {
    ...event,
    ...{ kind: 'delivered', uuid: eventUuid(['delivered', runId, deviceId]), deviceId, platform },
    ...contentOf(namedVariant(run.locales, row)),
  };
}
