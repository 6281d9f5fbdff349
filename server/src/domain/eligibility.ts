import type { Allowance, DeliverySettings } from './campaigns/delivery-settings.ts';
import { controlGroups } from './experiments/control-groups.ts';
import { decideLocalSend } from './timing/local-send.ts';
import type { LocalSend } from './timing/local-send.ts';
import { userZone } from './timing/local-time.ts';
import { bestTimeOf } from './timing/timing.ts';
import type { BestTime, OpensByHour } from './timing/timing.ts';
import { topicCodes } from './topics.ts';
import { quietUntil } from './workspace-controls.ts';
import type { FrequencyCap, QuietHours, WorkspaceControls } from './workspace-controls.ts';

/** The reasons why a device gets no message, or not yet; the values of `deliveries.code`. */
export const eligibilityCodes = [
  ...topicCodes,
  ...controlGroups,
  'CAMPAIGN_AUDIENCE_LIMIT',
  'CAMPAIGN_SEND_LIMIT',
  'FREQUENCY_CAP',
  'MINIMUM_DELAY',
  'QUIET_HOURS',
  'USER_TIME_ZONE',
  'BEST_TIME',
  'TIME_ZONE_UNKNOWN',
] as const;
export type EligibilityCode = (typeof eligibilityCodes)[number];
type ReasonCode = Exclude<EligibilityCode, 'TIME_ZONE_UNKNOWN'>;

/** The decision whether a run may send to a user now. For a held user it is repeated at `until`. */
export type Eligibility =
  | { kind: 'send' }
  | { kind: 'hold'; code: ReasonCode; until: Date }
  | { kind: 'withhold'; code: ReasonCode }
  /** The time at which the user may be sent to is unknown. The run continues for its other users. */
  | { kind: 'fail'; code: 'TIME_ZONE_UNKNOWN' };

/** A message that was sent to a user, or is about to be. */
export type UserMessage = { runId: string; campaignId: string; sentAt: Date; isCounted: boolean };

export type EligibilityUser = { timeZone: string | null; messages: readonly UserMessage[]; opens: OpensByHour };

/** `queueUntil`: until then, users who are held back are queued; null: the run has no queue. */
export type EligibilityRun = {
  id: string;
  campaignId: string;
  startedAt: Date;
  /** The intended start of the run. */
  start: Date;
  sendUntil: Date;
  queueUntil: Date | null;
};

/**
 * Returns a function that decides about the users of a run at one instant. Rules about time come first, so that a held
 * message is counted when it is sent. Rules about earlier messages follow. The clock is evaluated once per zone, not per user.
 */
export function makeDecideEligibility(
  rules: EligibilityRules,
  { run, now }: { run: EligibilityRun; now: Date },
): (user: EligibilityUser) => Eligibility {
  const byZone = new Map<string | null, Eligibility>();
  return ({ timeZone, messages, opens }) => {
    const early = rules.bestTime && askBestTime(rules.bestTime, { opens, run, now });
    if (early) return early;
    let clock = byZone.get(timeZone);
    if (!clock) {
      clock = askClock(rules, { named: timeZone, run, now });
      byZone.set(timeZone, clock);
    }
    return clock.kind === 'send' ? askMessages(rules, { messages, run, now }) : clock;
  };
}

/** The decision is repeated when the hour has come, with the same opens. */
function askBestTime(
  bestTime: BestTime,
  { opens, run, now }: { opens: OpensByHour; run: EligibilityRun; now: Date },
): Eligibility | undefined {
  const at = bestTimeOf(bestTime, { opens, start: run.start });
  if (!at) return { kind: 'withhold', code: 'BEST_TIME' };
  return at > now ? hold({ code: 'BEST_TIME', until: at, run }) : undefined;
}

type ClockQuestion = { named: string | null; run: EligibilityRun; now: Date };

function askClock({ localSend, quietHours, zone }: EligibilityRules, { named, run, now }: ClockQuestion): Eligibility {
  const known = userZone(named);
  if (known === 'unknown') return { kind: 'fail', code: 'TIME_ZONE_UNKNOWN' };
  if (localSend) {
    const question = { timeZone: known ?? localSend.timeZone, startedAt: run.startedAt, now };
    const decided = decideLocalSend(localSend, question);
    if (decided === 'passed') return { kind: 'withhold', code: 'USER_TIME_ZONE' };
    if (decided) return hold({ code: 'USER_TIME_ZONE', until: decided, run });
  }
  const quietEnd = quietHours && quietUntil(quietHours, { at: now, timeZone: known ?? zone.fallback });
  if (!quietEnd) return { kind: 'send' };
  if (quietHours.mode === 'DROP') return queue({ code: 'QUIET_HOURS', until: quietEnd, run });
  return hold({ code: 'QUIET_HOURS', until: quietEnd, run });
}

/** Holds a message until the given time, or withholds it if it expires by then. */
function hold({ code, until, run }: { code: ReasonCode; until: Date; run: EligibilityRun }): Eligibility {
  return until < run.sendUntil ? { kind: 'hold', code, until } : { kind: 'withhold', code };
}

/** Queues a message that would be dropped, if the run has a queue and the message can be sent before the queue ends. */
function queue({
  code,
  until,
  run: { queueUntil },
}: {
  code: ReasonCode;
  until: Date;
  run: EligibilityRun;
}): Eligibility {
  return queueUntil && until <= queueUntil ? { kind: 'hold', code, until } : { kind: 'withhold', code };
}

