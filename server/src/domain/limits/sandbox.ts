// Sandbox

/**
 * Newest messages that the inbox keeps.
 * Unit: messages per installation. Exceeded: The oldest are deleted. Setting: CARILLON_INBOX_MESSAGES.
 */
export const inboxMessages = 10_000;
