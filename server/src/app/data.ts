import type { Clock } from '../clock.ts';
import type { Encryption } from '../domain/crypto/encryption.ts';
import { retryDeadlock } from '../domain/database-faults.ts';
import { ServiceError } from '../domain/errors.ts';
import type { ErrorName } from '../domain/errors.ts';
import { makeId } from '../domain/ids.ts';
import {
  deviceBlocksPerMinute,
  deviceUpdatesPerMinute,
  batchEventsPerMinute,
  eventsPerMinute,
  erasureDelayHours,
  batchUsersPerMinute,
  connectionTestsPerMinute,
  deletionsPerMinute,
  exportedUsersPerMinute,
  mergesPerMinute,
  userUpdatesPerMinute,
} from '../domain/limits/users.ts';
import { settleEventTime } from '../domain/events/events.ts';
import { unknownCase } from '../domain/unknown-case.ts';
import { zoneAttributeFault } from '../domain/users/user-attributes.ts';
import { inTransaction } from '../storage/database.ts';
import type { Transaction, Database } from '../storage/database.ts';
import { countWithinLimit } from '../storage/limits/push-rate-limit.ts';
import type { LimitCount, LimitGrant } from '../storage/limits/push-rate-limit.ts';
import type { EventsOfUser } from '../storage/users/events.ts';
import { holdUsersInOrder, insertMissingUsers, lockUsersInOrder } from '../storage/users/users.ts';
import { findZoneAttribute, findWorkspace } from '../storage/workspaces.ts';
import { answerOnce } from './idempotency.ts';
import { blockDevices, registerDevice } from './users/devices.ts';
import type { BlockDevicesCommand, RegisterDeviceCommand } from './users/devices.ts';
import { deleteUser } from './users/erasures.ts';
import type { DeleteUserCommand } from './users/erasures.ts';
import { trackEvents, eventsOf, storeEvents } from './users/events.ts';
import type { TrackEventsCommand, EnsureToday } from './users/events.ts';
import { linkUser, mergeUsers, upsertUser, lockOrMakeUser, requireZone, storeUser } from './users/users.ts';
import type { LinkUserCommand, MergeUsersCommand, UpsertUserCommand } from './users/users.ts';

/** A call of the data family: the command, and the data that identifies its repeat. */
type Request<Command> = { command: Omit<Command, 'at'>; once: Once };

/** A missing user that must not be created is not an error: there is nothing to update. */
export function acceptUser(deps: DataDependencies, request: Request<UpsertUserCommand>): Promise<DataAnswer> {
  return write<UpsertUserCommand>(deps, { ...request, operation: 'customer' }, async (tx, command) => {
    await upsertUser(tx, command);
  });
}

/** @throws ServiceError DATA_USER_NOT_FOUND */
export function acceptDevice(deps: DataDependencies, request: Request<RegisterDeviceCommand>): Promise<DataAnswer> {
  return write<RegisterDeviceCommand>(deps, { ...request, operation: 'device' }, async (tx, command) => {
    if (!(await registerDevice(tx, command))) throw new ServiceError('DATA_USER_NOT_FOUND', { field: 'customer_id' });
  });
}

export async function acceptEvents(deps: DataDependencies, request: Request<TrackEventsCommand>): Promise<DataAnswer> {
  await deps.ensureToday();
  return write<TrackEventsCommand>(deps, { ...request, operation: 'event' }, trackEvents);
}

/** Stores the valid elements of a batch request and returns the faults of the others, to its repeat as well. */
export async function acceptBulk(
  deps: DataDependencies,
  request: Request<TakeBulkCommand>,
): Promise<DataAnswer & { faults: ElementFault[] }> {
  await deps.ensureToday();
  const answer = await write<TakeBulkCommand, { refused: RefusedElement[] }>(
    deps,
    { ...request, operation: 'transition' },
    async (tx, command) => ({ refused: (await storeElements(tx, command)).map(keepFault) }),
  );
  // A response stored by an earlier version has no faults.
  const { requestId, refused = [] } = answer as DataAnswer & { refused?: RefusedElement[] };
  return { requestId, faults: refused.map(restoreFault) };
}

/** A fault as it is stored with the response. */
type RefusedElement = { index: number; code: ErrorName; field?: string; reason?: string };

function keepFault({ index, error: { code, context } }: ElementFault): RefusedElement {
  const { field, reason } = context;
  return { index, code, ...(field !== undefined && { field }), ...(reason !== undefined && { reason }) };
}

function restoreFault({ index, code, ...context }: RefusedElement): ElementFault {
  return { index, error: new ServiceError(code, context) };
}

export function acceptDeviceBlock(deps: DataDependencies, request: Request<BlockDevicesCommand>): Promise<DataAnswer> {
  return write<BlockDevicesCommand>(deps, { ...request, operation: 'devices-manage' }, blockDevices);
}

export function acceptMerge(deps: DataDependencies, request: Request<MergeUsersCommand>): Promise<DataAnswer> {
  return write<MergeUsersCommand>(deps, { ...request, operation: 'merge' }, mergeUsers);
}

