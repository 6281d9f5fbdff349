import type { BlockDevicesCommand } from '../../app/data/block-devices.ts';
import type { DeviceName } from '../../domain/devices/device-name.ts';
import { deviceNameKinds } from '../../domain/devices/device-name.ts';
import type { DataBody } from './data-call.ts';
import { invalid, missing, readRecord, requireText } from './parse-data.ts';
import { readKind } from './parse-users.ts';
import { maxBlockedDevices, maxBlockReasonCharacters, maxPushIdCharacters } from '../../domain/devices/limits.ts';
import { isAbsent, isBlank } from '../is-absent.ts';

/** @throws ServiceError DATA_ATTRIBUTE_MISSING, DATA_VALUE_INVALID */
export function parseBlock(
  body: DataBody,
  prefixes: readonly string[],
): Omit<BlockDevicesCommand, 'workspaceId' | 'at'> {
  const kind = readKind(body, { field: 'user_identifier_type', prefixes });
  const identity = { kind, value: requireText(body, 'user_identifier_value') };
  const action = requireText(body, 'action_type');
  if (action !== 'block' && action !== 'unblock') throw invalid('action_type', "must be 'block' or 'unblock'");
  return {
    identity,
    action,
    devices: readDevices(body.device_identifiers, prefixes),
    reason: readText(body, 'reason'),
    reference: readText(body, 'client_reference_id'),
  };
}

function readText(body: DataBody, field: string): string | null {
  const value = body[field];
  return isBlank(value) ? null : requireText(body, field, { longest: maxBlockReasonCharacters });
}

/** Undefined means all devices. An empty list is refused: it must not mean the opposite of what it says. */
function readDevices(value: unknown, prefixes: readonly string[]): DeviceName[] | undefined {
  if (isAbsent(value)) return undefined;
  if (!Array.isArray(value)) throw invalid('device_identifiers', 'must be a list');
  if (value.length === 0) throw invalid('device_identifiers', 'can not be an empty list');
  if (value.length > maxBlockedDevices)
    throw invalid('device_identifiers', `must have at most ${maxBlockedDevices} entries`);
  return value.flatMap((item, index) => readDevice(item, { at: `device_identifiers[${index}]`, prefixes }));
}

/**
 * `{"push_id": "…"}`, or `{"identifier_type": "push_id", "identifier": "…"}` as users are named in an export
 * (docs/decisions/0010).
 */
function readDevice(item: unknown, { at, prefixes }: { at: string; prefixes: readonly string[] }): DeviceName[] {
  const device = readRecord(item ?? null, at);
  const kinds = deviceNameKinds(prefixes);
  if (!isAbsent(device.identifier_type)) {
    const type = requireText(device, 'identifier_type', { at });
    const kind = kinds.get(type);
    if (!kind) throw invalid(`${at}.identifier_type`, `must be one of ${[...kinds.keys()].join(', ')}`);
    return [{ kind, value: requireText(device, 'identifier', { at, longest: maxPushIdCharacters }) }];
  }
  const given = Object.keys(device).filter((name) => kinds.has(name));
  if (given.length === 0) throw missing(`${at}.${[...kinds.keys()][0]}`);
  return given.map((name) => ({
    kind: kinds.get(name)!,
    value: requireText(device, name, { at, longest: maxPushIdCharacters }),
  }));
}
