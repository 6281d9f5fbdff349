import { isOutage } from '../../domain/outage.ts';

const pauseMilliseconds = 1_000;
// As long as a lease: later another worker may have taken the work over.
const maxTries = 60;

/**
 * Retries storing the outcome of requests already sent while the database is unavailable: only this process knows what
 * was sent, and giving up would send it again. A commit whose response was lost is repeated too, so `store` must be
 * idempotent (fault F17).
 *
 * @throws whatever `store` throws if it is not an outage, or the outage lasts longer than a lease
 */
export async function outlastOutage<Result>(store: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await store();
    } catch (error) {
      if (!isOutage(error) || tries >= maxTries) throw error;
      await new Promise((resolve) => setTimeout(resolve, pauseMilliseconds));
    }
  }
}
