import { encryptionContext } from '../../domain/crypto/encryption.ts';
import type { Encryption } from '../../domain/crypto/encryption.ts';
import { eventUuid, writeEventBatch, writeEventLines } from '../../domain/events/event-streams.ts';
import type { StreamedEvent, StreamedKind } from '../../domain/events/event-streams.ts';
import { controlGroups } from '../../domain/experiments/control-groups.ts';
import { namedVariant, variationName } from '../../domain/experiments/variants.ts';
import type { NamedVariant } from '../../domain/experiments/variants.ts';
import { makeId } from '../../domain/ids.ts';
import {
  maxEventsPerBatch,
  maxEventsPerObject,
  eventBatchRetrySeconds,
  maxPausedHours,
} from '../../domain/limits/delivery.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import {
  insertEventBatches,
  findBatchFacts,
  endEventBatch,
  keepEventBatch,
} from '../../storage/outbox/event-streams.ts';
import type { DueEventBatch } from '../../storage/outbox/event-streams.ts';
import { attemptsPerRound } from '../../storage/outbox/outbox.ts';
import {
  claimEventBatches,
  endStreamSilence,
  giveUpPausedBatches,
  listDueStreams,
  noteStreamSilence,
} from '../../storage/outbox/receivers.ts';
import { findMarkedRuns, listMarkedRows, listMarkedStreams, takeMarks } from '../../storage/outbox/stream-marks.ts';
import type { MarkedRow, MarkedRun, MarkedStream, TakenMark, LedgerMark } from '../../storage/outbox/stream-marks.ts';
import type { Job } from '../jobs/job.ts';
import type { LeasedJob } from '../jobs/leased-job.ts';
import type { OutcomeBuffer } from '../jobs/outcome-buffer.ts';
import { putObjectBatch } from './object-batches.ts';
import type { ContactKind } from './receiver-slots.ts';
import { postSigned, makeReceiverJob, contactOf, logSilence } from './receivers.ts';
import type { CallbackAnswer, PostedAnswer, PostSignedDependencies } from './receivers.ts';

export type NoteEventBatchesDependencies = { database: Database; onNoted: () => void };

/** The maximum number of batches queued for a slow receiver. The rest stays as marks. */
const maxPending = 200;
/** Per transaction. A window of the ledger has at most a few thousand rows. */
const maxEventsAtOnce = 5_000;

