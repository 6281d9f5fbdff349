import { identifierOf } from '../../domain/audience/identifier.ts';
import type { UserSelector } from '../../domain/audience/user-selector.ts';
import type { Queryable } from '../pool.ts';
import { findUsersByIdentifier } from './identifiers.ts';
import { findUsersByCustomerIds } from './users.ts';
import type { UserKey } from './users.ts';

/**
 * The users a selector names, in order, at most `limit`; undefined when its attribute is unknown. Indexes: see the two
 * statements.
 */
export async function findSelectedUsers(
  tx: Queryable,
  { workspaceId, selector, limit }: { workspaceId: string; selector: UserSelector; limit: number },
): Promise<UserKey[] | undefined> {
  const { values } = selector;
  const identifier = identifierOf(selector.attribute, selector);
  if (!identifier) return undefined;
  return identifier.kind === 'customer-id'
    ? findUsersByCustomerIds(tx, { workspaceId, customerIds: values, limit })
    : findUsersByIdentifier(tx, { workspaceId, attribute: identifier.attribute, values, limit });
}
