/**
 * Returns the seconds until the next attempt: at least what the provider asked for. From the second attempt the delay grows
 * even if the provider asks for less, so that a message outlasts a provider outage of minutes (reliability R5). Above that
 * floor the delay is exponential with full jitter: a thousand devices refused together do not return together.
 */
export function retryDelaySeconds({ attempts, retryAfterSeconds, isRateLimited, random }: RetryDelayInput): number {
  if (retryAfterSeconds !== undefined) {
    const asked = retryAfterSeconds + random * maxSpreadSeconds;
    return attempts <= 1 ? asked : Math.max(asked, grownDelaySeconds(attempts - 1, random));
  }
  const grown = grownDelaySeconds(attempts, random);
  return isRateLimited ? rateLimitDelaySeconds + grown : grown;
}

type RetryDelayInput = {
  /** Attempts made so far, 1 or more. */
  attempts: number;
  retryAfterSeconds?: number;
  isRateLimited: boolean;
  /** 0…1, passed in so that tests can set it. */
  random: number;
};

/** Google asks for at least 10 s before the first retry (delivery 1). */
const firstDelaySeconds = 10;
const maxDelaySeconds = 600;
/** Google's default wait for a 429 without `Retry-After` (delivery 1). */
const rateLimitDelaySeconds = 60;
/** Spreads devices that got the same Retry-After. */
const maxSpreadSeconds = 5;

function grownDelaySeconds(attempts: number, random: number): number {
  const ceiling = Math.min(maxDelaySeconds, firstDelaySeconds * 2 ** Math.min(attempts, 10));
  return firstDelaySeconds + random * (ceiling - firstDelaySeconds);
}
