import { ServiceError } from '../../domain/errors.ts';
import type { Transaction } from '../../storage/database.ts';
import { takeCampaignRequestId } from '../../storage/campaigns/campaigns.ts';

/**
 * Reserves V1's `request_id` for an hour (fact 6.1), in the caller's transaction: after a failure it may be used again
 * immediately. Undefined reserves nothing.
 *
 * @throws ServiceError CAMPAIGN_REQUEST_REPEATED
 */
export async function takeRequestId(
  tx: Transaction,
  taken: { workspaceId: string; operation: 'create' | 'test'; requestId: string | undefined; at: Date },
): Promise<void> {
  const { requestId } = taken;
  if (requestId === undefined || (await takeCampaignRequestId(tx, { ...taken, requestId }))) return;
  throw new ServiceError('CAMPAIGN_REQUEST_REPEATED', { field: 'request_id' });
}
