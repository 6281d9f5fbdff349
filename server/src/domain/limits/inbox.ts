// Inbox

/**
 * Time for which a message stays in the inbox.
 * Unit: hours per message. Exceeded: CAMPAIGN_REQUEST_INVALID.
 * Ninety days: as long as the ledger explains it.
 */
export const maxKeptInboxHours = 2_160;

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
 * Open streams of inbox updates.
 * Unit: streams per node. Exceeded: OVERLOADED; the app reads the inbox when it is opened.
 */
export const maxInboxStreams = 10_000;

/**
 * Open streams of one installation: the tabs of a browser share one.
 * Unit: streams per installation and node. Exceeded: APP_RATE_LIMITED.
 */
export const maxInstallationStreams = 8;

/**
 * Time by which a stream reads back further than the last change that it sent.
 * Unit: seconds per read. Exceeded: A change that commits later is sent with the next page.
 * Transactions commit in another order than they began, and clocks of nodes differ.
 */
export const inboxStreamOverlapSeconds = 5;

/**
 * Newest messages of a user that are counted as unread.
 * Unit: messages per user. Exceeded: The count stays at this number.
 * A badge shows at most two digits.
 */
export const maxUnreadCount = 1_000;
