/** Attempts for one device, all within the message's time to live (fault F5). */
export const maxDeliveryAttempts = 8;
/** Messages to one Firebase project (delivery 1). */
export const fcmMessagesPerMinute = 600_000;
/** Messages that Chrome allows a site it considers noisy, for days (delivery 3). */
export const noisySiteMessagesPerMinute = 1_000;
