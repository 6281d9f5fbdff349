export const maxEventStreams = 5;
/** Fact 7. */
export const maxEventsPerBatch = 100;
/** Delays before the second to the fourth attempt; after that, the batch is given up (fact 7). */
export const eventBatchRetrySeconds: readonly number[] = [30, 60, 120];
export const maxStreamedAttributes = 50;
