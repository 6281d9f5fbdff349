import type { Clock } from '../../clock.ts';
import type { AttributionType } from '../../domain/campaigns/attribution.ts';
import type { CampaignFigures } from '../../domain/campaigns/campaign-figures.ts';
import { maxStatsCampaigns } from '../../domain/stats/limits.ts';
import { addDays, toInstant } from '../../domain/timing/local-time.ts';
import { inSnapshot } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import {
  countConversions,
  countFailures,
  countStartedRuns,
  countStatsCampaigns,
  listReportedCampaigns,
  listStatsCampaigns,
  sumOutcomes,
} from '../../storage/campaigns/campaign-stats.ts';
import type { StatsCampaign, StatsSpan } from '../../storage/campaigns/campaign-stats.ts';
import { findInteractionNumbers, sumRunInteractions } from '../../storage/campaigns/report-stats.ts';
import { countGroupConversions, sumAudiences, sumGroupUsers } from '../../storage/campaigns/group-stats.ts';
import { countKeptFailures } from '../../storage/retention/run-failures.ts';
import { findWorkspace } from '../../storage/installation/workspaces.ts';
import { toPlatformFigures } from './to-platform-figures.ts';
import type { StatsNumbers } from './to-platform-figures.ts';

export type StatsDependencies = { database: Database; clock: Clock };

export type CampaignStatsRequest = {
  workspaceId: string;
  /** Undefined: every campaign with a run in these days. */
  campaignIds: string[] | undefined;
  /** YYYY-MM-DD in the workspace's zone, both included. */
  startDate: string;
  endDate: string;
  /** By what events count as conversions. */
  attribution: AttributionType;
  offset: number;
  limit: number;
};

export type CampaignStats = { totalCampaigns: number; campaigns: CampaignFigures[] };

/**
 * The figures of campaigns: of the runs that began in the days asked for, with all that came of them, at whatever time.
 * Everything is read from one snapshot, so the numbers of an answer agree with each other.
 */
export async function readCampaignStats(
  { database }: StatsDependencies,
  request: CampaignStatsRequest,
): Promise<CampaignStats> {
  const { workspaceId, attribution, offset, limit } = request;
  return inSnapshot(database, async (tx) => {
    const span = await spanOf(tx, request);
    const query = { ...span, workspaceId, ids: request.campaignIds };
    const totalCampaigns = await countStatsCampaigns(tx, query);
    const campaigns = await listStatsCampaigns(tx, { ...query, offset, limit });
    return { totalCampaigns, campaigns: await readFigures(tx, { ...span, workspaceId, campaigns, attribution }) };
  });
}

/** Every run: no campaign is older, and none begins later. */
export const always: StatsSpan = { startsAt: new Date(0), endsBefore: new Date('9999-01-01T00:00:00Z') };

/** The same of one campaign and all its runs; undefined of one that is no push, or is not there. */
export async function readWholeFigures(
  { database }: Pick<StatsDependencies, 'database'>,
  asked: { workspaceId: string; campaignId: string; attribution: AttributionType },
): Promise<CampaignFigures | undefined> {
  const { workspaceId, campaignId, attribution } = asked;
  return inSnapshot(database, async (tx) => {
    const query = { ...always, workspaceId, ids: [campaignId], offset: 0, limit: 1 };
    const campaigns = await listStatsCampaigns(tx, query);
    const [figures] = await readFigures(tx, { ...always, workspaceId, campaigns, attribution });
    return figures;
  });
}

/**
 * The same of every campaign, one after another, however many: a page at a time is read and held. What is said of one campaign
 * is of one snapshot; between two pages nothing is held open, for it may take minutes.
 */
export async function* readReportFigures(
  { database }: Pick<StatsDependencies, 'database'>,
  request: Omit<CampaignStatsRequest, 'offset' | 'limit'>,
): AsyncGenerator<CampaignFigures, void, undefined> {
  const { workspaceId, attribution } = request;
  let before: string | undefined;
  for (;;) {
    const figures = await inSnapshot(database, async (tx) => {
      const span = await spanOf(tx, request);
      const query = { ...span, workspaceId, ids: request.campaignIds, before, limit: maxStatsCampaigns };
      const campaigns = await listReportedCampaigns(tx, query);
      return readFigures(tx, { ...span, workspaceId, campaigns, attribution });
    });
    yield* figures;
    if (figures.length < maxStatsCampaigns) return;
    before = figures.at(-1)!.id;
  }
}

async function spanOf(
  tx: Transaction,
  { workspaceId, startDate, endDate }: Pick<CampaignStatsRequest, 'workspaceId' | 'startDate' | 'endDate'>,
): Promise<StatsSpan> {
  const { timeZone } = (await findWorkspace(tx, workspaceId))!;
  return {
    startsAt: toInstant({ date: startDate, time: '00:00', timeZone }),
    endsBefore: toInstant({ date: addDays(endDate, 1), time: '00:00', timeZone }),
  };
}

type Reading = StatsSpan & { workspaceId: string; campaigns: StatsCampaign[]; attribution: AttributionType };

async function readFigures(tx: Transaction, reading: Reading): Promise<CampaignFigures[]> {
  if (reading.campaigns.length === 0) return [];
  const numbers = await readNumbers(tx, reading);
  return reading.campaigns.map((campaign) => ({
    id: campaign.id,
    name: campaign.name,
    deliveryType: campaign.deliveryType,
    runs: numbers.runs.find((row) => row.campaignId === campaign.id)?.runsInSpan ?? 0,
    platforms: campaign.platforms.map((platform) => toPlatformFigures({ numbers, campaign, platform })),
  }));
}

async function readNumbers(tx: Transaction, { campaigns, ...reading }: Reading): Promise<StatsNumbers> {
  const asked = { ...reading, campaignIds: campaigns.map(({ id }) => id) };
  return {
    runs: await countStartedRuns(tx, asked),
    outcomes: await sumOutcomes(tx, asked),
    // In this order: what the first has read cannot be dropped before the second looks.
    failures: await countFailures(tx, asked),
    keptFailures: await countKeptFailures(tx, asked),
    conversions: await countConversions(tx, asked),
    audiences: await sumAudiences(tx, asked),
    groupUsers: await sumGroupUsers(tx, asked),
    groupConversions: await countGroupConversions(tx, asked),
    runInteractions: await sumRunInteractions(tx, asked),
    interactions: await findInteractionNumbers(tx, asked),
  };
}
