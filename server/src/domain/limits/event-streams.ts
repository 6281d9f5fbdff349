// Event streams

/** Event streams of a workspace. Unit: streams per workspace. Exceeded: EVENT_STREAM_LIMITED. */
export const maxEventStreams = 5;
/** Events that are posted together (fact 7). Unit: events per batch. Exceeded: Further events form another batch. */
export const maxEventsPerBatch = 100;

/**
 * Delays before the second to the fourth attempt of a batch of events (fact 7).
 * Unit: seconds per batch. Exceeded: It is given up, and can be sent again by hand.
 */
export const eventBatchRetrySeconds: readonly number[] = [30, 60, 120];

/**
 * User attributes that an event stream names.
 * Unit: attributes per event stream. Exceeded: CAMPAIGN_REQUEST_INVALID.
 */
export const maxStreamedAttributes = 50;
