import { createHash } from 'node:crypto';
import type { JourneyEndReason, Reentry } from '../../domain/journeys/graph.ts';
import { groupByBucket } from '../../domain/users/users.ts';
import type { UserKey } from '../../domain/users/users.ts';
import { isDistributed } from '../cluster.ts';
import type { Queryable, Transaction } from '../database.ts';
import { isGivenBucket } from '../users/buckets.ts';

/** The event that let a person enter. `name` is null for an entry by the route, whose body has only attributes. */
export type EntryEvent = { name: string | null; attributes: Record<string, unknown>; occurredAt: string };

export type PositionKey = UserKey & { workspaceId: string; journeyId: string; entryId: string };

/** An open entry: where a person is. */
export type Position = PositionKey & {
  version: number;
  step: string;
  enteredAt: Date;
  arrivedAt: Date;
  /** When the step was to be continued; failed attempts do not change it. */
  plannedAt: Date;
  eventAt: Date | null;
  entryEvent: EntryEvent;
  attempts: number;
};

export type NewEntry = UserKey & { entryId: string; event: EntryEvent };

export type Entering = {
  workspaceId: string;
  journeyId: string;
  version: number;
  firstStep: string;
  reentry: Reentry;
  at: Date;
  /** At most one of each person. */
  users: readonly NewEntry[];
};

/**
 * Returns the id of the entry that an event starts: a resent event has the same one, so it starts no second entry.
 */
export function entryIdOf(entry: { journeyId: string; userId: string; name: string; occurredAt: Date }): string {
  const { journeyId, userId, name, occurredAt } = entry;
  const text = JSON.stringify([journeyId, userId, name, occurredAt.toISOString()]);
  return createHash('sha256').update(text, 'utf8').digest('hex').slice(0, 24);
}

/**
 * Lets people enter a journey, due at once, unless the rule of re-entry forbids it. The row of journey_users decides between
 * two entries at the same time. The caller holds the users. Adds nothing to the figures.
 *
 * @returns the people who entered. Indexes: primary keys.
 */
export async function enterJourney(tx: Queryable, entering: Entering): Promise<NewEntry[]> {
  const { reentry, users } = entering;
  if (users.length === 0) return [];
  const allowed = new Set(await allowEntries(tx, entering));
  const meant = users.filter(({ userId }) => allowed.has(userId));
  if (reentry.kind !== 'always') return insertPositions(tx, { ...entering, users: meant });
  const inside = await countOpenEntries(tx, { ...entering, users: meant });
  const fitting = meant.filter(({ userId }) => (inside.get(userId) ?? 0) < reentry.atATime);
  return insertPositions(tx, { ...entering, users: fitting });
}

const columnsOf = (users: readonly UserKey[]) => ({
  buckets: users.map(({ bucket }) => bucket),
  userIds: users.map(({ userId }) => userId),
});

/** Locks each person's row, in order, and returns who may enter by the time of their last entry. Index: primary key. */
async function allowEntries(
  tx: Queryable,
  { workspaceId, journeyId, reentry, at, users }: Entering,
): Promise<string[]> {
  const { buckets, userIds } = columnsOf(users);
  const until = { never: null, after: reentry.kind === 'after' ? new Date(at.getTime() - reentry.milliseconds) : null };
  const isAllowed =
    reentry.kind === 'always' ? tx`true` : tx`journey_users.entered_at <= ${until[reentry.kind]}::timestamptz`;
  const rows = await tx<{ userId: string }[]>`
    insert into journey_users (workspace_id, bucket, user_id, journey_id, entered_at)
    select ${workspaceId}, given.bucket, given.user_id, ${journeyId}, ${at}::timestamptz
    from unnest(${buckets}::smallint[], ${userIds}::text[]) as given (bucket, user_id)
    order by given.bucket, given.user_id collate "C"
    on conflict (workspace_id, bucket, user_id, journey_id) do update set entered_at = excluded.entered_at
      where ${isAllowed}
    returning user_id as "userId"`;
  return rows.map(({ userId }) => userId);
}

