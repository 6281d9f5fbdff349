import type { Allowance, DeliverySettings } from './campaigns/delivery-settings.ts';
import { controlGroups } from './experiments/control-groups.ts';
import { decideLocalSend } from './timing/local-send.ts';
import type { LocalSend } from './timing/local-send.ts';
import { findTimeZone } from './timing/local-time.ts';
import { bestTimeOf } from './timing/timing.ts';
import type { BestTime, OpensByHour } from './timing/timing.ts';
import { quietUntil } from './workspace-controls.ts';
import type { FrequencyCap, QuietHours, WorkspaceControls } from './workspace-controls.ts';

/** Why a device is not sent to, or not yet; the words of `deliveries.code`. */
export const eligibilityCodes = [
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

/** Whether a run may send to a user now. For a held user the decision is repeated at that time. */
export type Eligibility =
  | { kind: 'send' }
  | { kind: 'hold'; code: ReasonCode; until: Date }
  | { kind: 'withhold'; code: ReasonCode }
  /** It cannot be said when the user may be sent to; the other users of the run can be. */
  | { kind: 'fail'; code: 'TIME_ZONE_UNKNOWN' };

/** A message that was sent to a user, or is about to be. */
export type UserMessage = { runId: string; campaignId: string; sentAt: Date; isCounted: boolean };

export type EligibilityUser = { timeZone: string | null; messages: readonly UserMessage[]; opens: OpensByHour };

/** `queueUntil`: until then whoever is held back is queued; null: nobody is. */
export type EligibilityRun = {
  id: string;
  campaignId: string;
  startedAt: Date;
  /** When it was meant to begin. */
  start: Date;
  sendUntil: Date;
  queueUntil: Date | null;
};

/**
 * Decides about the users of a run at one instant. The clock comes first, so that a message that is held is counted when
 * it goes out; then what was sent before. What the clock says is worked out once a zone, not once a user.
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

/** Asked again when the hour has come, with the same opens. */
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
  // A blank text is how some clients say that they know no zone.
  const isNamed = named !== null && named.trim() !== '';
  const known = isNamed ? findTimeZone(named) : undefined;
  // Names are checked when they arrive; the attribute may have been chosen later, or its values before.
  if (isNamed && known === undefined) return { kind: 'fail', code: 'TIME_ZONE_UNKNOWN' };
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

/** A message that has died by then need not wait for it. */
function hold({ code, until, run }: { code: ReasonCode; until: Date; run: EligibilityRun }): Eligibility {
  return until < run.sendUntil ? { kind: 'hold', code, until } : { kind: 'withhold', code };
}

/** What would be dropped waits in the queue of a run that has one, if it can be sent before that ends. */
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

/** A user whom the run has reached already (another device, or a window sent again after a crash) is eligible. */
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

/** When a message more is within the allowance again; undefined: it is now. */
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

/** What can prevent a run from sending to a user. */
export type EligibilityRules = {
  caps: FrequencyCap[];
  quietHours: QuietHours | null;
  /** To the last message of another campaign. */
  otherDelayMinutes: number | null;
  /** To the last message of this campaign. */
  ownDelayMinutes: number | null;
  /** How often a user gets this campaign. */
  sendLimit: Allowance | null;
  /** Sent to everyone at this local time. */
  localSend: LocalSend | null;
  /** Sent to each user at an hour of its own. */
  bestTime: BestTime | null;
  /** How its messages are written down; null: not at all, because nobody would ask for them. */
  record: { isCounted: boolean } | null;
  zone: { attribute: string; fallback: string };
};

/** Whether a gate must know the user's zone, and whether it must know what was sent to the user. */
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
 * The gate of a run, or undefined when everything passes: then the sending of the run costs nothing more. A test of a
 * campaign passes always and is never counted, so that it can be tried at any hour.
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
