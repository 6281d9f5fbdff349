import { attributesFault, textFault } from '../../domain/users/user-attributes.ts';
import { isOffset, readEventPlatform, readEventTime } from '../../domain/events/event-fields.ts';
import type { NewEvent } from '../../storage/users/events.ts';
import { isRecord, readCustomerId } from './parse-user-row.ts';
import { maxAppVersionCharacters, maxEventNameCharacters, maxOffsetSeconds } from '../../domain/events/limits.ts';

export type ImportedEvent = Omit<NewEvent, 'id'> & { customerId: string; deviceId: string | null };

/**
 * A row of a file of events: an event, or the reason why it is not. `user_time` is required, because a file describes
 * the past.
 */
export function parseEventRow(
  value: unknown,
  { now, prefixes }: { now: Date; prefixes: readonly string[] },
): { event: ImportedEvent } | { reason: string } {
  if (!isRecord(value)) return { reason: 'not a JSON object' };
  const { customer_id: customerId, action, attributes = {}, platform, user_timezone_offset: offset } = value;
  const fault = readCustomerId(customerId) ?? textReason(value, 'action', maxEventNameCharacters);
  if (fault !== undefined) return { reason: fault };
  if (!isRecord(attributes)) return { reason: "'attributes' must be an object" };
  const wrong = attributesFault(attributes, prefixes);
  if (wrong) return { reason: `'${wrong.attribute}' ${wrong.reason}` };
  const occurredAt = readEventTime(value.user_time);
  if (!occurredAt) return { reason: "'user_time' must be an ISO 8601 time or seconds since 1970" };
  if (occurredAt > now) return { reason: "'user_time' must not be in the future" };
  const stored = isAbsent(platform) ? null : readEventPlatform(platform);
  if (stored === undefined) return { reason: "'platform' is not a valid platform." };
  if (!isAbsent(offset) && !isOffset(offset))
    return { reason: `'user_timezone_offset' must be whole seconds, at most ${maxOffsetSeconds} from UTC` };
  const optional =
    (isAbsent(value.device_id) ? undefined : textReason(value, 'device_id', 512)) ??
    (isAbsent(value.app_version) ? undefined : textReason(value, 'app_version', maxAppVersionCharacters));
  if (optional !== undefined) return { reason: optional };
  return {
    event: {
      customerId: customerId as string,
      name: action as string,
      attributes,
      occurredAt,
      platform: stored,
      appVersion: (value.app_version as string | undefined) ?? null,
      utcOffsetSeconds: (offset as number | undefined) ?? null,
      deviceId: (value.device_id as string | undefined) ?? null,
    },
  };
}

const ownColumns = [
  'customer_id',
  'action',
  'device_id',
  'platform',
  'app_version',
  'user_time',
  'user_timezone_offset',
];

/** Columns that are not fields of an event are its attributes; `attributes:json` holds several at once. */
export function eventFromCells({ attributes: given, ...cells }: Record<string, unknown>): Record<string, unknown> {
  const own = Object.entries(cells).filter(([name]) => ownColumns.includes(name));
  const others = Object.entries(cells).filter(([name]) => !ownColumns.includes(name));
  const { user_timezone_offset: offset, ...event } = Object.fromEntries(own);
  return {
    ...event,
    ...(offset === undefined ? {} : { user_timezone_offset: Number(offset) }),
    attributes: { ...(isRecord(given) ? given : {}), ...Object.fromEntries(others) },
  };
}

function textReason(row: Record<string, unknown>, field: string, longest: number): string | undefined {
  const value = row[field];
  if (typeof value !== 'string' || value === '') return `'${field}' is not found or is no text`;
  if (value.length > longest) return `'${field}' must have at most ${longest} characters`;
  const fault = textFault(value);
  return fault === undefined ? undefined : `'${field}' ${fault}`;
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}
