// Segment's libraries

/** Body of a batch, as Segment documents it. Unit: bytes per request. Exceeded: BODY_TOO_LARGE. */
export const maxSourceBatchBytes = 500 * 1024;

/**
 * One message, as Segment documents it. Unit: bytes per message. Exceeded: BODY_TOO_LARGE.
 * In a batch, a larger message is rejected and the others are stored.
 */
export const maxSourceMessageBytes = 32 * 1024;

/**
 * Messages of a batch, as Segment documents it. Unit: messages per request. Exceeded: DATA_VALUE_INVALID.
 * Further messages are rejected; those before them are stored.
 */
export const maxSourceMessages = 2_500;

/**
 * Members of all objects of a batch.
 * Unit: members per request. Exceeded: BODY_MALFORMED.
 * Libraries add some 15 members to each message, so a batch of the largest size has more than any other body.
 */
export const maxSourceMembers = 60_000;

/**
 * Time for which the ids of messages are remembered. Unit: days per message. Exceeded: A repeat counts again.
 * Libraries retry for at most 12 hours; a queue on a disk may be sent days later.
 */
export const sourceMessageDays = 14;
