import { Temporal } from 'temporal-polyfill';
import { timeZoneAliases } from './time-zone-aliases.ts';

/**
 * The zone that a name stands for, by the name Temporal reckons with; undefined when it stands for none (decision D36).
 * The only function that says which names can be used. Intl is not asked: it takes names that Temporal throws on.
 */
export function findTimeZone(name: string): string | undefined {
  // Offsets such as +05:30 are no zone names, although Temporal takes them.
  if (!/^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/.test(name)) return undefined;
  const zone = resolveTimeZoneAlias(name);
  try {
    epoch.toZonedDateTimeISO(zone);
    return zone;
  } catch {
    return undefined;
  }
}

const epoch = Temporal.Instant.fromEpochMilliseconds(0);

/** Another name for a zone, as its IANA name; every other text is unchanged. */
export function resolveTimeZoneAlias(name: string): string {
  if (name.length !== 3) return name;
  const alias = name.toUpperCase();
  return Object.hasOwn(timeZoneAliases, alias) ? timeZoneAliases[alias]!.zone : name;
}

/** What is said of a name that stands for no zone. */
export const noTimeZone = 'is not a time-zone name';
