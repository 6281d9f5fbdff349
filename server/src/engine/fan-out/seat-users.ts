import { deliverySettings } from '../../domain/campaigns/delivery-settings.ts';
import type { Eligibility } from '../../domain/eligibility/decide-eligibility.ts';
import type { UserKey } from '../../domain/users/bucket.ts';
import { inTransaction, planByValues } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { countSeats, findLimit, lockLimit } from '../../storage/runs/audience-limits.ts';
import { deleteSeats, findSeatOutcomes, findSeats, takeSeats } from '../../storage/runs/audience-seats.ts';
import type { ClaimedChunk } from '../../storage/runs/chunks.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';
import type { DeviceResult } from './device-result.ts';
import { freeSeats } from './free-seats.ts';

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
