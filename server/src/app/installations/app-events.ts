import type { Clock } from '../../clock.ts';
import { retryDeadlock } from '../../domain/database-faults.ts';
import { ServiceError } from '../../domain/errors.ts';
import { correctEventTime } from '../../domain/events/events.ts';
import { appEventsPerMinute, installationCalls } from '../../domain/limits/installations.ts';
import { underAppNames, valuesFault } from '../../domain/users/app-attributes.ts';
import type { Registration } from '../../domain/users/registrations.ts';
import type { Attributes } from '../../domain/users/user-attributes.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { insertEventIds, updateInstallation } from '../../storage/installations.ts';
import type { LockedUser } from '../../storage/users/users.ts';
import { countUses } from '../data.ts';
import { makeLimitBursts } from '../limits.ts';
import { eventsOf, storeEvents } from '../users/events.ts';
import type { EnsureToday, TrackedAction } from '../users/events.ts';
import { storeUser } from '../users/users.ts';
import { lockUserOf, makeAnonymousUser } from './installation-users.ts';
import type { LockedInstallation } from './installation-users.ts';
import { lockProved, refuseOver } from './installations.ts';
import type { NamedInstallation } from './installations.ts';

/** An event, or a change of attributes, under an id that the app made. */
export type AppEvent = { id: string } & (
  | { kind: 'event'; name: string; attributes: Attributes; time: Date | undefined }
  | { kind: 'set'; attributes: Attributes }
);

export type AppEventsCommand = NamedInstallation & {
  events: readonly AppEvent[];
  /** The clock of the device when it sent the request. Times of events are corrected by its difference. */
  sentAt: Date | undefined;
};

export type AppEventsResult = {
  /** Stored now. */
  accepted: number;
  /** Stored by an earlier request. */
  repeated: number;
  /** Never stored, so the app must not send them again. */
  refused: { id: string; reason: string }[];
};

export type AppEventDependencies = { database: Database; clock: Clock; ensureToday: EnsureToday };

/** Receives what apps report about their own user. Each id counts once; a refused item does not hold back the others. */
export function makeAppEvents({ database, clock, ensureToday }: AppEventDependencies) {
  const limitCalls = makeLimitBursts(installationCalls, { clock });
  return async (command: AppEventsCommand): Promise<AppEventsResult> => {
    refuseOver(limitCalls, command);
    const { workspaceId, attributes: writable } = command.app;
    const { valid, refused } = sortOut(command.events, writable);
    await ensureToday();
    await countItems(database, { workspaceId, wanted: command.events.length, at: clock.now() });
    const accepted = await retryDeadlock(() =>
      inTransaction(database, async (tx) => {
        const found = await lockProved(tx, command);
        const installation = { ...found, workspaceId, keyId: command.app.keyId, at: clock.now() };
        return storeItems(tx, installation, { items: valid, sentAt: command.sentAt });
      }),
    );
    return { accepted, repeated: valid.length - accepted, refused };
  };
}

export type AcceptAppEvents = ReturnType<typeof makeAppEvents>;

/** @throws ServiceError APP_RATE_LIMITED */
async function countItems(
  database: Database,
  { workspaceId, wanted, at }: { workspaceId: string; wanted: number; at: Date },
): Promise<void> {
  const limit = { operation: 'app-event', workspaceId, wanted, limit: appEventsPerMinute, windowSeconds: 60, at };
  const { granted, retryAfterSeconds } = await countUses(database, [limit]);
  if (granted < wanted)
    throw new ServiceError('APP_RATE_LIMITED', { retryAfterSeconds, detail: 'events of the workspace' });
}

function sortOut(events: readonly AppEvent[], writable: readonly string[]) {
  const valid: AppEvent[] = [];
  const refused: AppEventsResult['refused'] = [];
  const ids = new Set<string>();
  for (const event of events) {
    // The first of a request counts, like the first of several requests.
    if (ids.has(event.id)) continue;
    ids.add(event.id);
    const read = event.kind === 'event' ? readEvent(event) : readChange(event, writable);
    if ('fault' in read) refused.push({ id: event.id, reason: read.fault });
    else valid.push(read.event);
  }
  return { valid, refused };
}

type Read = { event: AppEvent } | { fault: string };

function readEvent(event: AppEvent): Read {
  const fault = valuesFault(event.attributes);
  return fault === undefined ? { event } : { fault };
}

function readChange(event: AppEvent & { kind: 'set' }, writable: readonly string[]): Read {
  const named = underAppNames(event.attributes, writable);
  return 'fault' in named ? named : { event: { ...event, attributes: named.attributes } };
}

type Items = { items: readonly AppEvent[]; sentAt: Date | undefined };

/** Stores the items whose ids are new. @returns their number */
async function storeItems(
  tx: Transaction,
  installation: LockedInstallation,
  { items, sentAt }: Items,
): Promise<number> {
  const { workspaceId, id: installationId, at } = installation;
  if (items.length === 0) return 0;
  const eventIds = items.map(({ id }) => id);
  const fresh = await insertEventIds(tx, { workspaceId, installationId, eventIds, at });
  const stored = items.filter(({ id }) => fresh.has(id));
  if (stored.length === 0) return 0;
  const known = await lockUserOf(tx, installation);
  const user = known ?? (await makeAnonymousUser(tx, installation));
  if (!known) {
    const registration = installation.registration;
    await updateInstallation(tx, { ...installation, registration, user, isIdentified: false });
  }
  await storeChanges(tx, { workspaceId, user, at, items: stored });
  const { platform, appVersion } = installation.registration as Partial<Registration>;
  const actions = stored.flatMap((item): TrackedAction[] =>
    item.kind === 'set'
      ? []
      : [
          {
            ...{ name: item.name, attributes: item.attributes, utcOffsetSeconds: null },
            ...{ platform: platform ?? null, appVersion: appVersion ?? null },
            time: item.time && { sent: correctEventTime(item.time, { sentAt, at }), member: 'user_time' },
          },
        ],
  );
  if (actions.length === 0) return stored.length;
  const { bucket, userId } = user;
  const users = [{ bucket, userId, deviceId: installationId, events: eventsOf({ actions, at }) }];
  await storeEvents(tx, { workspaceId, at, users, sender: 'app' });
  return stored.length;
}

type Changes = { workspaceId: string; user: LockedUser; at: Date; items: readonly AppEvent[] };

/** The last change of an attribute counts. */
async function storeChanges(tx: Transaction, { workspaceId, user, at, items }: Changes): Promise<void> {
  const attributes = Object.assign(
    {},
    ...items.flatMap((item) => (item.kind === 'set' ? [item.attributes] : [])),
  ) as Attributes;
  if (Object.keys(attributes).length === 0) return;
  await storeUser(tx, { workspaceId, customerId: user.customerId, attributes, at });
}
