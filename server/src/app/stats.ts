import type { Clock } from '../clock.ts';
import type { AttributionType } from '../domain/campaigns/conversions.ts';
import { sumOf } from '../domain/campaigns/figures.ts';
import type {
  CampaignFigures,
  AudienceFigures,
  Figures,
  GroupFigures,
  PlatformFigures,
  ReportFigures,
} from '../domain/campaigns/figures.ts';
import type { Platform } from '../domain/content/content.ts';
import { maxStatsCampaigns, statsRequestsPerMinute } from '../domain/limits/campaigns.ts';
import { addDays, toInstant } from '../domain/timing/local-time.ts';
import { countGroupConversions, sumAudiences, sumGroupUsers } from '../storage/campaigns/audience-groups.ts';
import type {
  AudienceNumbers,
  GroupConversionNumbers,
  GroupUserNumbers,
} from '../storage/campaigns/audience-groups.ts';
import { countKeptFailures } from '../storage/campaigns/campaign-failures.ts';
import {
  countConversions,
  countFailures,
  countStartedRuns,
  countStatsCampaigns,
  findStatsForm,
  listReportedCampaigns,
  listStatsCampaigns,
  sumOutcomes,
  findInteractionNumbers,
  sumRunInteractions,
} from '../storage/campaigns/campaign-stats.ts';
import type {
  StatsForm,
  StatsCampaign,
  StatsSpan,
  AskedVariant,
  ConversionNumbers,
  FailureNumbers,
  LedgerFailureNumbers,
  NumbersOfVariant,
  OutcomeNumbers,
  RunNumbers,
  InteractionNumbers,
  RunInteractionNumbers,
} from '../storage/campaigns/campaign-stats.ts';
import { inSnapshot, inTransaction } from '../storage/database.ts';
import type { Database, Transaction } from '../storage/database.ts';
import { countWithinLimit } from '../storage/limits/push-rate-limit.ts';
import type { LimitGrant } from '../storage/limits/push-rate-limit.ts';
import { findWorkspace } from '../storage/workspaces.ts';

export type { StatsForm };

export type StatsDependencies = { database: Database; clock: Clock };

export type CampaignStatsRequest = {
  workspaceId: string;
  /** Undefined means every campaign with a run in these days. */
  campaignIds: string[] | undefined;
  /** YYYY-MM-DD in the workspace's zone, both included. */
  startDate: string;
  endDate: string;
  /** Defines which events count as conversions. */
  attribution: AttributionType;
  offset: number;
  limit: number;
};

export type CampaignStats = { totalCampaigns: number; campaigns: CampaignFigures[]; form: StatsForm };

/**
 * Returns the figures of campaigns: of the runs that began in the requested days, with all their results, at whatever time.
 * Everything is read from one snapshot, so the numbers of a response agree with each other.
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
    const form = await findStatsForm(tx, workspaceId);
    return { form, totalCampaigns, campaigns: await readFigures(tx, { ...span, workspaceId, campaigns, attribution }) };
  });
}

/** Covers every run: no campaign is older, and none begins later. */
export const always: StatsSpan = { startsAt: new Date(0), endsBefore: new Date('9999-01-01T00:00:00Z') };

/** Returns the same for one campaign and all its runs; undefined if it is not a push, or does not exist. */
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

/** Returns in which form a workspace gets its statistics. */
export async function readStatsForm(
  { database }: Pick<StatsDependencies, 'database'>,
  workspaceId: string,
): Promise<StatsForm> {
  return inTransaction(database, (tx) => findStatsForm(tx, workspaceId));
}

