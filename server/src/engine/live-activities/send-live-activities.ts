import { distanceMilliseconds } from '../../clock.ts';
import type { Clock } from '../../clock.ts';
import { defaultAppId } from '../../domain/apps/app.ts';
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
  const later = await takeTurn(governor, account);
  if (later) return settleLiveOutcome(deps, { message, account, outcome: { kind: 'held', until: later } });
  // Apple's clock is the real one.
  const expiresAt = new Date(message.sendUntil.getTime() - distanceMilliseconds(clock));
  const outcome = await delivery.deliverLiveActivity({ message: { ...message, expiresAt }, credential });
  return settleLiveOutcome(deps, { message, account, outcome });
}

function takeTurn(governor: Governor, account: SendAccount): Promise<Date | undefined> {
  return new Promise((resolve) => governor.takeTurns(account, { lane: 0, messages: 1, onTurn: resolve }));
}
