import { selectCampaigns } from '../../domain/campaigns/campaign-search.ts';
import type { CampaignSearch, SearchVersion } from '../../domain/campaigns/campaign-search.ts';
import { ServiceError } from '../../domain/errors.ts';
import { beyondPolicies, inSnapshot, planByValues } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import {
  findCampaignPage,
  findFewCampaigns,
  findSearchSettings,
  hasCampaign,
  readCampaignRecords,
} from '../../storage/campaigns/campaign-search.ts';
import type { CampaignOrder, CampaignRecord, SearchSettings } from '../../storage/campaigns/campaign-search.ts';
import { readCampaignMeta } from '../../storage/campaigns/campaign-stats.ts';
import type { CampaignMeta } from '../../storage/campaigns/campaign-stats.ts';
import type { CampaignTotals } from './campaign-totals.ts';

export type SearchDependencies = { database: Database; totals: CampaignTotals };

export type { CampaignMeta, CampaignOrder, CampaignRecord, SearchSettings };

export type CampaignSearchRequest = {
  workspaceId: string;
  version: SearchVersion;
  versioning: SearchSettings['versioning'];
  search: CampaignSearch;
  limit: number;
  /** From 1. */
  page: number;
  /** Both versions answer the newest first. */
  order?: CampaignOrder;
};

export type CampaignSearchAnswer = {
  campaigns: CampaignRecord[];
  /** V1 only (interface 9 difference 7). */
  totalCount: number | undefined;
};

/**
 * One page of a workspace's campaigns, and the total of V1. One snapshot reads both; see CampaignTotals of large ones.
 */
export async function searchCampaigns(
  { database, totals }: SearchDependencies,
  request: CampaignSearchRequest,
): Promise<CampaignSearchAnswer> {
  const { workspaceId, version, limit, order } = request;
  const selection = selectCampaigns(request.search, request);
  const offset = (request.page - 1) * limit;
  return await inSnapshot(database, async (tx) => {
    await planByValues(tx);
    const { fewIds, page, total } = await beyondPolicies(tx, async () => {
      const fewIds = await findFewCampaigns(tx, { workspaceId, selection });
      const asked = { workspaceId, selection, fewIds, ...(order && { order }) };
      if (fewIds === undefined || selection.children === 'with')
        return { fewIds, page: await findCampaignPage(tx, { ...asked, limit, offset }), total: undefined };
      // Few are read whole: that says how many they are.
      const all = await findCampaignPage(tx, { ...asked, limit: fewIds.length, offset: 0 });
      return { fewIds, page: all.slice(offset, offset + limit), total: all.length };
    });
    const campaigns = await readCampaignRecords(tx, page);
    if (version === 'V5') return { campaigns, totalCount: undefined };
    if (total !== undefined) return { campaigns, totalCount: total };
    const isLast = page.length < limit && (page.length > 0 || offset === 0);
    // A page that is not full reveals the total.
    const totalCount = isLast
      ? offset + page.length
      : await beyondPolicies(tx, () => totals.count(tx, { workspaceId, selection, fewIds }));
    return { campaigns, totalCount };
  });
}

/** The light list (fact 4.7): the page that a search would answer, with figures of its campaigns' runs. */
export async function listCampaignMeta(
  deps: SearchDependencies,
  request: CampaignSearchRequest,
): Promise<{ campaign: CampaignRecord; meta: CampaignMeta | undefined }[]> {
  const { campaigns } = await searchCampaigns(deps, request);
  const found = await readCampaignMeta(
    deps.database,
    campaigns.map(({ id }) => id),
  );
  const byId = new Map(found.map((meta) => [meta.id, meta]));
  return campaigns.map((campaign) => ({ campaign, meta: byId.get(campaign.id) }));
}

/** One document (decision D42). @throws ServiceError CAMPAIGN_NOT_FOUND */
export async function getCampaign(
  { database }: { database: Database },
  named: { workspaceId: string; id: string },
): Promise<CampaignRecord> {
  const isKnown = await hasCampaign(database, named);
  const [campaign] = isKnown ? await readCampaignRecords(database, [{ kind: 'CAMPAIGN', id: named.id }]) : [];
  if (!campaign) throw new ServiceError('CAMPAIGN_NOT_FOUND');
  return campaign;
}

/** How the workspace searches: whether revisions are kept, and the shape of V1's answer. */
export function readSearchSettings(
  { database }: { database: Database },
  workspaceId: string,
): ReturnType<typeof findSearchSettings> {
  return findSearchSettings(database, workspaceId);
}
