import { tooManyUsers } from '../../domain/users/user-selector.ts';
import type { UserSelector } from '../../domain/users/user-selector.ts';
import type { Transaction } from '../../storage/database.ts';
import { findSelectedUsers } from '../../storage/users/users.ts';
import { maxSelectedUsers } from '../../domain/push/limits.ts';

/**
 * The users a scheduled send to named users reaches, looked up when it fires. The limit of decision D32 applies now as
 * it did at acceptance.
 *
 * @returns the users, or why there is nobody to send to
 */
export async function resolveTargets(
  tx: Transaction,
  { workspaceId, selector }: { workspaceId: string; selector: UserSelector },
): Promise<{ targetUsers: [bucket: number, userId: string][] } | { reason: string }> {
  const users = await findSelectedUsers(tx, { workspaceId, selector, limit: maxSelectedUsers + 1 });
  if (!users) return { reason: 'targetUserAttributes.attribute is unknown' };
  if (users.length > maxSelectedUsers) return { reason: `${tooManyUsers.field}: ${tooManyUsers.reason}` };
  return { targetUsers: users.map(({ bucket, userId }) => [bucket, userId]) };
}
