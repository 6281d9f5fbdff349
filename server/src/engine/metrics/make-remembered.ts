import type { Clock } from '../../clock.ts';

/**
 * A function that answers from memory for a while: several who ask at once, or soon after each other, cost one reading. One
 * that fails is asked again the next time.
 */
export function makeRemembered<Found>(
  read: () => Promise<Found>,
  { clock, milliseconds }: { clock: Clock; milliseconds: number },
): () => Promise<Found> {
  let last: { until: number; answer: Promise<Found> } | undefined;
  return () => {
    const now = clock.realNow().getTime();
    if (last === undefined || last.until <= now) {
      const asked = { until: now + milliseconds, answer: read() };
      last = asked;
      asked.answer.catch(() => {
        if (last === asked) last = undefined;
      });
    }
    return last.answer;
  };
}
