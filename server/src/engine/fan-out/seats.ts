import { deliverySettings } from '../../domain/campaigns/delivery-settings.ts';
import type { Eligibility } from '../../domain/eligibility.ts';
import type { UserKey } from '../../domain/users/users.ts';
import { inTransaction, planByValues } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import {
  countSeats,
  findLimit,
  lockLimit,
  deleteSeats,
  findSeatOutcomes,
  findSeats,
  takeSeats,
  findSeatRuns,
  listSeatChunks,
  listSeats,
} from '../../storage/runs/audience-seats.ts';
import type { Seat, SeatChunk, SeatOutcome, SeatRun } from '../../storage/runs/audience-seats.ts';
import type { ClaimedChunk } from '../../storage/runs/chunks.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';
import type { DeviceResult } from './settle-outcome.ts';

/** How long a chunk, or a user of a window in which the seats ran out, waits for a seat. Providers respond within seconds. */
const waitsSeconds = 5;
/** How long a user waits while messages are being retried, which may take hours. Each check is a write. */
const retriesWaitSeconds = 60;

/** The limit of a run as it is counted. A run without a limit and a test have none. */
export type RunLimit = { id: string; workspaceId: string; users: number };

export function runLimitOf({
  id,
  workspaceId,
  canonicalCampaignId,
  settings,
  isTest,
}: RunToSend): RunLimit | undefined {
  const limit = deliverySettings(settings).audienceLimit;
  if (!limit || isTest) return undefined;
  return { id: limit.of === 'RUN' ? id : canonicalCampaignId, workspaceId, users: limit.users };
}

type Seating = { run: RunToSend; limit: RunLimit; users: readonly UserKey[]; now: Date };
/** The users without a seat, and what happens to them. */
export type Seated = { refused: readonly UserKey[]; eligibility: Exclude<Eligibility, { kind: 'send' | 'fail' }> };

/**
 * Reserves a seat for each user while seats are free. A user that already has a seat, from another device or from a window that
 * is sent again, keeps it. The other users are left out once every seat belongs to a user with an accepted message. Until then
 * they wait, because a seat whose message no provider accepted is given to another user.
 */
export async function seatUsers(tx: Transaction, { run, limit, users, now }: Seating): Promise<Seated> {
  const code = 'CAMPAIGN_AUDIENCE_LIMIT';
  const leftOut = { kind: 'withhold', code } as const;
  if (users.length === 0) return { refused: [], eligibility: leftOut };
  const isFull = (count: { sent: number }) => count.sent >= limit.users;
  const found = await lookForSeats(tx, { run, limit, users });
  let { wanting } = found;
  if (found.seated === 0) {
    if (wanting.length === 0) return { refused: [], eligibility: leftOut };
    if (isFull(await findLimit(tx, limit.id))) return { refused: wanting, eligibility: leftOut };
  }
  let count = await lockLimit(tx, limit);
  // A seat that was read without the lock may be given to another user by the lock's holder.
  if (found.seated > 0) ({ wanting } = await lookForSeats(tx, { run, limit, users }));
  if (wanting.length === 0) return { refused: [], eligibility: leftOut };
  let waiting = 0;
  if (count.taken + wanting.length > limit.users && count.sent < count.taken) {
    ({ waiting } = await freeSeats(tx, limit.id));
    count = await findLimit(tx, limit.id);
  }
  const free = Math.max(0, limit.users - count.taken);
  const taken = await takeSeats(tx, {
    ...{ runId: run.id, workspaceId: run.workspaceId, limitId: limit.id },
    users: wanting.slice(0, free),
  });
  await countSeats(tx, { id: limit.id, taken, sent: 0 });
  const until = new Date(now.getTime() + (waiting > 0 ? retriesWaitSeconds : waitsSeconds) * 1_000);
  const isFinal = isFull(count) || until >= run.sendUntil;
  return { refused: wanting.slice(free), eligibility: isFinal ? leftOut : { kind: 'hold', code, until } };
}

/** The number of users with a seat, and the users that need one: neither seated nor with an accepted message. */
type SeatsFound = { seated: number; wanting: UserKey[] };

/** Reads seats before outcomes: if a seat is ended in between, the ledger already has its message. */
async function lookForSeats(tx: Transaction, { run, limit, users }: Omit<Seating, 'now'>): Promise<SeatsFound> {
  const seated = new Set(
    (await findSeats(tx, { limitId: limit.id, runId: run.id, users })).map(({ userId }) => userId),
  );
  const others = users.filter(({ userId }) => !seated.has(userId));
  if (others.length === 0) return { seated: seated.size, wanting: [] };
  const outcomes = await findSeatOutcomes(tx, { day: run.day, runNumber: run.number, users: others });
  return { seated: seated.size, wanting: others.filter(({ userId }) => !outcomes.get(userId)?.isAccepted) };
}

/**
 * Records which users' messages were accepted, in the transaction that stores the outcomes. Locks the limit before the seats,
 * like seatUsers: a cluster locks the shards that it deletes from.
 */
