import type { LimitWindow } from '../access/rate-limits.ts';

/**
 * Calls of V1 and V5 together, per workspace (decision D44). The documented third limit, 6,000 an hour, needs no
 * separate window: an hour is sixty minutes, and each allows at most 100.
 */
export const campaignCallsPerMinute = 100;
export const campaignCallWindows: readonly LimitWindow[] = [
  { events: 10, seconds: 1 },
  { events: campaignCallsPerMinute, seconds: 60 },
];

/** Campaigns created through the API; a rejected request does not count (fact 6.1, 6.3). */
export const campaignCreationWindows: readonly LimitWindow[] = [
  { events: 5, seconds: 60 },
  { events: 25, seconds: 3_600 },
  { events: 100, seconds: 86_400 },
];

/** How long a `request_id` of V1 cannot be used again (fact 6.1). */
export const campaignRequestIdHours = 1;
/** After this, rows of used request ids may be deleted. */
export const campaignRequestIdKeptHours = 24;

/** Campaigns in a page of a search (interface 8, decision D41). */
export const maxCampaignsPerPage = { V1: 100, V5: 15 } as const;
/** Campaigns that one request may act on (fact 6.1). */
export const maxActedCampaigns = 10;
/** Users to whom one request sends a test (fact 6.1). */
export const maxTestIdentifiers = 10;
/** Versions of a campaign (fact 6.3). */
export const maxCampaignVersions = 15;

/** Ours; the table has the same limit. */
export const maxCampaignNameCharacters = 256;
/** Ours. */
export const maxCampaignTemplates = 200;
/** Ours. */
export const maxCampaignTags = 100;
/** Goals of a campaign (fact 3.1). */
export const maxConversionGoals = 5;
/** Events after a message that count as its conversions, unless the campaign sets another window (fact 6.2). */
export const conversionWindowHours = 36;
/** This and the time to live of a message before it are together shorter than the minimum retention of the ledger. Ours. */
export const maxConversionWindowHours = 144;
/** A click begins a session, which ends when the user has been idle for this long. Ours. */
export const sessionIdleMinutes = 30;
/**
 * An event waits this long before it is attributed. A window stores its deliveries with the time just before its
 * transaction, and only committed rows are visible. This is twice the maximum time that the database allows a
 * transaction to be idle (`idle_in_transaction_session_timeout`, 60 s).
 */
export const conversionSettleSeconds = 120;
/** The same in a sandbox, where small windows are stored within milliseconds and a user watches the screen. */
export const sandboxConversionSettleSeconds = 1;
/** Sends of a periodic campaign with a limited number of sends. Ours. */
export const maxOccurrences = 1_000;

/**
 * How long a provider may keep a message for a device it cannot reach, unless the campaign sets another time (fact
 * 3.4).
 */
export const defaultTtlMinutes = 2_160;
/** A week (fact 3.4). */
export const maxTtlMinutes = 10_080;
/** A campaign's own throttle. Ours. */
export const maxDevicesPerMinute = 10_000_000;
/** Apps to which a campaign is restricted. Ours. */
export const maxNamedApps = 20;