/** A separate statement, which sees what was committed while the rows of journey_users were waited for. Index: primary key. */
async function countOpenEntries(
  tx: Queryable,
  { workspaceId, journeyId, users }: Entering,
): Promise<Map<string, number>> {
  if (users.length === 0) return new Map();
  const { buckets, userIds } = columnsOf(users);
  const inBucket = isGivenBucket(tx, { column: tx`positions.bucket`, given: tx`given.bucket`, rows: users });
  const rows = await tx<{ userId: string; entries: number }[]>`
    select positions.user_id as "userId", count(*)::int as entries
    from unnest(${buckets}::smallint[], ${userIds}::text[]) as given (bucket, user_id)
    join journey_positions as positions on positions.workspace_id = ${workspaceId} and ${inBucket}
      and positions.user_id = given.user_id collate "C" and positions.journey_id = ${journeyId}
    where positions.ended_at is null
    group by positions.user_id`;
  return new Map(rows.map(({ userId, entries }) => [userId, entries]));
}

async function insertPositions(tx: Queryable, entering: Entering): Promise<NewEntry[]> {
  const { workspaceId, journeyId, version, firstStep, at, users } = entering;
  if (users.length === 0) return [];
  const { buckets, userIds } = columnsOf(users);
  const rows = await tx<{ entryId: string }[]>`
    insert into journey_positions (
      workspace_id, bucket, user_id, journey_id, entry_id, version, step, entered_at, arrived_at, due_at, entry_event
    )
    select ${workspaceId}, given.bucket, given.user_id, ${journeyId}, given.entry_id, ${version}::integer, ${firstStep},
      ${at}::timestamptz, ${at}::timestamptz, ${at}::timestamptz, given.event::jsonb
    from unnest(
      ${buckets}::smallint[], ${userIds}::text[], ${users.map(({ entryId }) => entryId)}::text[],
      ${users.map(({ event }) => JSON.stringify(event))}::text[]
    ) as given (bucket, user_id, entry_id, event)
    order by given.bucket, given.user_id collate "C"
    on conflict (workspace_id, bucket, user_id, journey_id, entry_id) do nothing
    returning entry_id as "entryId"`;
  const stored = new Set(rows.map(({ entryId }) => entryId));
  return users.filter(({ entryId }) => stored.has(entryId));
}

export const positionColumns = (tx: Queryable) => tx`
  positions.workspace_id as "workspaceId", positions.bucket, positions.user_id as "userId",
  positions.journey_id as "journeyId", positions.entry_id as "entryId", positions.version, positions.step,
  positions.entered_at as "enteredAt", positions.arrived_at as "arrivedAt",
  coalesce(positions.planned_at, positions.due_at) as "plannedAt", positions.event_at as "eventAt",
  positions.entry_event as "entryEvent", positions.attempts`;

type Watched = {
  workspaceId: string;
  users: readonly UserKey[];
  versions: readonly { journeyId: string; version: number }[];
};

/**
 * Locks people's open entries in these versions, and returns them. A row that the engine is moving is waited for and read again,
 * because the condition does not name the step: one lock decides between an event and a timeout. On a cluster, one statement
 * for each bucket. Index: primary key.
 */
export async function lockWatchedPositions(tx: Queryable, { users, ...watched }: Watched): Promise<Position[]> {
  if (users.length === 0) return [];
  if (!(await isDistributed(tx, 'journey_positions'))) return lockWatchedOf(tx, { ...watched, users });
  const locked: Position[] = [];
  for (const [, ofBucket] of groupByBucket([...users]))
    locked.push(...(await lockWatchedOf(tx, { ...watched, users: ofBucket })));
  return locked;
}

async function lockWatchedOf(tx: Queryable, { workspaceId, users, versions }: Watched): Promise<Position[]> {
  const { buckets, userIds } = columnsOf(users);
  const inBucket = isGivenBucket(tx, { column: tx`positions.bucket`, given: tx`given.bucket`, rows: users });
  return tx<Position[]>`
    select ${positionColumns(tx)}
    from unnest(${buckets}::smallint[], ${userIds}::text[]) as given (bucket, user_id)
    join journey_positions as positions on positions.workspace_id = ${workspaceId} and ${inBucket}
      and positions.user_id = given.user_id collate "C"
    where positions.ended_at is null and (positions.journey_id, positions.version) in (
        select version.journey_id collate "C", version.number
        from unnest(
          ${versions.map(({ journeyId }) => journeyId)}::text[], ${versions.map(({ version }) => version)}::integer[]
        ) as version (journey_id, number)
      )
    order by positions.bucket, positions.user_id, positions.journey_id, positions.entry_id
    for update of positions`;
}

