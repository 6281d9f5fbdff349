/** Rules of a workspace's frequency cap; the table has the same bounds (migration 000013). */
export const maxCaps = 5;
/** Messages of one rule. */
export const maxCapMessages = 100;
/** Thirty days: longer than any cap in use, and short enough that a user's record of messages stays a small row. */
export const maxCapHours = 720;
/** Between messages of different campaigns to one user: a week. */
export const maxDelayMinutes = 10_080;
/** Of what a campaign holds back for later (fact 6.2). */
export const maxQueueHours = 48;
/** To whom a campaign with a limit is sent (fact 6.2). */
export const maxLimitedUsers = 9_999_999_999;
