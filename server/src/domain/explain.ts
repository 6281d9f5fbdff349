import { defaultAppId } from './apps.ts';
import type { Platform } from './content/content.ts';
import { describeTrigger } from './events/triggers.ts';
import type { ToldTrigger } from './events/triggers.ts';
import { controlGroups } from './experiments/control-groups.ts';
import type { NamedVariant } from './experiments/variants.ts';
import { topicCodes } from './topics.ts';
import { unknownCase } from './unknown-case.ts';
import { suspicionHours, suspicionSends } from './users/devices.ts';
import type { DeviceState, ReportedSuspicion } from './users/devices.ts';

/** What decided whether a user got a message: the first step that applies, in the order in which the service checks them. */
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
  ...topicCodes,
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
  'INBOX',
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
  /** iPhones with provisional permission only (true), all others (false), or both (null). */
  iosProvisional: boolean | null;
  /** The target apps; undefined: all apps. */
  appIds?: readonly string[] | undefined;
  /** Devices with a greater id were made later. */
  audienceBound: string | null;
  /** True if the run wrote into a day of the ledger that is no longer stored. */
  isLedgerDropped: boolean;
};

/**
 * A user's membership in the audience of a run: a segment, named users, or all users. `forgotten`: the user is not in the
 * part of the audience that is still stored.
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
  /** Null: the device is not suspected. */
  suspicion: ReportedSuspicion | null;
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

/** The chunk of a user's bucket; undefined before there is one. */
export type ExplainedChunk = { state: 'READY' | 'CLAIMED' | 'DONE' | 'QUARANTINED' };

/** The step that decided for one device. `at`: when it decided; `until`: when the wait of the message ends. */
export type DeviceExplanation = {
  /** The id that the app gave the device; null if the device no longer exists. */
  deviceId: string | null;
  platform: Platform;
  step: Step;
  /** The provider's code, or the reason for the hold. */
  code: string | null;
  attempts: number;
  at: Date | null;
  until: Date | null;
  /** Why the device may leave the audience or has left it, with the id for `devices keep`; null where it decided nothing. */
  suspicion: (ReportedSuspicion & { id: string }) | null;
} & NamedVariant;

export type RunExplanation = {
  runId: string;
  runStatus: RunStatus;
  /** The status reason of the run, where the run decided. */
  reason: string | null;
  step: Step;
  devices: DeviceExplanation[];
  /** The message in the inbox of the user; null if the run kept none, or it has expired and was deleted. */
  inbox: InboxExplanation | null;
};

export type InboxExplanation = { keptAt: Date; expiresAt: Date; readAt: Date | null; archivedAt: Date | null };

export type RunFacts = {
  run: ExplainedRun;
  membership: Membership;
  devices: ExplainedDevice[];
  deliveries: ExplainedDelivery[];
  chunk: ExplainedChunk | undefined;
  /** Undefined: the user has no message of the run in the inbox. */
  inbox?: InboxExplanation | undefined;
};

/**
 * Explains what one run did for one user. The ledger decides about the devices that are in it. The other devices are
 * checked in the order in which the audience leaves them out. The step of a user is that of the device that got furthest, or the
 * inbox if no provider accepted the message.
 */
