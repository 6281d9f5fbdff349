import type { TrackEventsCommand, TrackedAction } from '../../app/data/track-events.ts';
import { attributesFault } from '../../domain/users/user-attributes.ts';
import { isOffset, readEventPlatform, readEventTime } from '../../domain/events/event-fields.ts';
import type { DataBody } from './data-call.ts';
import {
  emptyActions,
  invalid,
  missing,
  readRecord,
  requireCustomerId,
  requireText,
  requireType,
} from './parse-data.ts';
import { maxAppVersionCharacters, maxEventNameCharacters, maxOffsetSeconds } from '../../domain/events/limits.ts';
import { isAbsent } from '../is-absent.ts';

/** The number of events a request counts as; one without events, or a malformed one, counts as one. */
export function countActions(body: unknown): number {
  const actions = (body as DataBody | null | undefined)?.actions;
  return Array.isArray(actions) ? Math.max(1, actions.length) : 1;
}

/** @throws ServiceError DATA_ATTRIBUTE_MISSING, DATA_ACTIONS_EMPTY, DATA_VALUE_INVALID */
export function parseEvents(
  body: DataBody,
  prefixes: readonly string[],
): Omit<TrackEventsCommand, 'at' | 'workspaceId'> {
  requireType(body, 'event');
  const customerId = requireCustomerId(body);
  const deviceId = isAbsent(body.device_id) ? null : requireText(body, 'device_id');
  if (isAbsent(body.actions)) throw missing('actions');
  if (!Array.isArray(body.actions)) throw invalid('actions', 'must be a list');
  if (body.actions.length === 0) throw emptyActions();
  const actions = body.actions.map((item, index) => parseAction(item, { at: `actions[${index}]`, prefixes }));
  return { customerId, deviceId, actions };
}

function parseAction(item: unknown, { at, prefixes }: { at: string; prefixes: readonly string[] }): TrackedAction {
  const action = readRecord(item ?? null, at);
  const name = requireText(action, 'action', { at, longest: maxEventNameCharacters });
  const attributes = readRecord(action.attributes ?? undefined, `${at}.attributes`);
  const fault = attributesFault(attributes, prefixes);
  if (fault) throw invalid(fault.attribute, fault.reason);
  const currentTime = readTime(action.current_time, `${at}.current_time`);
  return {
    name,
    attributes,
    platform: readPlatform(action.platform),
    appVersion: isAbsent(action.app_version)
      ? null
      : requireText(action, 'app_version', { at, longest: maxAppVersionCharacters }),
    // The sender's clock at the sending is the nearest to the event when the event's own time is not given.
    occurredAt: readTime(action.user_time, `${at}.user_time`) ?? currentTime,
    utcOffsetSeconds: readOffset(action.user_timezone_offset, `${at}.user_timezone_offset`),
  };
}

function readPlatform(value: unknown): TrackedAction['platform'] {
  if (isAbsent(value)) return null;
  const platform = readEventPlatform(value);
  if (platform) return platform;
  throw invalid('platform', 'is not a valid platform.');
}

function readTime(value: unknown, field: string): Date | undefined {
  if (isAbsent(value)) return undefined;
  const time = readEventTime(value);
  if (time) return time;
  throw invalid(field, 'must be an ISO 8601 time or seconds since 1970');
}

function readOffset(value: unknown, field: string): number | null {
  if (isAbsent(value)) return null;
  if (isOffset(value)) return value;
  throw invalid(field, `must be a whole number of seconds from -${maxOffsetSeconds} to ${maxOffsetSeconds}`);
}