/** The end of a wait by an event: the person goes on at once. The caller holds the lock. Index: primary key. */
export async function wakePositions(
  tx: Queryable,
  { woken, at }: { woken: readonly (PositionKey & { eventAt: Date })[]; at: Date },
): Promise<void> {
  if (woken.length === 0) return;
  await tx`
    update journey_positions as positions set event_at = given.event_at, due_at = ${at}, planned_at = null
    from unnest(
      ${woken.map(({ workspaceId }) => workspaceId)}::text[], ${woken.map(({ bucket }) => bucket)}::smallint[],
      ${woken.map(({ userId }) => userId)}::text[], ${woken.map(({ journeyId }) => journeyId)}::text[],
      ${woken.map(({ entryId }) => entryId)}::text[], ${woken.map(({ eventAt }) => eventAt.toISOString())}::timestamptz[]
    ) as given (workspace_id, bucket, user_id, journey_id, entry_id, event_at)
    where ${isGivenPosition(tx, woken)}`;
}

/** A row of `given` is the key of a row of `positions`. */
export function isGivenPosition(tx: Queryable, rows: readonly UserKey[]) {
  const inBucket = isGivenBucket(tx, { column: tx`positions.bucket`, given: tx`given.bucket`, rows });
  return tx`
    positions.workspace_id = given.workspace_id collate "C" and ${inBucket}
      and positions.user_id = given.user_id collate "C" and positions.journey_id = given.journey_id collate "C"
      and positions.entry_id = given.entry_id collate "C"`;
}

export type EndedPosition = PositionKey & { version: number; reason: JourneyEndReason };

/** Ends entries that the caller holds; they stay at the step where they were. Adds nothing to the figures. Index: primary key. */
export async function endPositions(
  tx: Queryable,
  { ended, at }: { ended: readonly EndedPosition[]; at: Date },
): Promise<void> {
  if (ended.length === 0) return;
  await tx`
    update journey_positions as positions
    set ended_at = ${at}, end_reason = given.reason, due_at = null, planned_at = null
    from unnest(
      ${ended.map(({ workspaceId }) => workspaceId)}::text[], ${ended.map(({ bucket }) => bucket)}::smallint[],
      ${ended.map(({ userId }) => userId)}::text[], ${ended.map(({ journeyId }) => journeyId)}::text[],
      ${ended.map(({ entryId }) => entryId)}::text[], ${ended.map(({ reason }) => reason)}::text[]
    ) as given (workspace_id, bucket, user_id, journey_id, entry_id, reason)
    where ${isGivenPosition(tx, ended)} and positions.ended_at is null`;
}

export type FigureChange = {
  workspaceId: string;
  journeyId: string;
  version: number;
  /** Empty for entries and ends. */
  step: string;
  /** `entered`, the reason of an end, or the edge by which people left the step. */
  edge: string;
  users: number;
};

/** Figures of one day are spread over this many rows, so that transactions rarely wait for each other. */
export const figureSlots = 16;

/** Adds to the figures of a day, in the order of the key, so that two transactions never deadlock. Index: primary key. */
export async function addJourneyFigures(
  tx: Queryable,
  { changes, day, slot }: { changes: readonly FigureChange[]; day: string; slot: number },
): Promise<void> {
  if (changes.length === 0) return;
  await tx`
    insert into journey_figures (workspace_id, journey_id, version, step, edge, day, slot, entries)
    select given.workspace_id, given.journey_id, given.version, given.step, given.edge, ${day}::date, ${slot}::smallint,
      sum(given.entries)
    from unnest(
      ${changes.map(({ workspaceId }) => workspaceId)}::text[], ${changes.map(({ journeyId }) => journeyId)}::text[],
      ${changes.map(({ version }) => version)}::integer[], ${changes.map(({ step }) => step)}::text[],
      ${changes.map(({ edge }) => edge)}::text[], ${changes.map(({ users }) => users)}::bigint[]
    ) as given (workspace_id, journey_id, version, step, edge, entries)
    group by given.workspace_id, given.journey_id, given.version, given.step, given.edge
    order by given.workspace_id collate "C", given.journey_id collate "C", given.version, given.step collate "C",
      given.edge collate "C"
    on conflict (workspace_id, journey_id, version, step, edge, day, slot) do update
      set entries = journey_figures.entries + excluded.entries`;
}