export function explainRun(facts: RunFacts): RunExplanation {
  const { run, membership, deliveries } = facts;
  const explain = (step: Step, devices: DeviceExplanation[] = []): RunExplanation => ({
    ...{ runId: run.id, runStatus: run.status, reason: run.statusReason, devices, inbox: facts.inbox ?? null },
    step: facts.inbox && step !== 'ACCEPTED' ? 'INBOX' : step,
  });
  if (run.startedAt === null) return explain(stepWithoutStart(run.status));
  // The remaining rows do not show which users were reached.
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
    // If the user were a member, a device that could be sent to would be in the ledger.
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

/** Returns why the run left out a device, in the order of the conditions in the run's page query. */
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
  // The device can be sent to now, but the run has passed it: it could not be sent to then.
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
  ...topicCodes,
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

const sentences: Record<Step, string> = {
  RUN_NOT_STARTED: 'The run has not begun.',
  RUN_MISSED: 'The run was due, but was found too late to be sent.',
  RUN_FAILED: 'The run failed before it reached anyone.',
  LEDGER_DROPPED: 'The run is too old: its totals are still stored, but its recipients are not.',
  NOT_IN_AUDIENCE: 'The person was not in the audience when the run began.',
  AUDIENCE_FORGOTTEN:
    'The person has no device that can be sent to, and it is not stored whether the person was in the audience.',
  NO_DEVICE: 'The person was in the audience and has no device.',
  DEVICE_TOO_NEW: 'The device was registered after the run had begun.',
  PLATFORM_NOT_MEANT: 'The campaign is not for the platform of the device.',
  TRIAL_NOT_MEANT: 'The campaign is not for iPhones with this kind of permission.',
  APP_NOT_MEANT: 'The campaign is not for the app of the device.',
  DEVICE_OPTED_OUT: 'The device has opted out of pushes.',
  DEVICE_BLOCKED: 'The device is blocked.',
  DEVICE_GONE: 'The provider said that the device is gone.',
  NOT_REACHED_YET: 'The run has not reached the person yet.',
  RUN_STOPPED: 'The run was stopped before.',
  CHUNK_SET_ASIDE: 'A part of the run crashed its workers repeatedly and was quarantined.',
  CHANGED_SINCE: 'The device could not be sent to at the time of the run, and has changed since then.',
  TOPIC_OPTED_OUT: 'The person left the topic of the campaign.',
  TOPIC_NOT_OPTED_IN: 'The person has not joined the topic of the campaign, which only those get who join it.',
  GLOBAL_CONTROL_GROUP:
    'The person is in the control group of the workspace, which gets no campaigns so that results can be compared.',
  CAMPAIGN_CONTROL_GROUP:
    'The person is in the control group of the campaign, which does not get it so that results can be compared.',
  TIME_ZONE_UNKNOWN: 'The stored time zone of the person is not a known zone, so the time to send is unknown.',
  BEST_TIME: 'The campaign is sent at the hour at which the person usually opens messages.',
  USER_TIME_ZONE: 'The campaign is sent at its time in the time zone of the person.',
  QUIET_HOURS: 'It was within the quiet hours of the person.',
  CAMPAIGN_SEND_LIMIT: 'The person had got as many messages of this campaign as its send limit allows in that time.',
  MINIMUM_DELAY: 'It was too soon after another message.',
  FREQUENCY_CAP: 'The person had got as many messages as the frequency cap allows.',
  CAMPAIGN_AUDIENCE_LIMIT: 'The campaign had already been sent to as many people as its audience limit allows.',
  WAITING: 'The message waits for another attempt.',
  TEMPLATE_FAILED: 'The message could not be rendered with the attributes of the person.',
  EXPIRED: 'The message expired before it could be sent.',
  GONE: 'The provider said that the device is gone.',
  REJECTED: 'The message was rejected.',
  FAILED: 'The message failed after all its attempts.',
  INBOX: 'The message is in the inbox of the person.',
  ACCEPTED: 'The provider accepted the message.',
};

/** Describes the step of a device in a sentence, with its known times and codes. */
export function describeDelivery(device: DeviceExplanation): string {
  const { step, suspicion } = device;
  if (!suspicion) return describeStep(device);
  if (step === 'DEVICE_GONE') return describeSuspect(suspicion);
  return `${describeStep(device)} ${describeSuspect(suspicion)}`;
}

/** Describes why a device may leave the audience or has left it, and how to undo that. */
function describeSuspect({ id, code, sends, since, hasLeft }: NonNullable<DeviceExplanation['suspicion']>): string {
  const strikes = `${sends} ${sends === 1 ? 'send' : 'sends'} since ${since.toISOString()}`;
  const keep = `carillon devices keep ${id}`;
  if (hasLeft)
    return `The device left the audience after ${strikes} that failed like a dead address (${code}); to take it back, press Keep on the user’s page or run ${keep}.`;
  return `The device is suspected: ${strikes} failed like a dead address (${code}). It leaves the audience after ${suspicionSends} such sends over ${suspicionHours} hours; to prevent that, press Keep on the user’s page or run ${keep}.`;
}

function describeStep({ step, code, at, until, variation, locale }: DeviceExplanation): string {
  const parts = [sentences[step].slice(0, -1)];
  if (step === 'ACCEPTED' && at) parts.push(`at ${at.toISOString()}`);
  if (code !== null && code !== step) parts.push(`(${code})`);
  const content = [variation, locale].filter((name) => name !== null);
  if (content.length > 0) parts.push(`(${content.join(', ')})`);
  if (until) parts.push(`and is waiting until ${until.toISOString()}`);
  return `${parts.join(' ')}.`;
}

/** Texts for a user without a run to explain. */
export const unknownCustomerId = 'No user in this workspace has that customer id.';
const noRunYet = 'The campaign has no run: it has not been sent yet, or too long ago.';
const noEventYet =
  'No event of the person has started the campaign. A message of a journey is sent when the person comes to its step.';

/** Explains why a user has no run. If events of users start the campaign, it describes the outcome of the newest event. */
export function describeNoRun(triggers: readonly ToldTrigger[] | undefined): string {
  if (!triggers) return noRunYet;
  const [newest] = triggers;
  return newest ? describeTrigger(newest) : noEventYet;
}

/** Returns the sentence of the device that got furthest in a run, or the reason why there is none. */
export function describeRun({ step, reason, devices, inbox }: RunExplanation): string {
  if (step === 'INBOX' && inbox) return describeInbox(inbox);
  const furthest = devices.find((device) => device.step === step);
  if (furthest) return describeDelivery(furthest);
  return reason === null ? sentences[step] : `${sentences[step].slice(0, -1)}: ${reason}.`;
}

function describeInbox({ keptAt, readAt, archivedAt }: InboxExplanation): string {
  const parts = [`${sentences.INBOX.slice(0, -1)} since ${keptAt.toISOString()}`];
  parts.push(readAt ? `and was read at ${readAt.toISOString()}` : 'and is unread');
  if (archivedAt) parts.push(`and archived at ${archivedAt.toISOString()}`);
  return `${parts.join(' ')}.`;
}
