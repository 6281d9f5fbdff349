import { ServiceError } from '../../domain/errors.ts';
import { inSnapshot } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { countExecutions, findParentCampaign, listExecutions as listRuns } from '../../storage/runs/campaign-runs.ts';
import type { CampaignExecution } from '../../storage/runs/campaign-runs.ts';

export type { CampaignExecution };

export type ExecutionsRequest = {
  workspaceId: string;
  /** Any version's id, or the campaign's own (decision D43). */
  parentId: string;
  limit: number;
  /** From 1. */
  page: number;
};

export type ExecutionsAnswer = { executions: CampaignExecution[]; totalInstances: number };

/**
 * The runs of a recurring campaign: its child campaigns, over all versions.
 *
 * @throws ServiceError CAMPAIGN_NOT_FOUND, CAMPAIGN_WITHOUT_EXECUTIONS
 */
export async function listExecutions(
  { database }: { database: Database },
  { workspaceId, parentId, limit, page }: ExecutionsRequest,
): Promise<ExecutionsAnswer> {
  return await inSnapshot(database, async (tx) => {
    const parent = await findParentCampaign(tx, { workspaceId, id: parentId });
    if (!parent) throw new ServiceError('CAMPAIGN_NOT_FOUND');
    if (parent.deliveryType === 'ONE_TIME') throw new ServiceError('CAMPAIGN_WITHOUT_EXECUTIONS');
    const { campaignId } = parent;
    const executions = await listRuns(tx, { campaignId, limit, offset: (page - 1) * limit });
    return { executions, totalInstances: await countExecutions(tx, campaignId) };
  });
}