export function acceptDeletion(
  deps: DataDependencies,
  { command, once }: Request<Omit<DeleteUserCommand, 'delayHours'>>,
): Promise<DataAnswer> {
  const delayHours = deps.erasureDelayHours ?? erasureDelayHours;
  const request = { command: { ...command, delayHours }, once, operation: 'delete' };
  return write<DeleteUserCommand>(deps, request, deleteUser);
}

/** Runs the work in one transaction, and again if the database aborted it because of a deadlock. */
function write<Command extends { workspaceId: string; at: Date }, Result extends object | void = void>(
  deps: DataDependencies,
  { command: given, once, operation }: Request<Command> & { operation: string },
  work: (tx: Transaction, command: Command) => Promise<Result>,
): Promise<DataAnswer & Result> {
  const { requestId, ...repeat } = once;
  return retryDeadlock(() => {
    const command = { ...given, at: deps.clock.now() } as Command;
    const { workspaceId, at } = command;
    return answerOnce(deps, { ...repeat, workspaceId, operation, at }, async (tx) => {
      const result = await work(tx, command);
      return { requestId, ...result };
    });
  });
}

type Element<Command> = Omit<Command, 'at' | 'workspaceId'>;

/** One object of a batch request, with its index. */
export type DataElement = { index: number } & (
  | { kind: 'customer'; command: Element<UpsertUserCommand> }
  | { kind: 'device'; command: Element<RegisterDeviceCommand> }
  | { kind: 'event'; command: Element<TrackEventsCommand> }
  | { kind: 'link'; command: Element<LinkUserCommand> }
);

/** A rejected element, and the reason. */
export type ElementFault = { index: number; error: ServiceError };

type TakeBulkCommand = { workspaceId: string; elements: DataElement[]; at: Date };

/**
 * Stores the objects of a batch request in order, in the caller's transaction; 100 KB of body limit them to some 2,000. Events
 * come last, all in the same few statements, because nothing about a user depends on them. A rejected object changes nothing
 * and does not stop the others. Users are created and locked first, in one order, so that two batch requests about the same
 * users cannot deadlock.
 *
 * @returns the rejected ones
 */
export async function storeElements(
  tx: Transaction,
  { workspaceId, elements, at }: TakeBulkCommand,
): Promise<ElementFault[]> {
  const zoneAttribute = await findZoneAttribute(tx, workspaceId);
  const made = new Set(
    elements.filter((element) => makesUser(element, { at, zoneAttribute })).map(({ command }) => command.customerId),
  );
  const users = [...made].map((customerId) => ({ customerId, id: makeId(at) }));
  if (users.length > 0) await insertMissingUsers(tx, { workspaceId, users, at });
  // Requests that change no user only hold the users, so they do not wait for each other.
  if (elements.some(({ kind }) => kind !== 'event'))
    await lockUsersInOrder(tx, { workspaceId, customerIds: elements.flatMap(namesOf) });
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

function namesOf(element: DataElement): string[] {
  const { customerId } = element.command;
  return element.kind === 'link' ? [customerId, ...element.command.earlierIds] : [customerId];
}

type TrackedElement = Pick<EventsOfUser, 'events' | 'deviceId'> & { customerId: string };
type Tracking = { workspaceId: string; tracked: readonly TrackedElement[]; at: Date };

async function trackElements(tx: Transaction, { workspaceId, tracked, at }: Tracking): Promise<void> {
  const customerIds = tracked.map(({ customerId }) => customerId);
  const held = await holdUsersInOrder(tx, { workspaceId, customerIds });
  const known = new Map(held.map(({ customerId, bucket, userId }) => [customerId, { bucket, userId }]));
  for (const customerId of customerIds) {
    // Merged into another user, which is rare.
    if (known.has(customerId)) continue;
    const { bucket, userId } = await lockOrMakeUser(tx, { workspaceId, customerId, at });
    known.set(customerId, { bucket, userId });
  }
  const users = tracked.map(({ customerId, deviceId, events }) => ({ ...known.get(customerId)!, deviceId, events }));
  await storeEvents(tx, { workspaceId, at, users });
}

/** True if storing the element creates the user that it names. */
function makesUser(element: DataElement, { at, zoneAttribute }: { at: Date; zoneAttribute: string }): boolean {
  switch (element.kind) {
    case 'customer':
      return (
        element.command.updateExistingOnly !== true &&
        zoneAttributeFault(element.command.attributes, zoneAttribute) === undefined
      );
    case 'device':
      return false;
    case 'link':
      return true;
    case 'event':
      return element.command.actions.every(({ time }) => time === undefined || 'at' in settleEventTime(time.sent, at));
    default:
      return unknownCase(element);
  }
}

type Taking = {
  element: Exclude<DataElement, { kind: 'event' }>;
  workspaceId: string;
  zoneAttribute: string;
  at: Date;
};

/** Each kind is rejected before its first write. */
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
    case 'link':
      await linkUser(tx, { ...element.command, workspaceId, at });
      return;
    default:
      return unknownCase(element);
  }
}

