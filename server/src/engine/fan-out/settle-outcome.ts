import { shownAt } from '../../clock.ts';
import type { Clock } from '../../clock.ts';
import { deliverySettings } from '../../domain/campaigns/delivery-settings.ts';
import type { CredentialName, CredentialsOfApps } from '../../domain/credentials/credentials.ts';
import { makeRefusal, reachesOthers } from '../../domain/delivery/evidence.ts';
import type { ToldRefusal } from '../../domain/delivery/evidence.ts';
import { retryDelaySeconds } from '../../domain/delivery/retry-delay.ts';
import { maxDeliveryAttempts } from '../../domain/limits/delivery.ts';
import { unknownCase } from '../../domain/unknown-case.ts';
import type { DecidedOutcome } from '../../providers/provider.ts';
import type { SendAccount } from '../../providers/send-account.ts';
import type { AudienceDevice } from '../../storage/campaigns/audience.ts';
import type { Transaction } from '../../storage/database.ts';
import { noteSuspectedDevices } from '../../storage/devices/suspected-devices.ts';
import { hasAccepted } from '../../storage/ledger/deliveries.ts';
import type { Delivery } from '../../storage/ledger/deliveries.ts';
import { keepRefusals, noteRefusals, showRefusals } from '../../storage/runs/run-refusals.ts';
import { pauseRun } from '../../storage/runs/run-states.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';
import type { Governor } from '../governor/governor.ts';

export const maxSpreadMilliseconds = 5_000;

export type SettleDependencies = { clock: Clock; governor: Governor; random: () => number };

type Attempt = {
  run: Pick<RunToSend, 'sendUntil'>;
  device: AudienceDevice;
  /** Counted from 1. */
  attempt: number;
};

/** Refusals that occur before any request to a provider. Retrying fails the same way until the credential changes. */
const localRefusals = new Set(['NO_CREDENTIAL', 'CREDENTIAL_UNUSABLE']);

/**
 * Returns what the ledger and the run must record for a device after a provider's outcome. Reports the outcome to the governor.
 */
export function settleOutcome(
  { clock, governor, random }: SettleDependencies,
  settling: Attempt & {
    account: SendAccount | undefined;
    /** The credential that was used. */
    credential: CredentialName;
    /** The key of the devices that a refusal concerns. Undefined if no provider was asked. */
    evidenceKey: string | undefined;
    outcome: DecidedOutcome;
    /** Records in the ledger that the fallback was shown, and why. */
    acceptedCode: string | null;
  },
): DeviceResult {
  const { account, credential, evidenceKey, outcome, attempt, run, device } = settling;
  if (account && outcome.kind !== 'unreached') governor.report(account, outcome);
  if (outcome.kind === 'accepted') {
    const { acceptedCode } = settling;
    const { providerMessageId = null, address } = outcome;
    const accepted = settleAs(settling, 'ACCEPTED', acceptedCode, { providerMessageId });
    if (address === undefined || address === device.pushId) return accepted;
    return { ...accepted, moved: { from: device.pushId, to: address } };
  }
  const settle = (...how: Settled): DeviceResult => settleAs(settling, ...how);
  switch (outcome.kind) {
    case 'gone':
      return {
        ...settle('GONE', outcome.code),
        gone: { code: outcome.code, goneSince: goneSinceOf(outcome, clock) },
      };
    case 'rejected':
      return settle('REJECTED', outcome.code);
    case 'stopped':
      return {
        ...settle('WAITING', outcome.code, { retryAt: run.sendUntil, attempts: attempt - 1 }),
        refused: {
          refusal: makeRefusal({
            ...{ credential, platform: device.platform, ...outcome },
            evidenceKey: localRefusals.has(outcome.code) ? undefined : evidenceKey,
          }),
          by: 'the provider',
          reaches: 'others',
        },
      };
    case 'unreached': {
      const until = account ? governor.pauseAfterFailure(account) : clock.now();
      if (account?.isChosenByDevice) return settleStranger(settling, { code: outcome.code, until, random: random() });
      return settleUntried(settling, { code: outcome.code, until, random: random() });
    }
    case 'wait':
    case 'unknown': {
      const retryAfterSeconds = outcome.kind === 'wait' ? outcome.retryAfterSeconds : undefined;
      const delay = retryDelaySeconds({
        attempts: attempt,
        isRateLimited: outcome.kind === 'wait' && outcome.scope === 'credential',
        random: random(),
        ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
      });
      const retryAt = new Date(clock.now().getTime() + delay * 1000);
      if (account && outcome.kind === 'wait' && outcome.scope === 'credential')
        governor.pause(account, { until: retryAt, reason: outcome.code });
      // The account waits even if this was the device's last attempt: the provider asked for all of its devices.
      if (attempt >= maxDeliveryAttempts) return settle('FAILED', outcome.code);
      return retryAt >= run.sendUntil ? settle('EXPIRED', outcome.code) : settle('WAITING', outcome.code, { retryAt });
    }
    default:
      return unknownCase(outcome);
  }
}

