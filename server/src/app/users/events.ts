import type { Clock } from '../../clock.ts';
import { makeDocumentReader } from '../../domain/campaign-document/campaign.ts';
import { readStoredTrigger } from '../../domain/campaign-document/trigger.ts';
import { ServiceError } from '../../domain/errors.ts';
import { settleEventTime } from '../../domain/events/events.ts';
import { decideDue, startsCampaign } from '../../domain/events/triggers.ts';
import type { TriggerCondition } from '../../domain/events/triggers.ts';
import { makeId } from '../../domain/ids.ts';
import { storedNameOf } from '../../domain/users/standard-attributes.ts';
import type { UserKey } from '../../domain/users/users.ts';
import type { Transaction, Database } from '../../storage/database.ts';
import { listListeningCampaigns, insertTriggers } from '../../storage/triggers.ts';
import { insertEvents, insertUnattributedEvents, ensureEventsPartition } from '../../storage/users/events.ts';
import type { EventsOfUser, NewEvent, ReceivedEvents } from '../../storage/users/events.ts';
import { holdUser, findUsers } from '../../storage/users/users.ts';
import { followEvents } from '../journeys/follow-events.ts';
import { lockOrMakeUser } from './users.ts';

export type TrackedAction = Omit<NewEvent, 'id' | 'occurredAt'> & {
  /** The time and the member that had it. Undefined means the time of the request. */
  time: { sent: Date; member: 'user_time' | 'current_time' } | undefined;
};

export type TrackEventsCommand = {
  workspaceId: string;
  customerId: string;
  deviceId: string | null;
  actions: TrackedAction[];
  at: Date;
};

/**
 * Stores a user's events in the caller's transaction; an unknown user is created (fact 5). The partition for the day of `at`
 * must exist.
 *
 * @throws ServiceError DATA_VALUE_INVALID for a future event
 */
export async function trackEvents(tx: Transaction, command: TrackEventsCommand): Promise<void> {
  const { workspaceId, deviceId, at } = command;
  const events = eventsOf(command);
  const user = await findOrMakeUser(tx, command);
  await storeEvents(tx, { workspaceId, at, users: [{ ...user, deviceId, events }] });
}

/** Returns the events with their ids and times. @throws ServiceError DATA_VALUE_INVALID for a future event */
export function eventsOf({ actions, at }: Pick<TrackEventsCommand, 'actions' | 'at'>): NewEvent[] {
  return actions.map(({ time, ...action }, index) => {
    const settled = time === undefined ? { at } : settleEventTime(time.sent, at);
    if ('at' in settled) return { ...action, id: makeId(at), occurredAt: settled.at };
    const field = `actions[${index}].${time!.member}`;
    throw new ServiceError('DATA_VALUE_INVALID', { field, reason: settled.fault });
  });
}

/**
 * Stores events of users that the caller holds; a thousand users need as many statements as one. Whether a campaign may count
 * the events is decided later (engine/conversions): a message accepted just before may not be in the ledger yet.
 */
export async function storeEvents(
  tx: Transaction,
  { workspaceId, at, users, sender = 'server' }: StoredEvents,
): Promise<void> {
  const received = { workspaceId, day: eventDay(at), receivedAt: at, users };
  await insertEvents(tx, received);
  await insertUnattributedEvents(tx, received);
  await startTriggers(tx, { ...received, sender });
  await followEvents(tx, { ...received, sender });
}

type StoredEvents = {
  workspaceId: string;
  at: Date;
  users: EventsOfUser[];
  /** Events of apps start only the campaigns that accept them (decision 0079). */
  sender?: 'server' | 'app';
};

/** Returns the day of the partition that holds events received at an instant. @returns YYYY-MM-DD */
export function eventDay(at: Date): string {
  return at.toISOString().slice(0, 10);
}

/** Most events are of known users. These are only held, so that two requests about one user do not wait for each other. */
async function findOrMakeUser(tx: Transaction, { workspaceId, customerId, at }: TrackEventsCommand): Promise<UserKey> {
  const known = await holdUser(tx, { workspaceId, customerId });
  if (known) return known;
  const { bucket, userId } = await lockOrMakeUser(tx, { workspaceId, customerId, at });
  return { bucket, userId };
}

export type EnsureToday = () => Promise<void>;

/** Makes the partition of the day's events, once a day: the function remembers the day. */
export function makeEnsureToday({ database, clock }: { database: Database; clock: Clock }): EnsureToday {
  let known: string | undefined;
  return async () => {
    const day = eventDay(clock.now());
    if (known !== day) await ensureEventsPartition(database, day);
    known = day;
  };
}

/**
 * Stores which events start which campaigns for which users, in the transaction of the events, so that acknowledged events keep
 * their triggers and a resent event starts only one. One statement finds the listening campaigns, events are compared in
 * memory, and one more statement stores the triggers.
 */
async function startTriggers(
  tx: Transaction,
  received: ReceivedEvents & Required<Pick<StoredEvents, 'sender'>>,
): Promise<void> {
  const { workspaceId, receivedAt, users, sender } = received;
  const eventNames = [...new Set(users.flatMap(({ events }) => events.map(({ name }) => name)))];
  const listening = await listListeningCampaigns(tx, { workspaceId, eventNames, at: receivedAt });
  if (listening.length === 0) return;
  const campaigns = listening
    .map(({ campaignId, condition }) => ({ campaignId, condition: readStoredTrigger(makeDocumentReader(condition)) }))
    .filter(({ condition }) => sender === 'server' || condition.acceptsApps === true);
  const matches = users.flatMap(({ bucket, userId, events }) =>
    events.flatMap((event) =>
      campaigns
        .filter(({ condition }) => startsCampaign(condition, event, receivedAt))
        .map(({ campaignId, condition }) => ({ bucket, userId, event, campaignId, condition })),
    ),
  );
  const attributesOf = await findUserTimes(tx, { workspaceId, matches });
  const triggers = matches.map(({ bucket, userId, event, campaignId, condition }) => ({
    ...{ bucket, userId, campaignId, eventName: event.name, occurredAt: event.occurredAt },
    attributes: event.attributes,
    due: decideDue(condition.delay, { event, user: attributesOf(userId), now: receivedAt }),
  }));
  await insertTriggers(tx, { workspaceId, receivedAt, triggers });
}

type Match = {
  bucket: number;
  userId: string;
  event: { attributes: Record<string, unknown> };
  condition: TriggerCondition;
};

/** Reads the users' attributes that define the time, for events without such an attribute; usually no user is read. */
async function findUserTimes(
  tx: Transaction,
  { workspaceId, matches }: { workspaceId: string; matches: readonly Match[] },
): Promise<(userId: string) => Record<string, unknown>> {
  const asked = matches.filter(({ event, condition: { delay } }) => {
    return delay.attribute !== undefined && !Object.hasOwn(event.attributes, delay.attribute);
  });
  if (asked.length === 0) return () => ({});
  const names = [...new Set(asked.map(({ condition }) => storedNameOf(condition.delay.attribute!)))];
  const found = await findUsers(tx, { workspaceId, users: asked, names });
  return (userId) => found.get(userId)?.attributes ?? {};
}
