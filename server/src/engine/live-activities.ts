import { distanceMilliseconds } from '../clock.ts';
import type { Clock } from '../clock.ts';
import { defaultAppId } from '../domain/apps.ts';
import { evidenceKeyOf } from '../domain/delivery/evidence.ts';
import { retryDelaySeconds } from '../domain/delivery/retry-delay.ts';
import { maxDeliveryAttempts } from '../domain/limits/delivery.ts';
import { unknownCase } from '../domain/unknown-case.ts';
import type { Logger } from '../log.ts';
import type { Delivery } from '../providers/deliver.ts';
import type { DecidedOutcome, Outcome } from '../providers/provider.ts';
import { sendAccountOf } from '../providers/send-account.ts';
import type { SendAccount } from '../providers/send-account.ts';
import { inTransaction } from '../storage/database.ts';
import type { Database } from '../storage/database.ts';
import { claimDueLiveMessages, removeLiveToken, settleLiveMessage } from '../storage/live-activities.ts';
import type { DueLiveMessage, SettledLiveMessage } from '../storage/live-activities.ts';
import type { LoadCredentials } from './credentials.ts';
import { retryOfUntried } from './fan-out/settle-outcome.ts';
import type { Governor } from './governor/governor.ts';
import type { BatchKey, Evidence } from './governor/provider-evidence.ts';
import { makeLeasedJob } from './jobs/leased-job.ts';
import type { LeasedJob } from './jobs/leased-job.ts';
import type { OutcomeBuffer } from './jobs/outcome-buffer.ts';

export type SendLiveActivitiesDependencies = {
  database: Database;
  clock: Clock;
  log: Logger;
  delivery: Pick<Delivery, 'deliverLiveActivity'>;
  loadCredentials: LoadCredentials;
  governor: Governor;
  evidence: Pick<Evidence, 'noteAccepted' | 'judge'>;
  random: () => number;
  outcomes: OutcomeBuffer;
};

const maxUnderWay = 200;

/**
 * The job that sends events of Live Activities. They are not part of a campaign: nothing caps or delays them, and their
 * outcomes are stored separately. A message has the same `apns-id` and timestamp on every attempt, so a phone shows a repeat
 * once.
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
  // Workers died until no attempt was left.
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
  // Tokens of Live Activities belong to a different topic than those of notifications.
  const text = `${evidenceKey.text} liveactivity`;
  const key: BatchKey = {
    ...{ ...evidenceKey, text, workspaceId: message.workspaceId },
    ...{ provider: 'apns', appId: found.name.appId },
  };
  const later = await takeTurn(governor, account);
  if (later) return settleLiveOutcome(deps, { message, account, outcome: { kind: 'held', until: later } });
  // Apple uses real time.
  const expiresAt = new Date(message.sendUntil.getTime() - distanceMilliseconds(clock));
  const outcome = await delivery.deliverLiveActivity({ message: { ...message, expiresAt }, credential });
  if (outcome.kind !== 'ambiguous') {
    if (outcome.kind === 'accepted') deps.evidence.noteAccepted(key, [message.token]);
    return settleLiveOutcome(deps, { message, account, outcome });
  }
  const decided = await decideLiveOutcome(deps, { message, key, outcome });
  return settleLiveOutcome(deps, { message, account, outcome: decided });
}

/** Maximum attempts for an ambiguous response about one phone: the same number as for campaigns. */
const maxAmbiguousAttempts = 3;

type Deciding = { message: DueLiveMessage; key: BatchKey; outcome: Extract<Outcome, { kind: 'ambiguous' }> };

/**
 * Decides by the outcomes of other phones' Live Activities whether an ambiguous response concerns the phone or the credential.
 * A token is never dropped because of one: a wrong environment gives this response for every token.
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
  return new Promise((resolve) => governor.acquire(account, { lane: 0, messages: 1, onTurn: resolve }));
}

export type SettleLiveDependencies = { clock: Clock; governor: Governor; random: () => number };

/** `held`: the account must wait, so nothing was sent. */
type Held = { kind: 'held'; until: Date };

type Settling = {
  message: Pick<DueLiveMessage, 'attempts' | 'sendUntil'>;
  account: SendAccount | undefined;
  outcome: DecidedOutcome | Held;
};

// Retried this soon after a refusal, because the credential may have been fixed.
const mendedSeconds = 30;

/** Returns the outcome to store for an attempt, by the same rules as campaigns. Reports it to the governor. */
export function settleLiveOutcome(
  { clock, governor, random }: SettleLiveDependencies,
  { message, account, outcome }: Settling,
): SettledLiveMessage {
  const { attempts, sendUntil } = message;
  const later = (code: string, nextAt: Date, counted: number): SettledLiveMessage =>
    nextAt >= sendUntil ? { state: 'EXPIRED', code } : { state: 'WAITING', code, nextAt, attempts: counted };
  const untried = (code: string, until: Date): SettledLiveMessage =>
    later(code, retryOfUntried(until, random()), attempts - 1);
  if (account && outcome.kind !== 'unreached' && outcome.kind !== 'held') governor.report(account, outcome);
  switch (outcome.kind) {
    case 'accepted':
      return { state: 'ACCEPTED', code: null };
    case 'gone':
      return { state: 'GONE', code: outcome.code };
    case 'rejected':
      return { state: 'REJECTED', code: outcome.code };
    case 'held':
      return untried('PROVIDER_WAIT', outcome.until);
    case 'stopped':
      return untried(outcome.code, new Date(clock.now().getTime() + mendedSeconds * 1000));
    case 'unreached':
      return untried(outcome.code, account ? governor.pauseAfterFailure(account) : clock.now());
    case 'wait':
    case 'unknown': {
      const retryAfterSeconds = outcome.kind === 'wait' ? outcome.retryAfterSeconds : undefined;
      const isOfAccount = outcome.kind === 'wait' && outcome.scope === 'credential';
      const delaySeconds = retryDelaySeconds({
        ...{ attempts, isRateLimited: isOfAccount, random: random() },
        ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
      });
      const nextAt = new Date(clock.now().getTime() + delaySeconds * 1000);
      if (account && isOfAccount) governor.pause(account, { until: nextAt, reason: outcome.code });
      // The account waits even if this was the last attempt: the provider asked for all of its devices.
      if (attempts >= maxDeliveryAttempts) return { state: 'FAILED', code: outcome.code };
      return later(outcome.code, nextAt, attempts);
    }
    default:
      return unknownCase(outcome);
  }
}
