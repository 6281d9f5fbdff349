import type { Clock } from '../../clock.ts';
import { campaignActions, statusAfter } from '../../domain/campaigns/campaign.ts';
import { sumOf } from '../../domain/campaigns/figures.ts';
import { adviseOnFailure, describeWaitingCause } from '../../domain/delivery/failures.ts';
import { ServiceError } from '../../domain/errors.ts';
import {
  groupCampaignWaiting,
  groupFailures,
  listRunDays,
  countRunsWithoutLedger,
  groupKeptFailures,
  readTimeline,
} from '../../storage/campaigns/campaign-failures.ts';
import type { CampaignWaitingGroup, FailureGroup, TimelineStep } from '../../storage/campaigns/campaign-failures.ts';
import {
  countConversions,
  listReportedRuns,
  listVersions,
  sumOutcomes,
  sumRuns,
  findInteractionNumbers,
} from '../../storage/campaigns/campaign-stats.ts';
import type { RunSums } from '../../storage/campaigns/campaign-stats.ts';
import { findCampaignSummary } from '../../storage/campaigns/campaigns.ts';
import type { CampaignSummary } from '../../storage/campaigns/campaigns.ts';
import type { Database } from '../../storage/database.ts';
import { always } from '../stats.ts';
import { getCampaign } from './search-campaigns.ts';

export type CampaignKey = { workspaceId: string; id: string };

const maxFailureGroups = 100;
export const runsPerPage = 15;

export type CampaignReports = ReturnType<typeof makeCampaignReport>;

/** Reports everything about one campaign. */
export function makeCampaignReport({ database, clock }: { database: Database; clock: Clock }) {
  const timelineOf = makeCampaignTimeline({ database, clock });

  /** @throws ServiceError CAMPAIGN_NOT_FOUND */
  async function find(key: CampaignKey): Promise<CampaignSummary> {
    const campaign = await findCampaignSummary(database, key);
    if (!campaign) throw new ServiceError('CAMPAIGN_NOT_FOUND');
    return campaign;
  }

  return {
    /** Returns the record and its versions. @throws ServiceError CAMPAIGN_NOT_FOUND */
    async read(key: CampaignKey) {
      const campaign = await getCampaign({ database }, key);
      return { campaign, versions: await listVersions(database, campaign.campaignId) };
    },

    /** Returns the numbers that change during a send; a few index look-ups. @throws ServiceError CAMPAIGN_NOT_FOUND */
    async progress(key: CampaignKey) {
      const campaign = await find(key);
      const counts = await readCounts(database, key);
      return {
        status: campaign.status,
        statusReason: campaign.statusReason,
        nextAt: campaign.nextAt,
        actions: allowedActions(campaign),
        ...counts,
        at: clock.now(),
      };
    },

    /** @throws ServiceError CAMPAIGN_NOT_FOUND */
    async results(key: CampaignKey) {
      const { conversionGoals } = await getCampaign({ database }, key);
      const goals = Array.isArray(conversionGoals) ? (conversionGoals as { name: string }[]) : [];
      return readResults(database, { ...key, goals });
    },

    /** Newest first. @throws ServiceError CAMPAIGN_NOT_FOUND */
    async listRuns({ page, ...key }: CampaignKey & { page: number }) {
      await find(key);
      const runs = await listReportedRuns(database, {
        campaignId: key.id,
        limit: runsPerPage,
        offset: (page - 1) * runsPerPage,
      });
      const { runs: total } = await sumRuns(database, key.id);
      return { runs, total, perPage: runsPerPage };
    },

    /** @throws ServiceError CAMPAIGN_NOT_FOUND */
    async timeline(key: CampaignKey): Promise<Timeline> {
      await find(key);
      return timelineOf({ id: key.id, ...(await sumRuns(database, key.id)) });
    },
  };
}

