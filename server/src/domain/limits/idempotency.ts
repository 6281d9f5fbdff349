/** How long a request with the same `Idempotency-Key` and body gets the first response again (decision D4). */
export const idempotencyKeyHours = 24;
/** Decision D4. */
export const maxIdempotencyKeyCharacters = 255;
