/** Attempts for one device, and never beyond the message's time to live (fault F5). */
export const maxDeliveryAttempts = 8;
/** Messages to one Firebase project (delivery 1). */
export const fcmMessagesPerMinute = 600_000;
/** What Chrome leaves a site it judges noisy, for days (delivery 3). */
export const noisySiteMessagesPerMinute = 1_000;
