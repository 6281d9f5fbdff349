import { maxSelectedUsers } from '../push/limits.ts';

/** The users of audience `User` (interface 2.8): those with one of these values in an attribute. */
export type UserSelector = { attribute: string; isCustom: boolean; values: string[] };

/** The refusal of decision D32, at acceptance and when a schedule fires. */
export const tooManyUsers = {
  field: 'targetUserAttributes',
  reason: `matches more than ${maxSelectedUsers} users`,
} as const;
