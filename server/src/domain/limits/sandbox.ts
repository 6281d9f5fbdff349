/** Newest messages that the inbox keeps, unless a setting overrides it. */
export const inboxMessages = 10_000;
