import { nextMoments } from './next-occurrences.ts';
import type { Timing } from './timing.ts';

export type DueMoment = { kind: 'send'; moment: Date } | { kind: 'missed'; moment: Date; reason: string };

export type DueQuestion = {
  /** The moment the campaign waits for; it has come. */
  dueAt: Date;
  now: Date;
  lateMinutes: number;
  /** Most moments decided at once; `nextAt` is due then and asks again. */
  limit: number;
};

/**
 * What becomes of the moments that have come, and which is next (decision D37, fault F14). The last of them is sent
 * when it is not too late; every other was missed, so that a downtime ends in one send and not in a burst.
 */
export function decideDueMoments(
  timing: Timing,
  { dueAt, now, lateMinutes, limit }: DueQuestion,
): { moments: DueMoment[]; nextAt: Date | undefined } {
  const due = [dueAt];
  let nextAt = momentAfter(timing, dueAt);
  for (; nextAt && nextAt <= now && due.length < limit; nextAt = momentAfter(timing, nextAt)) due.push(nextAt);
  const isLastHere = nextAt === undefined || nextAt > now;
  const moments = due.map((moment, index): DueMoment => {
    if (!isLastHere || index < due.length - 1)
      return { kind: 'missed', moment, reason: 'a later moment had come before this one could be sent' };
    const reason = whyTooLate({ moment, now, lateMinutes });
    return reason === undefined ? { kind: 'send', moment } : { kind: 'missed', moment, reason };
  });
  return { moments, nextAt };
}

function momentAfter(timing: Timing, moment: Date): Date | undefined {
  return nextMoments(timing, { after: moment, count: 1 })[0];
}

// The scheduler looks every second, so a limit of 0 must leave it room.
const minMinutes = 1;

/** Why a moment may not be sent any more, or undefined when it may. */
export function whyTooLate({
  moment,
  now,
  lateMinutes,
}: {
  moment: Date;
  now: Date;
  lateMinutes: number;
}): string | undefined {
  const late = (now.getTime() - moment.getTime()) / 60_000;
  if (late <= Math.max(lateMinutes, minMinutes)) return undefined;
  return `${Math.floor(late)} minutes late; at most ${lateMinutes} are allowed (CARILLON_LATE_SEND_MINUTES)`;
}
