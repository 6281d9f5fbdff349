import type { Encryption } from '../../domain/encryption.ts';
import { callbackRetrySeconds } from '../../domain/outbox/limits.ts';
import type { CallbackResult } from '../../domain/metrics/metric-table.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import {
  attemptsPerRound,
  claimDueMessages,
  insertCallbackAttempt,
  settleMessage,
} from '../../storage/outbox/outbox.ts';
import type { CallbackOutcome, DueCallback } from '../../storage/outbox/outbox.ts';
import type { KeptOutcomes } from '../keep-outcomes.ts';
import { makeLeasedJob } from '../make-leased-job.ts';
import type { LeasedJob } from '../make-leased-job.ts';
import { postSigned } from './post-signed.ts';
import type { CallbackAnswer, PostSignedDependencies } from './post-signed.ts';
import { ensureWebhookSecret } from './webhook-secret.ts';

export type DeliverCallbacksDependencies = PostSignedDependencies & {
  database: Database;
  encryption: Encryption;
  outcomes: KeptOutcomes;
  /** Called after each attempt. */
  onAttempt?: ((result: CallbackResult) => void) | undefined;
};

const maxAttempts = callbackRetrySeconds.length + 1;
const maxUnderWay = 20;

/**
 * The job that posts callbacks until a response is HTTP 200. Every attempt carries the same `webhook-id` and body.
 */
export function makeDeliverCallbacks(deps: DeliverCallbacksDependencies): LeasedJob {
  const { database, clock, log, outcomes } = deps;
  return makeLeasedJob({
    ...{ name: 'deliver-callbacks', what: 'callback', maxUnderWay, clock, log, outcomes },
    claim: (claim) => claimDueMessages(database, { channel: 'callbacks', ...claim }),
    deliver: (callback) => deliver(deps, callback),
  });
}

async function deliver(deps: DeliverCallbacksDependencies, callback: DueCallback): Promise<void> {
  const { database, clock } = deps;
  const { id, attempts, url, body } = callback;
  const nth = ((attempts - 1) % attemptsPerRound) + 1;
  if (nth > maxAttempts) {
    // The worker of the last attempt died before it wrote down the answer.
    await settleMessage(database, {
      channel: 'callbacks',
      id,
      attempts,
      outcome: { state: 'GIVEN_UP', endedAt: clock.now() },
    });
    return;
  }
  const secret = await ensureWebhookSecret(deps, callback.workspaceId);
  const { answer, startedAt, endedAt, durationMilliseconds } = await postSigned(deps, { id, url, body, secret });
  deps.onAttempt?.(resultOf(answer));
  const store = () =>
    inTransaction(database, async (tx) => {
      const settled = await settleMessage(tx, {
        channel: 'callbacks',
        id,
        attempts,
        outcome: classify(answer, { nth, endedAt }),
      });
      // Another worker took over when our lease expired; its outcome counts.
      if (!settled) return;
      await insertCallbackAttempt(tx, {
        callbackId: id,
        number: attempts,
        at: startedAt,
        status: answer.kind === 'answered' ? answer.status : null,
        error: answer.kind === 'failed' ? answer.error : isReceived(answer) ? null : 'not answered with 200',
        durationMilliseconds,
      });
    });
  await deps.outcomes.store(store);
}

/** Only HTTP 200 acknowledges a callback (interface 4.3); 201 and 204 do not, just like 500. */
function isReceived(answer: CallbackAnswer): boolean {
  return answer.kind === 'answered' && answer.status === 200;
}

function resultOf(answer: CallbackAnswer): CallbackResult {
  if (isReceived(answer)) return 'received';
  return answer.kind === 'answered' ? 'refused' : 'unreached';
}

function classify(answer: CallbackAnswer, { nth, endedAt }: { nth: number; endedAt: Date }): CallbackOutcome {
  if (isReceived(answer)) return { state: 'DELIVERED', endedAt };
  const delaySeconds = callbackRetrySeconds[nth - 1];
  if (delaySeconds === undefined) return { state: 'GIVEN_UP', endedAt };
  return { state: 'PENDING', nextAt: new Date(endedAt.getTime() + delaySeconds * 1000) };
}
