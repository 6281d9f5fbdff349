import { noSuchApp } from '../../domain/apps/app.ts';
import type { Platform } from '../../domain/campaigns/content.ts';
import { parseDeviceAttributes } from '../../domain/devices/device-attributes.ts';
import type { DeviceAttributes } from '../../domain/devices/device-attributes.ts';
import {
  attributesFault,
  customerIdFault,
  isListEdit,
  textFault,
  zoneAttributeFault,
} from '../../domain/users/user-attributes.ts';
import type { Attributes } from '../../domain/users/user-attributes.ts';

export type ImportedDevice = DeviceAttributes & { deviceId: string };

export type ImportedUser = { customerId: string; attributes: Attributes; devices: ImportedDevice[] };

export type UserRowRules = {
  zoneAttribute: string;
  /** Spellings of the vendor's abbreviation in names such as `svc_push_opted`. */
  prefixes: readonly string[];
  /** Whether devices may say that they are of an app. */
  isApp: (app: { platform: Platform; appId: string }) => boolean;
};

/** A row of a file of users: a user, or the reason why it is not. */
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
  // Editing a list is relative to what is stored; a file states the result, so that loading it twice changes nothing.
  const edited = Object.entries(attributes).find(([, change]) => isListEdit(change));
  if (edited) return { reason: `'${edited[0]}' edits a list, which a file cannot` };
  if (!Array.isArray(devices)) return { reason: "'devices' must be a list" };
  const parsed = devices.map((device) => parseDevice(device, rules));
  const refused = parsed.find((device) => 'reason' in device);
  if (refused) return refused as { reason: string };
  return { user: { customerId: customerId as string, attributes, devices: parsed as ImportedUser['devices'] } };
}

export type DeviceRowRules = Pick<UserRowRules, 'prefixes' | 'isApp'>;

/** Why a customer id of a file cannot be used, or undefined. */
export function readCustomerId(customerId: unknown): string | undefined {
  if (typeof customerId !== 'string') return "'customer_id' is not found or is no text";
  const fault = customerIdFault(customerId);
  return fault === undefined ? undefined : `'customer_id' ${fault}`;
}

/** A row of a file of devices. */
export function parseDeviceRow(
  value: unknown,
  rules: DeviceRowRules,
): { customerId: string; device: ImportedDevice } | { reason: string } {
  if (!isRecord(value)) return { reason: 'not a JSON object' };
  const { customer_id: customerId, ...rest } = value;
  const fault = readCustomerId(customerId);
  if (fault !== undefined) return { reason: fault };
  const device = parseDevice(rest, rules);
  return 'reason' in device ? device : { customerId: customerId as string, device };
}

function parseDevice(device: unknown, { prefixes, isApp }: DeviceRowRules): ImportedDevice | { reason: string } {
  if (!isRecord(device)) return { reason: 'a device must be an object' };
  const { device_id: deviceId, ...attributes } = device;
  if (typeof deviceId !== 'string' || deviceId === '' || deviceId.length > 512)
    return { reason: "'device_id' is not found or no usable text" };
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