/** Counts a campaign's runs, outcomes and interactions. */
async function readCounts(database: Database, { workspaceId, id }: CampaignKey) {
  const asked = { ...always, workspaceId, campaignIds: [id] };
  const [sums, outcomes, interactions] = await Promise.all([
    sumRuns(database, id),
    sumOutcomes(database, asked),
    findInteractionNumbers(database, asked),
  ]);
  return {
    ...sums,
    outcomes: ofAllContents(outcomes, ({ platform, outcome }) => `${platform} ${outcome}`).map((rows) => ({
      platform: rows[0].platform,
      outcome: rows[0].outcome,
      devices: sumOf(rows, 'devices'),
    })),
    interactions: ofAllContents(interactions, ({ platform, kind }) => `${platform} ${kind}`).map((rows) => ({
      platform: rows[0].platform,
      kind: rows[0].kind,
      total: sumOf(rows, 'total'),
      uniqueDevices: sumOf(rows, 'uniqueDevices'),
      messages: sumOf(rows, 'messages'),
    })),
  };
}

/** Reads what the campaign achieved: why devices failed or wait, and the conversions of each goal. */
async function readResults(
  database: Database,
  { workspaceId, id, goals }: CampaignKey & { goals: { name: string }[] },
) {
  const asked = { ...always, workspaceId, campaignIds: [id] };
  const [failures, runsWithoutLedger, waiting, outcomes, conversions] = await Promise.all([
    listFailures(database, id),
    countRunsWithoutLedger(database, id),
    listWaiting(database, id),
    sumOutcomes(database, asked),
    countConversions(database, { ...asked, attribution: 'TOTAL_CONVERSIONS' }),
  ]);
  const accepted = outcomes.filter(({ outcome }) => outcome === 'ACCEPTED');
  const ofAll = conversions.filter(({ variation, locale }) => variation === null && locale === null);
  return {
    runsWithoutLedger,
    accepted: sumOf(accepted, 'devices'),
    waiting: waiting.map((group) => ({ ...group, cause: describeWaitingCause(group).words })),
    failures: failures.map((group) => ({ ...group, advice: adviseOnFailure(group) })),
    goals: goals.map(({ name }, number) => {
      const own = ofAll.filter(({ goal }) => goal === number);
      return { name, conversions: sumOf(own, 'total'), users: sumOf(own, 'unique') };
    }),
  };
}

/** Groups failures by reason, the most frequent first. */
async function listFailures(database: Database, campaignId: string): Promise<FailureGroup[]> {
  const groups = new Map<string, FailureGroup>();
  const add = (group: FailureGroup): void => {
    const name = `${group.platform} ${group.outcome} ${group.code}`;
    const same = groups.get(name);
    const newest = same && same.lastAt > group.lastAt ? same : group;
    groups.set(name, { ...newest, devices: group.devices + (same?.devices ?? 0) });
  };
  for (const day of await listRunDays(database, campaignId)) (await groupFailures(database, day)).forEach(add);
  (await groupKeptFailures(database, campaignId)).forEach(add);
  return [...groups.values()].toSorted((one, other) => other.devices - one.devices).slice(0, maxFailureGroups);
}

/** Groups waiting devices by reason, the largest group first. Runs of several days may wait for the same reason. */
async function listWaiting(database: Database, campaignId: string): Promise<CampaignWaitingGroup[]> {
  const groups = new Map<string, CampaignWaitingGroup>();
  for (const day of await listRunDays(database, campaignId))
    for (const group of await groupCampaignWaiting(database, day)) {
      const name = `${group.platform} ${group.code}`;
      const same = groups.get(name);
      const nextAt = same && same.nextAt < group.nextAt ? same.nextAt : group.nextAt;
      const attempts = Math.max(group.attempts, same?.attempts ?? 0);
      groups.set(name, { ...group, nextAt, attempts, devices: group.devices + (same?.devices ?? 0) });
    }
  return [...groups.values()].toSorted((one, other) => other.devices - one.devices).slice(0, maxFailureGroups);
}

