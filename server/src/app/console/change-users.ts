import type { Clock } from '../../clock.ts';
import type { Attributes } from '../../domain/users/user-attributes.ts';
import { ServiceError } from '../../domain/errors.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { setDeviceOptIn } from '../../storage/devices/devices.ts';
import { keepSuspectedDevice } from '../../storage/devices/suspected-devices.ts';
import { findUserRecord, listUserDevices } from '../../storage/users/user-records.ts';
import type { UserDevice, UserRecord } from '../../storage/users/user-records.ts';
import { setUserIsTest } from '../../storage/users/users.ts';
import { audit } from '../accounts/audit.ts';
import type { Actor } from '../accounts/audit.ts';
import { blockDevices } from '../data/block-devices.ts';
import { lockIdentified, lockUserOrRetained } from '../data/find-user.ts';
import { registerDevice, removeDevice } from '../data/register-device.ts';
import type { RegisterDeviceCommand } from '../data/register-device.ts';
import { retryDeadlock } from '../data/retry-deadlock.ts';
import { upsertUser } from '../data/upsert-user.ts';
import { requireWorkspace } from '../workspaces/require-workspace.ts';
import { unknownCase } from '../../domain/unknown-case.ts';

type By = { by: Actor };
type Key = { workspaceId: string; id: string };
type DeviceKey = Key & { deviceRowId: string };
export type NewDevice = Omit<RegisterDeviceCommand, 'workspaceId' | 'customerId' | 'at'>;
export const deviceActions = ['block', 'unblock', 'opt-out', 'opt-in', 'keep', 'remove'] as const;
export type DeviceAction = (typeof deviceActions)[number];

/**
 * What is changed of people by hand, through the use cases of the data API. Lines of the audit log name the person by our
 * id, which an erasure takes out of them, and attributes by name; never a value, a customer id or a device.
 */
