import type { UserKey } from '../../domain/users/users.ts';
import type { Fragment, Queryable } from '../database.ts';
import { givenInLedger } from '../ledger/ledger-encoding.ts';
import { isGivenBucket } from '../users/buckets.ts';

type SeatsOfRun = { limitId: string; runId: string; users: readonly UserKey[] };

/**
 * Returns the seats as a set to join with, so that each is a look-up of the whole key. With the limit and the run as
 * literals, the planner reads all their rows while the table has no statistics yet, because it expects only a few.
 */
const givenSeats = (tx: Queryable, { limitId, runId, users }: SeatsOfRun): Fragment => tx`
  unnest(
    ${users.map(() => limitId)}::text[], ${users.map(() => runId)}::text[],
    ${users.map(({ bucket }) => bucket)}::smallint[], ${users.map(({ userId }) => userId)}::text[]
  ) as given (limit_id, run_id, bucket, user_id)`;

const isGivenSeat = (tx: Queryable, { users }: SeatsOfRun): Fragment => tx`
  seat.limit_id = given.limit_id collate "C" and seat.run_id = given.run_id collate "C"
    and ${isGivenBucket(tx, { column: tx`seat.bucket`, given: tx`given.bucket`, rows: users })}
    and seat.user_id = given.user_id collate "C"`;

/** Returns the given users that have a seat in the run. Index: primary key, one look-up per user. */
export async function findSeats(tx: Queryable, asked: SeatsOfRun): Promise<UserKey[]> {
  return tx<UserKey[]>`
    select seat.bucket, seat.user_id as "userId"
    from ${givenSeats(tx, asked)} join audience_seats as seat on ${isGivenSeat(tx, asked)}`;
}

/** Claims a seat for each of the users. Call lockLimit first. Index: primary key. @returns how many had no seat */
export async function takeSeats(
  tx: Queryable,
  { workspaceId, ...asked }: SeatsOfRun & { workspaceId: string },
): Promise<number> {
  if (asked.users.length === 0) return 0;
  const rows = await tx`
    insert into audience_seats (limit_id, run_id, bucket, user_id, workspace_id)
    select given.limit_id, given.run_id, given.bucket, given.user_id, ${workspaceId}::text from ${givenSeats(tx, asked)}
    order by given.bucket, given.user_id collate "C"
    on conflict (limit_id, run_id, bucket, user_id) do nothing
    returning bucket`;
  return rows.length;
}

/**
 * Deletes the seats of users: a message was accepted, or none will be. Call planByValues first. Index: primary key.
 *
 * @returns how many users had a seat
 */
export async function deleteSeats(tx: Queryable, asked: SeatsOfRun): Promise<number> {
  if (asked.users.length === 0) return 0;
  const rows = await tx`
    delete from audience_seats as seat using ${givenSeats(tx, asked)} where ${isGivenSeat(tx, asked)}`;
  return rows.count;
}

/** A user in a run whose message has no known outcome yet. */
export type Seat = UserKey & { runId: string };

/** Lists the next seats of a limit, in the order of the primary key. */
export async function listSeats(
  tx: Queryable,
  { limitId, after, limit }: { limitId: string; after: Seat | undefined; limit: number },
): Promise<Seat[]> {
  const isAfter = after
    ? tx`(run_id, bucket, user_id) > (${after.runId}, ${after.bucket}::smallint, ${after.userId})`
    : tx`true`;
  return tx<Seat[]>`
    select run_id as "runId", bucket, user_id as "userId" from audience_seats
    where limit_id = ${limitId} and ${isAfter}
    order by run_id, bucket, user_id
    limit ${limit}`;
}

export type SeatOutcome = { userId: string; isAccepted: boolean; isWaiting: boolean };

/**
 * Returns what the ledger of a run records about users; users that are not in it are left out. The run is compared
 * after the look-up, as where messages are withdrawn. Index: primary key of the run's day.
 */
