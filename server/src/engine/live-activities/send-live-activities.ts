import { distanceMilliseconds } from '../../clock.ts';
import type { Clock } from '../../clock.ts';
import { defaultAppId } from '../../domain/apps/app.ts';
import { evidenceKeyOf } from '../../domain/delivery/evidence.ts';
import { maxDeliveryAttempts } from '../../domain/delivery/limits.ts';
import type { Logger } from '../../log.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import {
  claimDueLiveMessages,
  removeLiveToken,
  settleLiveMessage,
} from '../../storage/live-activities/live-activities.ts';
import type { DueLiveMessage, SettledLiveMessage } from '../../storage/live-activities/live-activities.ts';
import type { LoadCredentials } from '../credentials/load-credentials.ts';
import type { Delivery } from '../delivery/deliver.ts';
import { sendAccountOf } from '../delivery/send-account.ts';
import type { SendAccount } from '../delivery/send-account.ts';
import type { DecidedOutcome, Outcome } from '../delivery/provider.ts';
import type { BatchKey, Evidence } from '../governor/evidence.ts';
import type { Governor } from '../governor/governor.ts';
import type { KeptOutcomes } from '../keep-outcomes.ts';
import { makeLeasedJob } from '../make-leased-job.ts';
import type { LeasedJob } from '../make-leased-job.ts';
import { settleLiveOutcome } from './settle-live-outcome.ts';

export type SendLiveActivitiesDependencies = {
  database: Database;
  clock: Clock;
  log: Logger;
  delivery: Pick<Delivery, 'deliverLiveActivity'>;
  loadCredentials: LoadCredentials;
  governor: Governor;
  evidence: Pick<Evidence, 'noteAccepted' | 'judge'>;
  random: () => number;
  outcomes: KeptOutcomes;
};

const maxUnderWay = 200;

/**
 * The job that sends events of Live Activities. They are no part of a campaign: nothing caps or delays them, and their outcomes
 * are their own. A message has the same `apns-id` and timestamp on every attempt, so a phone shows a repeat once.
 */
export function makeSendLiveActivities(deps: SendLiveActivitiesDependencies): LeasedJob {
  const { database, clock, log, outcomes } = deps;
  return makeLeasedJob({
    ...{ name: 'send-live-activities', what: 'event of a live activity', maxUnderWay, clock, log, outcomes },
    claim: (claim) => claimDueLiveMessages(database, claim),
    deliver: (message) => sendOne(deps, message),
  });
}

async function sendOne(deps: SendLiveActivitiesDependencies, message: DueLiveMessage): Promise<void> {
  const settled = await findOutcome(deps, message);
  await deps.outcomes.store(() =>
    inTransaction(deps.database, async (tx) => {
      await settleLiveMessage(tx, { ...message, settled });
      if (settled.state === 'GONE') await removeLiveToken(tx, message);
    }),
  );
}

async function findOutcome(deps: SendLiveActivitiesDependencies, message: DueLiveMessage): Promise<SettledLiveMessage> {
  const { clock, delivery, governor } = deps;
  const now = clock.now();
  if (now >= message.sendUntil) return { state: 'EXPIRED', code: 'TTL' };
  // Its workers died until no attempt was left.
  if (message.attempts > maxDeliveryAttempts) return { state: 'FAILED', code: 'SET_ASIDE' };
  const appId = message.appId === defaultAppId ? null : message.appId;
  const found = (await deps.loadCredentials(message.workspaceId)).find({ platform: 'IOS', appId });
  if (!found) return { state: 'REJECTED', code: 'NO_CREDENTIAL_FOR_APP' };
  const credential = found.credentials.apns;
  if (!credential) {
    const outcome = { kind: 'stopped', code: 'NO_CREDENTIAL', detail: 'no credential of Apple' } as const;
    return settleLiveOutcome(deps, { message, account: undefined, outcome });
  }
  const account = sendAccountOf({ platform: 'IOS', pushId: message.token }, found.credentials)!;
  const evidenceKey = evidenceKeyOf({
    ...{ workspaceId: message.workspaceId, name: found.name, credentials: found.credentials },
    ...{ device: { platform: 'IOS' }, origin: undefined },
  })!;
  // Tokens of Live Activities are of another topic than those of notifications.
  const text = `${evidenceKey.text} liveactivity`;
  const key: BatchKey = {
    ...{ ...evidenceKey, text, workspaceId: message.workspaceId },
    ...{ provider: 'apns', appId: found.name.appId },
  };
  const later = await takeTurn(governor, account);
  if (later) return settleLiveOutcome(deps, { message, account, outcome: { kind: 'held', until: later } });
  // Apple's clock is the real one.
  const expiresAt = new Date(message.sendUntil.getTime() - distanceMilliseconds(clock));
  const outcome = await delivery.deliverLiveActivity({ message: { ...message, expiresAt }, credential });
  if (outcome.kind !== 'ambiguous') {
    if (outcome.kind === 'accepted') deps.evidence.noteAccepted(key, [message.token]);
    return settleLiveOutcome(deps, { message, account, outcome });
  }
  const decided = await decideLiveOutcome(deps, { message, key, outcome });
  return settleLiveOutcome(deps, { message, account, outcome: decided });
}

/** Attempts for an ambiguous answer about one phone: as many as campaigns make. */
const maxAmbiguousAttempts = 3;

type Deciding = { message: DueLiveMessage; key: BatchKey; outcome: Extract<Outcome, { kind: 'ambiguous' }> };

/**
 * Whom an ambiguous answer concerns, by what other phones got for their Live Activities. A token is never dropped for one: a
 * wrong environment gives this answer for every token.
 */
async function decideLiveOutcome(
  { clock, evidence }: SendLiveActivitiesDependencies,
  { message, key, outcome }: Deciding,
): Promise<DecidedOutcome> {
  const { code, detail, ifAccount: effect, ifDevice, retryAfterSeconds } = outcome;
  const answers = [{ deviceId: message.token, code, at: clock.now().getTime() }];
  const isDrop = ifDevice === 'drop';
  const judged = await evidence.judge(key, { answers, codes: [{ code, detail, effect, isDrop, retryAfterSeconds }] });
  const verdict = judged.get(code)?.verdict ?? 'undecided';
  if (verdict === 'account') return { kind: 'stopped', code, detail };
  const isDecided = verdict === 'device' && ifDevice !== 'reject';
  if (ifDevice === 'wait' || (!isDecided && message.attempts < maxAmbiguousAttempts))
    return { kind: 'wait', code, scope: 'device', ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
  return { kind: 'rejected', code, detail };
}

function takeTurn(governor: Governor, account: SendAccount): Promise<Date | undefined> {
  return new Promise((resolve) => governor.takeTurns(account, { lane: 0, messages: 1, onTurn: resolve }));
}
