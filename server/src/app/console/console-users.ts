import type { Clock } from '../../clock.ts';
import { pushIdValue } from '../../domain/devices/device-identifier.ts';
import { canonicalNumber } from '../../domain/users/identifier.ts';
import { ServiceError } from '../../domain/errors.ts';
import { isId } from '../../domain/ids.ts';
import { inSnapshot, inTransaction } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
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
} from '../../storage/users/user-records.ts';
import type { FoundUser } from '../../storage/users/user-records.ts';
import { listTimelineEntries } from '../../storage/users/user-timeline.ts';
import type { TimelinePosition } from '../../storage/users/user-timeline.ts';
import { findUserById, findUsersByCustomerIds } from '../../storage/users/users.ts';
import type { UserKey } from '../../domain/users/bucket.ts';
import type { SignedIn } from '../accounts/account-dependencies.ts';
import { audit } from '../accounts/audit.ts';
import { cancelErasure } from '../data/cancel-erasure.ts';
import { customerDigest, deleteUser } from '../data/delete-user.ts';
import { listSuspectedDevices } from '../data/list-suspected-devices.ts';
import { retryDeadlock } from '../data/retry-deadlock.ts';
import { tellSuspicions } from '../data/tell-suspicions.ts';
import { makeChangeUsers } from './change-users.ts';
import { requireWorkspace } from '../workspaces/require-workspace.ts';

export type ConsoleUsersDependencies = { database: Database; clock: Clock; erasureDelayHours: number };
type Key = { workspaceId: string; id: string };

/** What a search word turned out to be. */
export type FoundBy = 'USER_ID' | 'CARILLON_ID' | 'DEVICE_TOKEN' | 'ATTRIBUTE';
export type UserHit = FoundUser & { foundBy: FoundBy; attribute: string | null };

const maxHits = 25;
// Each name is two index look-ups; a workspace with more of them is found by the first in the alphabet.
const maxAttributes = 1000;
const maxMessages = 50;
const timelineEntriesPerPage = 50;
// More are no test any more.
const maxTestUsers = 100;

export type ConsoleUsers = ReturnType<typeof makeConsoleUsers>;

/** People as the console finds, shows, changes and erases them. */
export function makeConsoleUsers({ database, clock, erasureDelayHours }: ConsoleUsersDependencies) {
  return {
    ...makeChangeUsers({ database, clock }),

    /** Those marked for tests of campaigns. @throws ServiceError NOT_FOUND */
    async listForTests(workspaceId: string): Promise<FoundUser[]> {
      await requireWorkspace(database, workspaceId);
      return listTestUsers(database, { workspaceId, limit: maxTestUsers });
    },

    /** Devices whose answers usually mean a dead address, the latest first. @throws ServiceError NOT_FOUND */
    listSuspectedDevices: (question: { workspaceId: string; after: SuspectPlace | undefined }) =>
      listSuspectedDevices({ database }, question),

    /** What happened, newest first. @throws ServiceError NOT_FOUND */
    async listTimeline({ workspaceId, id, after }: Key & { after: TimelinePosition | undefined }) {
      const user = isId(id) ? await findUserRecord(database, { workspaceId, id }) : undefined;
      if (!user) throw new ServiceError('NOT_FOUND');
      const key = { workspaceId, bucket: user.bucket, userId: user.userId };
      const found = await listTimelineEntries(database, { ...key, after, limit: timelineEntriesPerPage + 1 });
      return { entries: found.slice(0, timelineEntriesPerPage), hasMore: found.length > timelineEntriesPerPage };
    },

    /** People that a word names: a user id, a device token or an attribute's value. @throws ServiceError NOT_FOUND */
    async search({ workspaceId, word }: { workspaceId: string; word: string }): Promise<UserHit[]> {
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
    },

    /** @throws ServiceError NOT_FOUND */
    read: (key: Key) => inSnapshot(database, (tx) => readUser(tx, key)),

    /**
     * Writes down that a person is to be erased; the delay is that of the API. The line in the audit log names the
     * erasure and not the person, whose traces it would keep.
     *
     * @throws ServiceError NOT_FOUND
     */
    async erase({ by, workspaceId, id }: Key & { by: SignedIn }): Promise<ErasureRecord> {
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
            await audit(tx, { actor: by, workspaceId, action: 'person.erase', object, detail, at: clock.realNow() });
            return erasure;
          }),
      );
    },

    /** @throws ServiceError NOT_FOUND, also when nothing waits */
    async cancelErasure({ by, workspaceId, id }: Key & { by: SignedIn }): Promise<void> {
      await cancelErasure({ database, clock }, { by, workspaceId, userId: id });
    },
  };
}

async function readUser(tx: Transaction, { workspaceId, id }: Key) {
  const user = isId(id) ? await findUserRecord(tx, { workspaceId, id }) : undefined;
  if (!user) throw new ServiceError('NOT_FOUND');
  const key = { workspaceId, bucket: user.bucket, userId: user.userId };
  const found = await listUserDevices(tx, key);
  const suspicions = await tellSuspicions(
    tx,
    found.map((device) => ({ ...device, ...key })),
  );
  const devices = found.map((device) => ({ ...device, suspicion: suspicions.get(device.id) ?? null }));
  const segments = await listUserSegments(tx, key);
  const messages = await listUserMessages(tx, { ...key, limit: maxMessages });
  const erasure = await findErasure(tx, { workspaceId, customerId: user.customerId });
  return { user, devices, segments, messages, erasure: erasure?.state === 'PENDING' ? erasure : undefined };
}

async function findErasure(tx: Transaction, { workspaceId, customerId }: { workspaceId: string; customerId: string }) {
  const digest = customerDigest(workspaceId, customerId);
  const [newest] = await listErasures(tx, { workspaceId, customerDigest: digest, limit: 1 });
  return newest;
}

/** A word as it may be stored: a text, a number, a long device token. */
function valuesOf(word: string): string[] {
  const number = /^-?\d+(\.\d+)?$/.test(word) ? [canonicalNumber(Number(word))] : [];
  return [...new Set([word.normalize('NFC'), pushIdValue(word), ...number])];
}
