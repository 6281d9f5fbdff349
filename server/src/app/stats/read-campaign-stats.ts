import type { Clock } from '../../clock.ts';
import type { CampaignFigures, PlatformFigures } from '../../domain/campaigns/campaign-figures.ts';
import type { Platform } from '../../domain/campaigns/content.ts';
import { addDays, toInstant } from '../../domain/timing/local-time.ts';
import { inSnapshot } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import {
  countConversions,
  countFailures,
  countStartedRuns,
  countStatsCampaigns,
  findInteractionNumbers,
  listStatsCampaigns,
  sumOutcomes,
} from '../../storage/campaigns/campaign-stats.ts';
import type { StatsCampaign, StatsSpan } from '../../storage/campaigns/campaign-stats.ts';
import { countGroupConversions, sumGroupUsers } from '../../storage/campaigns/group-stats.ts';
import { countKeptFailures } from '../../storage/retention/run-failures.ts';
import { findWorkspace } from '../../storage/installation/workspaces.ts';

export type StatsDependencies = { database: Database; clock: Clock };

export type CampaignStatsRequest = {
  workspaceId: string;
  /** Undefined: every campaign with a run in these days. */
  campaignIds: string[] | undefined;
  /** YYYY-MM-DD in the workspace's zone, both included. */
  startDate: string;
  endDate: string;
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
  const { workspaceId, offset, limit } = request;
  return inSnapshot(database, async (tx) => {
    const timeZone = (await findWorkspace(tx, workspaceId))!.timeZone;
    const span = {
      startsAt: toInstant({ date: request.startDate, time: '00:00', timeZone }),
      endsBefore: toInstant({ date: addDays(request.endDate, 1), time: '00:00', timeZone }),
    };
    const query = { ...span, workspaceId, ids: request.campaignIds };
    const totalCampaigns = await countStatsCampaigns(tx, query);
    const campaigns = await listStatsCampaigns(tx, { ...query, offset, limit });
    return { totalCampaigns, campaigns: await readFigures(tx, { ...span, workspaceId, campaigns }) };
  });
}

type Reading = StatsSpan & { workspaceId: string; campaigns: StatsCampaign[] };
type Numbers = Awaited<ReturnType<typeof readNumbers>>;

async function readFigures(tx: Transaction, reading: Reading): Promise<CampaignFigures[]> {
  if (reading.campaigns.length === 0) return [];
  const numbers = await readNumbers(tx, reading);
  return reading.campaigns.map((campaign) => ({
    id: campaign.id,
    runs: numbers.runs.find((row) => row.campaignId === campaign.id)?.runsInSpan ?? 0,
    platforms: campaign.platforms.map((platform) => toPlatformFigures(numbers, campaign, platform)),
  }));
}

async function readNumbers(tx: Transaction, { campaigns, ...reading }: Reading) {
  const asked = { ...reading, campaignIds: campaigns.map(({ id }) => id) };
  return {
    runs: await countStartedRuns(tx, asked),
    outcomes: await sumOutcomes(tx, asked),
    // In this order: what the first has read cannot be dropped before the second looks.
    failures: [...(await countFailures(tx, asked)), ...(await countKeptFailures(tx, asked))],
    conversions: await countConversions(tx, asked),
    groupUsers: await sumGroupUsers(tx, asked),
    groupConversions: await countGroupConversions(tx, asked),
    interactions: await findInteractionNumbers(tx, asked),
  };
}

function toPlatformFigures(numbers: Numbers, campaign: StatsCampaign, platform: Platform): PlatformFigures {
  const own = <Row extends { campaignId: string; platform: Platform }>(rows: Row[]): Row[] =>
    rows.filter((row) => row.campaignId === campaign.id && row.platform === platform);
  const outcomes = own(numbers.outcomes);
  const sum = (...wanted: string[]): number =>
    outcomes.filter((row) => wanted.includes(row.outcome)).reduce((total, row) => total + row.devices, 0);
  const conversions = own(numbers.conversions);
  const failed = sum('GONE', 'REJECTED', 'EXPIRED', 'FAILED');
  return {
    platform,
    attempted: sum('ACCEPTED', 'WAITING') + failed,
    sent: sum('ACCEPTED'),
    failed,
    failures: addUp(own(numbers.failures)),
    interactions: toInteractions(numbers, campaign, own(numbers.interactions)),
    conversions: campaign.goals.map(({ name }, goal) => {
      const { total = 0, unique = 0 } = conversions.find((row) => row.goal === goal) ?? {};
      return { goal: name, counted: { total, unique } };
    }),
    groups: toGroups(campaign, { users: own(numbers.groupUsers), conversions: own(numbers.groupConversions) }),
  };
}

type GroupNumbers = { users: Numbers['groupUsers']; conversions: Numbers['groupConversions'] };

function toGroups({ goals }: StatsCampaign, { users, conversions }: GroupNumbers): PlatformFigures['groups'] {
  if (users.length === 0) return undefined;
  return users.map((row) => ({
    group: row.group,
    users: row.users,
    conversions: goals.map((_goal, number) => {
      const found = conversions.find(({ group, goal }) => group === row.group && goal === number);
      const { total = 0, unique = 0, users: converted = 0 } = found ?? {};
      return { total, unique, users: converted };
    }),
  }));
}

/** By cause: a campaign may have runs in the ledger and runs that are only counted. */
function addUp(rows: Numbers['failures']): Record<string, number> {
  const devicesOf: Record<string, number> = {};
  for (const { cause, devices } of rows) devicesOf[cause] = (devicesOf[cause] ?? 0) + devices;
  return devicesOf;
}

/** Reports are counted per campaign, not per day: they are those of the span when it holds every run. */
function toInteractions(
  { runs }: Numbers,
  campaign: StatsCampaign,
  rows: Numbers['interactions'],
): PlatformFigures['interactions'] {
  const row = runs.find(({ campaignId }) => campaignId === campaign.id);
  if (row && row.runsInSpan !== row.runs) return undefined;
  const counted = (kind: string) => {
    const { total = 0, uniqueDevices: unique = 0 } = rows.find((candidate) => candidate.kind === kind) ?? {};
    return { total, unique };
  };
  return { impressions: counted('IMPRESSION'), clicks: counted('CLICK') };
}
