import type { Clock } from '../../clock.ts';
import { retryDeadlock } from '../../domain/database-faults.ts';
import { ServiceError } from '../../domain/errors.ts';
import { isId } from '../../domain/ids.ts';
import { unknownCase } from '../../domain/unknown-case.ts';
import { pushIdValue } from '../../domain/users/devices.ts';
import type { Attributes } from '../../domain/users/user-attributes.ts';
import { canonicalNumber } from '../../domain/users/users.ts';
import type { UserKey } from '../../domain/users/users.ts';
import { inSnapshot, inTransaction } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { setDeviceOptIn } from '../../storage/devices/devices.ts';
import { keepSuspectedDevice } from '../../storage/devices/suspected-devices.ts';
import type { SuspectPlace } from '../../storage/devices/suspected-devices.ts';
import { listErasures } from '../../storage/users/erasures.ts';
import type { ErasureRecord } from '../../storage/users/erasures.ts';
import {
  findUserRecord,
  findUsersByAnyIdentifier,
  listFoundUsers,
  listUserDevices,
  listUserMessages,
  listUserSegments,
  listTestUsers,
  listTimelineEntries,
} from '../../storage/users/user-records.ts';
import type { FoundUser, TimelinePosition, UserDevice, UserRecord } from '../../storage/users/user-records.ts';
import { findUserById, findUsersByCustomerIds, setUserIsTest } from '../../storage/users/users.ts';
import { audit } from '../accounts/audit.ts';
import type { SignedIn, Actor } from '../accounts/audit.ts';
import { listInstallations } from '../installations/list-installations.ts';
import { requireWorkspace } from '../workspaces.ts';
import { listUsers } from './list-users.ts';
import { blockDevices, registerDevice, removeDevice } from './devices.ts';
import type { RegisterDeviceCommand } from './devices.ts';
import { cancelErasure, customerDigest, deleteUser } from './erasures.ts';
import { listSuspectedDevices, findSuspicions } from './suspected-devices.ts';
import { lockIdentified, lockUserOrRetained, upsertUser } from './users.ts';

export type ConsoleUsersDependencies = { database: Database; clock: Clock; erasureDelayHours: number };
type Key = { workspaceId: string; id: string };

/** How a search word matched. */
export type FoundBy = 'USER_ID' | 'CARILLON_ID' | 'DEVICE_TOKEN' | 'ATTRIBUTE';
export type UserHit = FoundUser & { foundBy: FoundBy; attribute: string | null };

const maxHits = 25;
// Each name costs two index look-ups; in a workspace with more names only the first in the alphabet are searched.
const maxAttributes = 1000;
const maxMessages = 50;
const timelineEntriesPerPage = 50;
// A send to more users is not a test any more.
const maxTestUsers = 100;

export type ConsoleUsers = ReturnType<typeof makeConsoleUsers>;

/** Users as the console finds, shows, changes and erases them. */
export function makeConsoleUsers({ database, clock, erasureDelayHours }: ConsoleUsersDependencies) {
  return {
    ...makeChangeUsers({ database, clock }),

    /** Lists the users marked for campaign tests. @throws ServiceError NOT_FOUND */
    async listForTests(workspaceId: string): Promise<FoundUser[]> {
      await requireWorkspace(database, workspaceId);
      return listTestUsers(database, { workspaceId, limit: maxTestUsers });
    },

    /** Lists devices with responses that usually mean a dead address, the latest first. @throws ServiceError NOT_FOUND */
    listSuspectedDevices: (question: { workspaceId: string; after: SuspectPlace | undefined }) =>
      listSuspectedDevices({ database }, question),

    /** Lists what happened to a user, newest first. @throws ServiceError NOT_FOUND */
    async listTimeline({ workspaceId, id, after }: Key & { after: TimelinePosition | undefined }) {
      const user = isId(id) ? await findUserRecord(database, { workspaceId, id }) : undefined;
      if (!user) throw new ServiceError('NOT_FOUND');
      const key = { workspaceId, bucket: user.bucket, userId: user.userId };
      const found = await listTimelineEntries(database, { ...key, after, limit: timelineEntriesPerPage + 1 });
      return { entries: found.slice(0, timelineEntriesPerPage), hasMore: found.length > timelineEntriesPerPage };
    },

    /** Lists a page of users, newest first, all or by a part of what names them. @throws ServiceError NOT_FOUND */
    list: (query: { workspaceId: string; word: string | undefined; after: string | undefined }) =>
      listUsers({ database, clock }, query),

    /** Finds users by a user id, a device token or an attribute's value. @throws ServiceError NOT_FOUND */
    search: (query: { workspaceId: string; word: string }): Promise<UserHit[]> => searchUsers(database, query),

    /** @throws ServiceError NOT_FOUND */
    read: (key: Key) => inSnapshot(database, (tx) => readUser(tx, key)),

    /**
     * Schedules the erasure of a user, with the delay of the API. The audit log entry names the erasure and not the user,
     * because the entry would keep traces of the user.
     *
     * @throws ServiceError NOT_FOUND
     */
    async erase({ actor, workspaceId, id }: Key & { actor: SignedIn }): Promise<ErasureRecord> {
      return retryDeadlock(
        async () =>
          await inTransaction(database, async (tx) => {
            const at = clock.now();
            const user = await findUserRecord(tx, { workspaceId, id });
            if (!user) throw new ServiceError('NOT_FOUND');
            const identity = { kind: 'id' as const, value: id };
            await deleteUser(tx, { workspaceId, identity, delayHours: erasureDelayHours, at });
            const erasure = (await findErasure(tx, { workspaceId, customerId: user.customerId }))!;
            const object = { id: erasure.id };
            const detail = { dueAt: erasure.dueAt.toISOString() };
            await audit(tx, { actor, workspaceId, action: 'person.erase', object, detail, at: clock.realNow() });
            return erasure;
          }),
      );
    },

    /** @throws ServiceError NOT_FOUND, also if no erasure is pending */
    async cancelErasure({ actor, workspaceId, id }: Key & { actor: SignedIn }): Promise<void> {
      await cancelErasure({ database, clock }, { actor, workspaceId, userId: id });
    },
  };
}

