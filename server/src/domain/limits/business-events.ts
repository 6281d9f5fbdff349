import type { LimitWindow } from '../access/rate-limits.ts';

const hourAndDay: readonly LimitWindow[] = [
  { events: 50, seconds: 3_600 },
  { events: 200, seconds: 86_400 },
];

/** Campaigns that events of a workspace start. The response lists those beyond the limit as failed (fact 6.3). */
export const triggerWindows = {
  V1: hourAndDay,
  V5: [{ events: 10, seconds: 300 }, ...hourAndDay] as readonly LimitWindow[],
} as const;

/** Business events of a workspace (fact 6.3). */
export const maxBusinessEvents = 50;
/** Attributes of an event. Ours. */
export const maxBusinessAttributes = 100;
/** Characters of the name of an event or an attribute. Ours. */
export const maxBusinessNameCharacters = 256;
/** Business events in a page of the list (fact 6.3). */
export const maxBusinessEventsPerPage = 20;
