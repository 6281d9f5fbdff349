import { defaultAppId } from '../apps/app.ts';
import type { Platform } from '../campaigns/content.ts';
import type { DeviceState } from '../devices/device-state.ts';
import type { ToldSuspicion } from '../devices/suspicion.ts';
import { controlGroups } from '../experiments/control-groups.ts';
import type { NamedVariant } from '../experiments/variants.ts';
import { unknownCase } from '../unknown-case.ts';

/** What decided whether a person got a message; the first that applies, in the order in which the service asks. */
export const steps = [
  'RUN_NOT_STARTED',
  'RUN_MISSED',
  'RUN_FAILED',
  'LEDGER_DROPPED',
  'NOT_IN_AUDIENCE',
  'AUDIENCE_FORGOTTEN',
  'NO_DEVICE',
  'DEVICE_TOO_NEW',
  'PLATFORM_NOT_MEANT',
  'TRIAL_NOT_MEANT',
  'APP_NOT_MEANT',
  'DEVICE_OPTED_OUT',
  'DEVICE_BLOCKED',
  'DEVICE_GONE',
  'NOT_REACHED_YET',
  'RUN_STOPPED',
  'CHUNK_SET_ASIDE',
  'CHANGED_SINCE',
  ...controlGroups,
  'TIME_ZONE_UNKNOWN',
  'BEST_TIME',
  'USER_TIME_ZONE',
  'QUIET_HOURS',
  'CAMPAIGN_SEND_LIMIT',
  'MINIMUM_DELAY',
  'FREQUENCY_CAP',
  'CAMPAIGN_AUDIENCE_LIMIT',
  'WAITING',
  'TEMPLATE_FAILED',
  'EXPIRED',
  'GONE',
  'REJECTED',
  'FAILED',
  'ACCEPTED',
] as const;
export type Step = (typeof steps)[number];

export type RunStatus = 'QUEUED' | 'SENDING' | 'PAUSED' | 'SENT' | 'FAILED' | 'STOPPED' | 'MISSED';

export type ExplainedRun = {
  id: string;
  status: RunStatus;
  statusReason: string | null;
  startedAt: Date | null;
  platforms: Platform[];
  /** iPhones on trial only (true), all but those (false), or both. */
  iosProvisional: boolean | null;
  /** Of which apps; undefined: of all. */
  appIds?: readonly string[] | undefined;
  /** Devices with a greater id were made later. */
  audienceBound: string | null;
  /** It wrote into a day of the ledger that is kept no more. */
  isLedgerDropped: boolean;
};

/**
 * Whether a user was in the audience of the run: a segment, named users, or all users. `forgotten`: the user is not in
 * what is left of the audience.
 */
export type Membership = 'member' | 'stranger' | 'forgotten';

export type ExplainedDevice = {
  id: string;
  deviceId: string;
  platform: Platform;
  state: DeviceState;
  isProvisional: boolean;
  /** Null: the default app. */
  appId: string | null;
  /** Null: nothing speaks against it. */
  suspicion: ToldSuspicion | null;
};

/** A row of the ledger. */
export type ExplainedDelivery = {
  deviceId: string;
  platform: Platform;
  outcome: string;
  code: string | null;
  attempts: number;
  sentAt: Date;
  retryAt: Date | null;
} & NamedVariant;

/** The chunk that a user's bucket belongs to; undefined before there is one. */
export type ExplainedChunk = { state: 'READY' | 'CLAIMED' | 'DONE' | 'QUARANTINED' };

/** What decided about one device. `at` is when, `until` is how long it waits. */
export type DeviceExplanation = {
  /** The app's name of the device; null for a device that no longer exists. */
  deviceId: string | null;
  platform: Platform;
  step: Step;
  /** The provider's word, or why it was held. */
  code: string | null;
  attempts: number;
  at: Date | null;
  until: Date | null;
  /** Why the device may leave the audience, or has left it, with the id by which it is kept; null where that decided nothing. */
  suspicion: (ToldSuspicion & { id: string }) | null;
} & NamedVariant;

export type RunExplanation = {
  runId: string;
  runStatus: RunStatus;
  /** Of the run, where it is the run that decided. */
  reason: string | null;
  step: Step;
  devices: DeviceExplanation[];
};

export type RunFacts = {
  run: ExplainedRun;
  membership: Membership;
  devices: ExplainedDevice[];
  deliveries: ExplainedDelivery[];
  chunk: ExplainedChunk | undefined;
};

/**
 * Says of one run what became of one user: the ledger has the last word about devices that are in it; the others are
 * asked about in the order in which the audience leaves them out. The step of a user is that of the device that came
 * furthest.
 */
