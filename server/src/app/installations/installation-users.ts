import { hashSecret } from '../../domain/access/keys.ts';
import { defaultAppId } from '../../domain/apps.ts';
import { ServiceError } from '../../domain/errors.ts';
import { makeId } from '../../domain/ids.ts';
import { tokenChallengeMinutes, tokenChallengesPerHour } from '../../domain/limits/installations.ts';
import { appTimeZone } from '../../domain/users/app-attributes.ts';
import { addressHash } from '../../domain/users/devices.ts';
import type { Registration } from '../../domain/users/registrations.ts';
import type { UserKey } from '../../domain/users/users.ts';
import { ringAfterCommit } from '../../engine/doorbell.ts';
import type { Transaction } from '../../storage/database.ts';
import { lockDevice } from '../../storage/devices/devices.ts';
import { findAddressHolder } from '../../storage/devices/push-addresses.ts';
import { updateInstallation } from '../../storage/installations.ts';
import type { Installation } from '../../storage/installations.ts';
import { countChallenges, insertChallenge, takeChallenge } from '../../storage/push-token-challenges.ts';
import type { ChallengedAddress } from '../../storage/push-token-challenges.ts';
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
  /** The code that reached the app through the push token. */
  challengeCode: string | undefined;
};

export type StoredRegistration = { outcome: 'stored'; registration: Registration } | { outcome: 'held' };

/**
 * Stores a registration and the device that it describes, for the current user of the installation. An installation without a
 * user gets an anonymous one as soon as it can receive pushes. If another device holds the push token, nothing is stored, and a
 * silent challenge is sent to the token after the commit.
 *
 * @throws ServiceError DATA_VALUE_INVALID for an unknown app
 */
export async function storeRegistration(
  tx: Transaction,
  installation: LockedInstallation,
  { registration, ...proofs }: Registering,
): Promise<StoredRegistration> {
  const { pushId } = registration;
  let user = await lockUserOf(tx, installation);
  if (pushId !== null) {
    const address = { ...registration, pushId };
    if (await isHeldByOther(tx, installation, { pushId, ...proofs })) {
      await challengeToken(tx, installation, address);
      return { outcome: 'held' };
    }
    user ??= await makeAnonymousUser(tx, installation);
  } else if (user) await removeDeviceOf(tx, { ...installation, user });
  if (user) await storeDevice(tx, { ...installation, registration }, user);
  const isIdentified = user !== undefined && installation.isIdentified;
  await updateInstallation(tx, { ...installation, registration, user, isIdentified });
  return { outcome: 'stored', registration };
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
 * True if another device holds a push token. Otherwise a stranger who has seen the token of a phone would take its messages away.
 * It moves from an earlier installation whose secret was sent, from another device of the same proved user, from a device that
 * its provider reported as gone, and to the app that received the code of a challenge through it.
 */
async function isHeldByOther(
  tx: Transaction,
  { workspaceId, id, user, isIdentified, at }: LockedInstallation,
  { pushId, previous, challengeCode }: Omit<Registering, 'registration'> & { pushId: string },
): Promise<boolean> {
  const named = { workspaceId, addressHash: addressHash(pushId) };
  const holder = await findAddressHolder(tx, named);
  if (!holder || holder.state === 'GONE') return false;
  const isOfUser = (key: UserKey | undefined): boolean => key !== undefined && key.userId === holder.userId;
  if (isOfUser(user) && (isIdentified || holder.deviceId === id)) return false;
  if (previous && isOfUser(previous.user) && holder.deviceId === previous.id) return false;
  if (challengeCode === undefined) return true;
  return !(await takeChallenge(tx, { ...named, installationId: id, codeHash: hashSecret(challengeCode), at }));
}

/**
 * Stores a challenge to a push token, unless one of this installation is on its way, or the limit of the token is reached. The
 * lock of the address serializes two registrations, so that the limit is exact.
 */
async function challengeToken(
  tx: Transaction,
  { workspaceId, id: installationId, at }: LockedInstallation,
  { pushId, platform, provider, pushIdType, appId }: ChallengedAddress,
): Promise<void> {
  const named = { workspaceId, addressHash: addressHash(pushId), installationId, at };
  const { recent, own } = await countChallenges(tx, { ...named, since: new Date(at.getTime() - 3_600_000) });
  if (own > 0 || recent >= tokenChallengesPerHour) return;
  await insertChallenge(tx, {
    ...{ ...named, id: makeId(at), address: { pushId, platform, provider, pushIdType, appId } },
    sendUntil: new Date(at.getTime() + tokenChallengeMinutes * 60_000),
  });
  ringAfterCommit(tx, 'fan-out');
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