/**
 * The job that makes batches from the marks of streams. It deletes marks and inserts batches in one transaction, so that each
 * event is in exactly one batch of a stream, even after a crash.
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

/** @returns the number of marks processed */
async function noteBatches(tx: Transaction, { stream, at }: { stream: MarkedStream; at: Date }): Promise<number> {
  const marks = await takeMarks(tx, { streamId: stream.id, maxEvents: maxEventsAtOnce });
  if (marks.length === 0) return 0;
  const runs = new Map(
    (await findMarkedRuns(tx, [...new Set(marks.map(({ runId }) => runId))])).map((run) => [run.id, run]),
  );
  const known = marks.filter(({ runId }) => runs.has(runId));
  const events = [...known.flatMap(reportOf), ...(await listDeliveries(tx, { stream, marks: known, runs }))];
  const different = [...new Map(events.map((event) => [event.uuid, event])).values()];
  const size = stream.isObjectStore ? maxEventsPerObject : maxEventsPerBatch;
  const batches = Array.from({ length: Math.ceil(different.length / size) }, (_, index) => ({
    id: makeId(at),
    events: different.slice(index * size, (index + 1) * size),
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

/** Returns an event's content fields. Empty if all users got the same content. */
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
  // Rows that another transaction stored at the same time have a separate mark.
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

/** A control group excludes users, not devices: a user with two devices is one event. */
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

export type PostEventBatchesDependencies = PostSignedDependencies & {
  database: Database;
  encryption: Encryption;
  outcomes: OutcomeBuffer;
  /** The service's abbreviation, as used in header names. */
  abbreviation: string;
  /** Called when a request has ended: more batches may be due for its stream. */
  onFreed?: (() => void) | undefined;
};

const maxAttempts = eventBatchRetrySeconds.length + 1;
/** Per transaction; the next probe gives up more. */
const maxGivenUpAtOnce = 1_000;

/**
 * The job that posts batches of events until the response is 2xx, at most four times (fact 7). The body is rebuilt for each
 * attempt, with the same ids, so that users erased in the meantime are not named.
 */
export function makePostEventBatches(deps: PostEventBatchesDependencies): LeasedJob {
  const { database, clock, log, outcomes, onFreed } = deps;
  return makeReceiverJob({
    ...{ name: 'post-event-batches', what: 'event batch', clock, log, outcomes, onFreed },
    listDue: (page) => listDueStreams(database, page),
    claim: (claim) => claimEventBatches(database, claim),
    keyOf: ({ streamId }) => streamId,
    deliver: (batch) => deliver(deps, batch),
  });
}

async function deliver(deps: PostEventBatchesDependencies, batch: DueEventBatch): Promise<ContactKind> {
  const { database, clock, encryption, abbreviation } = deps;
  const { id, attempts, url, streamId, workspaceId } = batch;
  const nth = ((attempts - 1) % attemptsPerRound) + 1;
  if (nth > maxAttempts) {
    // The worker of the last attempt died before it recorded the response.
    const end = { state: 'GIVEN_UP' as const, endedAt: clock.now() };
    await keepEventBatch(database, { id, attempts, status: null, error: 'the last attempt did not end', ...end });
    return 'none';
  }
  const facts = await findBatchFacts(database, batch);
  const context = encryptionContext.eventStreamSecret({ workspaceId, id: streamId });
  const secret = encryption.decrypt(batch.encryptedSecret, context).toString('utf8');
  const { objectStore } = batch;
  const posted =
    objectStore === null
      ? await postSigned(deps, { id, url, secret, body: writeEventBatch({ ...batch, abbreviation }, facts) })
      : await putObjectBatch(deps, {
          ...batch,
          objectStore,
          secret,
          lines: writeEventLines({ ...batch, abbreviation }, facts),
        });
  const silence = await deps.outcomes.store(() =>
    inTransaction(database, async (tx) =>
      (await settle(tx, { batch, nth, posted })) ? noteContact(tx, { streamId, posted }) : undefined,
    ),
  );
  const contact = contactOf(posted.answer);
  if (silence) logSilence(deps.log, { contact, silence, receiver: { workspaceId, streamId } });
  return contact;
}

type Attempt = { batch: DueEventBatch; nth: number; posted: PostedAnswer };

/** @returns false if another worker took over because our lease expired: its outcome counts */
async function settle(tx: Transaction, { batch, nth, posted }: Attempt): Promise<boolean> {
  const { id, attempts } = batch;
  const { answer, endedAt } = posted;
  if (isTaken(answer)) return endEventBatch(tx, { id, attempts, at: endedAt });
  const delaySeconds = eventBatchRetrySeconds[nth - 1];
  return keepEventBatch(tx, {
    ...{ id, attempts, ...presentAnswer(answer) },
    ...(delaySeconds === undefined
      ? { state: 'GIVEN_UP', endedAt }
      : { state: 'PENDING', nextAt: new Date(endedAt.getTime() + delaySeconds * 1000) }),
  });
}

/** Stores what the attempt shows about the receiver. */
async function noteContact(tx: Transaction, { streamId, posted }: { streamId: string; posted: PostedAnswer }) {
  const { answer, startedAt, endedAt } = posted;
  const contact = contactOf(answer);
  if (contact === 'none') return undefined;
  if (contact === 'answered') return endStreamSilence(tx, streamId);
  const silence = await noteStreamSilence(tx, { streamId, startedAt, endedAt });
  if (silence?.pausedUntil) {
    const dueBefore = new Date(endedAt.getTime() - maxPausedHours * 3_600_000);
    await giveUpPausedBatches(tx, { streamId, dueBefore, at: endedAt, limit: maxGivenUpAtOnce });
  }
  return silence;
}

function isTaken(answer: CallbackAnswer): boolean {
  return answer.kind === 'answered' && answer.status >= 200 && answer.status < 300;
}

function presentAnswer(answer: CallbackAnswer): { status: number | null; error: string | null } {
  return answer.kind === 'answered' ? { status: answer.status, error: null } : { status: null, error: answer.error };
}

type Stored = { delivery: { bucket: number; outcome: string; code: string | null } };

/** Returns the marks for rows of one run that are stored at one time. Empty if none of the rows is an event. */
export function marksOf(run: { id: string; workspaceId: string }, stored: readonly Stored[]): LedgerMark[] {
  const buckets = new Set<number>();
  const kinds = new Set<StreamedKind>();
  let events = 0;
  for (const { delivery } of stored) {
    const kind = kindOf(delivery);
    if (kind === undefined) continue;
    kinds.add(kind);
    buckets.add(delivery.bucket);
    events += 1;
  }
  if (events === 0) return [];
  return [{ workspaceId: run.workspaceId, runId: run.id, buckets: [...buckets], kinds: [...kinds], events }];
}

function kindOf({ outcome, code }: Stored['delivery']): StreamedKind | undefined {
  if (outcome === 'ACCEPTED') return 'delivered';
  return outcome === 'WITHHELD' && controlGroups.some((group) => group === code) ? 'control_group' : undefined;
}
