import type { Clock } from '../../clock.ts';
import { retryDeadlock } from '../../domain/database-faults.ts';
import { addressHash, deviceIdentifiersOf } from '../../domain/users/devices.ts';
import type { Logger } from '../../log.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { replacePushId } from '../../storage/devices/devices.ts';
import { claimPushAddress, releasePushAddress } from '../../storage/devices/push-addresses.ts';
import { markDevicesGone } from '../../storage/ledger/deliveries.ts';
import { deleteIdentifiers, insertIdentifiers } from '../../storage/users/identifiers.ts';
import { lockUserByKey } from '../../storage/users/users.ts';
import type { DeviceResult } from './settle-outcome.ts';

type Dependencies = { database: Database; clock: Clock; log: Logger };

/**
 * Stores the addresses that devices have now, as their provider reported them with accepted messages (Amazon). Call after the
 * outcomes are stored. Never rejects: a provider repeats the address with the next message.
 */
export async function replaceAddresses(
  { database, clock, log }: Dependencies,
  { workspaceId, results }: { workspaceId: string; results: readonly DeviceResult[] },
): Promise<void> {
  for (const { delivery, moved } of results) {
    if (!moved) continue;
    const { bucket, userId, deviceId: id } = delivery;
    try {
      await retryDeadlock(() =>
        inTransaction(database, (tx) =>
          replaceAddress(tx, { workspaceId, bucket, userId, id, ...moved, at: clock.now() }),
        ),
      );
    } catch (error) {
      log.warn({ err: error, deviceId: id }, 'address not replaced');
    }
  }
}

type Replacement = {
  workspaceId: string;
  bucket: number;
  userId: string;
  id: string;
  from: string;
  to: string;
  at: Date;
};

/**
 * Locks the user, then the address, then the device, as a registration does. If the app has registered the new address
 * meanwhile, as another device, this one is its past, and is dropped: it would get every message twice.
 */
async function replaceAddress(tx: Transaction, { workspaceId, bucket, userId, id, from, to, at }: Replacement) {
  const owner = { workspaceId, bucket, userId };
  if (!(await lockUserByKey(tx, owner))) return;
  const claimed = { workspaceId, addressHash: addressHash(to), bucket, deviceRowId: id };
  const previous = await claimPushAddress(tx, claimed);
  if (previous && previous.deviceRowId !== id) {
    await claimPushAddress(tx, { ...claimed, ...previous });
    await markDevicesGone(tx, {
      workspaceId,
      at,
      devices: [{ bucket, deviceId: id, code: 'ADDRESS_REPLACED', goneSince: at }],
    });
    return;
  }
  if (!(await replacePushId(tx, { workspaceId, bucket, id, from, to, at }))) {
    // The app registered again meanwhile, with a third address.
    if (!previous) await releasePushAddress(tx, claimed);
    return;
  }
  await releasePushAddress(tx, { ...claimed, addressHash: addressHash(from) });
  await deleteIdentifiers(tx, { ...owner, identifiers: deviceIdentifiersOf({ pushId: from }) });
  await insertIdentifiers(tx, { ...owner, identifiers: deviceIdentifiersOf({ pushId: to }) });
}
