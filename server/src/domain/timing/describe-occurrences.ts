import { isInUserZone } from './local-send.ts';
import { comesTwice, localDate, localTime, offsetAt } from './local-time.ts';
import { nextOccurrences } from './next-occurrences.ts';
import type { Timing } from './timing.ts';

/** The effect of a clock change on an occurrence. */
export type ClockChange =
  /** The local time that was asked for does not exist on that day; it is sent so much later. */
  | { kind: 'skipped'; asked: string }
  /** The local time comes twice; it is sent at the first. */
  | { kind: 'twice' }
  /** The zone's offset from UTC differs from that of the previous occurrence. */
  | { kind: 'shifted'; before: string; after: string };

export type DescribedOccurrence = {
  at: Date;
  /** YYYY-MM-DD and hh:mm in `timeZone`. */
  local: { date: string; time: string };
  timeZone: string;
  /** As in `+05:30`. */
  offset: string;
  clockChange: ClockChange | undefined;
};

/** The next occurrences of a campaign, computed by the function that fires it, for display. */
export function describeOccurrences(
  timing: Timing,
  { after, count }: { after: Date; count: number },
): DescribedOccurrence[] {
  // Every user has a zone of its own then; the local time is the same in each, and no zone's clock speaks for all.
  const isOfOneZone = !isInUserZone(timing);
  const timeZone = 'timeZone' in timing ? timing.timeZone : 'UTC';
  const asked = 'time' in timing ? timing.time : undefined;
  let before = offsetAt(after, timeZone);
  return nextOccurrences(timing, { after, count }).map((at) => {
    const local = { date: localDate(at, timeZone), time: localTime(at, timeZone) };
    const offset = offsetAt(at, timeZone);
    const clockChange = isOfOneZone ? changeOf({ at, local, timeZone, asked, before }) : undefined;
    before = offset;
    return { at, local, timeZone, offset, clockChange };
  });
}

type TimelineEntry = Pick<DescribedOccurrence, 'at' | 'local' | 'timeZone'> & {
  asked: string | undefined;
  before: string;
};

function changeOf({ at, local, timeZone, asked, before }: TimelineEntry): ClockChange | undefined {
  if (asked !== undefined && local.time !== asked) return { kind: 'skipped', asked };
  if (comesTwice({ ...local, timeZone })) return { kind: 'twice' };
  const offset = offsetAt(at, timeZone);
  return offset === before ? undefined : { kind: 'shifted', before, after: offset };
}
