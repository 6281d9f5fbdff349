// Deliveries

/**
 * Attempts to send to one device, all within the message's time to live (fault F5).
 * Unit: attempts per message. Exceeded: The delivery ends as `FAILED`.
 */
export const maxDeliveryAttempts = 8;

/**
 * Messages to one Firebase project (delivery 1).
 * Unit: messages a minute per provider account. Exceeded: Messages wait.
 */
export const fcmMessagesPerMinute = 600_000;

/**
 * Messages that Chrome allows a site it considers noisy, for days (delivery 3).
 * Unit: messages a minute per provider account. Exceeded: Messages wait.
 */
export const noisySiteMessagesPerMinute = 1_000;
