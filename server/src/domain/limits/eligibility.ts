/** Rules of a workspace's frequency cap; the table has the same bounds (migration 000013). */
export const maxCaps = 5;
/** Messages of one rule. */
export const maxCapMessages = 100;
/** Thirty days: longer than any cap in use, and short enough to keep a user's message history in a small row. */
export const maxCapHours = 720;
/** Minimum delay between messages of different campaigns to one user: a week. */
export const maxDelayMinutes = 10_080;
/** How long a campaign may keep messages back to send them later (fact 6.2). */
export const maxQueueHours = 48;
/** Users that an audience limit of a campaign may allow (fact 6.2). */
export const maxLimitedUsers = 9_999_999_999;
