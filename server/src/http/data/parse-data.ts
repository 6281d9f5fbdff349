import type { RegisterDeviceCommand } from '../../app/users/devices.ts';
import type { UpsertUserCommand } from '../../app/users/users.ts';
import { parseDeviceAttributes } from '../../domain/users/device-attributes.ts';
import type { DeviceAttributes } from '../../domain/users/device-attributes.ts';
import { attributesFault, customerIdFault } from '../../domain/users/user-attributes.ts';
import type { Attributes } from '../../domain/users/user-attributes.ts';
import { ServiceError } from '../../domain/errors.ts';
import { isAbsent, isBlank } from '../route/json-body.ts';

type Body = Record<string, unknown>;

/** @throws ServiceError DATA_ATTRIBUTE_MISSING, DATA_VALUE_INVALID */
export function parseCustomer(body: Body, prefixes: readonly string[]): Omit<UpsertUserCommand, 'at' | 'workspaceId'> {
  requireType(body, 'customer');
  const customerId = requireCustomerId(body);
  const { platforms: nested, ...attributes } = readRecord(body.attributes ?? undefined, 'attributes');
  checkAttributes(attributes, prefixes);
  checkPlatforms(body.platforms ?? nested);
  const only = body.update_existing_only;
  if (!isAbsent(only) && typeof only !== 'boolean') throw invalid('update_existing_only', 'must be true or false');
  return { customerId, attributes, ...(only === true ? { updateExistingOnly: true as const } : {}) };
}

/** @throws ServiceError DATA_ATTRIBUTE_MISSING, DATA_VALUE_INVALID */
export function parseDevice(
  body: Body,
  prefixes: readonly string[],
): Omit<RegisterDeviceCommand, 'at' | 'workspaceId'> {
  requireType(body, 'device');
  const customerId = requireCustomerId(body);
  const deviceId = requireText(body, 'device_id');
  if (isAbsent(body.attributes)) throw missing('attributes');
  return { customerId, deviceId, ...parseDeviceRecord(readRecord(body.attributes, 'attributes'), prefixes) };
}

/** @throws ServiceError DATA_ATTRIBUTE_MISSING, DATA_VALUE_INVALID */
export function parseDeviceRecord(attributes: Attributes, prefixes: readonly string[]): DeviceAttributes {
  const parsed = parseDeviceAttributes(attributes, prefixes);
  if ('missing' in parsed) throw missing(parsed.missing);
  if ('fault' in parsed) throw invalid(parsed.fault.attribute, parsed.fault.reason);
  return parsed.device;
}

/** @throws ServiceError DATA_VALUE_INVALID */
export function checkAttributes(attributes: Attributes, prefixes: readonly string[]): void {
  const fault = attributesFault(attributes, prefixes);
  if (fault) throw invalid(fault.attribute, fault.reason);
}

export function requireType(body: Body, type: string): void {
  if (isAbsent(body.type)) throw missing('type');
  if (body.type !== type) throw invalid('type', `must be '${type}'`);
}

export function requireCustomerId(body: Body): string {
  const customerId = requireText(body, 'customer_id');
  const fault = customerIdFault(customerId);
  if (fault !== undefined) throw invalid('customer_id', fault);
  return customerId;
}

/** @param place the position of the field and its maximum length */
export function requireText(
  body: Body,
  field: string,
  { at, longest = 512 }: { at?: string; longest?: number } = {},
): string {
  const value = body[field];
  const path = at === undefined ? field : `${at}.${field}`;
  if (isBlank(value)) throw missing(path);
  if (typeof value !== 'string') throw invalid(path, 'must be a text');
  if (!value.isWellFormed()) throw invalid(path, 'must be well-formed Unicode');
  if (value.length > longest) throw invalid(path, `must have at most ${longest} characters`);
  return value;
}

export function readRecord(value: unknown, field: string): Attributes {
  if (value === undefined) return {};
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw invalid(field, 'must be an object');
  return value as Attributes;
}

/**
 * Checks `platforms`, which lists where a user has the app. Devices state it exactly, so it is only validated
 * (docs/decisions/0006).
 */
function checkPlatforms(value: unknown): void {
  if (isAbsent(value)) return;
  if (!Array.isArray(value)) throw invalid('platforms', 'must be a list');
  for (const item of value as { platform?: unknown }[]) {
    if (!['ANDROID', 'iOS', 'web'].includes(String(item?.platform)))
      throw invalid('platform', 'is not a valid platform.');
  }
}

export function missing(field: string): ServiceError {
  return new ServiceError('DATA_ATTRIBUTE_MISSING', { field });
}

export function invalid(field: string, reason: string): ServiceError {
  return new ServiceError('DATA_VALUE_INVALID', { field, reason });
}

export function emptyActions(): ServiceError {
  return new ServiceError('DATA_ACTIONS_EMPTY', { field: 'actions' });
}
