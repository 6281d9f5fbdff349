import { parseIsoTime } from '../segments/iso-time.ts';
import { maxOffsetSeconds } from './limits.ts';

/** Where an event happened, as callers write it (fact 5). */
export const eventPlatforms = { ANDROID: 'ANDROID', iOS: 'IOS', web: 'WEB', TV: 'TV', unknown: 'UNKNOWN' } as const;

// Beyond every time a Date can hold, in seconds.
const maxEpochSeconds = 8.64e12;

/** ISO 8601 (UTC unless it names an offset) or seconds since 1970, as a number or its digits; undefined is neither. */
export function readEventTime(value: unknown): Date | undefined {
  const isSeconds = typeof value === 'number' || (typeof value === 'string' && /^\d{1,13}(\.\d{1,9})?$/.test(value));
  const seconds = isSeconds ? Number(value) : Number.NaN;
  if (seconds >= 0 && seconds <= maxEpochSeconds) return new Date(seconds * 1000);
  const time = typeof value === 'string' ? parseIsoTime(value) : undefined;
  return time && (time.kind === 'day' ? time.startsAt : time.at);
}

/** The stored name of a platform, or undefined if it is unknown. */
export function readEventPlatform(value: unknown): (typeof eventPlatforms)[keyof typeof eventPlatforms] | undefined {
  return typeof value === 'string' && Object.hasOwn(eventPlatforms, value)
    ? eventPlatforms[value as keyof typeof eventPlatforms]
    : undefined;
}

/** Whether a number of seconds can be a distance from UTC. */
export function isOffset(value: unknown): value is number {
  return Number.isInteger(value) && Math.abs(value as number) <= maxOffsetSeconds;
}
