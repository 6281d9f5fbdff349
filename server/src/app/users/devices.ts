import { defaultAppId, noSuchApp } from '../../domain/apps.ts';
import type { Platform } from '../../domain/content/content.ts';
import { ServiceError } from '../../domain/errors.ts';
import { makeId } from '../../domain/ids.ts';
import { unknownCase } from '../../domain/unknown-case.ts';
import { addressHash, deviceIdentifiersOf } from '../../domain/users/devices.ts';
import type { DeviceName } from '../../domain/users/devices.ts';
import type { UserIdentity } from '../../domain/users/users.ts';
import { keepApp } from '../../storage/apps.ts';
import type { Transaction } from '../../storage/database.ts';
import {
  deleteDevice,
  lockDevice,
  upsertDevice,
  blockDevicesOf,
  listDevicesOfUser,
  unblockDevicesOf,
} from '../../storage/devices/devices.ts';
import type { DeviceRecord, StoredDevice } from '../../storage/devices/devices.ts';
import { claimPushAddress, releasePushAddress } from '../../storage/devices/push-addresses.ts';
import { deleteIdentifiers, insertIdentifiers, insertIdentifiersOfDevices } from '../../storage/users/identifiers.ts';
import { lockUserOrRetained, without, lockIdentified } from './users.ts';

export type RegisterDeviceCommand = {
  workspaceId: string;
  customerId: string;
  deviceId: string;
  platform: Platform;
  pushId: string;
  at: Date;
  /** Id of a new device; generated unless given. */
  id?: string;
  /** Undefined means the device's current app, or the default app. */
  appId?: string;
} & Partial<Omit<DeviceRecord, 'deviceId' | 'platform' | 'pushId' | 'appId'>>;

/**
 * Creates or updates a user's device. A push address has one owner: if it belonged to another device, of this user or another,
 * that device is removed, so no user gets a message meant for the phone's previous owner.
 *
 * Locks the user, the device, the address, then the device that loses the address. Two devices that exchange addresses can
 * deadlock; the database aborts one of them, and the use case retries it.
 *
 * @throws ServiceError DATA_VALUE_INVALID for an unknown app
 * @returns false if the user does not exist
 */
export async function registerDevice(tx: Transaction, command: RegisterDeviceCommand): Promise<boolean> {
  const { workspaceId, at } = command;
  await requireApp(tx, command);
  const user = await lockUserOrRetained(tx, command);
  if (!user) return false;
  const owner = { workspaceId, bucket: user.bucket, userId: user.userId };
  const before = await lockDevice(tx, { ...owner, deviceId: command.deviceId });
  // Values that an app leaves out stay, but not across platforms. The provider belongs to the address, which is never left out.
  const known = before?.platform === command.platform ? before.appId : null;
  const { appId = known } = command;
  const record = { ...toRecord(command), appId: appId === defaultAppId ? null : appId };
  const id = await upsertDevice(tx, { ...record, ...owner, id: before?.id ?? command.id ?? makeId(at), at });
  const address = { workspaceId, addressHash: addressHash(command.pushId), bucket: user.bucket, deviceRowId: id };
  const previous = await claimPushAddress(tx, address);
  if (previous && previous.deviceRowId !== id)
    await removeDevice(tx, { workspaceId, bucket: previous.bucket, id: previous.deviceRowId });
  if (before && before.pushId !== command.pushId) {
    await releasePushAddress(tx, { ...address, addressHash: addressHash(before.pushId) });
  }
  const after = deviceIdentifiersOf({
    pushId: command.pushId,
    gaid: command.gaid ?? before?.gaid,
    idfv: command.idfv ?? before?.idfv,
  });
  const removed = before ? without(deviceIdentifiersOf(before), after) : [];
  await deleteIdentifiers(tx, { ...owner, identifiers: removed });
  await insertIdentifiers(tx, { ...owner, identifiers: after });
  if (removed.length > 0) await insertIdentifiersOfDevices(tx, owner);
  return true;
}

