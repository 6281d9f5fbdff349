/** Newest messages the inbox keeps, unless the setting says otherwise. */
export const inboxMessages = 10_000;
