import type { Clock } from '../../clock.ts';
import { seenDays } from '../../domain/limits/users.ts';
import type { UserKey } from '../../domain/users/users.ts';
import { beyondPolicies, inSnapshot, planByValues } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import {
  findNearUsers,
  findUsersByPartOfId,
  findUsersByPartOfName,
  listNewestUsers,
  readListedUsers,
} from '../../storage/users/user-list.ts';
import type { ListedUser, Search } from '../../storage/users/user-list.ts';
import { requireWorkspace } from '../workspaces.ts';

const usersPerPage = 50;
/** A shorter part has no trigram, and nearly every user has it. */
const minPartCharacters = 3;
/** A longer one is a complete token or value, which another search finds. */
const maxPartCharacters = 200;

export type UserPage = { users: ListedUser[]; hasMore: boolean };

/**
 * Lists a page of users, newest first: all of them, or those with a part in their customer id, name or email address. A part of less
 * than three characters, or more than 200, finds no user.
 *
 * @throws ServiceError NOT_FOUND
 */
export async function listUsers(
  { database, clock }: { database: Database; clock: Clock },
  { workspaceId, word, after }: { workspaceId: string; word: string | undefined; after: string | undefined },
): Promise<UserPage> {
  await requireWorkspace(database, workspaceId);
  return inSnapshot(database, async (tx) => {
    const page = { workspaceId, after, limit: usersPerPage + 1 };
    const found = word === undefined ? await listNewestUsers(tx, page) : await findByPart(tx, { ...page, word });
    const since = new Date(clock.now().getTime() - seenDays * 86_400_000);
    const sinceDay = since.toISOString().slice(0, 10);
    const users = await readListedUsers(tx, { workspaceId, users: found.slice(0, usersPerPage), sinceDay });
    return { users, hasMore: found.length > usersPerPage };
  });
}

async function findByPart(tx: Transaction, search: Search): Promise<UserKey[]> {
  const { length } = [...search.word];
  if (length < minPartCharacters || length > maxPartCharacters) return [];
  // The near ones alone are a page if the word is frequent.
  const near = await findNearUsers(tx, search);
  if (near.length === search.limit) return near;
  await planByValues(tx);
  return beyondPolicies(tx, async () => {
    const parts = [await findUsersByPartOfId(tx, search), await findUsersByPartOfName(tx, search)];
    const found = new Map(parts.flat().map((user) => [user.userId, user]));
    return [...found.values()].toSorted((one, other) => (one.userId < other.userId ? 1 : -1)).slice(0, search.limit);
  });
}