export function makeChangeUsers({ database, clock }: { database: Database; clock: Clock }) {
  /**
   * Locked before it is read: an erasure or a merge under way ends first, and who is gone then is not changed by the name
   * that was read before.
   *
   * @throws ServiceError NOT_FOUND
   */
  async function lockUser(tx: Transaction, { workspaceId, id }: Key): Promise<UserRecord> {
    const locked = await lockIdentified(tx, { workspaceId, identity: { kind: 'id', value: id } });
    const user = locked && (await findUserRecord(tx, { workspaceId, id }));
    if (!user) throw new ServiceError('NOT_FOUND');
    return user;
  }

  /** One transaction of a person's change and its line. */
  const change = <Result>(
    { by, workspaceId, id, action }: By & Key & { action: string },
    work: (tx: Transaction, given: { user: UserRecord; at: Date }) => Promise<[Result, Record<string, unknown>]>,
  ): Promise<Result> =>
    retryDeadlock(
      async () =>
        await inTransaction(database, async (tx) => {
          const at = clock.now();
          const user = await lockUser(tx, { workspaceId, id });
          const [result, detail] = await work(tx, { user, at });
          const line = { actor: by, workspaceId, object: { id }, detail, at: clock.realNow(), shownAt: at };
          await audit(tx, { ...line, action: `person.${action}` });
          return result;
        }),
    );

  return {
    /** Creates a user, or changes the attributes of an existing one. @returns the id */
    add: ({ by, workspaceId, customerId, attributes }: By & NewUser): Promise<{ id: string }> =>
      retryDeadlock(
        async () =>
          await inTransaction(database, async (tx) => {
            const at = clock.now();
            await requireWorkspace(tx, workspaceId);
            await upsertUser(tx, { workspaceId, customerId, attributes, at });
            const { userId: id } = (await lockUserOrRetained(tx, { workspaceId, customerId }))!;
            const detail = { changed: Object.keys(attributes) };
            const line = { actor: by, workspaceId, object: { id }, detail, at: clock.realNow(), shownAt: at };
            await audit(tx, { ...line, action: 'person.add' });
            return { id };
          }),
      ),

    /** A value replaces, null removes. @throws ServiceError NOT_FOUND */
    changeAttributes: ({ attributes, ...key }: By & Key & { attributes: Attributes }): Promise<void> =>
      change({ ...key, action: 'attributes' }, async (tx, { user: { customerId }, at }) => {
        await upsertUser(tx, { workspaceId: key.workspaceId, customerId, attributes, updateExistingOnly: true, at });
        const names = Object.keys(attributes);
        const removed = names.filter((name) => attributes[name] === null);
        return [undefined, { changed: names.filter((name) => !removed.includes(name)), removed }];
      }),

    /** Tests of campaigns are offered to be sent to them. @throws ServiceError NOT_FOUND */
    markForTests: ({ isTest, ...key }: By & Key & { isTest: boolean }): Promise<void> =>
      change({ ...key, action: 'test' }, async (tx, { user: { bucket, userId }, at }) => {
        await setUserIsTest(tx, { workspaceId: key.workspaceId, bucket, userId, isTest, at });
        return [undefined, { isTest }];
      }),

    /** @throws ServiceError NOT_FOUND */
    addDevice: ({ device, ...key }: By & Key & { device: NewDevice }): Promise<void> =>
      change({ ...key, action: 'device-add' }, async (tx, { user: { customerId }, at }) => {
        await registerDevice(tx, { ...device, workspaceId: key.workspaceId, customerId, at });
        return [undefined, { platform: device.platform }];
      }),

    /**
     * @throws ServiceError NOT_FOUND, also for keeping a device that is not suspected; PARAMETER_INVALID for what a device in
     * its state cannot become
     */
    changeDevice: ({ action, ...key }: By & DeviceKey & { action: DeviceAction }): Promise<void> =>
      change({ ...key, action: `device-${action}` }, async (tx, { user: { bucket, userId }, at }) => {
        const owner = { workspaceId: key.workspaceId, bucket, userId };
        const device = (await listUserDevices(tx, owner)).find(({ id }) => id === key.deviceRowId);
        if (!device) throw new ServiceError('NOT_FOUND');
        await changeDevice(tx, { ...owner, action, device, at });
        const { platform, suspicion } = device;
        return [undefined, { platform, ...(action === 'keep' && { code: suspicion?.code, sends: suspicion?.sends }) }];
      }),
  };
}

type NewUser = { workspaceId: string; customerId: string; attributes: Attributes };
type DeviceChange = {
  workspaceId: string;
  bucket: number;
  userId: string;
  action: DeviceAction;
  device: UserDevice;
  at: Date;
};

async function changeDevice(tx: Transaction, { action, device, ...owner }: DeviceChange): Promise<void> {
  const { workspaceId, userId, at } = owner;
  switch (action) {
    case 'block':
    case 'unblock':
      return blockDevices(tx, {
        workspaceId,
        identity: { kind: 'id', value: userId },
        action,
        devices: [{ kind: 'row-id', value: device.id }],
        reason: action === 'block' ? 'blocked in the console' : null,
        reference: null,
        at,
      });
    case 'opt-out':
    case 'opt-in': {
      const state = action === 'opt-out' ? 'OPTED_OUT' : 'ACTIVE';
      if (await setDeviceOptIn(tx, { ...owner, id: device.id, state })) return;
      const reason = 'the provider no longer knows its token; it is back when its app registers anew';
      throw new ServiceError('PARAMETER_INVALID', { field: 'device', reason });
    }
    case 'keep':
      if (await keepSuspectedDevice(tx, { workspaceId, bucket: owner.bucket, id: device.id, at })) return;
      throw new ServiceError('NOT_FOUND');
    case 'remove':
      return removeDevice(tx, { ...owner, id: device.id });
    default:
      return unknownCase(action);
  }
}
