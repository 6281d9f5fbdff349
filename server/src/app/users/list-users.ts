import type { Clock } from '../../clock.ts';
import { seenDays } from '../../domain/limits/users.ts';
import type { UserKey } from '../../domain/users/users.ts';
import { beyondPolicies, inSnapshot, withinTime } from '../../storage/database.ts';
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

/** With letters outside ASCII, a search may read all users if the database has the C locale (decision 0093). */
const maxSearchSeconds = 5;

export type UserPage =
  { kind: 'page'; users: ListedUser[]; hasMore: boolean } | { kind: 'too slow'; afterSeconds: number };

/**
 * Lists a page of users, newest first: all of them, or those with a part in their customer id, name or email address. A part of less
 * than three characters, or more than 200, finds no user. A search ends after `searchSeconds` for each of its statements.
 *
 * @throws ServiceError NOT_FOUND
 */
export async function listUsers(
  { database, clock, searchSeconds = maxSearchSeconds }: { database: Database; clock: Clock; searchSeconds?: number },
  { workspaceId, word, after }: { workspaceId: string; word: string | undefined; after: string | undefined },
): Promise<UserPage> {
  await requireWorkspace(database, workspaceId);
  const page = { workspaceId, after, limit: usersPerPage + 1 };
  const sinceDay = new Date(clock.now().getTime() - seenDays * 86_400_000).toISOString().slice(0, 10);
  const show = async (tx: Transaction, found: readonly UserKey[]): Promise<UserPage> => {
    const users = await readListedUsers(tx, { workspaceId, users: found.slice(0, usersPerPage), sinceDay });
    return { kind: 'page', users, hasMore: found.length > usersPerPage };
  };
  if (word === undefined) return inSnapshot(database, async (tx) => show(tx, await listNewestUsers(tx, page)));
  const milliseconds = searchSeconds * 1_000;
  const work = async (tx: Transaction) => show(tx, await findByPart(tx, { ...page, word }));
  const searched = await withinTime(database, { milliseconds, work });
  return searched === 'too slow' ? { kind: 'too slow', afterSeconds: searchSeconds } : searched.result;
}

async function findByPart(tx: Transaction, search: Search): Promise<UserKey[]> {
  const { length } = [...search.word];
  if (length < minPartCharacters || length > maxPartCharacters) return [];
  // The near ones alone are a page if the word is frequent.
  const near = await findNearUsers(tx, search);
  if (near.length === search.limit) return near;
  return beyondPolicies(tx, async () => {
    const parts = [await findUsersByPartOfId(tx, search), await findUsersByPartOfName(tx, search)];
    const found = new Map(parts.flat().map((user) => [user.userId, user]));
    return [...found.values()].toSorted((one, other) => (one.userId < other.userId ? 1 : -1)).slice(0, search.limit);
  });
}