function allowedActions({ deliveryType, status, nextAt }: CampaignSummary) {
  const kind = deliveryType === 'ONE_TIME' ? 'one-time' : 'recurring';
  return campaignActions.filter(
    (action) => statusAfter(action, { kind, status, hasOccurrence: nextAt !== null }) !== undefined,
  );
}

/** Groups rows that are counted by variation and locale, without regard to these. */
function ofAllContents<Row>(rows: readonly Row[], nameOf: (row: Row) => string): [Row, ...Row[]][] {
  return [...Map.groupBy(rows, nameOf).values()] as [Row, ...Row[]][];
}

type Timeline = { stepSeconds: number; steps: TimelineStep[] };

const maxSteps = 60;
const stepsSeconds = [1, 2, 5, 10, 30, 60, 300, 900, 3_600, 21_600, 86_400, 604_800];
const keptMilliseconds = 5_000;
/** Ended campaigns no longer change; up to this many of the most recently viewed ones are cached. */
const maxKept = 200;

/** `end`: of the last run; null while a run is open. */
type Reading = { readAt: number; end: number | null; answer: Promise<Timeline> };
type Asked = { id: string } & Pick<RunSums, 'startedAt' | 'endedAt'>;

/**
 * Returns how many of a campaign's messages were accepted or failed, per time step. One result serves all viewers for some
 * seconds. The next read covers only new steps: outcomes become final in the present step, so a past step no longer changes.
 */
function makeCampaignTimeline({ database, clock }: { database: Database; clock: Clock }) {
  const readings = new Map<string, Reading>();

  return async ({ id, startedAt, endedAt }: Asked): Promise<Timeline> => {
    if (!startedAt) return { stepSeconds: 1, steps: [] };
    const now = clock.now();
    const kept = readings.get(id);
    const end = endedAt?.getTime() ?? null;
    const isFresh = kept !== undefined && (end !== null || now.getTime() - kept.readAt < keptMilliseconds);
    if (isFresh && kept.end === end) return kept.answer;
    const before = await kept?.answer.catch(() => undefined);
    const answer = readOn(database, { id, startedAt, until: endedAt ?? now, before });
    readings.delete(id);
    readings.set(id, { readAt: now.getTime(), end, answer });
    answer.catch(() => readings.delete(id));
    for (const oldest of readings.keys()) if (readings.size > maxKept) readings.delete(oldest);
    return answer;
  };
}

type Read = { id: string; startedAt: Date; until: Date; before: Timeline | undefined };

async function readOn(database: Database, { id, startedAt, until, before }: Read): Promise<Timeline> {
  const seconds = (until.getTime() - startedAt.getTime()) / 1000;
  const stepSeconds = stepsSeconds.find((step) => seconds / step <= maxSteps) ?? stepsSeconds.at(-1)!;
  // More may have been stored for the last two steps since then. If the step length differs, all steps are read again.
  const settled = before?.stepSeconds === stepSeconds ? before.steps.slice(0, -2) : [];
  const last = settled.at(-1);
  const since = last ? new Date(last.at.getTime() + stepSeconds * 1000) : startedAt;
  const steps = new Map<number, TimelineStep>();
  for (const day of await listRunDays(database, id))
    for (const step of await readTimeline(database, { ...day, origin: startedAt, since, stepSeconds })) {
      const same = steps.get(step.at.getTime());
      steps.set(step.at.getTime(), same ? add(same, step) : step);
    }
  const read = [...steps.values()].toSorted((one, other) => one.at.getTime() - other.at.getTime());
  return { stepSeconds, steps: [...settled, ...read] };
}

function add(one: TimelineStep, other: TimelineStep): TimelineStep {
  const { at } = one;
  return { at, accepted: one.accepted + other.accepted, notDelivered: one.notDelivered + other.notDelivered };
}
