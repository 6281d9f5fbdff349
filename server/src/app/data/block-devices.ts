import { ServiceError } from '../../domain/errors.ts';
import type { DeviceName } from '../../domain/devices/device-name.ts';
import type { UserIdentity } from '../../domain/users/user-identity.ts';
import type { Transaction } from '../../storage/database.ts';
import { blockDevicesOf, listDevicesOfUser, unblockDevicesOf } from '../../storage/devices/devices.ts';
import { lockIdentified } from './find-user.ts';
import { unknownCase } from '../../domain/unknown-case.ts';

export type BlockDevicesCommand = {
  workspaceId: string;
  identity: UserIdentity;
  action: 'block' | 'unblock';
  /** Undefined means all devices the user has. */
  devices: DeviceName[] | undefined;
  reason: string | null;
  reference: string | null;
  at: Date;
};

/**
 * Blocks devices of a user, so that nothing is sent to them whatever they register, or gives back what they were, in the
 * caller's transaction. The user's row is locked first, as by a registration.
 *
 * @throws ServiceError DATA_USER_NOT_FOUND for a user or a device that is not there; then nothing has changed
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