async function searchUsers(
  database: Database,
  { workspaceId, word }: { workspaceId: string; word: string },
): Promise<UserHit[]> {
  await requireWorkspace(database, workspaceId);
  const [byCustomerId, byId, byValue] = await Promise.all([
    findUsersByCustomerIds(database, { workspaceId, customerIds: [word], limit: maxHits }),
    isId(word) ? findUserById(database, { workspaceId, id: word }) : undefined,
    findUsersByAnyIdentifier(database, { workspaceId, values: valuesOf(word), maxAttributes, limit: maxHits }),
  ]);
  const hits = new Map<string, UserKey & Pick<UserHit, 'foundBy' | 'attribute'>>();
  const add = (user: UserKey, foundBy: FoundBy, attribute: string | null = null) => {
    if (!hits.has(user.userId)) hits.set(user.userId, { ...user, foundBy, attribute });
  };
  for (const user of byCustomerId) add(user, 'USER_ID');
  if (byId) add(byId, 'CARILLON_ID');
  for (const { attribute, ...user } of byValue)
    if (attribute === 'device:push_id') add(user, 'DEVICE_TOKEN');
    else add(user, 'ATTRIBUTE', attribute);
  const users = await listFoundUsers(database, { workspaceId, users: [...hits.values()].slice(0, maxHits) });
  return users.map((user) => {
    const { foundBy, attribute } = hits.get(user.userId)!;
    return { ...user, foundBy, attribute };
  });
}

async function readUser(tx: Transaction, { workspaceId, id }: Key) {
  const user = isId(id) ? await findUserRecord(tx, { workspaceId, id }) : undefined;
  if (!user) throw new ServiceError('NOT_FOUND');
  const key = { workspaceId, bucket: user.bucket, userId: user.userId };
  const found = await listUserDevices(tx, key);
  const suspicions = await findSuspicions(
    tx,
    found.map((device) => ({ ...device, ...key })),
  );
  const devices = found.map((device) => ({ ...device, suspicion: suspicions.get(device.id) ?? null }));
  const segments = await listUserSegments(tx, key);
  const messages = await listUserMessages(tx, { ...key, limit: maxMessages });
  const erasure = await findErasure(tx, { workspaceId, customerId: user.customerId });
  const installations = await listInstallations(tx, { workspaceId, user: key });
  return {
    user,
    devices,
    installations,
    segments,
    messages,
    erasure: erasure?.state === 'PENDING' ? erasure : undefined,
  };
}

async function findErasure(tx: Transaction, { workspaceId, customerId }: { workspaceId: string; customerId: string }) {
  const digest = customerDigest(workspaceId, customerId);
  const [newest] = await listErasures(tx, { workspaceId, customerDigest: digest, limit: 1 });
  return newest;
}

/** Returns the forms in which a word may be stored: a text, a number, a long device token. */
function valuesOf(word: string): string[] {
  const number = /^-?\d+(\.\d+)?$/.test(word) ? [canonicalNumber(Number(word))] : [];
  return [...new Set([word.normalize('NFC'), pushIdValue(word), ...number])];
}

