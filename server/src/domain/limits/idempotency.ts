// Idempotency keys

/**
 * Time for which a request with the same `Idempotency-Key` and body gets the first response again (decision D4).
 * Unit: hours per idempotency key. Exceeded: The key can be used for a new request.
 */
export const idempotencyKeyHours = 24;

/** Longest `Idempotency-Key` (decision D4). Unit: characters per request. Exceeded: IDEMPOTENCY_KEY_INVALID. */
export const maxIdempotencyKeyCharacters = 255;
