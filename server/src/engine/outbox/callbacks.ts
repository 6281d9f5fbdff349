import { randomBytes } from 'node:crypto';
import { encryptionContext } from '../../domain/crypto/encryption.ts';
import type { Encryption } from '../../domain/crypto/encryption.ts';
import { callbackRetrySeconds, maxPausedHours } from '../../domain/limits/delivery.ts';
import type { CallbackResult } from '../../domain/operations/metrics.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database, Transaction, Queryable } from '../../storage/database.ts';
import { attemptsPerRound, insertCallbackAttempt, settleMessage } from '../../storage/outbox/outbox.ts';
import type { CallbackOutcome, DueCallback } from '../../storage/outbox/outbox.ts';
import {
  claimCallbacks,
  endCallbackSilence,
  giveUpPausedCallbacks,
  listDueCallbackReceivers,
  noteCallbackSilence,
} from '../../storage/outbox/receivers.ts';
import { findWebhookSecret, storeWebhookSecret } from '../../storage/workspaces.ts';
import type { LeasedJob } from '../jobs/leased-job.ts';
import type { OutcomeBuffer } from '../jobs/outcome-buffer.ts';
import type { ContactKind } from './receiver-slots.ts';
import { makeReceiverJob, contactOf, logSilence, postSigned } from './receivers.ts';
import type { CallbackAnswer, PostedAnswer, PostSignedDependencies } from './receivers.ts';

export type DeliverCallbacksDependencies = PostSignedDependencies & {
  database: Database;
  encryption: Encryption;
  outcomes: OutcomeBuffer;
  /** Called after each attempt. */
  onAttempt?: ((result: CallbackResult) => void) | undefined;
  /** Called when a request has ended: more callbacks may be due for its receiver. */
  onFreed?: (() => void) | undefined;
};

const maxAttempts = callbackRetrySeconds.length + 1;
/** Per transaction; the next probe gives up more. */
const maxGivenUpAtOnce = 1_000;

/** The job that posts callbacks until the response is HTTP 200. Every attempt carries the same `webhook-id` and body. */
export function makeDeliverCallbacks(deps: DeliverCallbacksDependencies): LeasedJob {
  const { database, clock, log, outcomes, onFreed } = deps;
  return makeReceiverJob({
    ...{ name: 'deliver-callbacks', what: 'callback', clock, log, outcomes, onFreed },
    listDue: (page) => listDueCallbackReceivers(database, page),
    claim: (claim) => claimCallbacks(database, claim),
    keyOf: ({ origin }) => origin,
    deliver: (callback) => deliver(deps, callback),
  });
}

async function deliver(deps: DeliverCallbacksDependencies, callback: DueCallback): Promise<ContactKind> {
  const { database, clock } = deps;
  const { id, attempts, url, body } = callback;
  const nth = ((attempts - 1) % attemptsPerRound) + 1;
  if (nth > maxAttempts) {
    // The worker of the last attempt died before it recorded the response.
    await settleMessage(database, {
      channel: 'callbacks',
      id,
      attempts,
      outcome: { state: 'GIVEN_UP', endedAt: clock.now() },
    });
    return 'none';
  }
  const secret = await ensureWebhookSecret(deps, callback.workspaceId);
  const posted = await postSigned(deps, { id, url, body, secret });
  const { answer, startedAt, endedAt, durationMilliseconds } = posted;
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
      if (!settled) return undefined;
      await insertCallbackAttempt(tx, {
        callbackId: id,
        number: attempts,
        at: startedAt,
        status: answer.kind === 'answered' ? answer.status : null,
        error: answer.kind === 'failed' ? answer.error : isReceived(answer) ? null : 'not answered with 200',
        durationMilliseconds,
      });
      return noteContact(tx, { callback, posted });
    });
  const silence = await deps.outcomes.store(store);
  const contact = contactOf(answer);
  const { workspaceId, origin } = callback;
  if (silence) logSilence(deps.log, { contact, silence, receiver: { workspaceId, origin } });
  return contact;
}

/**
 * Stores what the attempt shows about the receiver, after the callback. Claims lock the two in the reverse order, but do not
 * wait for locked callbacks.
 */
async function noteContact(tx: Transaction, { callback, posted }: { callback: DueCallback; posted: PostedAnswer }) {
  const { answer, startedAt, endedAt } = posted;
  const { workspaceId, origin } = callback;
  const contact = contactOf(answer);
  if (contact === 'none') return undefined;
  if (contact === 'answered') return endCallbackSilence(tx, { workspaceId, origin });
  const silence = await noteCallbackSilence(tx, { workspaceId, origin, startedAt, endedAt });
  if (silence?.pausedUntil) {
    const dueBefore = new Date(endedAt.getTime() - maxPausedHours * 3_600_000);
    await giveUpPausedCallbacks(tx, { workspaceId, origin, dueBefore, at: endedAt, limit: maxGivenUpAtOnce });
  }
  return silence;
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

// The Standard Webhooks specification asks for 24 to 64 bytes.
const secretBytes = 32;

export type WebhookSecretDependencies = { database: Queryable; encryption: Encryption };

/**
 * Returns the secret that signs a workspace's callbacks: `whsec_` and base64 (Standard Webhooks). It is created on first use;
 * the first node to store one decides for all nodes.
 */
export async function ensureWebhookSecret(
  { database, encryption }: WebhookSecretDependencies,
  workspaceId: string,
): Promise<string> {
  const context = encryptionContext.webhookSecret({ workspaceId });
  let encrypted = await findWebhookSecret(database, workspaceId);
  if (!encrypted) {
    const secret = `whsec_${randomBytes(secretBytes).toString('base64')}`;
    await storeWebhookSecret(database, { workspaceId, encrypted: encryption.encrypt(secret, context) });
    encrypted = await findWebhookSecret(database, workspaceId);
  }
  if (!encrypted) throw new Error('There is no workspace of that id to keep a webhook secret.');
  return encryption.decrypt(encrypted, context).toString('utf8');
}
