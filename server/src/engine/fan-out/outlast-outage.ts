const pauseMilliseconds = 1_000;
// As long as a lease: later another worker may have taken the work over.
const maxTries = 60;

/**
 * Repeats what stores the outcome of requests that have left, while the database is away: what was sent is known here
 * alone, and giving it up would send it again. A commit whose answer was lost is repeated too, so `store` must change
 * nothing the second time (fault F17).
 *
 * @throws what `store` throws when it is no outage, or the outage lasts longer than a lease
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

// Of the driver, of the operating system, and of a PostgreSQL that ends or begins (class 57P, 08).
const outageCodes = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  '57P01',
  '57P02',
  '57P03',
  '53300',
  '08000',
  '08003',
  '08006',
]);

/** Whether the database could not be reached or ended the session, so that the statement itself is not at fault. */
export function isOutage(error: unknown): boolean {
  return outageCodes.has((error as { code?: string }).code ?? '');
}
