import type { LimitWindow } from '../access/rate-limits.ts';

// Business events

const hourAndDay: readonly LimitWindow[] = [
  { events: 50, seconds: 3_600 },
  { events: 200, seconds: 86_400 },
];

/**
 * Campaigns that business events start (fact 6.3).
 * Unit: campaigns per workspace. Exceeded: BUSINESS_EVENT_RATE_LIMITED.
 * The response lists the campaigns beyond the limit as failed.
 */
export const triggerWindows = {
  V1: hourAndDay,
  V5: [{ events: 10, seconds: 300 }, ...hourAndDay] as readonly LimitWindow[],
} as const;

/** Business events of a workspace (fact 6.3). Unit: events per workspace. Exceeded: BUSINESS_EVENT_LIMITED. */
export const maxBusinessEvents = 50;
/** Attributes of a business event. Unit: attributes per request. Exceeded: CAMPAIGN_REQUEST_INVALID. */
export const maxBusinessAttributes = 100;

/**
 * Longest name of a business event or of its attribute.
 * Unit: characters per name. Exceeded: CAMPAIGN_REQUEST_INVALID.
 */
export const maxBusinessNameCharacters = 256;

/** Business events in a page of the list (fact 6.3). Unit: events per request. Exceeded: CAMPAIGN_REQUEST_INVALID. */
export const maxBusinessEventsPerPage = 20;