export type TestConnectionQuery = {
  workspaceId: string;
  /** The data center the caller believes the workspace is in. */
  region: string | undefined;
};

/** The response to a caller with valid credentials. @throws ServiceError DATA_VALUE_INVALID for another region */
export async function testConnection(
  { database }: { database: Database },
  { workspaceId, region }: TestConnectionQuery,
): Promise<{ name: string }> {
  const workspace = await findWorkspace(database, workspaceId);
  if (region !== undefined && workspace!.dataCenter !== region)
    throw new ServiceError('DATA_VALUE_INVALID', { field: 'region', reason: 'is not the region of this workspace' });
  return { name: workspace!.name };
}

export type DataDependencies = {
  database: Database;
  clock: Clock;
  encryption: Encryption;
  ensureToday: EnsureToday;
  /** Overrides the documented limits. */
  limits?: Partial<Record<DataOperation, number>>;
  /** Hours between the request and the erasure of a user; 24 unless given (fact 5). */
  erasureDelayHours?: number;
};

/** Identifies a repeat of a call, with the response that a repeat with the same Idempotency-Key gets again. */
type Once = { key: string | undefined; rawBody: string } & DataAnswer;

type DataAnswer = { requestId: string };

type Counting = Pick<DataDependencies, 'database' | 'clock' | 'limits'>;

/** Counts everything that a request asks for, or nothing. */
export function countDataCall(
  deps: Counting,
  { workspaceId, uses }: { workspaceId: string; uses: DataUse[] },
): Promise<UseGrant> {
  return countUses(
    deps.database,
    uses.map((use) => toCount(deps, workspaceId, use)),
  );
}

/** Returns the state of a limit without counting anything. */
export function peekDataCall(
  deps: Counting,
  { workspaceId, operation }: { workspaceId: string; operation: DataOperation },
): Promise<UseGrant> {
  return peekUse(deps.database, toCount(deps, workspaceId, { operation, wanted: 0 }));
}

function toCount({ clock, limits }: Counting, workspaceId: string, { operation, wanted }: DataUse): LimitCount {
  return {
    operation,
    workspaceId,
    wanted,
    limit: limits?.[operation] ?? dataLimits[operation],
    windowSeconds: 60,
    at: clock.now(),
  };
}

export type UseGrant = LimitGrant & { limit: number };

/**
 * Counts what a request asks for if there is capacity for all of it, otherwise nothing. A refusal reports when there will be
 * capacity for all. All statements run under the lock of the workspace's counters, taken in the given order, so nothing changes
 * between them; callers must use the same order.
 *
 * @returns the grant of the limit that has the least left
 */
export async function countUses(database: Database, counts: LimitCount[]): Promise<UseGrant> {
  return inTransaction(database, async (tx) => {
    const [first] = counts;
    // A single item needs only one statement.
    if (first && counts.length === 1 && first.wanted === 1)
      return { ...(await countWithinLimit(tx, first)), limit: first.limit };
    for (const count of counts) {
      const refusal = await findRefusal(tx, count);
      if (refusal) return refusal;
    }
    const grants: UseGrant[] = [];
    for (const count of counts) grants.push({ ...(await countWithinLimit(tx, count)), limit: count.limit });
    return grants.reduce((least, grant) => (grant.remaining < least.remaining ? grant : least));
  });
}

/** Capacity for one item under a limit lowered by the others is capacity for all. */
async function findRefusal(tx: Transaction, count: LimitCount): Promise<UseGrant | undefined> {
  const { wanted, limit } = count;
  const quota = await countWithinLimit(tx, { ...count, wanted: 0, limit: limit - wanted + 1 });
  if (quota.remaining > 0) return undefined;
  const { remaining } = await countWithinLimit(tx, { ...count, wanted: 0 });
  return { granted: 0, remaining, retryAfterSeconds: Math.max(1, quota.retryAfterSeconds), limit };
}

/** Returns the state of a limit without counting anything. */
async function peekUse(database: Database, count: LimitCount): Promise<UseGrant> {
  return inTransaction(database, async (tx) => ({
    ...(await countWithinLimit(tx, { ...count, wanted: 0 })),
    limit: count.limit,
  }));
}

/** Fact 5: how many items of each kind a workspace may send in a minute; items, not requests. */
export const dataLimits = {
  'data-customer': userUpdatesPerMinute,
  'data-event': eventsPerMinute,
  'data-device': deviceUpdatesPerMinute,
  // Devices of a batch request count as its users.
  'data-bulk-users': batchUsersPerMinute,
  'data-bulk-events': batchEventsPerMinute,
  'data-export': exportedUsersPerMinute,
  'data-merge': mergesPerMinute,
  'data-delete': deletionsPerMinute,
  'data-block': deviceBlocksPerMinute,
  'data-authentication': connectionTestsPerMinute,
} as const;

export type DataOperation = keyof typeof dataLimits;

export type DataUse = { operation: DataOperation; wanted: number };
