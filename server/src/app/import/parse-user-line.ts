import { parseDeviceAttributes } from '../../domain/audience/device-attributes.ts';
import type { DeviceAttributes } from '../../domain/audience/device-attributes.ts';
import { attributesFault, customerIdFault, isListEdit, textFault } from '../../domain/audience/user-attributes.ts';
import type { Attributes } from '../../domain/audience/user-attributes.ts';
import type { FileLine } from './read-lines.ts';

export type ImportedUser = {
  customerId: string;
  attributes: Attributes;
  devices: (DeviceAttributes & { deviceId: string })[];
};

// Import files are ours; the vendor's abbreviation in them is the neutral one.
const prefixes = ['svc'];

/** One line of an import file: a user, the reason why it is none, or undefined for an empty line. */
export function parseUserLine(line: FileLine): { user: ImportedUser } | { reason: string } | undefined {
  if ('tooLong' in line) return { reason: 'the line is longer than 128 KB' };
  if (line.text.trim() === '') return undefined;
  let value: unknown;
  try {
    value = JSON.parse(line.text);
  } catch {
    return { reason: 'not JSON' };
  }
  if (!isRecord(value)) return { reason: 'not a JSON object' };
  const { customer_id: customerId, attributes = {}, devices = [] } = value;
  if (typeof customerId !== 'string') return { reason: "'customer_id' is not found or is no text" };
  const idFault = customerIdFault(customerId);
  if (idFault !== undefined) return { reason: `'customer_id' ${idFault}` };
  if (!isRecord(attributes)) return { reason: "'attributes' must be an object" };
  const fault = attributesFault(attributes, prefixes);
  if (fault) return { reason: `'${fault.attribute}' ${fault.reason}` };
  // A list is edited relative to what is stored; a file says what is, so that loading it twice changes nothing.
  const edited = Object.entries(attributes).find(([, change]) => isListEdit(change));
  if (edited) return { reason: `'${edited[0]}' edits a list, which a file cannot` };
  if (!Array.isArray(devices)) return { reason: "'devices' must be a list" };
  const parsed = devices.map(parseDevice);
  const refused = parsed.find((device) => 'reason' in device);
  if (refused) return refused as { reason: string };
  return { user: { customerId, attributes, devices: parsed as ImportedUser['devices'] } };
}

function parseDevice(device: unknown): (DeviceAttributes & { deviceId: string }) | { reason: string } {
  if (!isRecord(device)) return { reason: 'a device must be an object' };
  const { device_id: deviceId, ...attributes } = device;
  if (typeof deviceId !== 'string' || deviceId === '' || deviceId.length > 512)
    return { reason: "'device_id' is not found or no usable text" };
  const fault = textFault(deviceId);
  if (fault !== undefined) return { reason: `'device_id' ${fault}` };
  const parsed = parseDeviceAttributes(attributes, prefixes);
  if ('missing' in parsed) return { reason: `'${parsed.missing}' is not found` };
  if ('fault' in parsed) return { reason: `'${parsed.fault.attribute}' ${parsed.fault.reason}` };
  return { deviceId, ...parsed.device };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