type Move = { workspaceId: string; from: UserKey; to: UserKey; at: Date };

/**
 * Moves a user's entries, with their history, to another user. Of the open entries of one journey the oldest stay, as many as
 * the user with more of them had; the others end. Rows change their bucket by being deleted and inserted again. Indexes:
 * primary keys.
 */
export async function moveJourneys(tx: Transaction, move: Move): Promise<void> {
  await moveEntryTimes(tx, move);
  await movePassages(tx, move);
  const limits = await countOfEach(tx, move);
  await movePositions(tx, move);
  if (limits.size > 0) await endSurplus(tx, { ...move, limits });
}

/** The later entry counts for the rule of re-entry. */
async function moveEntryTimes(tx: Queryable, { workspaceId, from, to }: Move): Promise<void> {
  await tx`
    with moved as (
      delete from journey_users
      where workspace_id = ${workspaceId} and bucket = ${from.bucket} and user_id = ${from.userId}
      returning journey_id, entered_at
    )
    insert into journey_users (workspace_id, bucket, user_id, journey_id, entered_at)
    select ${workspaceId}, ${to.bucket}, ${to.userId}, journey_id, entered_at from moved
    on conflict (workspace_id, bucket, user_id, journey_id) do update
      set entered_at = greatest(journey_users.entered_at, excluded.entered_at)`;
}

/** Ids of entries are unique, so none of the other user is met. */
async function movePassages(tx: Queryable, { workspaceId, from, to }: Move): Promise<void> {
  await tx`
    with moved as (
      delete from journey_passages
      where workspace_id = ${workspaceId} and bucket = ${from.bucket} and user_id = ${from.userId}
      returning journey_id, entry_id, step, version, arrived_at, left_at, edge
    )
    insert into journey_passages (
      workspace_id, bucket, user_id, journey_id, entry_id, step, version, arrived_at, left_at, edge
    )
    select ${workspaceId}, ${to.bucket}, ${to.userId}, journey_id, entry_id, step, version, arrived_at, left_at, edge
    from moved
    on conflict (workspace_id, bucket, user_id, journey_id, entry_id, step) do nothing`;
}

/** Of journeys in which both users are: the larger number of open entries. */
async function countOfEach(tx: Queryable, { workspaceId, from, to }: Move): Promise<Map<string, number>> {
  const [left, right] = [
    await countOpenByJourney(tx, { workspaceId, ...from }),
    await countOpenByJourney(tx, { workspaceId, ...to }),
  ];
  return new Map(
    [...left].flatMap(([id, entries]) => (right.has(id) ? [[id, Math.max(entries, right.get(id)!)] as const] : [])),
  );
}

async function countOpenByJourney(
  tx: Queryable,
  { workspaceId, bucket, userId }: UserKey & { workspaceId: string },
): Promise<Map<string, number>> {
  const rows = await tx<{ journeyId: string; entries: number }[]>`
    select journey_id as "journeyId", count(*)::int as entries from journey_positions
    where workspace_id = ${workspaceId} and bucket = ${bucket} and user_id = ${userId} and ended_at is null
    group by journey_id`;
  return new Map(rows.map(({ journeyId, entries }) => [journeyId, entries]));
}

