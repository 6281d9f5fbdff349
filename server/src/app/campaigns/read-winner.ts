import { ServiceError } from '../../domain/errors.ts';
import { learningMeasures } from '../../domain/experiments/variants.ts';
import type { LearningMeasure } from '../../domain/experiments/variants.ts';
import type { Trials } from '../../domain/experiments/intervals.ts';
import { compareVariations } from '../../domain/experiments/compare-variations.ts';
import type { ComparedVariation } from '../../domain/experiments/compare-variations.ts';
import { sumOf } from '../../domain/sum-of.ts';
import { countConversions, sumOutcomes } from '../../storage/campaigns/campaign-stats.ts';
import { findVariedCampaign } from '../../storage/campaigns/campaign-winners.ts';
import type { VariedCampaign } from '../../storage/campaigns/campaign-winners.ts';
import { sumRunInteractions } from '../../storage/campaigns/report-stats.ts';
import { inSnapshot } from '../../storage/database.ts';
import type { Database, Queryable } from '../../storage/database.ts';
import { always } from '../stats/read-campaign-stats.ts';

/** How the variations of a campaign stand by one measure. */
export type MeasuredVariations = { measure: LearningMeasure; variations: ComparedVariation[] };

/** The winner of a campaign, if one was named, and what the figures say. */
export type CampaignWinner = { campaign: VariedCampaign; figures: MeasuredVariations[] };

export type WinnerKey = { workspaceId: string; id: string };

/** @throws ServiceError CAMPAIGN_NOT_FOUND */
export async function readWinner({ database }: { database: Database }, key: WinnerKey): Promise<CampaignWinner> {
  return inSnapshot(database, async (tx) => {
    const campaign = await requireVariedCampaign(tx, key);
    return { campaign, figures: await readMeasured(tx, { ...key, campaign }) };
  });
}

/** @throws ServiceError CAMPAIGN_NOT_FOUND */
export async function requireVariedCampaign(tx: Queryable, key: WinnerKey): Promise<VariedCampaign> {
  const campaign = await findVariedCampaign(tx, key);
  if (!campaign) throw new ServiceError('CAMPAIGN_NOT_FOUND', { detail: key.id });
  return campaign;
}

type Reading = WinnerKey & { campaign: VariedCampaign };

/** By clicks, and by the primary goal where there is one; as a campaign that learns counts both. Nothing of one without variations. */
export async function readMeasured(tx: Queryable, { campaign, ...key }: Reading): Promise<MeasuredVariations[]> {
  const { percents, goals } = campaign;
  if (percents === null || percents.length < 2) return [];
  const asked = { ...always, workspaceId: key.workspaceId, campaignIds: [campaign.id] };
  const outcomes = (await sumOutcomes(tx, asked)).filter(({ outcome }) => outcome === 'ACCEPTED');
  const clicks = (await sumRunInteractions(tx, asked)).filter(({ kind }) => kind === 'CLICK');
  const reached = await countConversions(tx, { ...asked, attribution: 'TOTAL_CONVERSIONS' });
  // The first goal is the primary one.
  const fulfilled = reached.filter(({ goal, locale }) => goal === 0 && locale === null);
  const armsOf = (successesOf: (variation: number) => number): Trials[] =>
    percents.map((_percent, index) => {
      const trials = sumOf(ofVariation(outcomes, index + 1), 'devices');
      return { trials, successes: successesOf(index + 1) };
    });
  const armsBy: Record<LearningMeasure, () => Trials[]> = {
    CLICKS: () => armsOf((variation) => sumOf(ofVariation(clicks, variation), 'messages')),
    GOAL: () => armsOf((variation) => sumOf(ofVariation(fulfilled, variation), 'users')),
  };
  return learningMeasures
    .filter((measure) => measure === 'CLICKS' || goals.length > 0)
    .map((measure) => ({ measure, variations: compareVariations(armsBy[measure](), measure) }));
}

function ofVariation<Row extends { variation: number | null }>(rows: readonly Row[], variation: number): Row[] {
  return rows.filter((row) => row.variation === variation);
}
