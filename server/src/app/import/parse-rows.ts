import { noSuchApp } from '../../domain/apps.ts';
import type { Platform } from '../../domain/content/content.ts';
import { isOffset, readEventPlatform, readEventTime, settleEventTime } from '../../domain/events/events.ts';
import { maxAppVersionCharacters, maxEventNameCharacters, maxOffsetSeconds } from '../../domain/limits/users.ts';
import { underStoredNames } from '../../domain/users/standard-attributes.ts';
import { parseDeviceAttributes } from '../../domain/users/device-attributes.ts';
import type { DeviceAttributes } from '../../domain/users/device-attributes.ts';
import {
  attributesFault,
  customerIdFault,
  isListEdit,
  textFault,
  zoneAttributeFault,
} from '../../domain/users/user-attributes.ts';
import type { Attributes } from '../../domain/users/user-attributes.ts';
import type { NewEvent } from '../../storage/users/events.ts';

export type ImportedDevice = DeviceAttributes & { deviceId: string };

export type ImportedUser = { customerId: string; attributes: Attributes; devices: ImportedDevice[] };

export type UserRowRules = {
  zoneAttribute: string;
  /** Spellings of the vendor's abbreviation in names such as `svc_push_opted`. */
  prefixes: readonly string[];
  /** True if a device may name this app. */
  isApp: (app: { platform: Platform; appId: string }) => boolean;
};

/** Parses a row of a users file: a user, or the reason why the row is invalid. */
export function parseUserRow(
  value: unknown,
  { zoneAttribute, ...rules }: UserRowRules,
): { user: ImportedUser } | { reason: string } {
  if (!isRecord(value)) return { reason: 'not a JSON object' };
  const { customer_id: customerId, attributes = {}, devices = [] } = value;
  const idFault = readCustomerId(customerId);
  if (idFault !== undefined) return { reason: idFault };
  if (!isRecord(attributes)) return { reason: "'attributes' must be an object" };
  const fault = attributesFault(attributes, rules.prefixes) ?? zoneAttributeFault(attributes, zoneAttribute);
  if (fault) return { reason: `'${fault.attribute}' ${fault.reason}` };
  // A list edit is relative to the stored value. A file states the result, so that loading it twice changes nothing.
  const edited = Object.entries(attributes).find(([, change]) => isListEdit(change));
  if (edited) return { reason: `'${edited[0]}' must not be a list edit: a file can only set a list` };
  if (!Array.isArray(devices)) return { reason: "'devices' must be a list" };
  const parsed = devices.map((device) => parseDevice(device, rules));
  const refused = parsed.find((device) => 'reason' in device);
  if (refused) return refused as { reason: string };
  const stored = underStoredNames(attributes);
  return { user: { customerId: String(customerId), attributes: stored, devices: parsed as ImportedUser['devices'] } };
}

export type DeviceRowRules = Pick<UserRowRules, 'prefixes' | 'isApp'>;

/** Returns why a customer id of a file is invalid, or undefined. */
function readCustomerId(customerId: unknown): string | undefined {
  const isNumber = Number.isSafeInteger(customerId);
  if (typeof customerId !== 'string' && !isNumber)
    return "'customer_id' is missing or is neither a text nor a whole number";
  const fault = customerIdFault(String(customerId));
  return fault === undefined ? undefined : `'customer_id' ${fault}`;
}

/** Parses a row of a devices file. */
export function parseDeviceRow(
  value: unknown,
  rules: DeviceRowRules,
): { customerId: string; device: ImportedDevice } | { reason: string } {
  if (!isRecord(value)) return { reason: 'not a JSON object' };
  const { customer_id: customerId, ...rest } = value;
  const fault = readCustomerId(customerId);
  if (fault !== undefined) return { reason: fault };
  const device = parseDevice(rest, rules);
  return 'reason' in device ? device : { customerId: String(customerId), device };
}

function parseDevice(device: unknown, { prefixes, isApp }: DeviceRowRules): ImportedDevice | { reason: string } {
  if (!isRecord(device)) return { reason: 'a device must be an object' };
  const { device_id: deviceId, ...attributes } = device;
  if (typeof deviceId !== 'string' || deviceId === '' || deviceId.length > 512)
    return { reason: "'device_id' is missing or is not a text of 1 to 512 characters" };
  const fault = textFault(deviceId);
  if (fault !== undefined) return { reason: `'device_id' ${fault}` };
  const parsed = parseDeviceAttributes(attributes, prefixes);
  if ('missing' in parsed) return { reason: `'${parsed.missing}' is not found` };
  if ('fault' in parsed) return { reason: `'${parsed.fault.attribute}' ${parsed.fault.reason}` };
  const { platform, appId } = parsed.device;
  if (appId !== undefined && !isApp({ platform, appId })) return { reason: `'app_id' ${noSuchApp(appId)}` };
  return { deviceId, ...parsed.device };
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

export type ImportedEvent = Omit<NewEvent, 'id'> & { customerId: string; deviceId: string | null };

/**
 * Parses a row of an events file: an event, or the reason why the row is invalid. `user_time` is required, because a file
 * describes the past.
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
  const sent = readEventTime(value.user_time);
  if (!sent) return { reason: "'user_time' must be an ISO 8601 time or seconds since 1970" };
  const time = settleEventTime(sent, now);
  if ('fault' in time) return { reason: `'user_time' ${time.fault}` };
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
      customerId: String(customerId),
      name: action as string,
      attributes,
      occurredAt: time.at,
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

/** Turns the cells of a row into an event. Columns that are not fields of an event become its attributes; `attributes:json` holds several. */
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

function textReason(row: Record<string, unknown>, field: string, maxLength: number): string | undefined {
  const value = row[field];
  if (typeof value !== 'string' || value === '') return `'${field}' is missing or is not a text`;
  if (value.length > maxLength) return `'${field}' must have at most ${maxLength} characters`;
  const fault = textFault(value);
  return fault === undefined ? undefined : `'${field}' ${fault}`;
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}
