import type { Clock } from '../../clock.ts';
import { selectCampaigns } from '../../domain/campaigns/campaign.ts';
import type { CampaignSearch, SearchVersion } from '../../domain/campaigns/campaign.ts';
import { ServiceError } from '../../domain/errors.ts';
import {
  findCampaignPage,
  findFewCampaigns,
  findSearchSettings,
  hasCampaign,
  readCampaignRecords,
  countCampaigns,
  readListedFigures,
} from '../../storage/campaigns/campaign-search.ts';
import type {
  CampaignOrder,
  CampaignRecord,
  SearchSettings,
  FoundCampaigns,
} from '../../storage/campaigns/campaign-search.ts';
import { readCampaignMeta } from '../../storage/campaigns/campaign-stats.ts';
import type { CampaignMeta } from '../../storage/campaigns/campaign-stats.ts';
import { beyondPolicies, inSnapshot, planByValues } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { countExecutions, findParentCampaign, listExecutions as listRuns } from '../../storage/runs/campaign-runs.ts';
import type { CampaignExecution } from '../../storage/runs/campaign-runs.ts';
import { requireWorkspace } from '../workspaces.ts';

export type SearchDependencies = { database: Database; totals: CampaignTotals };

export type { CampaignMeta, CampaignOrder, CampaignRecord, SearchSettings };

export type CampaignSearchRequest = {
  workspaceId: string;
  version: SearchVersion;
  versioning: SearchSettings['versioning'];
  search: CampaignSearch;
  limit: number;
  /** Starts at 1. */
  page: number;
  /** Both versions return the newest first. */
  order?: CampaignOrder;
};

export type CampaignSearchAnswer = {
  campaigns: CampaignRecord[];
  /** V1 only (interface 9 difference 7). */
  totalCount: number | undefined;
};

/** Returns one page of a workspace's campaigns and V1's total, read from one snapshot. For large totals see CampaignTotals. */
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
      // A small result is read completely, which gives the total.
      const all = await findCampaignPage(tx, { ...asked, limit: fewIds.length, offset: 0 });
      return { fewIds, page: all.slice(offset, offset + limit), total: all.length };
    });
    const campaigns = await readCampaignRecords(tx, page);
    if (version === 'V5') return { campaigns, totalCount: undefined };
    if (total !== undefined) return { campaigns, totalCount: total };
    const isLast = page.length < limit && (page.length > 0 || offset === 0);
    // A page that is not full gives the total.
    const totalCount = isLast
      ? offset + page.length
      : await beyondPolicies(tx, () => totals.count(tx, { workspaceId, selection, fewIds }));
    return { campaigns, totalCount };
  });
}

/** Searches as V5 does and adds each campaign's figures; undefined for campaigns without a run. */
export async function searchWithFigures(deps: SearchDependencies, request: Omit<CampaignSearchRequest, 'version'>) {
  const { campaigns } = await searchCampaigns(deps, { ...request, version: 'V5' });
  const figures = new Map((await readListedFigures(deps.database, campaigns)).map((found) => [found.id, found]));
  return campaigns.map((campaign) => ({ campaign, figures: figures.get(campaign.id) }));
}

/** Returns the light list (fact 4.7): the page that a search would return, with figures of its campaigns' runs. */
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

/** Returns one document (decision D42). @throws ServiceError CAMPAIGN_NOT_FOUND */
export async function getCampaign(
  { database }: { database: Database },
  named: { workspaceId: string; id: string },
): Promise<CampaignRecord> {
  const isKnown = await hasCampaign(database, named);
  const [campaign] = isKnown ? await readCampaignRecords(database, [{ kind: 'CAMPAIGN', id: named.id }]) : [];
  if (!campaign) throw new ServiceError('CAMPAIGN_NOT_FOUND');
  return campaign;
}

/** Returns the workspace's search settings: whether revisions are kept, and the shape of V1's response. */
export function readSearchSettings(
  { database }: { database: Database },
  workspaceId: string,
): ReturnType<typeof findSearchSettings> {
  return findSearchSettings(database, workspaceId);
}

/** The same, for a caller who may see all workspaces and named one. @throws ServiceError NOT_FOUND */
export async function requireSearchSettings(
  { database }: { database: Database },
  workspaceId: string,
): ReturnType<typeof findSearchSettings> {
  await requireWorkspace(database, workspaceId);
  return findSearchSettings(database, workspaceId);
}

