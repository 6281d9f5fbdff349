import { ServiceError } from '../../domain/errors.ts';
import { makeId } from '../../domain/ids.ts';
import type { Transaction } from '../../storage/database.ts';
import { insertEvents, insertUnattributedEvents } from '../../storage/users/events.ts';
import type { EventsOfUser, NewEvent } from '../../storage/users/events.ts';
import { holdUser } from '../../storage/users/users.ts';
import type { UserKey } from '../../domain/users/bucket.ts';
import { startTriggers } from '../triggers/start-triggers.ts';
import { lockOrMakeUser } from './find-user.ts';

export type TrackedAction = Omit<NewEvent, 'id' | 'occurredAt'> & {
  /** Undefined: when the request came. */
  occurredAt: Date | undefined;
};

export type TrackEventsCommand = {
  workspaceId: string;
  customerId: string;
  deviceId: string | null;
  actions: TrackedAction[];
  at: Date;
};

/**
 * Stores what a user did, in the caller's transaction; an unknown customer is created (fact 5). The partition for the day
 * of `at` must exist.
 *
 * @throws ServiceError DATA_VALUE_INVALID for an event of the future
 */
export async function trackEvents(tx: Transaction, command: TrackEventsCommand): Promise<void> {
  const { workspaceId, deviceId, at } = command;
  const events = eventsOf(command);
  const user = await findOrMakeUser(tx, command);
  await storeEvents(tx, { workspaceId, at, users: [{ ...user, deviceId, events }] });
}

/** Each with an id and its time. @throws ServiceError DATA_VALUE_INVALID for an event of the future */
export function eventsOf({ actions, at }: Pick<TrackEventsCommand, 'actions' | 'at'>): NewEvent[] {
  return actions.map((action, index) => {
    const { occurredAt = at } = action;
    if (occurredAt <= at) return { ...action, id: makeId(at), occurredAt };
    throw new ServiceError('DATA_VALUE_INVALID', {
      field: `actions[${index}].user_time`,
      reason: 'must not be in the future',
    });
  });
}

/**
 * Stores events of users that the caller holds, in as many statements for a thousand as for one. Whether a campaign may
 * count them is decided later (engine/conversions): a message accepted just before may not be in the ledger yet.
 */
export async function storeEvents(
  tx: Transaction,
  { workspaceId, at, users }: { workspaceId: string; at: Date; users: EventsOfUser[] },
): Promise<void> {
  const received = { workspaceId, day: eventDay(at), receivedAt: at, users };
  await insertEvents(tx, received);
  await insertUnattributedEvents(tx, received);
  await startTriggers(tx, received);
}

/** The day whose partition holds events received at an instant. @returns YYYY-MM-DD */
export function eventDay(at: Date): string {
  return at.toISOString().slice(0, 10);
}

/** Most events are of known users: two requests about one user do not wait for each other. */
async function findOrMakeUser(tx: Transaction, { workspaceId, customerId, at }: TrackEventsCommand): Promise<UserKey> {
  const known = await holdUser(tx, { workspaceId, customerId });
  if (known) return known;
  const { bucket, userId } = await lockOrMakeUser(tx, { workspaceId, customerId, at });
  return { bucket, userId };
}
