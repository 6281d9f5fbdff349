import type { Clock } from '../../clock.ts';
import { ServiceError } from '../../domain/errors.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database, Queryable } from '../../storage/database.ts';
import {
  attemptsPerRound,
  findMessage,
  listCallbackAttempts,
  listEmailAttempts,
  listMessages,
  resendMessage,
} from '../../storage/outbox/outbox.ts';
import type { LogCursor } from '../../storage/outbox/outbox.ts';
import { audit } from '../accounts/audit.ts';
import type { Actor, Audited } from '../accounts/audit.ts';
import { requireWorkspace } from '../workspaces.ts';
import type { SegmentCaller } from './segment-limits.ts';

// Shows and resends a segment's callbacks and emails, for the console and the command line.

type MessageDependencies = { database: Database; clock: Clock };

export type WebhookSecretDependencies = MessageDependencies & {
  /** Returns the secret that signs a workspace's callbacks; the first call creates it. */
  webhookSecretOf: (tx: Queryable, workspaceId: string) => Promise<string>;
};

type Key = { workspaceId: string; id: string };
/** `isFailed`: only those that no receiver accepted; `segmentId`: only those about its files. */
export type LogQuery = {
  workspaceId: string;
  isFailed?: boolean;
  segmentId?: string | undefined;
  after?: LogCursor | undefined;
};

export const maxLogged = 100;

/** Newest first. @throws ServiceError NOT_FOUND */
export async function listCallbacks({ database }: MessageDependencies, query: LogQuery) {
  await requireWorkspace(database, query.workspaceId);
  return (await listMessages(database, { channel: 'callbacks', ...pageOf(query) })).map(countJobRuns);
}

/** @throws ServiceError NOT_FOUND */
export async function readCallback({ database }: MessageDependencies, key: Key) {
  const callback = await findMessage(database, { channel: 'callbacks', ...key });
  if (!callback) throw new ServiceError('NOT_FOUND', { detail: `no callback ${key.id}` });
  const attempts = await listCallbackAttempts(database, callback.id);
  return { ...countJobRuns(callback), tries: attempts.map(({ number, ...attempt }) => placeTry(number, attempt)) };
}

/** Sends a callback again, with the whole schedule of attempts. @throws ServiceError NOT_FOUND, PARAMETER_INVALID */
export async function resendCallback(deps: MessageDependencies, { actor, ...key }: Key & { actor: Actor }) {
  const { id, url: name } = await readCallback(deps, key);
  const entry = { actor, action: 'callback.resend', object: { id, name } } as const;
  const isDue = await resend(deps, { channel: 'callbacks', key, entry });
  const callback = await readCallback(deps, key);
  if (isDue) return callback;
  const reason =
    callback.state === 'PENDING'
      ? 'the callback is still being delivered; it can be sent again when that has ended'
      : 'the callback was sent again too often';
  throw new ServiceError('PARAMETER_INVALID', { field: 'id', reason });
}

/** Newest first. @throws ServiceError NOT_FOUND */
export async function listEmails({ database }: MessageDependencies, query: LogQuery) {
  await requireWorkspace(database, query.workspaceId);
  return (await listMessages(database, { channel: 'emails', ...pageOf(query) })).map(countJobRuns);
}

/** @throws ServiceError NOT_FOUND */
export async function readEmail({ database }: MessageDependencies, key: Key) {
  const email = await findMessage(database, { channel: 'emails', ...key });
  if (!email) throw new ServiceError('NOT_FOUND', { detail: `no mail ${key.id}` });
  const attempts = await listEmailAttempts(database, email.id);
  return { ...countJobRuns(email), tries: attempts.map(({ number, ...attempt }) => placeTry(number, attempt)) };
}

/** Sends an email again, with the whole schedule of attempts. @throws ServiceError NOT_FOUND, PARAMETER_INVALID */
export async function resendEmail(deps: MessageDependencies, { actor, ...key }: Key & { actor: Actor }) {
  const { id, subject: name } = await readEmail(deps, key);
  const entry = { actor, action: 'mail.resend', object: { id, name } } as const;
  const isDue = await resend(deps, { channel: 'emails', key, entry });
  const email = await readEmail(deps, key);
  if (isDue) return email;
  const reason =
    email.state === 'PENDING'
      ? 'the mail is still being sent; it can be sent again when that has ended'
      : 'the mail was sent again too often';
  throw new ServiceError('PARAMETER_INVALID', { field: 'id', reason });
}

type Resend = { channel: 'callbacks' | 'emails'; key: Key; entry: Pick<Audited, 'actor' | 'action' | 'object'> };

/** @returns false for a message that is still being sent or was sent again too often */
function resend({ database, clock }: MessageDependencies, { channel, key, entry }: Resend): Promise<boolean> {
  return inTransaction(database, async (tx) => {
    const isResent = await resendMessage(tx, { channel, ...key, at: clock.now() });
    if (isResent) await audit(tx, { ...entry, workspaceId: key.workspaceId, at: clock.realNow() });
    return isResent;
  });
}

/** @throws ServiceError NOT_FOUND */
export async function readWebhookSecret(
  { database, clock, webhookSecretOf }: WebhookSecretDependencies,
  { actor, workspaceId }: SegmentCaller,
): Promise<string> {
  await requireWorkspace(database, workspaceId);
  return inTransaction(database, async (tx) => {
    const secret = await webhookSecretOf(tx, workspaceId);
    const object = { id: workspaceId };
    await audit(tx, { actor, workspaceId, action: 'webhook-secret.read', object, at: clock.realNow() });
    return secret;
  });
}

function pageOf({ workspaceId, isFailed = false, segmentId, after }: LogQuery) {
  return { workspaceId, isFailed, ...(segmentId && { segmentId }), ...(after && { after }), limit: maxLogged };
}

/** Splits the number of an attempt into the resend (0: the first delivery) and the attempt of its schedule. */
function placeTry<Attempt>(number: number, attempt: Attempt) {
  return { ...attempt, resend: Math.floor(number / attemptsPerRound), attempt: number % attemptsPerRound };
}

/** Counts the attempts of a callback or an email in the same way. */
function countJobRuns<Callback extends { attempts: number }>({ attempts, ...callback }: Callback) {
  const { resend: resends, attempt } = placeTry(attempts, {});
  return { ...callback, resends, attempts: attempt };
}