type By = { actor: Actor };
type NamedUser = { workspaceId: string; id: string };
type DeviceKey = NamedUser & { deviceRowId: string };
export type NewDevice = Omit<RegisterDeviceCommand, 'workspaceId' | 'customerId' | 'at'>;
export const deviceActions = ['block', 'unblock', 'opt-out', 'opt-in', 'keep', 'remove'] as const;
export type DeviceAction = (typeof deviceActions)[number];

/**
 * Changes of users by hand, through the use cases of the data API. Audit log entries name the user by our id, which an erasure
 * removes from them, and attributes by name; never a value, a customer id or a device.
 */
export function makeChangeUsers({ database, clock }: { database: Database; clock: Clock }) {
  const change = makeAuditedChange({ database, clock });

  return {
    /** Creates a user, or changes the attributes of an existing one. @returns the id */
    add: ({ actor, workspaceId, customerId, attributes }: By & NewUser): Promise<{ id: string }> =>
      retryDeadlock(
        async () =>
          await inTransaction(database, async (tx) => {
            const at = clock.now();
            await requireWorkspace(tx, workspaceId);
            await upsertUser(tx, { workspaceId, customerId, attributes, at });
            const { userId: id } = (await lockUserOrRetained(tx, { workspaceId, customerId }))!;
            const detail = { changed: Object.keys(attributes) };
            const line = { actor, workspaceId, object: { id }, detail, at: clock.realNow(), shownAt: at };
            await audit(tx, { ...line, action: 'person.add' });
            return { id };
          }),
      ),

    /** A value replaces the attribute, null removes it. @throws ServiceError NOT_FOUND */
    changeAttributes: ({ attributes, ...key }: By & NamedUser & { attributes: Attributes }): Promise<void> =>
      change({ ...key, action: 'attributes' }, async (tx, { user: { customerId }, at }) => {
        await upsertUser(tx, { workspaceId: key.workspaceId, customerId, attributes, updateExistingOnly: true, at });
        const names = Object.keys(attributes);
        const removed = names.filter((name) => attributes[name] === null);
        return [undefined, { changed: names.filter((name) => !removed.includes(name)), removed }];
      }),

    /** The console offers marked users for tests of campaigns. @throws ServiceError NOT_FOUND */
    markForTests: ({ isTest, ...key }: By & NamedUser & { isTest: boolean }): Promise<void> =>
      change({ ...key, action: 'test' }, async (tx, { user: { bucket, userId }, at }) => {
        await setUserIsTest(tx, { workspaceId: key.workspaceId, bucket, userId, isTest, at });
        return [undefined, { isTest }];
      }),

    /** @throws ServiceError NOT_FOUND */
    addDevice: ({ device, ...key }: By & NamedUser & { device: NewDevice }): Promise<void> =>
      change({ ...key, action: 'device-add' }, async (tx, { user: { customerId }, at }) => {
        await registerDevice(tx, { ...device, workspaceId: key.workspaceId, customerId, at });
        return [undefined, { platform: device.platform }];
      }),

    /**
     * @throws ServiceError NOT_FOUND, also for keeping a device that is not suspected; PARAMETER_INVALID if the device's state
     * does not allow the action
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

/** Returns a function that changes a user and writes the audit log entry in one transaction. */
function makeAuditedChange({ database, clock }: { database: Database; clock: Clock }) {
  return <Result>(
    { actor, workspaceId, id, action }: By & NamedUser & { action: string },
    work: (tx: Transaction, given: { user: UserRecord; at: Date }) => Promise<[Result, Record<string, unknown>]>,
  ): Promise<Result> =>
    retryDeadlock(
      async () =>
        await inTransaction(database, async (tx) => {
          const at = clock.now();
          const user = await lockUser(tx, { workspaceId, id });
          const [result, detail] = await work(tx, { user, at });
          const line = { actor, workspaceId, object: { id }, detail, at: clock.realNow(), shownAt: at };
          await audit(tx, { ...line, action: `person.${action}` });
          return result;
        }),
    );
}

/**
 * Locks a user before reading it: an erasure or a merge under way ends first, and a user that is gone then is not changed
 * under the old name.
 *
 * @throws ServiceError NOT_FOUND
 */
async function lockUser(tx: Transaction, { workspaceId, id }: NamedUser): Promise<UserRecord> {
  const locked = await lockIdentified(tx, { workspaceId, identity: { kind: 'id', value: id } });
  const user = locked && (await findUserRecord(tx, { workspaceId, id }));
  if (!user) throw new ServiceError('NOT_FOUND');
  return user;
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
      const reason = 'the provider no longer knows its token; it returns when its app registers again';
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
