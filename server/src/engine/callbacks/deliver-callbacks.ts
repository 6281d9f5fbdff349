import { Webhook } from 'standardwebhooks';
import type { Clock } from '../../clock.ts';
import type { Encryption } from '../../domain/encryption.ts';
import type { Logger } from '../../log.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import {
  attemptsPerRound,
  claimDueMessages,
  insertCallbackAttempt,
  settleMessage,
} from '../../storage/outbox/outbox.ts';
import type { CallbackOutcome, DueCallback } from '../../storage/outbox/outbox.ts';
import type { Job } from '../job.ts';
import type { KeptOutcomes } from '../keep-outcomes.ts';
import { makeLease } from '../make-lease.ts';
import { ensureWebhookSecret } from './webhook-secret.ts';
import { callbackRetrySeconds } from '../../domain/outbox/limits.ts';

export type CallbackAnswer = { kind: 'answered'; status: number } | { kind: 'failed'; error: string };

export type PostCallback = (request: {
  url: string;
  headers: Record<string, string>;
  body: string;
}) => Promise<CallbackAnswer>;

export type DeliverCallbacksDependencies = {
  database: Database;
  clock: Clock;
  encryption: Encryption;
  log: Logger;
  /** Must end within 15 s whatever the receiver does (fault F24); the lease counts on it. */
  post: PostCallback;
  outcomes: KeptOutcomes;
};

export type CallbackJob = Job & {
  /** Resolves when no request is in progress: when stopping, await it after the job and before closing the database. */
  settled(): Promise<void>;
};

const maxAttempts = callbackRetrySeconds.length + 1;

const maxUnderWay = 20;
/** Four times what a request may take: a lease that ends means a worker that died. */
const leaseMilliseconds = 60_000;
/**
 * A round waits this long for its receivers and leaves slower ones under way, so they do not hold up the next round.
 */
const patienceMilliseconds = 1_000;

/**
 * The job that posts callbacks until a response is HTTP 200. Every attempt carries the same `webhook-id` and body, so
 * that a receiver can drop repeats caused by a crash or a lost response.
 */
export function makeDeliverCallbacks(deps: DeliverCallbacksDependencies): CallbackJob {
  const { database, clock, log } = deps;
  const underWay = new Set<Promise<void>>();

  const start = (callback: DueCallback): Promise<void> => {
    const ended = deliver(deps, callback)
      // The database or the decryption failed, not the receiver. The lease expires and the callback is tried again.
      .catch((error: unknown) => log.error({ callbackId: callback.id, err: error }, 'callback not settled'))
      .finally(() => underWay.delete(ended));
    underWay.add(ended);
    return ended;
  };

  return {
    name: 'deliver-callbacks',
    intervalMilliseconds: 1000,
    async runOnce(now) {
      const free = maxUnderWay - underWay.size;
      if (free === 0 || deps.outcomes.waiting() > 0) return 0;
      const due = await claimDueMessages(database, {
        channel: 'callbacks',
        at: now,
        ...makeLease(clock, leaseMilliseconds),
        limit: free,
      });
      await waitAtMost(patienceMilliseconds, Promise.all(due.map(start)));
      return due.length;
    },
    async settled() {
      await Promise.all(underWay);
    },
  };
}

async function deliver(deps: DeliverCallbacksDependencies, callback: DueCallback): Promise<void> {
  const { database, clock, log } = deps;
  const { id, attempts } = callback;
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
  const startedAt = clock.now();
  // The receiver compares it with its own clock, which no sandbox moves.
  const postedAt = clock.realNow();
  const answer = await deps
    .post({ url: callback.url, headers: makeHeaders(callback, { secret, at: postedAt }), body: callback.body })
    .catch((error: unknown): CallbackAnswer => {
      log.error({ callbackId: id, err: error }, 'callback request failed unexpectedly');
      return { kind: 'failed', error: 'unreachable' };
    });
  const endedAt = clock.now();
  const durationMilliseconds = clock.realNow().getTime() - postedAt.getTime();
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

function makeHeaders({ id, body }: DueCallback, sign: { secret: string; at: Date }): Record<string, string> {
  return {
    'content-type': 'application/json',
    'user-agent': 'Carillon',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(sign.at.getTime() / 1000)),
    'webhook-signature': new Webhook(sign.secret).sign(id, sign.at, body),
  };
}

/** Only HTTP 200 acknowledges a callback (interface 4.3); 201 and 204 do not, just like 500. */
function isReceived(answer: CallbackAnswer): boolean {
  return answer.kind === 'answered' && answer.status === 200;
}

function classify(answer: CallbackAnswer, { nth, endedAt }: { nth: number; endedAt: Date }): CallbackOutcome {
  if (isReceived(answer)) return { state: 'DELIVERED', endedAt };
  const delaySeconds = callbackRetrySeconds[nth - 1];
  if (delaySeconds === undefined) return { state: 'GIVEN_UP', endedAt };
  return { state: 'PENDING', nextAt: new Date(endedAt.getTime() + delaySeconds * 1000) };
}

async function waitAtMost(milliseconds: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([work, patience]);
  clearTimeout(timer);
}
