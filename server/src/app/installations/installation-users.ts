import { defaultAppId } from '../../domain/apps.ts';
import { ServiceError } from '../../domain/errors.ts';
import { makeId } from '../../domain/ids.ts';
import { appTimeZone } from '../../domain/users/app-attributes.ts';
import { addressHash } from '../../domain/users/devices.ts';
import type { Registration } from '../../domain/users/registrations.ts';
import type { UserKey } from '../../domain/users/users.ts';
import type { Transaction } from '../../storage/database.ts';
import { lockDevice } from '../../storage/devices/devices.ts';
import { findAddressHolder } from '../../storage/devices/push-addresses.ts';
import { updateInstallation } from '../../storage/installations.ts';
import type { Installation } from '../../storage/installations.ts';
import { isErasurePending } from '../../storage/users/erasures.ts';
import { lockUserByKey } from '../../storage/users/users.ts';
import type { LockedUser } from '../../storage/users/users.ts';
import { registerDevice, removeDevice } from '../users/devices.ts';
import { lockOrMakeUser, mergeUsers, storeUser } from '../users/users.ts';

/** An installation whose row this transaction has locked. Users and devices are locked after it. */
export type LockedInstallation = Installation & { workspaceId: string; keyId: string; at: Date };

type Registering = {
  registration: Registration;
  /** The earlier installation of the same app, whose secret the app sent. */
  previous: Installation | undefined;
};

/**
 * Stores a registration and the device that it describes, for the current user of the installation. An installation without a
 * user gets an anonymous one as soon as it can receive pushes.
 *
 * @throws ServiceError PUSH_TOKEN_HELD, DATA_VALUE_INVALID for an unknown app
 */
export async function storeRegistration(
  tx: Transaction,
  installation: LockedInstallation,
  { registration, previous }: Registering,
): Promise<Registration> {
  const { pushId } = registration;
  let user = await lockUserOf(tx, installation);
  if (pushId !== null) {
    await refuseHeldToken(tx, installation, { pushId, previous });
    user ??= await makeAnonymousUser(tx, installation);
  } else if (user) await removeDeviceOf(tx, { ...installation, user });
  if (user) await storeDevice(tx, { ...installation, registration }, user);
  const isIdentified = user !== undefined && installation.isIdentified;
  await updateInstallation(tx, { ...installation, registration, user, isIdentified });
  return registration;
}

/**
 * Gives an installation to a user. The anonymous user of the installation is merged into the user; the device is taken from
 * another identified user.
 *
 * @throws ServiceError IDENTITY_TOKEN_INVALID for a user who is to be deleted
 */
export async function attachUser(tx: Transaction, installation: LockedInstallation, customerId: string): Promise<void> {
  const { workspaceId, at } = installation;
  const before = await lockUserOf(tx, installation);
  const user = await lockOrMakeUser(tx, { workspaceId, customerId, at });
  if (installation.isIdentified && before?.userId === user.userId) return;
  if (await isErasurePending(tx, { workspaceId, ...user }))
    throw new ServiceError('IDENTITY_TOKEN_INVALID', { reason: 'names a user who is to be deleted' });
  const registration = await withCurrentToken(tx, installation, before);
  if (before && !installation.isIdentified)
    await mergeUsers(tx, { workspaceId, at, pairs: [{ merged: before.customerId, retained: user.customerId }] });
  else if (before) await removeDeviceOf(tx, { ...installation, user: before });
  await storeDevice(tx, { ...installation, registration }, user);
  await updateInstallation(tx, { ...installation, registration, user, isIdentified: true, moved: 'signed in' });
}

