import { nextOccurrences } from './next-occurrences.ts';
import type { Timing } from './timing.ts';

export type DueOccurrence = { kind: 'send'; occurrence: Date } | { kind: 'missed'; occurrence: Date; reason: string };

export type DueQuestion = {
  /** The occurrence that is due. */
  dueAt: Date;
  now: Date;
  lateMinutes: number;
  /** Maximum number of occurrences decided at once; the rest are still due and are decided next. */
  limit: number;
};

/**
 * Decides about occurrences that are due, and which is next (decision D37, fault F14). The last one is sent if it is
 * not too late; all others were missed, so that downtime ends in one send, not a burst.
 */
export function decideDueOccurrences(
  timing: Timing,
  { dueAt, now, lateMinutes, limit }: DueQuestion,
): { occurrences: DueOccurrence[]; nextAt: Date | undefined } {
  const due = [dueAt];
  let nextAt = occurrenceAfter(timing, dueAt);
  for (; nextAt && nextAt <= now && due.length < limit; nextAt = occurrenceAfter(timing, nextAt)) due.push(nextAt);
  const isLastHere = nextAt === undefined || nextAt > now;
  const occurrences = due.map((occurrence, index): DueOccurrence => {
    if (!isLastHere || index < due.length - 1)
      return { kind: 'missed', occurrence, reason: 'a later moment had come before this one could be sent' };
    const reason = whyTooLate({ occurrence, now, lateMinutes });
    return reason === undefined ? { kind: 'send', occurrence } : { kind: 'missed', occurrence, reason };
  });
  return { occurrences, nextAt };
}

function occurrenceAfter(timing: Timing, occurrence: Date): Date | undefined {
  return nextOccurrences(timing, { after: occurrence, count: 1 })[0];
}

// The scheduler looks every second, so a limit of 0 must leave it room.
const minMinutes = 1;

/** Why an occurrence may no longer be sent, or undefined if it may. */
export function whyTooLate({
  occurrence,
  now,
  lateMinutes,
}: {
  occurrence: Date;
  now: Date;
  lateMinutes: number;
}): string | undefined {
  const late = (now.getTime() - occurrence.getTime()) / 60_000;
  if (late <= Math.max(lateMinutes, minMinutes)) return undefined;
  return `${Math.floor(late)} minutes late; at most ${lateMinutes} are allowed (CARILLON_LATE_SEND_MINUTES)`;
}
