/** Google asks for 10 s at least before the first retry (delivery 1). */
const firstDelaySeconds = 10;
const maxDelaySeconds = 600;
/** Google's customary wait for a 429 without `Retry-After` (delivery 1). */
const rateLimitDelaySeconds = 60;
/** Spreads what one Retry-After sent away together. */
const maxSpreadSeconds = 5;

export type RetryDelayInput = {
  /** Attempts made so far, 1 or more. */
  attempts: number;
  retryAfterSeconds?: number;
  isRateLimited: boolean;
  /** 0…1, given so that tests know it. */
  random: number;
};

/**
 * Seconds until the next attempt: at least what the provider asked for, and growing from the second on even when that
 * is short, so that a message outlasts a provider that is away for minutes (reliability R5). Above the floor it is
 * exponential with full jitter: a thousand devices refused together do not come back together.
 */
export function retryDelaySeconds({ attempts, retryAfterSeconds, isRateLimited, random }: RetryDelayInput): number {
  if (retryAfterSeconds !== undefined) {
    const asked = retryAfterSeconds + random * maxSpreadSeconds;
    return attempts <= 1 ? asked : Math.max(asked, grownDelaySeconds(attempts - 1, random));
  }
  const grown = grownDelaySeconds(attempts, random);
  return isRateLimited ? rateLimitDelaySeconds + grown : grown;
}

function grownDelaySeconds(attempts: number, random: number): number {
  const ceiling = Math.min(maxDelaySeconds, firstDelaySeconds * 2 ** Math.min(attempts, 10));
  return firstDelaySeconds + random * (ceiling - firstDelaySeconds);
}
