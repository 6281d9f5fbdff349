import type { Clock } from '../../clock.ts';
import { campaignActions, statusAfter } from '../../domain/campaign/campaign-states.ts';
import { adviseOnFailure } from '../../domain/campaign/failure-advice.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { Database } from '../../storage/pool.ts';
import {
  groupFailures,
  listReportedRuns,
  listVersions,
  readTimeline,
  sumRuns,
} from '../../storage/sql/campaign-report.ts';
import { findCampaignRecord } from '../../storage/sql/campaign-states.ts';
import type { CampaignRecord } from '../../storage/sql/campaign-states.ts';
import { countConversions, findInteractionNumbers, sumOutcomes } from '../../storage/sql/campaign-stats.ts';
import { getCampaign } from '../campaigns/search-campaigns.ts';

export type CampaignKey = { workspaceId: string; id: string };

// Every run there is: no campaign is older, and none begins later.
const always = { startsAt: new Date(0), endsBefore: new Date('9999-01-01T00:00:00Z') };
const timelineSteps = 60;
const stepsSeconds = [1, 2, 5, 10, 30, 60, 300, 900, 3_600, 21_600, 86_400, 604_800];
const timelineKeptMilliseconds = 5_000;
export const runsPerPage = 15;

export type CampaignProgress = Awaited<ReturnType<CampaignReport['progress']>>;
export type CampaignReport = ReturnType<typeof makeCampaignReport>;

/** Everything about one campaign. */
export function makeCampaignReport({ database, clock }: { database: Database; clock: Clock }) {
  const timelines = new Map<string, { readAt: number; answer: Promise<Timeline> }>();

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
        outcomes: outcomes.map(({ platform, outcome, devices }) => ({ platform, outcome, devices })),
        interactions: interactions.map(({ campaignId: _campaignId, ...row }) => row),
        at: clock.now(),
      };
    },

    /** @throws ServiceError CAMPAIGN_NOT_FOUND */
    async results(key: CampaignKey) {
      const campaign = await getCampaign({ database }, key);
      const asked = { ...always, workspaceId: key.workspaceId, campaignIds: [key.id] };
      const [failures, conversions] = await Promise.all([
        groupFailures(database, key.id),
        countConversions(database, asked),
      ]);
      const goals = Array.isArray(campaign.conversionGoals) ? (campaign.conversionGoals as { name: string }[]) : [];
      return {
        failures: failures.map((group) => ({ ...group, advice: adviseOnFailure(group) })),
        goals: goals.map(({ name }, number) => {
          const own = conversions.filter(({ goal }) => goal === number);
          const sum = (of: 'total' | 'unique') => own.reduce((all, row) => all + row[of], 0);
          return { name, conversions: sum('total'), people: sum('unique') };
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

    /** One answer for all who look within some seconds, while it is sent. @throws ServiceError CAMPAIGN_NOT_FOUND */
    async timeline(key: CampaignKey): Promise<Timeline> {
      await find(key);
      const now = clock.now();
      const { startedAt, endedAt } = await sumRuns(database, key.id);
      if (!startedAt) return { stepSeconds: 1, steps: [] };
      // What has ended is another answer than what was read while it was under way.
      const name = `${key.id} ${endedAt?.getTime() ?? 'open'}`;
      const kept = timelines.get(name);
      if (kept && now.getTime() - kept.readAt < timelineKeptMilliseconds) return kept.answer;
      for (const [other, { readAt }] of timelines)
        if (now.getTime() - readAt >= timelineKeptMilliseconds) timelines.delete(other);
      const answer = readWholeTimeline(database, { ...key, startedAt, until: endedAt ?? now });
      timelines.set(name, { readAt: now.getTime(), answer });
      answer.catch(() => timelines.delete(name));
      return answer;
    },
  };
}

type Timeline = { stepSeconds: number; steps: { at: Date; accepted: number; notDelivered: number }[] };

async function readWholeTimeline(
  database: Database,
  { workspaceId, id, startedAt, until }: CampaignKey & { startedAt: Date; until: Date },
): Promise<Timeline> {
  const seconds = (until.getTime() - startedAt.getTime()) / 1000;
  const stepSeconds = stepsSeconds.find((step) => seconds / step <= timelineSteps) ?? stepsSeconds.at(-1)!;
  const steps = await readTimeline(database, { workspaceId, campaignId: id, from: startedAt, stepSeconds });
  return { stepSeconds, steps };
}

function allowedActions({ deliveryType, status, nextAt }: CampaignRecord) {
  const kind = deliveryType === 'ONE_TIME' ? 'one-time' : 'recurring';
  return campaignActions.filter(
    (action) => statusAfter(action, { kind, status, hasMoment: nextAt !== null }) !== undefined,
  );
}
