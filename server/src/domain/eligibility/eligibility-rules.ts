import type { DeliverySettings } from '../campaigns/delivery-settings.ts';
import type { BestTime } from '../timing/best-time.ts';
import type { LocalSend } from '../timing/local-send.ts';
import type { Allowance } from './allowance.ts';
import type { FrequencyCap, QuietHours, WorkspaceControls } from './workspace-controls.ts';

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