type Found = FoundCampaigns;

export type CampaignTotals = {
  /** Returns how many campaigns a search finds on all its pages. */
  count(tx: Transaction, found: Found): Promise<number>;
  /** Resolves when no count is running. */
  settle(): Promise<void>;
};

// Counting reads every campaign found, 0.1 µs or more each. Totals below this are always counted.
export const smallestKept = 20_000;
// By then all earlier transactions have ended (`idle_in_transaction_session_timeout`), so everything created before is visible.
export const settledMilliseconds = 60_000;
export const freshMilliseconds = 60_000;
export const maxMilliseconds = 600_000;
// A few hundred bytes each.
const maxKept = 1_000;

type Kept = { total: number; boundary: Date; countedAt: number; isCounting: 'yes' | 'no' };

/**
 * Totals of large searches (V1 returns one with every page, interface 9 difference 7). Counting a workspace of 400,000
 * campaigns for each page would take 50 ms and more. So campaigns created up to some instant are counted once and cached, and
 * newer ones are counted each time. A cached count is refreshed after a response once it is a minute old, and before it once it
 * is ten minutes old. A change to an older campaign (archived, renamed) therefore shows in totals of 20,000 and more about a
 * minute later. Smaller totals are exact (decision 0021).
 */
export function makeCampaignTotals({ database, clock }: { database: Database; clock: Clock }): CampaignTotals {
  const totals = new Map<string, Kept>();
  const counting = new Set<Promise<void>>();

  async function countUntil(tx: Transaction, found: Found): Promise<{ total: number; boundary: Date }> {
    const boundary = new Date(clock.now().getTime() - settledMilliseconds);
    return { total: await countCampaigns(tx, until(found, boundary)), boundary };
  }

  function keep(key: string, counted: { total: number; boundary: Date }): void {
    totals.delete(key);
    if (counted.total < smallestKept) return;
    if (totals.size >= maxKept) totals.delete(totals.keys().next().value!);
    totals.set(key, { ...counted, countedAt: clock.now().getTime(), isCounting: 'no' });
  }

  /** Refreshes a count after the response; one refresh at a time per search. */
  function refresh(key: string, { found, kept }: { found: Found; kept: Kept }): void {
    kept.isCounting = 'yes';
    const work = inSnapshot(database, async (tx) => {
      await planByValues(tx);
      keep(key, await beyondPolicies(tx, () => countUntil(tx, found)));
    })
      // The next response retries; if the count is too old, the error is reported.
      .catch(() => {
        kept.isCounting = 'no';
      })
      .finally(() => counting.delete(work));
    counting.add(work);
  }

  return {
    async count(tx, found) {
      const key = JSON.stringify([found.workspaceId, found.selection]);
      const kept = totals.get(key);
      const age = kept ? clock.now().getTime() - kept.countedAt : Number.POSITIVE_INFINITY;
      // After the clock was set back, the cached counts are invalid.
      if (!kept || age > maxMilliseconds || age < 0) {
        const counted = await countUntil(tx, found);
        keep(key, counted);
        return counted.total + (await countCampaigns(tx, since(found, counted.boundary)));
      }
      if (age > freshMilliseconds && kept.isCounting === 'no') refresh(key, { found, kept });
      return kept.total + (await countCampaigns(tx, since(found, kept.boundary)));
    },
    async settle() {
      await Promise.all(counting);
    },
  };
}

function until(found: Found, boundary: Date): Found {
  const { createdBefore } = found.selection;
  const earlier = createdBefore && createdBefore < boundary ? createdBefore : boundary;
  return { ...found, selection: { ...found.selection, createdBefore: earlier } };
}

function since(found: Found, boundary: Date): Found {
  const { createdFrom } = found.selection;
  const later = createdFrom && createdFrom > boundary ? createdFrom : boundary;
  return { ...found, selection: { ...found.selection, createdFrom: later } };
}

export type { CampaignExecution };

export type ExecutionsRequest = {
  workspaceId: string;
  /** Any version's id, or the campaign's own (decision D43). */
  parentId: string;
  limit: number;
  /** Starts at 1. */
  page: number;
};

export type ExecutionsAnswer = { executions: CampaignExecution[]; totalInstances: number };

/**
 * Lists the runs of a recurring campaign: its child campaigns, over all versions.
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
