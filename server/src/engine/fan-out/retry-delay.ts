const firstDelaySeconds = 2;
const longestDelaySeconds = 600;
/** Google's customary wait for a 429 that names none (design of delivery 1). */
const rateLimitDelaySeconds = 60;

export type RetryDelayInput = {
  /** Attempts made so far, 1 or more. */
  attempts: number;
  retryAfterSeconds?: number;
  isRateLimited: boolean;
  /** 0…1, given so that tests know it. */
  random: number;
};

/**
 * Seconds until the next attempt: at least what the provider asked for, else exponential with full jitter, so that a
 * thousand devices refused together do not come back together.
 */
export function retryDelaySeconds({ attempts, retryAfterSeconds, isRateLimited, random }: RetryDelayInput): number {
  const ceiling = Math.min(longestDelaySeconds, firstDelaySeconds * 2 ** Math.min(attempts, 10));
  const jittered = 1 + random * ceiling;
  if (retryAfterSeconds !== undefined) return retryAfterSeconds + random * Math.min(ceiling, 5);
  return isRateLimited ? rateLimitDelaySeconds + jittered : jittered;
}
