import type { Role } from '../api/generated/accounts.ts';

/** What a role is for, in one line; docs/console.md has the whole table. */
const roleNames: Record<Role, string> = {
  owner: 'Owner: everything, including accounts',
  marketer: 'Marketer: campaigns and segments',
  analyst: 'Analyst: reads reports only',
  developer: 'Developer: keys, logs, people, the sandbox',
};

export const roleOptions = (Object.keys(roleNames) as Role[]).map((role) => ({ value: role, label: roleNames[role] }));
