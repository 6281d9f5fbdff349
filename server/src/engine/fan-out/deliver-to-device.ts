import type { Clock } from '../../clock.ts';
import type { InteractionTokens } from '../../domain/interactions/interaction-token.ts';
import type { Logger } from '../../log.ts';
import type { Delivery } from '../../storage/ledger/deliveries.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';
import type { LoadCredentials } from '../credentials/load-credentials.ts';
import type { Delivery as DeliveryService } from '../delivery/deliver.ts';
import type { Outcome } from '../delivery/provider.ts';
import { sendAccountOf } from '../delivery/send-account.ts';
import type { SendAccount } from '../delivery/send-account.ts';
import type { Governor } from '../governor/governor.ts';
import { composeMessage } from './compose-message.ts';
import type { Recipient } from './personalise-devices.ts';
import { retryDelaySeconds } from './retry-delay.ts';
import { failRecipient } from './device-result.ts';
import type { DeviceResult } from './device-result.ts';
import { maxDeliveryAttempts } from '../../domain/delivery/limits.ts';

export const maxSpreadMilliseconds = 5_000;

export type DeliverToDeviceDependencies = {
  log: Logger;
  clock: Clock;
  delivery: DeliveryService;
  loadCredentials: LoadCredentials;
  governor: Governor;
  random: () => number;
  interactionTokens: InteractionTokens;
};

export type DeliverToDevice = (run: RunToSend, device: Recipient, attempt: number) => Promise<DeviceResult>;

/** Sends one message to one device and returns what the ledger and the run must record. Never rejects. */
export function makeDeliverToDevice(deps: DeliverToDeviceDependencies): DeliverToDevice {
  return (run, device, attempt) =>
    deliverToDevice(deps, { run, device, attempt }).catch((error: unknown) => {
      deps.log.error({ err: error, runId: run.id, deviceId: device.id }, 'recipient failed');
      return failRecipient(device, attempt);
    });
}

type Attempt = { run: RunToSend; device: Recipient; attempt: number };

async function deliverToDevice(
  deps: DeliverToDeviceDependencies,
  { run, device, attempt }: Attempt,
): Promise<DeviceResult> {
  const now = deps.clock.now();
  const base = { bucket: device.bucket, deviceId: device.id, userId: device.userId, platform: device.platform };
  const settle = (outcome: Delivery['outcome'], code: string | null, more: Partial<Delivery> = {}): DeviceResult => ({
    delivery: { ...base, outcome, code, providerMessageId: null, attempts: attempt, retryAt: null, ...more },
  });
  if (now >= run.sendUntil) return settle('EXPIRED', 'TTL');
  const { personal } = device;
  if (device.fault !== undefined) throw device.fault;
  // No attempt of a provider's changes a text that cannot be made.
  if (personal && 'fault' in personal) return settle('FAILED', `TEMPLATE_${personal.fault.cause}`);
  const message = composeMessage({ run, device, tokens: deps.interactionTokens });
  if (!message) return settle('REJECTED', 'NO_CONTENT_FOR_PLATFORM');
  // The database is unavailable; a rejection here would lose the outcomes of the other devices.
  const credentials = await deps.loadCredentials(run.workspaceId).catch(() => undefined);
  if (!credentials) return settle('WAITING', 'CREDENTIALS_UNREAD', notTried(now, { attempt, random: deps.random() }));
  const account = sendAccountOf(device, credentials);
  const later = account && (await deps.governor.turn(account, run.lane === 0 ? 0 : 1));
  if (later) return settle('WAITING', 'PROVIDER_WAIT', notTried(later, { attempt, random: deps.random() }));
  const address = { deviceId: device.id, platform: device.platform, pushId: device.pushId };
  const outcome = await deps.delivery.deliver({ message, device: address, credentials });
  const acceptedCode = personal?.instead ? `FALLBACK_${personal.instead.cause}` : null;
  return settleOutcome(deps, { run, account, attempt, outcome, acceptedCode, settle });
}

/** Not sent, so not an attempt. A few seconds apart, so that all who waited do not come back together. */
function notTried(until: Date, { attempt, random }: { attempt: number; random: number }): Partial<Delivery> {
  return { retryAt: new Date(until.getTime() + random * maxSpreadMilliseconds), attempts: attempt - 1 };
}

/** The provider's instant by the service's clock, by which devices are registered. */
function goneSinceOf({ goneSince }: { goneSince?: Date }, clock: Clock): Date {
  return goneSince ? new Date(goneSince.getTime() + clock.offsetMilliseconds()) : clock.now();
}

type Settling = {
  run: RunToSend;
  account: SendAccount | undefined;
  attempt: number;
  outcome: Outcome;
  /** Says in the ledger that the fallback was shown, and for which cause. */
  acceptedCode: string | null;
  settle: (outcome: Delivery['outcome'], code: string | null, more?: Partial<Delivery>) => DeviceResult;
};

function settleOutcome(
  deps: DeliverToDeviceDependencies,
  { run, account, attempt, outcome, acceptedCode, settle }: Settling,
): DeviceResult {
  const now = deps.clock.now();
  if (account && outcome.kind !== 'unreached') deps.governor.report(account, outcome);
  switch (outcome.kind) {
    case 'accepted':
      return settle('ACCEPTED', acceptedCode, { providerMessageId: outcome.providerMessageId ?? null });
    case 'gone':
      return {
        ...settle('GONE', outcome.code),
        gone: { code: outcome.code, goneSince: goneSinceOf(outcome, deps.clock) },
      };
    case 'rejected':
      return settle('REJECTED', outcome.code);
    case 'stopped':
      // The device keeps its place: it is tried again when the run continues.
      return {
        ...settle('WAITING', outcome.code, { retryAt: now }),
        stopReason: `${outcome.code}: ${outcome.detail}`,
      };
    case 'unreached': {
      const until = account ? deps.governor.unreached(account) : now;
      const later = notTried(until, { attempt, random: deps.random() });
      return later.retryAt! >= run.sendUntil ? settle('EXPIRED', outcome.code) : settle('WAITING', outcome.code, later);
    }
    case 'wait':
    case 'unknown': {
      if (attempt >= maxDeliveryAttempts) return settle('FAILED', outcome.code);
      const retryAfterSeconds = outcome.kind === 'wait' ? outcome.retryAfterSeconds : undefined;
      const delay = retryDelaySeconds({
        attempts: attempt,
        isRateLimited: outcome.kind === 'wait' && outcome.scope === 'credential',
        random: deps.random(),
        ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
      });
      const retryAt = new Date(now.getTime() + delay * 1000);
      if (account && outcome.kind === 'wait' && outcome.scope === 'credential')
        deps.governor.silence(account, { until: retryAt, reason: outcome.code });
      return retryAt >= run.sendUntil ? settle('EXPIRED', outcome.code) : settle('WAITING', outcome.code, { retryAt });
    }
    default: {
      const never: never = outcome;
      throw new Error(`unknown outcome ${JSON.stringify(never)}`);
    }
  }
}
