import { sumOf } from '../../domain/sum-of.ts';
import type { Clock } from '../../clock.ts';
import { campaignActions, statusAfter } from '../../domain/campaigns/campaign-states.ts';
import { adviseOnFailure } from '../../domain/campaigns/failure-advice.ts';
import { tellWaitingCause } from '../../domain/delivery/waiting-cause.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { Database } from '../../storage/database.ts';
import { groupCampaignWaiting, groupFailures, listRunDays } from '../../storage/campaigns/campaign-ledger.ts';
import type { CampaignWaitingGroup, FailureGroup } from '../../storage/campaigns/campaign-ledger.ts';
import {
  countConversions,
  listReportedRuns,
  listVersions,
  sumOutcomes,
  sumRuns,
} from '../../storage/campaigns/campaign-stats.ts';
import { findInteractionNumbers } from '../../storage/campaigns/report-stats.ts';
import { findCampaignRecord } from '../../storage/campaigns/campaigns.ts';
import type { CampaignRecord } from '../../storage/campaigns/campaigns.ts';
import { countRunsWithoutLedger, groupKeptFailures } from '../../storage/retention/run-failures.ts';
import { getCampaign } from '../campaigns/search-campaigns.ts';
import { always } from '../stats/read-campaign-stats.ts';
import { makeCampaignTimeline } from './campaign-timeline.ts';
import type { Timeline } from './campaign-timeline.ts';

export type CampaignKey = { workspaceId: string; id: string };

const maxFailureGroups = 100;
export const runsPerPage = 15;

/** Everything about one campaign. */
export function makeCampaignReport({ database, clock }: { database: Database; clock: Clock }) {
  const timelineOf = makeCampaignTimeline({ database, clock });

  /** @throws ServiceError CAMPAIGN_NOT_FOUND */
  async function find(key: CampaignKey): Promise<CampaignRecord> {
    const campaign = await findCampaignRecord(database, key);
    if (!campaign) throw new ServiceError('CAMPAIGN_NOT_FOUND');
    return campaign;
  }

  return {
    /** The record and its versions. @throws ServiceError CAMPAIGN_NOT_FOUND */
    async read(key: CampaignKey) {
      const campaign = await getCampaign({ database }, key);
      return { campaign, versions: await listVersions(database, campaign.campaignId) };
    },

    /** The numbers that move while it is sent; a few index look-ups. @throws ServiceError CAMPAIGN_NOT_FOUND */
    async progress(key: CampaignKey) {
      const { workspaceId, id } = key;
      const campaign = await find(key);
      const asked = { ...always, workspaceId, campaignIds: [id] };
      const [sums, outcomes, interactions] = await Promise.all([
        sumRuns(database, id),
        sumOutcomes(database, asked),
        findInteractionNumbers(database, asked),
      ]);
      return {
        status: campaign.status,
        statusReason: campaign.statusReason,
        nextAt: campaign.nextAt,
        actions: allowedActions(campaign),
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
        at: clock.now(),
      };
    },

    /** @throws ServiceError CAMPAIGN_NOT_FOUND */
    async results(key: CampaignKey) {
      const campaign = await getCampaign({ database }, key);
      const asked = { ...always, workspaceId: key.workspaceId, campaignIds: [key.id] };
      const [failures, runsWithoutLedger, waiting, outcomes, conversions] = await Promise.all([
        listFailures(database, key.id),
        countRunsWithoutLedger(database, key.id),
        listWaiting(database, key.id),
        sumOutcomes(database, asked),
        countConversions(database, { ...asked, attribution: 'TOTAL_CONVERSIONS' }),
      ]);
      const goals = Array.isArray(campaign.conversionGoals) ? (campaign.conversionGoals as { name: string }[]) : [];
      const accepted = outcomes.filter(({ outcome }) => outcome === 'ACCEPTED');
      const ofAll = conversions.filter(({ variation, locale }) => variation === null && locale === null);
      return {
        runsWithoutLedger,
        accepted: sumOf(accepted, 'devices'),
        waiting: waiting.map((group) => ({ ...group, cause: tellWaitingCause(group).words })),
        failures: failures.map((group) => ({ ...group, advice: adviseOnFailure(group) })),
        goals: goals.map(({ name }, number) => {
          const own = ofAll.filter(({ goal }) => goal === number);
          return { name, conversions: sumOf(own, 'total'), users: sumOf(own, 'unique') };
        }),
      };
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

/** The most frequent reason first. */
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

/** What most wait for first; a run of another day may wait for the same. */
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

function allowedActions({ deliveryType, status, nextAt }: CampaignRecord) {
  const kind = deliveryType === 'ONE_TIME' ? 'one-time' : 'recurring';
  return campaignActions.filter(
    (action) => statusAfter(action, { kind, status, hasOccurrence: nextAt !== null }) !== undefined,
  );
}

/** What was counted by variation and locale, in groups that leave these out. */
function ofAllContents<Row>(rows: readonly Row[], nameOf: (row: Row) => string): [Row, ...Row[]][] {
  return [...Map.groupBy(rows, nameOf).values()] as [Row, ...Row[]][];
}
