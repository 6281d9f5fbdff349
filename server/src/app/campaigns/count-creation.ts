import { ServiceError } from '../../domain/errors.ts';
import type { Transaction } from '../../storage/database.ts';
import { countCall } from '../segments/limit-segments.ts';
import type { AuthoringLimits } from './authoring-dependencies.ts';

/**
 * Counts a campaign that is being made (fact 6.1), in the caller's transaction: what is refused or rolled back is not
 * counted.
 *
 * @throws ServiceError CAMPAIGN_CREATION_LIMITED
 */
export async function countCreation(
  tx: Transaction,
  { workspaceId, limits, at }: { workspaceId: string; limits: AuthoringLimits; at: Date },
): Promise<void> {
  const refusal = await countCall(tx, { operation: 'campaign-create', workspaceId, windows: limits.creations, at });
  if (refusal) throw new ServiceError('CAMPAIGN_CREATION_LIMITED', refusal);
}
