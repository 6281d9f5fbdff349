/** What Google refuses a message for: the member, and its words. */
export type FcmViolation = { field: string; description: string };