async function movePositions(tx: Queryable, { workspaceId, from, to }: Move): Promise<void> {
  await tx`
    with moved as (
      delete from journey_positions
      where workspace_id = ${workspaceId} and bucket = ${from.bucket} and user_id = ${from.userId}
      returning journey_id, entry_id, version, step, entered_at, arrived_at, due_at, planned_at, event_at, entry_event,
        attempts, ended_at, end_reason
    )
    insert into journey_positions (
      workspace_id, bucket, user_id, journey_id, entry_id, version, step, entered_at, arrived_at, due_at, planned_at,
      event_at, entry_event, attempts, ended_at, end_reason
    )
    select ${workspaceId}, ${to.bucket}, ${to.userId}, journey_id, entry_id, version, step, entered_at, arrived_at,
      due_at, planned_at, event_at, entry_event, attempts, ended_at, end_reason
    from moved
    on conflict (workspace_id, bucket, user_id, journey_id, entry_id) do nothing`;
}

async function endSurplus(
  tx: Queryable,
  { workspaceId, to, at, limits }: Move & { limits: ReadonlyMap<string, number> },
): Promise<void> {
  const open = await tx<(PositionKey & { version: number })[]>`
    select workspace_id as "workspaceId", bucket, user_id as "userId", journey_id as "journeyId", entry_id as "entryId",
      version
    from journey_positions
    where workspace_id = ${workspaceId} and bucket = ${to.bucket} and user_id = ${to.userId} and ended_at is null
      and journey_id = any(${[...limits.keys()]})
    order by journey_id, entered_at, entry_id`;
  const ofJourneys = Map.groupBy(open, ({ journeyId }) => journeyId);
  const ended = [...ofJourneys].flatMap(([id, entries]) => entries.slice(limits.get(id)));
  await endPositions(tx, { ended: ended.map((entry) => ({ ...entry, reason: 'MERGED' as const })), at });
  const changes = ended.map(({ journeyId, version }) => ({
    ...{ workspaceId, journeyId, version, step: '', edge: 'MERGED', users: 1 },
  }));
  await addJourneyFigures(tx, { changes, day: at.toISOString().slice(0, 10), slot: 0 });
}

/** Deletes everything about a user in journeys, except the figures. Indexes: primary keys. @returns deleted rows by table */
export async function eraseJourneysOf(
  tx: Queryable,
  { workspaceId, bucket, userId }: UserKey & { workspaceId: string },
): Promise<number> {
  const isTheirs = tx`workspace_id = ${workspaceId} and bucket = ${bucket} and user_id = ${userId}`;
  const passages = await tx`delete from journey_passages where ${isTheirs}`;
  const positions = await tx`delete from journey_positions where ${isTheirs}`;
  const users = await tx`delete from journey_users where ${isTheirs}`;
  return passages.count + positions.count + users.count;
}

/** Deletes entries that ended before `before`, oldest first, with their history. Index: journey_positions_ended. */
export async function deleteOldEntries(
  tx: Queryable,
  { before, limit }: { before: Date; limit: number },
): Promise<number> {
  const rows = await tx<PositionKey[]>`
    delete from journey_positions
    where (workspace_id, bucket, user_id, journey_id, entry_id) in (
      select workspace_id, bucket, user_id, journey_id, entry_id from journey_positions
      where ended_at < ${before} order by ended_at limit ${limit}
    )
    returning workspace_id as "workspaceId", bucket, user_id as "userId", journey_id as "journeyId", entry_id as "entryId"`;
  if (rows.length === 0) return 0;
  const inBucket = isGivenBucket(tx, { column: tx`passages.bucket`, given: tx`given.bucket`, rows });
  await tx`
    delete from journey_passages as passages
    using unnest(
      ${rows.map(({ workspaceId }) => workspaceId)}::text[], ${rows.map(({ bucket }) => bucket)}::smallint[],
      ${rows.map(({ userId }) => userId)}::text[], ${rows.map(({ journeyId }) => journeyId)}::text[],
      ${rows.map(({ entryId }) => entryId)}::text[]
    ) as given (workspace_id, bucket, user_id, journey_id, entry_id)
    where passages.workspace_id = given.workspace_id collate "C" and ${inBucket}
      and passages.user_id = given.user_id collate "C" and passages.journey_id = given.journey_id collate "C"
      and passages.entry_id = given.entry_id collate "C"`;
  return rows.length;
}
