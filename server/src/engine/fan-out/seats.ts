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

/** For so long a chunk, or a user of a window in which the seats ran out, waits for one: providers answer within seconds. */
const waitsSeconds = 5;
/** And a user while messages are tried again, which may take hours: each look is a write. */
const retriesWaitSeconds = 60;

/** The limit of a run as it is counted; undefined of a run without one, and of a test. */
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
/** Those without a seat, and what becomes of them. */
export type Seated = { refused: readonly UserKey[]; eligibility: Exclude<Eligibility, { kind: 'send' | 'fail' }> };

/**
 * Takes a seat for each of the users, while there are any; who has one from another device, or from a window that is sent
 * again, keeps it. The others are left out once every seat is of a user with an accepted message, and wait until then: a
 * seat whose message nobody took is given to the next.
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
  // A seat that was seen without the lock may be given to another user by whoever holds it.
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

/** How many have a seat, and who needs one: neither seated nor with an accepted message. */
type SeatsFound = { seated: number; wanting: UserKey[] };

/** In this order: a seat that is ended meanwhile is one whose message the ledger has. */
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
 * Notes whose messages were accepted, in the transaction that stores it. The limit before the seats, as who takes them does: a cluster
 * locks the shards of what it deletes.
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
 * Until when a chunk waits for a seat to be given back, and for which buckets, whose chunks do not wait; undefined: it goes on, because there are seats, because all
 * messages were accepted and the rest is left out, or because users with a seat are still before it.
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

/** Seats that are looked at with one statement. */
const pageSeats = 5_000;

/** How many were given back, how many have a message that is tried again, and where those are whom a chunk has to come to. */
export type SeatsLeft = { freed: number; waiting: number; ahead: { runId: string; bucket: number }[] };

/**
 * Looks what became of the seats of a limit, and gives back those of users whom no device's provider took and who are not being
 * sent to. After lockLimit: whoever is admitted is so before, and then has an open
 * window, or after. A user of whom a lost worker may have reached a device and who cannot be reached again counts as sent, so that
 * a limit is never exceeded.
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
  // The chunks first: of one that is ended, every outcome is then in the ledger. The other way round a window whose messages nobody
  // took, and which so waits for no lock of the limit, might end between the two, and its users would count as sent.
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

/** `waiting`: its message is tried again. `ahead`: its chunk has to come to it. */
type Place = 'free' | 'sent' | 'waiting' | 'ahead';

function placeOf(outcome: SeatOutcome | undefined, { isOver, chunk }: Progress): Place {
  if (outcome?.isAccepted) return 'sent';
  if (outcome?.isWaiting && !isOver) return 'waiting';
  const isPassed = isOver || chunk === undefined || chunk.isEnded;
  if (isPassed) return outcome ? 'free' : 'sent';
  return outcome && !chunk.isWindowOpen ? 'free' : 'ahead';
}