/**
 * Yields the same for every campaign, one after another, reading and holding one page at a time. The figures of one campaign
 * are from one snapshot. Between two pages nothing is held open, because reading may take minutes.
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
    // In this order: what the first query has read cannot be dropped before the second query runs.
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

/** Numbers counted for campaigns; each row belongs to one of them. */
type StatsNumbers = {
  runs: RunNumbers[];
  outcomes: OutcomeNumbers[];
  failures: LedgerFailureNumbers[];
  keptFailures: FailureNumbers[];
  conversions: ConversionNumbers[];
  audiences: AudienceNumbers[];
  groupUsers: GroupUserNumbers[];
  groupConversions: GroupConversionNumbers[];
  /** Interactions of the runs, and all that the campaigns ever had. */
  runInteractions: RunInteractionNumbers[];
  interactions: InteractionNumbers[];
};

type OfPlatform = { numbers: StatsNumbers; campaign: StatsCampaign; platform: Platform };
type Part = OfPlatform & { of: AskedVariant };

const all: AskedVariant = { variation: null, locale: null };

/** Returns the figures of one platform of a campaign, and of each of its contents. */
function toPlatformFigures(asked: OfPlatform): PlatformFigures {
  const { platform } = asked;
  const variants = variantsOf(asked).map((of) => ({ ...of, ...toFigures({ ...asked, of }) }));
  return { platform, ...toFigures({ ...asked, of: all }), variants };
}

/** Returns each variation in all locales, each locale in all variations, and each variation in each locale. */
function variantsOf(asked: OfPlatform): AskedVariant[] {
  const { locales, variations } = asked.campaign;
  // A campaign that was changed between two runs has figures of contents that no longer exist.
  const counted = ofPlatform(asked, asked.numbers.outcomes);
  const most = Math.max(variations ?? 0, ...counted.map(({ variation }) => variation));
  const numbers = most > 1 ? Array.from({ length: most }, (_, index) => index + 1) : [];
  const names = new Set([...(locales ?? []), ...counted.map(({ locale }) => locale)]);
  names.delete('');
  return [null, ...names].flatMap((locale) =>
    [null, ...numbers].flatMap((variation) => (locale === null && variation === null ? [] : [{ variation, locale }])),
  );
}

function toFigures(part: Part): Figures {
  const outcomes = ownRows(part, part.numbers.outcomes);
  const sum = (...wanted: string[]): number =>
    sumOf(
      outcomes.filter((row) => wanted.includes(row.outcome)),
      'devices',
    );
  const failed = sum('GONE', 'REJECTED', 'EXPIRED', 'FAILED');
  return {
    devices: sumOf(outcomes, 'devices'),
    attempted: sum('ACCEPTED', 'WAITING') + failed,
    sent: sum('ACCEPTED'),
    failed,
    gone: sum('GONE'),
    failures: toFailures(part),
    impressions: toReports(part, 'IMPRESSION'),
    clicks: toReports(part, 'CLICK'),
    closes: toReports(part, 'CLOSE'),
    conversions: toConversions(part),
    audience: toAudience(part),
    groups: toGroups(part),
  };
}

type OfCampaign = { campaignId: string; platform: Platform };

function ofPlatform<Row extends OfCampaign>({ campaign, platform }: OfPlatform, rows: readonly Row[]): Row[] {
  return rows.filter((row) => row.campaignId === campaign.id && row.platform === platform);
}

function ownRows<Row extends OfCampaign & NumbersOfVariant>(part: Part, rows: readonly Row[]): Row[] {
  const { variation, locale } = part.of;
  return ofPlatform(part, rows).filter(
    (row) => (variation === null || row.variation === variation) && (locale === null || row.locale === locale),
  );
}

/**
 * Counts failures by cause. A campaign may have runs in the ledger and runs that are only counted, which are not split by
 * content.
 */
function toFailures(part: Part): Record<string, number> | undefined {
  const kept = ofPlatform(part, part.numbers.keptFailures);
  if (part.of !== all && kept.length > 0) return undefined;
  const devicesOf: Record<string, number> = {};
  for (const { cause, devices } of [...ownRows(part, part.numbers.failures), ...kept])
    devicesOf[cause] = (devicesOf[cause] ?? 0) + devices;
  return devicesOf;
}