export async function findSeatOutcomes(
  tx: Queryable,
  { day, runNumber, users }: { day: string; runNumber: number; users: readonly UserKey[] },
): Promise<Map<string, SeatOutcome>> {
  const inBucket = isGivenBucket(tx, { column: tx`deliveries.bucket`, given: tx`given.bucket`, rows: users });
  const rows = await tx<SeatOutcome[]>`
    select encode(given.user_id, 'hex') as "userId", bool_or(deliveries.outcome = 'A') as "isAccepted",
      bool_or(deliveries.outcome = 'W') as "isWaiting"
    from ${givenInLedger(tx, users)}
    join deliveries on deliveries.day = ${day}::date and ${inBucket} and deliveries.user_id = given.user_id
      and deliveries.run_number + 0 = ${runNumber}::bigint
    group by given.user_id`;
  return new Map(rows.map((row) => [row.userId, row]));
}

export type SeatRun = { id: string; number: number; day: string; isOver: boolean };

/** Returns the runs of seats. A run that is over can send nothing more. Index: runs primary key. */
export async function findSeatRuns(tx: Queryable, ids: readonly string[]): Promise<SeatRun[]> {
  return tx<SeatRun[]>`
    select id, number, day::text as day,
      status in ('SENT', 'FAILED', 'MISSED') or status = 'STOPPED' and settled_at is not null as "isOver"
    from runs where id = any(${[...ids]})`;
}

export type SeatChunk = { from: number; to: number; isEnded: boolean; isWindowOpen: boolean };

/** Returns at most 257 chunks. Index: chunks primary key. */
export async function listSeatChunks(tx: Queryable, runId: string): Promise<SeatChunk[]> {
  return tx<SeatChunk[]>`
    select bucket_from as from, bucket_to as to, state in ('DONE', 'QUARANTINED') as "isEnded",
      window_opened_at is not null as "isWindowOpen"
    from chunks where run_id = ${runId}`;
}

/**
 * Deletes the seats of a user who is erased: messages under way to the user count as sent. Reads the table's part of
 * the bucket, which holds what is being sent.
 */
export async function eraseSeats(tx: Queryable, { bucket, userId }: UserKey): Promise<number> {
  const rows = await tx<{ limitId: string }[]>`
    delete from audience_seats where bucket = ${bucket} and user_id = ${userId} returning limit_id as "limitId"`;
  for (const id of rows.map(({ limitId }) => limitId).sort()) await countSeats(tx, { id, taken: 0, sent: 1 });
  return rows.length;
}

/** How many seats of a limit are taken, and for how many a message was accepted. */
export type LimitCount = { taken: number; sent: number };

/** Returns the count without waiting for locks; a limit that no run has used yet has no row. Index: primary key. */
export async function findLimit(tx: Queryable, id: string): Promise<LimitCount> {
  const [count] = await tx<LimitCount[]>`select taken, sent from audience_limits where id = ${id}`;
  return count ?? { taken: 0, sent: 0 };
}

/**
 * Locks a limit until the end of the transaction and inserts its row if it is missing. Call it before seats or anything
 * about users is written, so that two transactions never deadlock. Index: primary key.
 */
export async function lockLimit(
  tx: Queryable,
  { id, workspaceId }: { id: string; workspaceId: string },
): Promise<LimitCount> {
  const [count] = await tx<LimitCount[]>`
    insert into audience_limits (id, workspace_id, taken, sent) values (${id}, ${workspaceId}, 0, 0)
    on conflict (id) do update set taken = audience_limits.taken
    returning taken, sent`;
  return count!;
}

/** Adds to the count of a limit; either number may be negative or zero. Index: primary key. */
export async function countSeats(tx: Queryable, { id, taken, sent }: LimitCount & { id: string }): Promise<void> {
  if (taken === 0 && sent === 0) return;
  await tx`
    update audience_limits set taken = taken + ${taken}::bigint, sent = sent + ${sent}::bigint where id = ${id}`;
}
