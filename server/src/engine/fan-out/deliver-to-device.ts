import type { Clock } from '../../clock.ts';
import type { InteractionTokens } from '../../domain/interactions/interaction-token.ts';
import type { AudienceDevice } from '../../storage/sql/audience-pages.ts';
import type { Delivery } from '../../storage/sql/deliveries.ts';
import type { RunToSend } from '../../storage/sql/run-states.ts';
import type { LoadCredentials } from '../credentials/load-credentials.ts';
import type { Delivery as DeliveryService } from '../delivery/deliver.ts';
import type { Outcome } from '../delivery/provider.ts';
import type { Governor } from '../governor/governor.ts';
import { composeMessage } from './compose-message.ts';
import { retryDelaySeconds } from './retry-delay.ts';
import type { DeviceResult } from './send-window.ts';

// Faults F5: at most 8 attempts and never beyond the message's time to live.
const mostAttempts = 8;

export type DeliverToDeviceDependencies = {
  clock: Clock;
  delivery: DeliveryService;
  loadCredentials: LoadCredentials;
  governor: Governor;
  random: () => number;
  interactionTokens: InteractionTokens;
};

export type DeliverToDevice = (run: RunToSend, device: AudienceDevice, attempt: number) => Promise<DeviceResult>;

/** Sends one message to one device and says what the ledger and the run must learn. Never rejects. */
export function makeDeliverToDevice(deps: DeliverToDeviceDependencies): DeliverToDevice {
  return async (run, device, attempt) => {
    const now = deps.clock.now();
    const base = { bucket: device.bucket, deviceId: device.id, userId: device.userId, platform: device.platform };
    const settle = (outcome: Delivery['outcome'], code: string | null, more: Partial<Delivery> = {}): DeviceResult => ({
      delivery: { ...base, outcome, code, providerMessageId: null, attempts: attempt, retryAt: null, ...more },
    });
    if (now >= run.sendUntil) return settle('EXPIRED', 'TTL');
    const pausedUntil = deps.governor.pausedUntil(run.workspaceId, device.platform);
    // Not sent, so not an attempt; the provider asked for silence.
    if (pausedUntil && pausedUntil > now)
      return settle('WAITING', 'PROVIDER_WAIT', { retryAt: pausedUntil, attempts: attempt - 1 });
    const message = composeMessage({ run, device, tokens: deps.interactionTokens });
    if (!message) return settle('REJECTED', 'NO_CONTENT_FOR_PLATFORM');
    const credentials = await deps.loadCredentials(run.workspaceId).catch(() => undefined);
    // The database is away; a rejection here would lose the outcomes of the devices beside this one.
    const outcome: Outcome = credentials
      ? await deps.delivery.deliver({
          message,
          device: { deviceId: device.id, platform: device.platform, pushId: device.pushId },
          credentials,
        })
      : { kind: 'wait', code: 'CREDENTIALS_UNREAD', scope: 'device' };
    return settleOutcome(deps, { run, device, attempt, outcome, settle });
  };
}

type Settling = {
  run: RunToSend;
  device: AudienceDevice;
  attempt: number;
  outcome: Outcome;
  settle: (outcome: Delivery['outcome'], code: string | null, more?: Partial<Delivery>) => DeviceResult;
};

function settleOutcome(
  deps: DeliverToDeviceDependencies,
  { run, device, attempt, outcome, settle }: Settling,
): DeviceResult {
  const now = deps.clock.now();
  switch (outcome.kind) {
    case 'accepted':
      return settle('ACCEPTED', null, { providerMessageId: outcome.providerMessageId ?? null });
    case 'gone':
      return { ...settle('GONE', outcome.code), gone: { code: outcome.code, goneSince: outcome.goneSince ?? now } };
    case 'rejected':
      return settle('REJECTED', outcome.code);
    case 'stopped':
      // The device keeps its place: it is tried again when the run goes on.
      return {
        ...settle('WAITING', outcome.code, { retryAt: now }),
        stopReason: `${outcome.code}: ${outcome.detail}`,
      };
    case 'wait':
    case 'unknown': {
      if (attempt >= mostAttempts) return settle('FAILED', outcome.code);
      const retryAfterSeconds = outcome.kind === 'wait' ? outcome.retryAfterSeconds : undefined;
      const delay = retryDelaySeconds({
        attempts: attempt,
        isRateLimited: outcome.kind === 'wait' && outcome.scope === 'credential',
        random: deps.random(),
        ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
      });
      const retryAt = new Date(now.getTime() + delay * 1000);
      if (outcome.kind === 'wait' && outcome.scope === 'credential')
        deps.governor.pause(run.workspaceId, device.platform, retryAt);
      return retryAt >= run.sendUntil ? settle('EXPIRED', outcome.code) : settle('WAITING', outcome.code, { retryAt });
    }
    default: {
      const never: never = outcome;
      throw new Error(`unknown outcome ${JSON.stringify(never)}`);
    }
  }
}
