import { ServiceError } from '../../domain/errors.ts';
import { makeId } from '../../domain/ids.ts';
import { zoneAttributeFault } from '../../domain/users/user-attributes.ts';
import type { Transaction } from '../../storage/database.ts';
import { findZoneAttribute } from '../../storage/installation/workspaces.ts';
import { holdUsersInOrder, insertMissingUsers, lockUsersInOrder } from '../../storage/users/users-in-order.ts';
import type { EventsOfUser } from '../../storage/users/events.ts';
import { lockOrMakeUser } from './find-user.ts';
import { registerDevice } from './register-device.ts';
import type { RegisterDeviceCommand } from './register-device.ts';
import { eventsOf, storeEvents } from './track-events.ts';
import type { TrackEventsCommand } from './track-events.ts';
import { requireZone, storeUser } from './upsert-user.ts';
import type { UpsertUserCommand } from './upsert-user.ts';
import { unknownCase } from '../../domain/unknown-case.ts';

type Element<Command> = Omit<Command, 'at' | 'workspaceId'>;

/** One object of a bulk request, with its place in it. */
export type BulkElement = { index: number } & (
  | { kind: 'customer'; command: Element<UpsertUserCommand> }
  | { kind: 'device'; command: Element<RegisterDeviceCommand> }
  | { kind: 'event'; command: Element<TrackEventsCommand> }
);

/** An element that was refused, and why. */
export type ElementFault = { index: number; error: ServiceError };

export type TakeBulkCommand = { workspaceId: string; elements: BulkElement[]; at: Date };

/**
 * Takes the objects of a bulk request in their order, in the caller's transaction, which 100 KB of body bound to some
 * 2,000 of them; events come last, all in the same few statements, because nothing of a user follows from them. A refused
 * object changes nothing and does not stop the others. Users are created and locked first, in one order, so that two bulk
 * requests about the same users cannot deadlock.
 *
 * @returns the refused ones
 */
export async function takeBulk(
  tx: Transaction,
  { workspaceId, elements, at }: TakeBulkCommand,
): Promise<ElementFault[]> {
  const zoneAttribute = await findZoneAttribute(tx, workspaceId);
  const made = new Set(
    elements.filter((element) => makesUser(element, { at, zoneAttribute })).map(({ command }) => command.customerId),
  );
  const users = [...made].map((customerId) => ({ customerId, id: makeId(at) }));
  if (users.length > 0) await insertMissingUsers(tx, { workspaceId, users, at });
  // Who changes no user only holds them: such requests do not wait for each other.
  if (elements.some(({ kind }) => kind !== 'event'))
    await lockUsersInOrder(tx, { workspaceId, customerIds: elements.map(({ command }) => command.customerId) });
  const faults: ElementFault[] = [];
  const tracked: TrackedElement[] = [];
  for (const element of elements) {
    try {
      if (element.kind === 'event') tracked.push({ ...element.command, events: eventsOf({ ...element.command, at }) });
      else await take(tx, { element, workspaceId, zoneAttribute, at });
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      faults.push({ index: element.index, error });
    }
  }
  if (tracked.length > 0) await trackElements(tx, { workspaceId, tracked, at });
  return faults;
}

type TrackedElement = Pick<EventsOfUser, 'events' | 'deviceId'> & { customerId: string };
type Tracking = { workspaceId: string; tracked: readonly TrackedElement[]; at: Date };

async function trackElements(tx: Transaction, { workspaceId, tracked, at }: Tracking): Promise<void> {
  const customerIds = tracked.map(({ customerId }) => customerId);
  const held = await holdUsersInOrder(tx, { workspaceId, customerIds });
  const known = new Map(held.map(({ customerId, bucket, userId }) => [customerId, { bucket, userId }]));
  for (const customerId of customerIds) {
    // Merged into another: hardly any is.
    if (known.has(customerId)) continue;
    const { bucket, userId } = await lockOrMakeUser(tx, { workspaceId, customerId, at });
    known.set(customerId, { bucket, userId });
  }
  const users = tracked.map(({ customerId, deviceId, events }) => ({ ...known.get(customerId)!, deviceId, events }));
  await storeEvents(tx, { workspaceId, at, users });
}

/** Whether an element, when it is taken, makes the user it names. */
function makesUser(element: BulkElement, { at, zoneAttribute }: { at: Date; zoneAttribute: string }): boolean {
  switch (element.kind) {
    case 'customer':
      return (
        element.command.updateExistingOnly !== true &&
        zoneAttributeFault(element.command.attributes, zoneAttribute) === undefined
      );
    case 'device':
      return false;
    case 'event':
      return element.command.actions.every(({ occurredAt = at }) => occurredAt <= at);
    default:
      return unknownCase(element);
  }
}

type Taking = {
  element: Exclude<BulkElement, { kind: 'event' }>;
  workspaceId: string;
  zoneAttribute: string;
  at: Date;
};

/** Each refuses before its first write. */
async function take(tx: Transaction, { element, workspaceId, zoneAttribute, at }: Taking): Promise<void> {
  switch (element.kind) {
    case 'customer':
      requireZone(element.command.attributes, zoneAttribute);
      await storeUser(tx, { ...element.command, workspaceId, at });
      return;
    case 'device':
      if (!(await registerDevice(tx, { ...element.command, workspaceId, at })))
        throw new ServiceError('DATA_USER_NOT_FOUND', { field: 'customer_id' });
      return;
    default:
      return unknownCase(element);
  }
}
