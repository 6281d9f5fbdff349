import type { UtmParameters } from '../content/utm.ts';
import { defaultTtlMinutes } from '../limits/campaigns.ts';
import type { InboxSettings } from '../inbox.ts';
import type { TemplateMode } from '../template/parser.ts';
import type { CampaignTopic } from '../topics.ts';

/** How a message is delivered, from `advancedSettings` (fact 3.4). Stored with the campaign, with defaults filled in. */
export type DeliverySettings = {
  /** How long a provider keeps trying; 0 = not at all. */
  ttlMinutes: { ANDROID: number; IOS: number; WEB: number };
  androidPriority: 'HIGH' | 'NORMAL';
  iosPriority: 1 | 5 | 10;
  webUrgency: 'low' | 'normal' | 'high';
  /** Which iPhones: those with provisional (quiet) permission, those with full permission, or both. */
  iosDevices: IosDevices;
  /** Only devices of these apps are reached, on any platform; absent: devices of all apps. */
  appIds?: readonly string[];
  /** Only users in this topic get it; absent: the campaign has no topic. */
  topic?: CampaignTopic;
  /** Its messages are kept for users to read; absent: they are pushed only. */
  inbox?: InboxSettings;
  /** Maximum devices per minute; overrides `spreadMinutes`. */
  devicesPerMinute: number | null;
  /** Time over which messages to the whole audience are spread. */
  spreadMinutes: number | null;
  /** After this time, the app removes the message from its inbox. */
  inboxExpiryHours: number | null;
  /** Controls whether the texts are templates (decision D39). */
  templates: TemplateMode;
  /** True if it is also sent in quiet hours. */
  bypassesQuietHours: boolean;
  /** True if it is sent regardless of the frequency caps. */
  ignoresCap: boolean;
  /** True if it counts for the caps and for the delay of later messages. */
  countsForCap: boolean;
  /** True if it is sent however soon after another campaign. */
  ignoresMinimumDelay: boolean;
  /** True if it is for the app only: nothing is shown, counted or held back. */
  isSilent: boolean;
  /** Minimum hours between two messages of this campaign to one user. */
  ownDelayHours: number | null;
  /** Maximum number of users it is sent to; absent: all. */
  audienceLimit?: AudienceLimit;
  /** Maximum messages of this campaign to one user within a time; absent: any number. */
  sendLimit?: Allowance;
  /** For this long after the run begins, users held back by a cap, a delay or quiet hours are queued; absent: no queue. */
  queueHours?: number;
  /** Percent of its users that get nothing of it, for comparison; absent: none. */
  controlGroupPercent?: number;
  /** Added to the links of its messages; absent: links are sent as they are. */
  utm?: UtmParameters;
  /** True if the users of the workspace's control group get nothing of it. */
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
 * Returns the stored settings with missing members filled in: a row written by an older version may lack some. The texts of
 * such a row are literal, because that version had no templates.
 */
export function deliverySettings(stored: Record<string, unknown>): DeliverySettings {
  return { ...defaultDeliverySettings, templates: 'OFF', ...(stored as Partial<DeliverySettings>) };
}

/** Returns the inbox that a run fills; undefined: none. A test of a campaign is a push to the users whom it names. */
export function inboxOfRun(run: { settings: Record<string, unknown>; isTest: boolean }): InboxSettings | undefined {
  return run.isTest ? undefined : deliverySettings(run.settings).inbox;
}

/** Returns the platforms to whose devices a run is sent: none if its messages are only kept in the inbox. */
export function pushedPlatforms<P>(run: { settings: Record<string, unknown>; isTest: boolean; platforms: P[] }): P[] {
  return inboxOfRun(run)?.sendTo === 'INBOX' ? [] : run.platforms;
}

/** Returns the value of `provisional` of the devices that a run reaches; null for both. */
export function iosProvisional({ iosDevices }: DeliverySettings): boolean | null {
  return iosDevices === 'ALL' ? null : iosDevices === 'PROVISIONAL';
}

/** Returns how many devices a run sends to per minute; null: as fast as the providers accept messages. */
export function runDevicesPerMinute(
  { devicesPerMinute, spreadMinutes }: DeliverySettings,
  audienceDevices: number,
): number | null {
  if (devicesPerMinute !== null) return devicesPerMinute;
  return spreadMinutes === null ? null : Math.max(1, Math.ceil(audienceDevices / spreadMinutes));
}

/**
 * Returns the instant after which nothing of a run is sent. It is the time of its queue plus the longest time to live. The
 * latter is at least an hour, because a message that may not be stored at the provider may still wait its turn here.
 */
export function sendUntil(settings: DeliverySettings, at: Date): Date {
  return new Date(at.getTime() + livesMinutes(settings) * 60_000 + (settings.queueHours ?? 0) * 3_600_000);
}

/**
 * Returns when the queue of a run ends, so that messages sent from it still live as long as any other. If a run lives longer
 * because of its throttle or the time zones, its queue ends as much later.
 */
export function queueUntil(settings: DeliverySettings, runSendUntil: Date): Date | null {
  return settings.queueHours === undefined ? null : new Date(runSendUntil.getTime() - livesMinutes(settings) * 60_000);
}

function livesMinutes({ ttlMinutes: { ANDROID, IOS, WEB } }: DeliverySettings): number {
  return Math.max(60, ANDROID, IOS, WEB);
}

/** At most this many messages to a user within this many minutes, counted back from each send. */
export type Allowance = { messages: number; minutes: number };

/** Maximum users that a campaign is sent to: in all of its runs together, or in each run. A user counts once per run. */
export type AudienceLimit = { users: number; of: 'CAMPAIGN' | 'RUN' };
