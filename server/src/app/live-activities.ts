import type { Clock } from '../clock.ts';
import { defaultAppId, noSuchApp } from '../domain/apps.ts';
import type { Encryption } from '../domain/crypto/encryption.ts';
import { ServiceError } from '../domain/errors.ts';
import { liveSendUntil, tokenKindOf, writeLivePayload } from '../domain/events/live-activities.ts';
import type { LiveEvent } from '../domain/events/live-activities.ts';
import { makeId } from '../domain/ids.ts';
import { maxLivePayloadBytes, maxLiveTokens } from '../domain/limits/push.ts';
import { ringAfterCommit } from '../engine/doorbell.ts';
import { keepApp } from '../storage/apps.ts';
import { inTransaction } from '../storage/database.ts';
import type { Database, Transaction } from '../storage/database.ts';
import {
  addLiveTokens,
  countLiveTokens,
  insertLiveEvent,
  isLiveActivity,
  listLiveEvents,
  touchLiveActivity,
} from '../storage/live-activities.ts';
import type { LiveActivityName, LiveEventFigures } from '../storage/live-activities.ts';
import { answerOnce } from './idempotency.ts';

export type { LiveActivityName };
export type LiveActivityDependencies = { database: Database; clock: Clock; encryption: Encryption };

type Once = { key: string | undefined; rawBody: string };

export type AcceptedLiveEvent = { timestamp: number; devices: number };

/**
 * Stores an event of an activity for each of its tokens. It is sent after the commit. Timestamps of an activity's events always
 * increase, even within a second.
 *
 * @throws ServiceError PARAMETER_INVALID for an unknown app or a payload that Apple does not accept; IDEMPOTENCY_CONFLICT
 */
export async function acceptLiveEvent(
  deps: LiveActivityDependencies,
  { name, event, once }: { name: LiveActivityName; event: LiveEvent; once: Once },
): Promise<AcceptedLiveEvent> {
  const at = deps.clock.now();
  const { workspaceId } = name;
  return answerOnce(deps, { workspaceId, operation: 'live-activities', ...once, at }, async (tx) => {
    await requireApp(tx, name);
    const last = await touchLiveActivity(tx, { ...name, at });
    // Phones compare it with their own clock, which a sandbox does not move.
    const timestamp = Math.max(Math.floor(deps.clock.realNow().getTime() / 1000), last + 1);
    const body = writeLivePayload(event, timestamp);
    const bytes = Buffer.byteLength(body);
    if (bytes > maxLivePayloadBytes) {
      const reason = `makes ${bytes} bytes; the limit is ${maxLivePayloadBytes}`;
      throw new ServiceError('PARAMETER_INVALID', { field: 'contentState', reason });
    }
    const counts = await countLiveTokens(tx, name);
    const tokenKind = tokenKindOf(event.kind);
    const ids = Array.from({ length: tokenKind === 'START' ? counts.start : counts.update }, () => makeId(at));
    const { kind, priority } = event;
    const sendUntil = liveSendUntil(event, at);
    const devices = await insertLiveEvent(tx, {
      ...{ ...name, event: kind, tokenKind, timestamp, priority, body, sendUntil, at, ids },
    });
    ringAfterCommit(tx, 'fan-out');
    return { timestamp, devices };
  });
}

type GivenTokens = { name: LiveActivityName; startTokens: readonly string[]; tokens: readonly string[] };

/** Adds tokens to an activity, which need not have started. @throws ServiceError PARAMETER_INVALID */
export async function addTokens(
  { database, clock }: LiveActivityDependencies,
  { name, startTokens, tokens }: GivenTokens,
): Promise<{ start: number; update: number }> {
  return inTransaction(database, async (tx) => {
    await requireApp(tx, name);
    await touchLiveActivity(tx, { ...name, at: clock.now() });
    await addLiveTokens(tx, { ...name, kind: 'START', tokens: startTokens });
    await addLiveTokens(tx, { ...name, kind: 'UPDATE', tokens });
    const counts = await countLiveTokens(tx, name);
    if (counts.start > maxLiveTokens || counts.update > maxLiveTokens)
      throw new ServiceError('PARAMETER_INVALID', {
        field: 'tokens',
        reason: `would give the activity more than ${maxLiveTokens} tokens`,
      });
    return counts;
  });
}

export type ShownLiveActivity = { tokens: { start: number; update: number }; events: LiveEventFigures[] };

// Rows of figures, newest events first. Each event has a few rows, one per outcome.
const maxShownFigures = 100;

/** @throws ServiceError NOT_FOUND */
export async function readLiveActivity(
  { database }: Pick<LiveActivityDependencies, 'database'>,
  name: LiveActivityName,
): Promise<ShownLiveActivity> {
  if (!(await isLiveActivity(database, name)))
    throw new ServiceError('NOT_FOUND', { field: 'activityId', reason: 'is not an activity of this app' });
  const [tokens, events] = await Promise.all([
    countLiveTokens(database, name),
    listLiveEvents(database, { ...name, limit: maxShownFigures }),
  ]);
  return { tokens, events };
}

/** @throws ServiceError PARAMETER_INVALID */
async function requireApp(tx: Transaction, { workspaceId, appId }: LiveActivityName): Promise<void> {
  if (appId === defaultAppId || (await keepApp(tx, { workspaceId, platform: 'IOS', appId }))) return;
  throw new ServiceError('PARAMETER_INVALID', { field: 'app_id', reason: `${noSuchApp(appId)} on IOS` });
}