type MessageQuestion = { messages: readonly UserMessage[]; run: EligibilityRun; now: Date };

/** A user that the run has already reached (on another device, or in a window resent after a crash) is eligible. */
function askMessages(rules: EligibilityRules, { messages, run, now }: MessageQuestion): Eligibility {
  if (messages.some(({ runId }) => runId === run.id)) return { kind: 'send' };
  const { caps, otherDelayMinutes, ownDelayMinutes, sendLimit } = rules;
  const isOwn = ({ campaignId }: UserMessage): boolean => campaignId === run.campaignId;
  const isOther = (message: UserMessage): boolean => message.isCounted && !isOwn(message);
  const passes = (limit: Allowance, matches: (message: UserMessage) => boolean): Date | undefined =>
    passesAt(limit, { sentAt: messages.filter(matches).map(({ sentAt }) => sentAt), now });
  if (sendLimit && passes(sendLimit, isOwn)) return { kind: 'withhold', code: 'CAMPAIGN_SEND_LIMIT' };
  const afterDelays = latest([
    otherDelayMinutes === null ? undefined : passes({ messages: 1, minutes: otherDelayMinutes }, isOther),
    ownDelayMinutes === null ? undefined : passes({ messages: 1, minutes: ownDelayMinutes }, isOwn),
  ]);
  const afterCaps = latest(
    caps.map((cap) => passes({ messages: cap.messages, minutes: cap.hours * 60 }, ({ isCounted }) => isCounted)),
  );
  const until = latest([afterDelays, afterCaps]);
  if (!until) return { kind: 'send' };
  return queue({ code: afterDelays ? 'MINIMUM_DELAY' : 'FREQUENCY_CAP', until, run });
}

/** Returns when another message is within the allowance again; undefined if it is now. */
function passesAt({ messages, minutes }: Allowance, { sentAt, now }: { sentAt: Date[]; now: Date }): Date | undefined {
  const span = minutes * 60_000;
  const within = sentAt.map((at) => at.getTime()).filter((at) => at > now.getTime() - span);
  if (within.length < messages) return undefined;
  within.sort((one, other) => one - other);
  return new Date(within[within.length - messages]! + span);
}

function latest(instants: readonly (Date | undefined)[]): Date | undefined {
  const known = instants.filter((at) => at !== undefined);
  return known.length === 0 ? undefined : new Date(Math.max(...known.map((at) => at.getTime())));
}

/** The rules that can prevent a run from sending to a user. */
export type EligibilityRules = {
  caps: FrequencyCap[];
  quietHours: QuietHours | null;
  /** Minimum delay after the last message of another campaign. */
  otherDelayMinutes: number | null;
  /** Minimum delay after the last message of this campaign. */
  ownDelayMinutes: number | null;
  /** Maximum messages of this campaign to one user. */
  sendLimit: Allowance | null;
  /** Sent to everyone at this local time. */
  localSend: LocalSend | null;
  /** Sent to each user at that user's best hour. */
  bestTime: BestTime | null;
  /** How its messages are recorded; null: they are not recorded, because no rule would read them. */
  record: { isCounted: boolean } | null;
  zone: { attribute: string; fallback: string };
};

/** True if the rules need the user's zone; the next function: if they need the messages that were sent to the user. */
export const needsZone = (rules: EligibilityRules): boolean => rules.quietHours !== null || rules.localSend !== null;
export const needsMessages = (rules: EligibilityRules): boolean =>
  rules.record !== null || rules.caps.length > 0 || rules.otherDelayMinutes !== null;

export const needsOpens = (rules: EligibilityRules): boolean => rules.bestTime !== null;

type RunSettings = {
  settings: DeliverySettings;
  controls: WorkspaceControls;
  localSend: LocalSend | null;
  bestTime: BestTime | null;
  isTest: boolean;
};

/**
 * Returns the eligibility rules of a run, or undefined if every user passes; sending then costs nothing more. A test of a
 * campaign always passes and is never counted, so that it can be sent at any hour.
 */
export function eligibilityRulesOf({
  settings,
  controls,
  localSend,
  bestTime,
  isTest,
}: RunSettings): EligibilityRules | undefined {
  if (isTest) return undefined;
  const { minimumDelayMinutes } = controls;
  const ownDelayMinutes = settings.ownDelayHours === null ? null : settings.ownDelayHours * 60;
  const sendLimit = settings.sendLimit ?? null;
  const isAskedFor = controls.caps.length > 0 || minimumDelayMinutes !== null;
  const isCounted = settings.countsForCap && isAskedFor;
  const rules: EligibilityRules = {
    caps: settings.ignoresCap ? [] : controls.caps,
    quietHours: settings.bypassesQuietHours ? null : controls.quietHours,
    otherDelayMinutes: settings.ignoresMinimumDelay ? null : minimumDelayMinutes,
    ownDelayMinutes,
    sendLimit,
    localSend,
    bestTime,
    record: isCounted || ownDelayMinutes !== null || sendLimit ? { isCounted } : null,
    zone: { attribute: controls.zoneAttribute, fallback: controls.timeZone },
  };
  return needsZone(rules) || needsMessages(rules) || needsOpens(rules) ? rules : undefined;
}
