import { ServiceError } from '../../domain/errors.ts';
import { isId } from '../../domain/ids.ts';
import type { Database } from '../../storage/database.ts';
import { sumInboxCounts } from '../../storage/inbox.ts';
import { findCampaignToExplain, listRunsToExplain } from '../../storage/ledger/run-explanations.ts';

/** Users in whose inbox the message was put, who have read it, and who have archived it. */
export type InboxCounts = { kept: number; read: number; archived: number };

export type CampaignInbox = {
  campaignId: string;
  /** Of the runs below. */
  total: InboxCounts;
  /** The newest first. */
  runs: (InboxCounts & { runId: string; createdAt: Date })[];
};

const maxRuns = 100;

export type CampaignInboxDependencies = { database: Database };

/** Counts what became of the inbox messages of a campaign's newest runs. @throws ServiceError CAMPAIGN_NOT_FOUND */
export async function readCampaignInbox(
  { database }: CampaignInboxDependencies,
  { workspaceId, campaignId }: { workspaceId: string; campaignId: string },
): Promise<CampaignInbox> {
  const campaign = isId(campaignId)
    ? await findCampaignToExplain(database, { workspaceId, id: campaignId })
    : undefined;
  if (!campaign) throw new ServiceError('CAMPAIGN_NOT_FOUND');
  const found = await listRunsToExplain(database, { campaignId, runIds: undefined, limit: maxRuns });
  const counted = await sumInboxCounts(
    database,
    found.map(({ id }) => id),
  );
  const byRun = new Map(counted.map(({ runId, ...counts }) => [runId, counts]));
  const none = { kept: 0, read: 0, archived: 0 };
  const runs = found.map(({ id, createdAt }) => ({ runId: id, createdAt, ...(byRun.get(id) ?? none) }));
  const total = runs.reduce(
    (sum, { kept, read, archived }) => ({
      kept: sum.kept + kept,
      read: sum.read + read,
      archived: sum.archived + archived,
    }),
    none,
  );
  return { campaignId, total, runs };
}
