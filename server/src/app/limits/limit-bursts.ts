import type { Clock } from '../../clock.ts';
import { passBurst } from '../../domain/limits/burst-limit.ts';
import type { LimitWindow } from '../../domain/limits/sliding-window.ts';

/** Counts an event of a subject. Returns undefined when it passes, else how long to wait; such an event is not counted. */
export type LimitBursts = (subject: string) => { retryAfterSeconds: number } | undefined;

// About 20 MB at most.
const maxSubjects = 100_000;

/**
 * Keeps a limit in the memory of this process, for callers that have not proved who they are: a row in the database would
 * cost as much as the request that the limit guards against. Several nodes together let through as many times the limit.
 */
export function makeLimitBursts(limit: LimitWindow, { clock }: { clock: Clock }): LimitBursts {
  const fullAtOf = new Map<string, number>();
  return (subject) => {
    const passed = passBurst(limit, { fullAt: fullAtOf.get(subject), now: clock.now().getTime() });
    if ('retryAfterSeconds' in passed) return passed;
    // The map's order is that of the last event, so the first subject is the one silent for longest.
    fullAtOf.delete(subject);
    fullAtOf.set(subject, passed.fullAt);
    if (fullAtOf.size > maxSubjects) fullAtOf.delete(fullAtOf.keys().next().value!);
    return undefined;
  };
}
