/** How long a request with the same `Idempotency-Key` and body gets the first answer again (decision D4). */
export const idempotencyKeyHours = 24;
/** Decision D4. */
export const maxIdempotencyKeyCharacters = 255;