type More = Partial<Pick<Delivery, 'providerMessageId' | 'attempts' | 'retryAt'>>;
type Settled = [outcome: Delivery['outcome'], code: string | null, more?: More];

/** Builds a device's result, with or without a provider's outcome. */
export function settleAs(
  { device, attempt }: Omit<Attempt, 'run'>,
  ...[outcome, code, more = {}]: Settled
): DeviceResult {
  const { bucket, id: deviceId, userId, platform } = device;
  const { providerMessageId = null, attempts = attempt, retryAt = null } = more;
  return { delivery: { bucket, deviceId, userId, platform, outcome, code, providerMessageId, attempts, retryAt } };
}

type Untried = { code: string; until: Date; random: number };

/**
 * Returns the result of a device that was not sent to, which does not count as an attempt. If the next attempt would come after
 * the message ends, it expires now.
 */
export function settleUntried(attempt: Attempt, { code, until, random }: Untried): DeviceResult {
  const retryAt = retryOfUntried(until, random);
  if (retryAt >= attempt.run.sendUntil) return settleAs(attempt, 'EXPIRED', code);
  return settleAs(attempt, 'WAITING', code, { retryAt, attempts: attempt.attempt - 1 });
}

/**
 * Returns the result when a push service that the device chose cannot be reached. Each attempt counts, so that a run does not
 * wait for a host that may be gone for good. A host name that does not exist counts against the device.
 */
function settleStranger(attempt: Attempt, { code, until, random }: Untried): DeviceResult {
  const suspected = code === 'HOST_NOT_FOUND' ? { suspected: { code, isHealthy: true } } : {};
  const retryAt = retryOfUntried(until, random);
  if (attempt.attempt >= maxDeliveryAttempts) return { ...settleAs(attempt, 'FAILED', code), ...suspected };
  if (retryAt >= attempt.run.sendUntil) return { ...settleAs(attempt, 'EXPIRED', code), ...suspected };
  return settleAs(attempt, 'WAITING', code, { retryAt });
}

/** Spreads the retries over a few seconds, so that waiting devices do not all return at once. */
export function retryOfUntried(until: Date, random: number): Date {
  return new Date(until.getTime() + random * maxSpreadMilliseconds);
}

/** Converts the provider's time to the service's clock, which device registrations use. */
function goneSinceOf({ goneSince }: { goneSince?: Date }, clock: Clock): Date {
  return goneSince ? shownAt(clock, goneSince) : clock.now();
}

type Refused = { refusal: ToldRefusal; by: 'the provider' | 'what is known' };

/**
 * Returns the result of a device with a refused credential. The device waits until its message ends, the credential changes or
 * a user resumes the campaign. No attempt is counted, because the refusal says nothing about the device.
 */
export function waitForCredential(
  { device, attempt, run }: Omit<Attempt, 'run'> & { run: Pick<RunToSend, 'sendUntil'> },
  refused: Refused,
): DeviceResult {
  const { words } = refused.refusal;
  const code = words.slice(0, words.indexOf(':'));
  const waiting = settleAs({ device, attempt }, 'WAITING', code, { retryAt: run.sendUntil, attempts: attempt - 1 });
  return { ...waiting, refused: { ...refused, reaches: 'others' } };
}

type Sent = { run: RunToSend; credentialsOf: CredentialsOfApps };

/** Marks in each result that waits for a credential whether any other device of the run can be reached. */
export function markReach(results: DeviceResult[], { run, credentialsOf }: Sent): DeviceResult[] {
  const refusals = new Map<string, ToldRefusal>();
  for (const { refused } of results) {
    if (!refused) continue;
    const { provider, appId, version, platform, evidenceKey } = refused.refusal;
    refusals.set([provider, appId, version, platform, evidenceKey].join(' '), refused.refusal);
  }
  if (refusals.size === 0) return results;
  const { workspaceId, platforms, settings } = run;
  const refusedOf = {
    workspaceId,
    platforms,
    appIds: deliverySettings(settings).appIds,
    refusals: [...run.refusals, ...refusals.values()],
  };
  if (reachesOthers(refusedOf, credentialsOf)) return results;
  return results.map((result) =>
    result.refused ? { ...result, refused: { ...result.refused, reaches: 'nobody' } } : result,
  );
}

type Storing = { run: Pick<RunToSend, 'id' | 'workspaceId'>; results: DeviceResult[]; at: Date };

/**
 * Records the refusals of a window, before its deliveries. Devices that were skipped because of a known refusal are due
 * immediately if that refusal has been cleared in the meantime.
 *
 * @returns the results to store
 */
