import { encryptionContext } from '../../domain/encryption-context.ts';
import type { Encryption } from '../../domain/encryption.ts';
import { eventBatchRetrySeconds } from '../../domain/event-streams/limits.ts';
import { maxPausedHours } from '../../domain/outbox/limits.ts';
import { writeEventBatch } from '../../domain/event-streams/write-event-batch.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { findBatchFacts } from '../../storage/event-streams/batch-facts.ts';
import { endEventBatch, keepEventBatch } from '../../storage/event-streams/stream-batches.ts';
import type { DueEventBatch } from '../../storage/event-streams/stream-batches.ts';
import {
  claimEventBatches,
  endStreamSilence,
  giveUpPausedBatches,
  listDueStreams,
  noteStreamSilence,
} from '../../storage/event-streams/stream-receivers.ts';
import { attemptsPerRound } from '../../storage/outbox/outbox.ts';
import type { LeasedJob } from '../make-leased-job.ts';
import { postSigned } from '../callbacks/post-signed.ts';
import type { CallbackAnswer, PostedAnswer, PostSignedDependencies } from '../callbacks/post-signed.ts';
import type { KeptOutcomes } from '../keep-outcomes.ts';
import { makeReceiverJob } from '../receivers/make-receiver-job.ts';
import { contactOf, logSilence } from '../receivers/receiver-contact.ts';
import type { ContactKind } from '../receivers/receiver-slots.ts';

export type PostEventBatchesDependencies = PostSignedDependencies & {
  database: Database;
  encryption: Encryption;
  outcomes: KeptOutcomes;
  /** The service's, as in names of headers. */
  abbreviation: string;
  /** A request has ended: more may be due for its stream. */
  onFreed?: (() => void) | undefined;
};

const maxAttempts = eventBatchRetrySeconds.length + 1;
/** Of one transaction; the next probe gives up more. */
const maxGivenUpAtOnce = 1_000;

/**
 * The job that posts batches of events until a response is 2xx, at most four times (fact 7). The body is written anew for
 * each attempt, with the same ids, so that nobody is named who was erased meanwhile.
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
    // The worker of the last attempt died before it wrote down the answer.
    const end = { state: 'GIVEN_UP' as const, endedAt: clock.now() };
    await keepEventBatch(database, { id, attempts, status: null, error: 'the last attempt did not end', ...end });
    return 'none';
  }
  const body = writeEventBatch({ ...batch, abbreviation }, await findBatchFacts(database, batch));
  const context = encryptionContext.eventStreamSecret({ workspaceId, id: streamId });
  const secret = encryption.decrypt(batch.encryptedSecret, context).toString('utf8');
  const posted = await postSigned(deps, { id, url, body, secret });
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

/** @returns false when another worker took over because our lease expired: its outcome counts */
async function settle(tx: Transaction, { batch, nth, posted }: Attempt): Promise<boolean> {
  const { id, attempts } = batch;
  const { answer, endedAt } = posted;
  if (isTaken(answer)) return endEventBatch(tx, { id, attempts, at: endedAt });
  const delaySeconds = eventBatchRetrySeconds[nth - 1];
  return keepEventBatch(tx, {
    ...{ id, attempts, ...toldOf(answer) },
    ...(delaySeconds === undefined
      ? { state: 'GIVEN_UP', endedAt }
      : { state: 'PENDING', nextAt: new Date(endedAt.getTime() + delaySeconds * 1000) }),
  });
}

/** Stores what the attempt says of the receiver. */
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

function toldOf(answer: CallbackAnswer): { status: number | null; error: string | null } {
  return answer.kind === 'answered' ? { status: answer.status, error: null } : { status: null, error: answer.error };
}
