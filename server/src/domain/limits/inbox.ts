// Inbox

/**
 * Time for which a message stays in the inbox.
 * Unit: hours per message. Exceeded: CAMPAIGN_REQUEST_INVALID.
 * Ninety days: as long as the ledger explains it.
 */
export const maxInboxExpiryHours = 2_160;

/** The same, where the campaign names none. Unit: hours per message. Exceeded: The message is deleted. */
export const inboxExpiryHours = 720;

/** Tags of the inbox messages of a campaign. Unit: tags per campaign. Exceeded: CAMPAIGN_REQUEST_INVALID. */
export const maxInboxTags = 5;

/** Length of such a tag. Unit: characters per tag. Exceeded: CAMPAIGN_REQUEST_INVALID. */
export const maxInboxTagCharacters = 64;

/** Messages in a page of an inbox. Unit: messages per response. Exceeded: PARAMETER_INVALID. */
export const maxInboxPage = 100;

/** The same, where the request names no number. Unit: messages per response. Exceeded: The response has a cursor. */
export const inboxPage = 25;

/** Messages that one request marks. Unit: messages per request. Exceeded: PARAMETER_INVALID. */
export const maxInboxMarks = 100;

/**
 * Newest messages of a user that are counted as unread.
 * Unit: messages per user. Exceeded: The count stays at this number.
 * A badge shows at most two digits.
 */
export const maxUnreadCount = 1_000;
