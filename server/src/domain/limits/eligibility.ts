// Frequency caps and audience limits

/**
 * Rules of the frequency cap.
 * Unit: rules per workspace. Exceeded: PARAMETER_INVALID.
 * The table has the same bounds.
 */
export const maxCaps = 5;

/** Messages that a rule of the frequency cap may allow. Unit: messages per rule. Exceeded: PARAMETER_INVALID. */
export const maxCapMessages = 100;

/**
 * Longest period of a rule of the frequency cap.
 * Unit: hours per rule. Exceeded: PARAMETER_INVALID.
 * Thirty days: longer than any cap in use, and short enough to keep a user's message history in a small row.
 */
export const maxCapHours = 720;

/**
 * Longest minimum delay between messages of different campaigns to one user: a week.
 * Unit: minutes per workspace. Exceeded: PARAMETER_INVALID.
 */
export const maxDelayMinutes = 10_080;

/**
 * Longest `queue_duration`: a campaign may keep messages back to send them later (fact 6.2).
 * Unit: hours per campaign. Exceeded: CAMPAIGN_REQUEST_INVALID.
 */
export const maxQueueHours = 48;

/** Highest `campaign_audience_limit` (fact 6.2). Unit: users per campaign. Exceeded: CAMPAIGN_REQUEST_INVALID. */
export const maxLimitedUsers = 9_999_999_999;
