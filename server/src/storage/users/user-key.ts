/** Where a user is stored: the key of all that belongs to one. */
export type UserKey = { bucket: number; userId: string };
