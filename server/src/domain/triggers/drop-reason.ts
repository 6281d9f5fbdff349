/**
 * Why a trigger sends nothing: it was found too late; what must be true when it is due was not, or its user was not in the
 * audience; its campaign was over; the attribute says no time, or one too far ahead.
 */
export const dropReasons = ['LATE', 'CONDITION', 'AUDIENCE', 'CAMPAIGN_OVER', 'NO_TIME', 'TOO_FAR'] as const;
export type DropReason = (typeof dropReasons)[number];