export function explainRun(facts: RunFacts): RunExplanation {
  const { run, membership, deliveries } = facts;
  const explain = (step: Step, devices: DeviceExplanation[] = []): RunExplanation => ({
    ...{ runId: run.id, runStatus: run.status, reason: run.statusReason, step, devices },
  });
  if (run.startedAt === null) return explain(stepWithoutStart(run.status));
  // What is left says nothing of who was reached.
  if (run.isLedgerDropped) return explain('LEDGER_DROPPED');
  const told = deliveries.map((delivery) => explainDelivery(delivery, facts.devices));
  const inLedger = new Set(deliveries.map(({ deviceId }) => deviceId));
  const others = facts.devices
    .filter(({ id }) => !inLedger.has(id))
    .map((device): DeviceExplanation => {
      const step = stepWithoutDelivery(device, facts);
      const { id, deviceId, platform } = device;
      const suspicion = step === 'DEVICE_GONE' && device.suspicion?.hasLeft ? { ...device.suspicion, id } : null;
      return { deviceId, platform, step, ...nothingSent, suspicion };
    });
  if (told.length === 0 && membership !== 'member') {
    // A member's device that could be sent to would be in the ledger.
    const isStranger = membership === 'stranger' || others.some(({ step }) => step === 'CHANGED_SINCE');
    return isStranger ? explain('NOT_IN_AUDIENCE') : explain('AUDIENCE_FORGOTTEN', others);
  }
  const all = [...told, ...others];
  const furthest = all.reduce((rank, { step }) => Math.max(rank, steps.indexOf(step)), -1);
  return explain(steps[furthest] ?? 'NO_DEVICE', all);
}

const nothingSent = { code: null, attempts: 0, at: null, until: null, variation: null, locale: null };

function stepWithoutStart(status: RunStatus): Step {
  switch (status) {
    case 'MISSED':
      return 'RUN_MISSED';
    case 'FAILED':
      return 'RUN_FAILED';
    case 'STOPPED':
      return 'RUN_STOPPED';
    case 'QUEUED':
    case 'PAUSED':
    case 'SENDING':
    case 'SENT':
      return 'RUN_NOT_STARTED';
    default:
      return unknownCase(status);
  }
}

/** A device that the run left out, in the order of the conditions of its pages. */
function stepWithoutDelivery(device: ExplainedDevice, { run, chunk }: RunFacts): Step {
  const { id, platform, state, isProvisional, appId } = device;
  if (run.audienceBound !== null && id > run.audienceBound) return 'DEVICE_TOO_NEW';
  if (!run.platforms.includes(platform)) return 'PLATFORM_NOT_MEANT';
  if (platform === 'IOS' && run.iosProvisional !== null && isProvisional !== run.iosProvisional)
    return 'TRIAL_NOT_MEANT';
  if (run.appIds && !run.appIds.includes(appId ?? defaultAppId)) return 'APP_NOT_MEANT';
  if (state === 'OPTED_OUT') return 'DEVICE_OPTED_OUT';
  if (state === 'BLOCKED') return 'DEVICE_BLOCKED';
  if (state === 'GONE') return 'DEVICE_GONE';
  if (chunk?.state === 'QUARANTINED') return 'CHUNK_SET_ASIDE';
  if (run.status === 'STOPPED') return 'RUN_STOPPED';
  // It could be sent to now, and the run has passed it by: it could not then.
  return chunk === undefined || chunk.state === 'DONE' ? 'CHANGED_SINCE' : 'NOT_REACHED_YET';
}

function explainDelivery(delivery: ExplainedDelivery, devices: ExplainedDevice[]): DeviceExplanation {
  const { platform, code, attempts, sentAt: at, retryAt: until, variation, locale } = delivery;
  const device = devices.find(({ id }) => id === delivery.deviceId);
  const step = stepOfDelivery(delivery);
  const isStrike = step === 'REJECTED' || code === 'HOST_NOT_FOUND';
  const suspicion = isStrike && device?.suspicion ? { ...device.suspicion, id: device.id } : null;
  const deviceId = device?.deviceId ?? null;
  return { deviceId, platform, step, code, attempts, at, until, suspicion, variation, locale };
}

const eligibilitySteps: readonly string[] = [
  ...controlGroups,
  'BEST_TIME',
  'USER_TIME_ZONE',
  'QUIET_HOURS',
  'CAMPAIGN_SEND_LIMIT',
  'MINIMUM_DELAY',
  'FREQUENCY_CAP',
  'CAMPAIGN_AUDIENCE_LIMIT',
];

function stepOfDelivery({ outcome, code }: ExplainedDelivery): Step {
  const isEligibilityStep = code !== null && eligibilitySteps.includes(code);
  if (isEligibilityStep && (outcome === 'WITHHELD' || outcome === 'WAITING')) return code as Step;
  if (outcome === 'FAILED' && code === 'TIME_ZONE_UNKNOWN') return 'TIME_ZONE_UNKNOWN';
  if (outcome === 'FAILED' && code?.startsWith('TEMPLATE_')) return 'TEMPLATE_FAILED';
  if (outcome === 'EXPIRED' && code === 'STOPPED') return 'RUN_STOPPED';
  const step = steps.find((word) => word === outcome);
  if (step === undefined) throw new Error(`unknown outcome ${outcome}`);
  return step;
}
