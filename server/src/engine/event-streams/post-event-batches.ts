import { encryptionContext } from '../../domain/encryption-context.ts';
import type { Encryption } from '../../domain/encryption.ts';
import { eventBatchRetrySeconds } from '../../domain/event-streams/limits.ts';
import { writeEventBatch } from '../../domain/event-streams/write-event-batch.ts';
import type { Database } from '../../storage/database.ts';
import { findBatchFacts } from '../../storage/event-streams/batch-facts.ts';
import { claimEventBatches, endEventBatch, keepEventBatch } from '../../storage/event-streams/stream-batches.ts';
import type { DueEventBatch } from '../../storage/event-streams/stream-batches.ts';
import { attemptsPerRound } from '../../storage/outbox/outbox.ts';
import { makeLeasedJob } from '../make-leased-job.ts';
import type { LeasedJob } from '../make-leased-job.ts';
import { postSigned } from '../callbacks/post-signed.ts';
import type { CallbackAnswer, PostSignedDependencies } from '../callbacks/post-signed.ts';
import type { KeptOutcomes } from '../keep-outcomes.ts';

export type PostEventBatchesDependencies = PostSignedDependencies & {
  database: Database;
  encryption: Encryption;
  outcomes: KeptOutcomes;
  /** The service's, as in names of headers. */
  abbreviation: string;
};

const maxAttempts = eventBatchRetrySeconds.length + 1;
const maxUnderWay = 20;
/** Under way to one receiver. */
const perStream = 8;

/**
 * The job that posts batches of events until a response is 2xx, at most four times (fact 7). The body is written anew for
 * each attempt, with the same ids, so that nobody is named who was erased meanwhile.
 */
export function makePostEventBatches(deps: PostEventBatchesDependencies): LeasedJob {
  const { database, clock, log, outcomes } = deps;
  return makeLeasedJob({
    ...{ name: 'post-event-batches', what: 'event batch', maxUnderWay, clock, log, outcomes },
    claim: (claim) => claimEventBatches(database, { ...claim, perStream }),
    deliver: (batch) => deliver(deps, batch),
  });
}

async function deliver(deps: PostEventBatchesDependencies, batch: DueEventBatch): Promise<void> {
  const { database, clock, encryption, abbreviation } = deps;
  const { id, attempts, url, streamId, workspaceId } = batch;
  const nth = ((attempts - 1) % attemptsPerRound) + 1;
  if (nth > maxAttempts) {
    // The worker of the last attempt died before it wrote down the answer.
    const end = { state: 'GIVEN_UP' as const, endedAt: clock.now() };
    return keepEventBatch(database, { id, attempts, status: null, error: 'the last attempt did not end', ...end });
  }
  const body = writeEventBatch({ ...batch, abbreviation }, await findBatchFacts(database, batch));
  const context = encryptionContext.eventStreamSecret({ workspaceId, id: streamId });
  const secret = encryption.decrypt(batch.encryptedSecret, context).toString('utf8');
  const { answer, endedAt } = await postSigned(deps, { id, url, body, secret });
  await deps.outcomes.store(async () => {
    if (isTaken(answer)) return endEventBatch(database, { id, attempts, at: endedAt });
    const delaySeconds = eventBatchRetrySeconds[nth - 1];
    return keepEventBatch(database, {
      ...{ id, attempts, ...toldOf(answer) },
      ...(delaySeconds === undefined
        ? { state: 'GIVEN_UP', endedAt }
        : { state: 'PENDING', nextAt: new Date(endedAt.getTime() + delaySeconds * 1000) }),
    });
  });
}

function isTaken(answer: CallbackAnswer): boolean {
  return answer.kind === 'answered' && answer.status >= 200 && answer.status < 300;
}

function toldOf(answer: CallbackAnswer): { status: number | null; error: string | null } {
  return answer.kind === 'answered' ? { status: answer.status, error: null } : { status: null, error: answer.error };
}
