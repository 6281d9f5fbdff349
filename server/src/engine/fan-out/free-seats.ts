import type { Transaction } from '../../storage/database.ts';
import { countSeats } from '../../storage/runs/audience-limits.ts';
import {
  deleteSeats,
  findSeatOutcomes,
  findSeatRuns,
  listSeatChunks,
  listSeats,
} from '../../storage/runs/audience-seats.ts';
import type { Seat, SeatChunk, SeatOutcome, SeatRun } from '../../storage/runs/audience-seats.ts';

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
