import type { UserKey } from '../../domain/users/bucket.ts';
import type { Fragment, Queryable } from '../database.ts';
import { givenInLedger } from '../ledger/ledger-bytes.ts';
import { isGivenBucket } from '../users/given-bucket.ts';
import { countSeats } from './audience-limits.ts';

type SeatsOfRun = { runId: string; users: readonly UserKey[] };

const givenUsers = (tx: Queryable, users: readonly UserKey[]): Fragment => tx`
  unnest(
    ${users.map(({ bucket }) => bucket)}::smallint[], ${users.map(({ userId }) => userId)}::text[]
  ) as given (bucket, user_id)`;

/** Those of the users who have a seat in the run. Index: primary key, one look a user. */
export async function findSeats(tx: Queryable, { runId, users }: SeatsOfRun): Promise<UserKey[]> {
  const inBucket = isGivenBucket(tx, { column: tx`seat.bucket`, given: tx`given.bucket`, rows: users });
  return tx<UserKey[]>`
    select seat.bucket, seat.user_id as "userId"
    from ${givenUsers(tx, users)}
    join audience_seats as seat on ${inBucket} and seat.user_id = given.user_id collate "C" and seat.run_id = ${runId}`;
}

/** Takes a seat for each of the users. After lockLimit. Index: primary key. @returns how many had none */
export async function takeSeats(
  tx: Queryable,
  { runId, workspaceId, limitId, users }: SeatsOfRun & { workspaceId: string; limitId: string },
): Promise<number> {
  if (users.length === 0) return 0;
  const rows = await tx`
    insert into audience_seats (bucket, user_id, run_id, workspace_id, limit_id)
    select given.bucket, given.user_id, ${runId}::text, ${workspaceId}::text, ${limitId}::text from ${givenUsers(tx, users)}
    order by given.bucket, given.user_id collate "C"
    on conflict (bucket, user_id, run_id) do nothing
    returning bucket`;
  return rows.length;
}

/** Notes that a message of the users was accepted. After lockLimit. Index: primary key. @returns of how many it was the first */
export async function markSeatsSent(tx: Queryable, { runId, users }: SeatsOfRun): Promise<number> {
  if (users.length === 0) return 0;
  const inBucket = isGivenBucket(tx, { column: tx`audience_seats.bucket`, given: tx`given.bucket`, rows: users });
  const rows = await tx`
    update audience_seats set is_sent = true
    from ${givenUsers(tx, users)}
    where ${inBucket} and audience_seats.user_id = given.user_id collate "C" and audience_seats.run_id = ${runId}
      and not audience_seats.is_sent`;
  return rows.count;
}

/** Takes the seats of users away again. After lockLimit. Index: primary key. @returns how many they were */
export async function deleteSeats(tx: Queryable, { runId, users }: SeatsOfRun): Promise<number> {
  if (users.length === 0) return 0;
  const inBucket = isGivenBucket(tx, { column: tx`audience_seats.bucket`, given: tx`given.bucket`, rows: users });
  const rows = await tx`
    delete from audience_seats using ${givenUsers(tx, users)}
    where ${inBucket} and audience_seats.user_id = given.user_id collate "C" and audience_seats.run_id = ${runId}
      and not audience_seats.is_sent`;
  return rows.count;
}

/** A seat of which nobody knows yet what became of its message. */
export type UnsentSeat = UserKey & { runId: string };

/** The next of a limit, in the order of the index audience_seats_unsent. */
export async function listUnsentSeats(
  tx: Queryable,
  { limitId, after, limit }: { limitId: string; after: UnsentSeat | undefined; limit: number },
): Promise<UnsentSeat[]> {
  const isAfter = after
    ? tx`(run_id, bucket, user_id) > (${after.runId}, ${after.bucket}::smallint, ${after.userId})`
    : tx`true`;
  return tx<UnsentSeat[]>`
    select run_id as "runId", bucket, user_id as "userId" from audience_seats
    where limit_id = ${limitId} and not is_sent and ${isAfter}
    order by run_id, bucket, user_id
    limit ${limit}`;
}

export type SeatOutcome = { userId: string; isAccepted: boolean; isWaiting: boolean };

/**
 * What the ledger of a run says of users; of those who are not in it, nothing. The run is compared behind the look-up, as
 * where messages are withdrawn. Index: primary key of the run's day.
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

/** The runs of seats; of one that is over nothing can be sent any more. Index: runs primary key. */
export async function findSeatRuns(tx: Queryable, ids: readonly string[]): Promise<SeatRun[]> {
  return tx<SeatRun[]>`
    select id, number, day::text as day,
      status in ('SENT', 'FAILED', 'MISSED') or status = 'STOPPED' and settled_at is not null as "isOver"
    from runs where id = any(${[...ids]})`;
}

export type SeatChunk = { from: number; to: number; isEnded: boolean; isWindowOpen: boolean };

/** At most 256. Index: chunks primary key. */
export async function listSeatChunks(tx: Queryable, runId: string): Promise<SeatChunk[]> {
  return tx<SeatChunk[]>`
    select bucket_from as from, bucket_to as to, state in ('DONE', 'QUARANTINED') as "isEnded",
      window_opened_at is not null as "isWindowOpen"
    from chunks where run_id = ${runId}`;
}

/** The seats of a user who is erased: what was under way to them counts as sent. Index: primary key. */
export async function eraseSeats(tx: Queryable, { bucket, userId }: UserKey): Promise<number> {
  const rows = await tx<{ limitId: string; isSent: boolean }[]>`
    delete from audience_seats where bucket = ${bucket} and user_id = ${userId}
    returning limit_id as "limitId", is_sent as "isSent"`;
  const unsent = rows.flatMap(({ limitId, isSent }) => (isSent ? [] : [limitId])).sort();
  for (const id of unsent) await countSeats(tx, { id, taken: 0, sent: 1 });
  return rows.length;
}