/** Takes an installation from its user. A device that can receive pushes gets an anonymous user. */
export async function detachUser(tx: Transaction, installation: LockedInstallation): Promise<void> {
  if (!installation.isIdentified) return;
  const before = await lockUserOf(tx, installation);
  const registration = await withCurrentToken(tx, installation, before);
  if (before) await removeDeviceOf(tx, { ...installation, user: before });
  const user = registration.pushId === null ? undefined : await makeAnonymousUser(tx, installation);
  if (user) await storeDevice(tx, { ...installation, registration }, user);
  await updateInstallation(tx, { ...installation, registration, user, isIdentified: false, moved: 'signed out' });
}

/** Locks the user of an installation; undefined if it has none, or if the user was erased meanwhile. */
export async function lockUserOf(
  tx: Transaction,
  { workspaceId, user }: Pick<LockedInstallation, 'workspaceId' | 'user'>,
): Promise<LockedUser | undefined> {
  return user && lockUserByKey(tx, { workspaceId, ...user });
}

/** Makes a user for this installation alone, under a name that nobody can guess. */
export function makeAnonymousUser(
  tx: Transaction,
  { workspaceId, at }: Pick<LockedInstallation, 'workspaceId' | 'at'>,
): Promise<LockedUser> {
  return lockOrMakeUser(tx, { workspaceId, customerId: `anonymous-${makeId(at)}`, at });
}

/**
 * Refuses a push token that another device holds. Otherwise a stranger who has seen the token of a phone would take its
 * messages away. It moves from an earlier installation whose secret was sent, from another device of the same proved user, and
 * from a device that its provider reported as gone.
 *
 * @throws ServiceError PUSH_TOKEN_HELD
 */
async function refuseHeldToken(
  tx: Transaction,
  { workspaceId, id, user, isIdentified }: LockedInstallation,
  { pushId, previous }: { pushId: string; previous: Installation | undefined },
): Promise<void> {
  const holder = await findAddressHolder(tx, { workspaceId, addressHash: addressHash(pushId) });
  if (!holder || holder.state === 'GONE') return;
  const isOfUser = (key: UserKey | undefined): boolean => key !== undefined && key.userId === holder.userId;
  if (isOfUser(user) && (isIdentified || holder.deviceId === id)) return;
  if (previous && isOfUser(previous.user) && holder.deviceId === previous.id) return;
  throw new ServiceError('PUSH_TOKEN_HELD');
}

type Registered = LockedInstallation & { registration: Registration };

/** Registers the device with a user, and stores its time zone as an attribute. Without a push token there is no device. */
async function storeDevice(
  tx: Transaction,
  { workspaceId, id, registration, at }: Registered,
  { customerId, attributes }: LockedUser,
): Promise<void> {
  const { pushId, appId, timeZone, ...device } = registration;
  const named = { workspaceId, customerId, at };
  if (timeZone !== null && attributes[appTimeZone] !== timeZone)
    await storeUser(tx, { ...named, attributes: { [appTimeZone]: timeZone } });
  if (pushId === null) return;
  await registerDevice(tx, {
    ...{ ...device, ...named, pushId, deviceId: id },
    ...{ appId: appId ?? defaultAppId, isFromApp: true },
  });
}

async function removeDeviceOf(
  tx: Transaction,
  { workspaceId, id, user }: { workspaceId: string; id: string; user: UserKey },
): Promise<void> {
  const device = await lockDevice(tx, { workspaceId, bucket: user.bucket, userId: user.userId, deviceId: id });
  if (device) await removeDevice(tx, { workspaceId, bucket: user.bucket, id: device.id });
}

/** Returns the registration with the token that the device has now: a provider may have replaced it since. */
async function withCurrentToken(
  tx: Transaction,
  installation: LockedInstallation,
  user: LockedUser | undefined,
): Promise<Registration> {
  const { workspaceId, id } = installation;
  const registration = installation.registration as Registration;
  if (!user || registration.pushId === null) return registration;
  const device = await lockDevice(tx, { workspaceId, bucket: user.bucket, userId: user.userId, deviceId: id });
  return { ...registration, pushId: device?.pushId ?? registration.pushId };
}
