import type { Transaction } from '../../storage/database.ts';
import { countSeats } from '../../storage/runs/audience-limits.ts';
import {
  deleteSeats,
  findSeatOutcomes,
  findSeatRuns,
  listSeatChunks,
  listUnsentSeats,
  markSeatsSent,
} from '../../storage/runs/audience-seats.ts';
import type { SeatChunk, SeatOutcome, SeatRun, UnsentSeat } from '../../storage/runs/audience-seats.ts';

/** Seats that are looked at with one statement. */
const pageSeats = 5_000;

/** Whose messages are on their way, or were when their worker was lost: `ahead` is who a chunk has to come to. */
export type SeatsLeft = { freed: number; ahead: { runId: string; bucket: number }[] };

/**
 * Looks what became of the seats of a limit whose message was not accepted, and gives back those of users whom no device's
 * provider took and who are not being sent to. After lockLimit: whoever is admitted is so before, and then has an open
 * window, or after. A user of whom a lost worker may have reached a device and who cannot be reached again counts as sent, so that
 * a limit is never exceeded.
 */
export async function freeSeats(tx: Transaction, limitId: string): Promise<SeatsLeft> {
  const left: SeatsLeft = { freed: 0, ahead: [] };
  let after: UnsentSeat | undefined;
  do {
    const page: UnsentSeat[] = await listUnsentSeats(tx, { limitId, after, limit: pageSeats });
    const byRun = Map.groupBy(page, ({ runId }) => runId);
    for (const run of await findSeatRuns(tx, [...byRun.keys()])) {
      const { freed, ahead } = await freeOfRun(tx, { limitId, run, seats: byRun.get(run.id)! });
      left.freed += freed;
      left.ahead.push(...ahead);
    }
    after = page.length < pageSeats ? undefined : page.at(-1);
  } while (after);
  return left;
}

type OfRun = { limitId: string; run: SeatRun; seats: UnsentSeat[] };

async function freeOfRun(tx: Transaction, { limitId, run, seats }: OfRun): Promise<SeatsLeft> {
  const outcomes = await findSeatOutcomes(tx, { day: run.day, runNumber: run.number, users: seats });
  const chunks = run.isOver ? [] : await listSeatChunks(tx, run.id);
  const places = Map.groupBy(seats, (seat) =>
    placeOf(outcomes.get(seat.userId), { isOver: run.isOver, chunk: chunks.find((chunk) => holds(chunk, seat)) }),
  );
  const freed = await deleteSeats(tx, { runId: run.id, users: places.get('free') ?? [] });
  const sent = await markSeatsSent(tx, { runId: run.id, users: places.get('sent') ?? [] });
  await countSeats(tx, { id: limitId, taken: -freed, sent });
  return { freed, ahead: places.get('ahead') ?? [] };
}

function holds({ from, to }: SeatChunk, { bucket }: UnsentSeat): boolean {
  return from <= bucket && bucket <= to;
}

type Progress = { isOver: boolean; chunk: SeatChunk | undefined };

/** `waiting`: its message is tried again. */
function placeOf(outcome: SeatOutcome | undefined, { isOver, chunk }: Progress): 'free' | 'sent' | 'waiting' | 'ahead' {
  if (outcome?.isAccepted) return 'sent';
  if (outcome?.isWaiting && !isOver) return 'waiting';
  const isPassed = isOver || chunk === undefined || chunk.isEnded;
  if (isPassed) return outcome ? 'free' : 'sent';
  return outcome && !chunk.isWindowOpen ? 'free' : 'ahead';
}