/** Keeps the app from being removed before the device is stored. @throws ServiceError DATA_VALUE_INVALID */
async function requireApp(tx: Transaction, { workspaceId, platform, appId }: RegisterDeviceCommand): Promise<void> {
  if (appId === undefined || appId === defaultAppId || (await keepApp(tx, { workspaceId, platform, appId }))) return;
  throw new ServiceError('DATA_VALUE_INVALID', { field: 'attributes.app_id', reason: noSuchApp(appId) });
}

function toRecord(command: RegisterDeviceCommand): Omit<DeviceRecord, 'appId'> {
  return {
    deviceId: command.deviceId,
    platform: command.platform,
    provider: command.provider ?? null,
    pushId: command.pushId,
    pushIdType: command.pushIdType ?? null,
    isOptedOut: command.isOptedOut ?? false,
    isProvisional: command.isProvisional ?? false,
    model: command.model ?? null,
    appVersion: command.appVersion ?? null,
    osVersion: command.osVersion ?? null,
    gaid: command.gaid ?? null,
    idfv: command.idfv ?? null,
    locale: command.locale ?? null,
    badgeCount: command.badgeCount ?? null,
    isFromApp: command.isFromApp ?? false,
  };
}

/** Removes a device with its address and identifiers. The caller holds the owner's lock. */
export async function removeDevice(
  tx: Transaction,
  device: { workspaceId: string; bucket: number; id: string },
): Promise<void> {
  const removed: StoredDevice | undefined = await deleteDevice(tx, device);
  if (!removed) return;
  const owner = { workspaceId: device.workspaceId, bucket: removed.bucket, userId: removed.userId };
  await releasePushAddress(tx, {
    workspaceId: device.workspaceId,
    addressHash: addressHash(removed.pushId),
    bucket: removed.bucket,
    deviceRowId: removed.id,
  });
  await deleteIdentifiers(tx, { ...owner, identifiers: deviceIdentifiersOf(removed) });
  await insertIdentifiersOfDevices(tx, owner);
}

export type BlockDevicesCommand = {
  workspaceId: string;
  identity: UserIdentity;
  action: 'block' | 'unblock';
  /** Undefined means all devices of the user. */
  devices: DeviceName[] | undefined;
  reason: string | null;
  reference: string | null;
  at: Date;
};

/**
 * Blocks devices of a user, so that nothing is sent to them whatever they register, or restores their previous state, in the
 * caller's transaction. The user's row is locked first, as in a registration.
 *
 * @throws ServiceError DATA_USER_NOT_FOUND for a missing user or device; then nothing has changed
 */
export async function blockDevices(tx: Transaction, command: BlockDevicesCommand): Promise<void> {
  const { workspaceId, at, reason, reference } = command;
  const user = await lockIdentified(tx, command);
  if (!user) throw new ServiceError('DATA_USER_NOT_FOUND', { field: 'user_identifier_value' });
  const owner = { workspaceId, bucket: user.bucket, userId: user.userId };
  const devices = await listDevicesOfUser(tx, owner);
  const named = command.devices?.map((name) => devices.filter((device) => isNamed(device, name)));
  if (named?.some((found) => found.length === 0))
    throw new ServiceError('DATA_USER_NOT_FOUND', { field: 'device_identifiers' });
  const ids = [...new Set((named?.flat() ?? devices).map(({ id }) => id))];
  if (command.action === 'block') await blockDevicesOf(tx, { ...owner, ids, reason, reference, at });
  else await unblockDevicesOf(tx, { ...owner, ids, at });
}

type NamedDevice = Awaited<ReturnType<typeof listDevicesOfUser>>[number];

function isNamed(device: NamedDevice, { kind, value }: DeviceName): boolean {
  switch (kind) {
    case 'push-id':
      // APNs tokens are kept in lower case.
      return device.pushId === (device.platform === 'IOS' ? value.toLowerCase() : value);
    case 'gaid':
      return device.gaid === value;
    case 'row-id':
      return device.id === value;
    case 'unique-id':
      return device.deviceId === value || device.idfv === value;
    default:
      return unknownCase(kind);
  }
}