export async function markSent(tx: Transaction, { run, results }: { run: RunToSend; results: DeviceResult[] }) {
  const limit = runLimitOf(run);
  if (!limit) return;
  const users = new Map<string, UserKey>();
  for (const { delivery } of results) if (delivery.outcome === 'ACCEPTED') users.set(delivery.userId, delivery);
  if (users.size === 0) return;
  await planByValues(tx);
  await lockLimit(tx, limit);
  const sent = await deleteSeats(tx, { limitId: limit.id, runId: run.id, users: [...users.values()] });
  await countSeats(tx, { id: limit.id, taken: 0, sent });
}

/**
 * Returns until when a chunk waits for a seat to be released, and the buckets whose chunks do not wait (`besides`). Returns
 * undefined if the chunk continues: seats are free, or all messages were accepted and the remaining users are left out, or the
 * chunk still has users with a seat ahead of it.
 */
export async function waitForSeats(
  database: Database,
  { run, chunk, now }: { run: RunToSend; chunk: Pick<ClaimedChunk, 'bucketFrom' | 'bucketTo'>; now: Date },
): Promise<{ until: Date; besides: number[] } | undefined> {
  const limit = runLimitOf(run);
  if (!limit) return undefined;
  const isUsedUp = ({ taken, sent }: { taken: number; sent: number }) => taken >= limit.users && sent < limit.users;
  if (!isUsedUp(await findLimit(database, limit.id))) return undefined;
  const until = new Date(now.getTime() + waitsSeconds * 1_000);
  if (until >= run.sendUntil) return undefined;
  return inTransaction(database, async (tx) => {
    await planByValues(tx);
    if (!isUsedUp(await lockLimit(tx, limit))) return undefined;
    const { freed, ahead } = await freeSeats(tx, limit.id);
    const besides = [...new Set(ahead.filter(({ runId }) => runId === run.id).map(({ bucket }) => bucket))];
    const isOwn = (bucket: number) => chunk.bucketFrom <= bucket && bucket <= chunk.bucketTo;
    if (freed > 0 || besides.some(isOwn) || !isUsedUp(await findLimit(tx, limit.id))) return undefined;
    return { until, besides };
  });
}

/** The number of seats that one statement checks. */
const pageSeats = 5_000;

/**
 * The number of released seats, the number of seats whose message is being retried, and the location of the seats that a chunk
 * has yet to reach.
 */
export type SeatsLeft = { freed: number; waiting: number; ahead: { runId: string; bucket: number }[] };

/**
 * Checks the outcomes of a limit's seats. Releases the seats of users that no provider accepted a message for and that are not
 * being sent to. Call after lockLimit: then each user was admitted either before, and has an open window, or is admitted after.
 * If a lost worker may have reached a user's device and the user cannot be reached again, the user counts as sent, so that a
 * limit is never exceeded.
 */
export async function freeSeats(tx: Transaction, limitId: string): Promise<SeatsLeft> {
  const left: SeatsLeft = { freed: 0, waiting: 0, ahead: [] };
  let after: Seat | undefined;
  do {
    const page: Seat[] = await listSeats(tx, { limitId, after, limit: pageSeats });
    const byRun = Map.groupBy(page, ({ runId }) => runId);
    for (const run of await findSeatRuns(tx, [...byRun.keys()])) {
      const { freed, waiting, ahead } = await freeOfRun(tx, { limitId, run, seats: byRun.get(run.id)! });
      left.freed += freed;
      left.waiting += waiting;
      left.ahead.push(...ahead);
    }
    after = page.length < pageSeats ? undefined : page.at(-1);
  } while (after);
  return left;
}

type OfRun = { limitId: string; run: SeatRun; seats: Seat[] };

async function freeOfRun(tx: Transaction, { limitId, run, seats }: OfRun): Promise<SeatsLeft> {
  // Chunks are read first: if a chunk has ended, every outcome is then in the ledger. In the reverse order, a window might end
  // between the two reads if no provider accepted its messages, because it then waits for no lock of the limit. Its users would
  // count as sent.
  const chunks = run.isOver ? [] : await listSeatChunks(tx, run.id);
  const outcomes = await findSeatOutcomes(tx, { day: run.day, runNumber: run.number, users: seats });
  const places = Map.groupBy(seats, (seat) =>
    placeOf(outcomes.get(seat.userId), { isOver: run.isOver, chunk: chunks.find((chunk) => holds(chunk, seat)) }),
  );
  const end = (place: Place) => deleteSeats(tx, { limitId, runId: run.id, users: places.get(place) ?? [] });
  const freed = await end('free');
  const sent = await end('sent');
  await countSeats(tx, { id: limitId, taken: -freed, sent });
  return { freed, waiting: places.get('waiting')?.length ?? 0, ahead: places.get('ahead') ?? [] };
}

function holds({ from, to }: SeatChunk, { bucket }: Seat): boolean {
  return from <= bucket && bucket <= to;
}

type Progress = { isOver: boolean; chunk: SeatChunk | undefined };

/** `waiting`: its message is being retried. `ahead`: its chunk has yet to reach it. */
type Place = 'free' | 'sent' | 'waiting' | 'ahead';

function placeOf(outcome: SeatOutcome | undefined, { isOver, chunk }: Progress): Place {
  if (outcome?.isAccepted) return 'sent';
  if (outcome?.isWaiting && !isOver) return 'waiting';
  const isPassed = isOver || chunk === undefined || chunk.isEnded;
  if (isPassed) return outcome ? 'free' : 'sent';
  return outcome && !chunk.isWindowOpen ? 'free' : 'ahead';
}