export async function keepWaiting(tx: Transaction, { run, results, at }: Storing): Promise<DeviceResult[]> {
  const refusals = results.flatMap(({ refused }) => (refused?.by === 'the provider' ? [refused.refusal] : []));
  if (refusals.length > 0) {
    const { id: runId, workspaceId } = run;
    await noteRefusals(tx, { runId, workspaceId, refusals, at });
  }
  if (!results.some(({ refused }) => refused?.by === 'what is known')) return results;
  const kept = await keepRefusals(tx, run.id);
  return results.map((result) => {
    if (!result.refused) return result;
    const { provider, appId, version, platform, evidenceKey } = result.refused.refusal;
    const isKept = kept.some(
      (one) =>
        one.provider === provider &&
        one.appId === appId &&
        one.version === version &&
        one.platform === platform &&
        one.evidenceKey === evidenceKey,
    );
    return isKept ? result : { delivery: { ...result.delivery, retryAt: at } };
  });
}

/**
 * Pauses the run if no device can be reached any more. Otherwise shows its refusals and lets it continue. Call after its
 * deliveries are stored.
 */
export async function pauseOrShowRefusals(
  tx: Transaction,
  { run: { id }, results }: Omit<Storing, 'at'>,
): Promise<void> {
  const last = results.find(({ refused }) => refused?.reaches === 'nobody');
  const reason = last?.refused?.refusal.words;
  if (last && reason !== undefined) await pauseRun(tx, { id, reason, platform: last.delivery.platform });
  else if (results.some(({ refused }) => refused?.by === 'the provider')) await showRefusals(tx, id);
}

/** The outcome for one device, and what the run must record about it. */
export type DeviceResult = {
  delivery: Delivery;
  gone?: { code: string; goneSince: Date };
  /** The provider accepted the message and named another address of the device, for the next messages. */
  moved?: { from: string; to: string };
  /** The response usually means a dead address. It only counts while the credential works for others (`isHealthy`). */
  suspected?: { code: string; isHealthy: boolean };
  /** A credential is refused, and the device waits for it until the message ends, unless it is retried before. */
  refused?: { refusal: ToldRefusal; by: 'the provider' | 'what is known'; reaches: 'others' | 'nobody' };
};

/** Returns the outcome of a device whose messages crashed their workers. No more requests are made for it. */
export function quarantine({ bucket, id: deviceId, userId, platform }: AudienceDevice): DeviceResult {
  const code = 'SET_ASIDE';
  return {
    delivery: { bucket, deviceId, userId, platform, outcome: 'FAILED', code, ...nothingSent, attempts: 1 },
  };
}

/** Returns the outcome of a recipient for which this service itself failed. Other recipients are not affected. */
export function failRecipient(
  { bucket, id: deviceId, userId, platform }: AudienceDevice,
  attempts: number,
): DeviceResult {
  const code = 'RECIPIENT_FAULT';
  return { delivery: { bucket, deviceId, userId, platform, outcome: 'FAILED', code, ...nothingSent, attempts } };
}

const nothingSent = { providerMessageId: null, retryAt: null };

export function goneDevices(
  results: DeviceResult[],
): { bucket: number; deviceId: string; code: string; goneSince: Date }[] {
  return (
    results
      .flatMap(({ delivery, gone }) =>
        gone ? [{ bucket: delivery.bucket, deviceId: delivery.deviceId, ...gone }] : [],
      )
      // The same order in every transaction prevents deadlocks.
      .sort((a, b) => a.bucket - b.bucket || (a.deviceId < b.deviceId ? -1 : 1))
  );
}

/** Returns devices whose responses usually mean a dead address, if other devices show that the credential works. */
function suspectedDevices(results: DeviceResult[]): { bucket: number; userId: string; id: string; code: string }[] {
  return results.flatMap(({ delivery: { bucket, userId, deviceId: id }, suspected }) =>
    suspected?.isHealthy ? [{ bucket, userId, id, code: suspected.code }] : [],
  );
}

/** `attempt` counts from 1. */
export type DeviceToDeliver = { device: AudienceDevice; attempt: number };

/**
 * Codes that a bad message or a network without DNS would cause as well. They only count if another device was accepted in the
 * same run.
 */
const needsAccepted = new Set(['INVALID_ARGUMENT', '400', 'HOST_NOT_FOUND']);

/**
 * Counts a send against the devices whose responses usually mean a dead address. Call in the transaction that stores the
 * outcomes, after the run's counts.
 */
export async function suspectDevices(
  tx: Transaction,
  { run, results, at }: { run: Pick<RunToSend, 'id' | 'workspaceId'>; results: DeviceResult[]; at: Date },
): Promise<void> {
  const suspected = suspectedDevices(results);
  if (suspected.length === 0) return;
  const isReached = !suspected.some(({ code }) => needsAccepted.has(code)) || (await hasAccepted(tx, run.id));
  const devices = isReached ? suspected : suspected.filter(({ code }) => !needsAccepted.has(code));
  await noteSuspectedDevices(tx, { workspaceId: run.workspaceId, devices, at });
}
