import { defaultTtlMinutes } from '../limits/campaigns.ts';
import type { TemplateMode } from '../template/parser.ts';

/** How a message travels, from `advancedSettings` (fact 3.4). Stored with the campaign, defaults filled in. */
export type DeliverySettings = {
  /** How long a provider keeps trying; 0 = not at all. */
  ttlMinutes: { ANDROID: number; IOS: number; WEB: number };
  androidPriority: 'HIGH' | 'NORMAL';
  iosPriority: 1 | 5 | 10;
  webUrgency: 'low' | 'normal' | 'high';
  /** Which iPhones: those with provisional (quiet) permission, those with full permission, or both. */
  iosDevices: IosDevices;
  /** The apps whose devices are reached, whatever the platform; absent: all. */
  appIds?: readonly string[];
  /** Most devices a minute; wins over `spreadMinutes`. */
  devicesPerMinute: number | null;
  /** Time over which the whole audience is spread. */
  spreadMinutes: number | null;
  /** After this the app takes the message out of its inbox. */
  inboxExpiryHours: number | null;
  /** Whether the texts are templates (decision D39). */
  templates: TemplateMode;
  /** Goes out in quiet hours too. */
  bypassesQuietHours: boolean;
  /** Goes out whatever was sent before. */
  ignoresCap: boolean;
  /** Counts for the caps, and for the delay, of what is sent after it. */
  countsForCap: boolean;
  /** Goes out however soon after another campaign. */
  ignoresMinimumDelay: boolean;
  /** For the app alone: nothing is shown, counted or held back. */
  isSilent: boolean;
  /** Least hours between two messages of this campaign to one user. */
  ownDelayHours: number | null;
  /** To how many users it is sent; absent: to all. */
  audienceLimit?: AudienceLimit;
  /** Most messages of this campaign to one user within a time; absent: any number. */
  sendLimit?: Allowance;
  /** For so long after its run began, whoever a cap, a delay or quiet hours hold back is queued; absent: not at all. */
  queueHours?: number;
  /** Percent of its users that get nothing of it, to compare with; absent: nobody. */
  controlGroupPercent?: number;
  /** The users of the workspace's control group get nothing of it. */
  leavesOutGlobalControlGroup?: boolean;
};

export type IosDevices = 'ALL' | 'PROVISIONAL' | 'NON_PROVISIONAL';

export const defaultDeliverySettings: DeliverySettings = {
  ttlMinutes: { ANDROID: defaultTtlMinutes, IOS: defaultTtlMinutes, WEB: defaultTtlMinutes },
  androidPriority: 'HIGH',
  iosPriority: 10,
  webUrgency: 'normal',
  iosDevices: 'ALL',
  devicesPerMinute: null,
  spreadMinutes: null,
  inboxExpiryHours: null,
  templates: 'AUTO',
  // Fact 3.4: the defaults of a request that names none of these.
  bypassesQuietHours: false,
  ignoresCap: false,
  countsForCap: true,
  ignoresMinimumDelay: true,
  ownDelayHours: null,
  isSilent: false,
};

/**
 * The stored settings, completed: a row written by an older version may lack a member. Its texts are literal, because
 * that version had no templates.
 */
export function deliverySettings(stored: Record<string, unknown>): DeliverySettings {
  return { ...defaultDeliverySettings, templates: 'OFF', ...(stored as Partial<DeliverySettings>) };
}

/** The value of a device's `provisional` that a run reaches; null for both. */
export function iosProvisional({ iosDevices }: DeliverySettings): boolean | null {
  return iosDevices === 'ALL' ? null : iosDevices === 'PROVISIONAL';
}

/** How fast a run goes to so many devices; null is as fast as the providers take it. */
export function runDevicesPerMinute(
  { devicesPerMinute, spreadMinutes }: DeliverySettings,
  audienceDevices: number,
): number | null {
  if (devicesPerMinute !== null) return devicesPerMinute;
  return spreadMinutes === null ? null : Math.max(1, Math.ceil(audienceDevices / spreadMinutes));
}

/**
 * The instant after which nothing of a run is sent any more: the longest time to live, but at least an hour, because a
 * message that may not be stored at the provider may still wait its turn here; and before that the time of its queue.
 */
export function sendUntil(settings: DeliverySettings, at: Date): Date {
  return new Date(at.getTime() + livesMinutes(settings) * 60_000 + (settings.queueHours ?? 0) * 3_600_000);
}

/**
 * When the queue of a run ends: what is sent from it then lives as long as any message. A run that lives longer for its
 * throttle or for the zones has a queue that ends as much later.
 */
export function queueUntil(settings: DeliverySettings, runSendUntil: Date): Date | null {
  return settings.queueHours === undefined ? null : new Date(runSendUntil.getTime() - livesMinutes(settings) * 60_000);
}

function livesMinutes({ ttlMinutes: { ANDROID, IOS, WEB } }: DeliverySettings): number {
  return Math.max(60, ANDROID, IOS, WEB);
}

/** At most so many messages to a user within so many minutes, counted back from each send. */
export type Allowance = { messages: number; minutes: number };

/** To how many users a campaign is sent: in all of its runs together, or in each. A user counts once a run. */
export type AudienceLimit = { users: number; of: 'CAMPAIGN' | 'RUN' };