/**
 * Returns the reports of the requested runs. Distinct devices over several runs are counted for the whole campaign only: the
 * number is known if these runs have all the messages that were ever reported for the campaign. For a single content, a device
 * that got it in two runs counts twice.
 */
function toReports(part: Part, kind: string): ReportFigures {
  const { numbers, campaign, of } = part;
  const ofKind = <Row extends { kind: string }>(rows: readonly Row[]) => rows.filter((row) => row.kind === kind);
  const rows = ofKind(ownRows(part, numbers.runInteractions));
  const [total, messages] = [sumOf(rows, 'total'), sumOf(rows, 'messages')];
  if (of !== all) return { total, messages, devices: messages };
  const ever = ofKind(ofPlatform(part, numbers.interactions));
  if (sumOf(ever, 'messages') === messages) return { total, messages, devices: sumOf(ever, 'uniqueDevices') };
  const runs = numbers.runs.find(({ campaignId }) => campaignId === campaign.id)?.runsInSpan ?? 0;
  return { total, messages, devices: runs <= 1 ? messages : undefined };
}

function toConversions(part: Part): Figures['conversions'] {
  const { campaign, of } = part;
  const rows = ofPlatform(part, part.numbers.conversions).filter(
    ({ variation, locale }) => variation === of.variation && locale === of.locale,
  );
  return campaign.goals.map(({ name, revenue }, goal) => {
    const { total = 0, unique = 0, users = 0, revenue: sum } = rows.find((row) => row.goal === goal) ?? {};
    return {
      ...{ goal: name, total, unique, users },
      revenue: revenue && { sum: sum ?? 0, currency: revenue.currency },
    };
  });
}

/** Only for all contents together: users are not counted by language when a run begins. */
function toAudience(part: Part): AudienceFigures | undefined {
  if (part.of !== all) return undefined;
  const { campaign, numbers, platform } = part;
  const own = numbers.audiences.filter(({ campaignId }) => campaignId === campaign.id);
  if (own.length === 0 || own.some(({ isUncounted }) => isUncounted)) return undefined;
  const rows = own.filter((row) => row.platform === platform);
  return { reachable: sumOf(rows, 'users'), installed: sumOf(rows, 'installed') };
}

/** Only for all locales together: users were not counted by language when the run began. */
function toGroups(part: Part): GroupFigures[] | undefined {
  const { numbers, campaign, of } = part;
  const users = ofPlatform(part, numbers.groupUsers);
  if (users.length === 0 || of.locale !== null) return undefined;
  // In a run that learns, or in which a winner was named, it was not known beforehand which users would get which variation.
  const isDrawn = users.every(({ group, variation }) => group !== null || variation > 0);
  if (of.variation !== null && !isDrawn) return undefined;
  const conversions = ofPlatform(part, numbers.groupConversions);
  const groups = [...new Set(users.map(({ group }) => group))];
  return groups.map((group) => {
    const variation = group === null ? of.variation : null;
    const own = users.filter((row) => row.group === group && (variation === null || row.variation === variation));
    return {
      group,
      users: sumOf(own, 'users'),
      conversions: campaign.goals.map((_goal, number) => {
        const found = conversions.find(
          (row) => row.group === group && row.goal === number && row.variation === variation,
        );
        const { total = 0, unique = 0, users: converted = 0 } = found ?? {};
        return { total, unique, users: converted };
      }),
    };
  });
}

/** Counts a request for statistics, if the minute has quota for it. */
export async function countStatsRequest(
  { database, clock }: { database: Database; clock: Clock },
  workspaceId: string,
): Promise<LimitGrant> {
  return await inTransaction(database, (tx) =>
    countWithinLimit(tx, {
      operation: 'campaign-stats',
      workspaceId,
      wanted: 1,
      limit: statsRequestsPerMinute,
      windowSeconds: 60,
      at: clock.now(),
    }),
  );
}
