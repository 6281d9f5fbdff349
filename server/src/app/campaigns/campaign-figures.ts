import { windowHoursOf } from '../../domain/campaigns/conversions.ts';
import type { AttributionType, ConversionGoal } from '../../domain/campaigns/conversions.ts';
import {
  conversionRate,
  conversionRateOf,
  eligibleUsersOf,
  goalUplift,
  rateFigures,
  sumOf,
} from '../../domain/campaigns/figures.ts';
import type { CampaignFigures, Figures, PlatformFigures, RateFigures } from '../../domain/campaigns/figures.ts';
import { leaderOf, winnerFromPercent } from '../../domain/experiments/learning.ts';
import type { Database } from '../../storage/database.ts';
import { readWholeFigures } from '../stats.ts';
import { getCampaign } from './search-campaigns.ts';
import { readWinner } from './winner.ts';
import type { CampaignWinner } from './winner.ts';

export type FiguresQuestion = { workspaceId: string; id: string; attribution: AttributionType };

export type CampaignFiguresReport = Awaited<ReturnType<typeof readCampaignFigures>>;

/**
 * Returns the results of a campaign over all its runs: per platform with its contents and control groups, and per content over
 * all platforms. The numbers are those of the statistics. A user with devices on two platforms counts once on each.
 *
 * @throws ServiceError CAMPAIGN_NOT_FOUND
 */
export async function readCampaignFigures(
  { database }: { database: Database },
  { workspaceId, id, attribution }: FiguresQuestion,
) {
  const campaign = await getCampaign({ database }, { workspaceId, id });
  const figures = await readWholeFigures({ database }, { workspaceId, campaignId: id, attribution });
  const goals = Array.isArray(campaign.conversionGoals) ? (campaign.conversionGoals as ConversionGoal[]) : [];
  const named = await readWinner({ database }, { workspaceId, id });
  const byPlatform = figures?.platforms ?? [];
  return {
    name: campaign.name,
    attribution,
    windowHours: windowHoursOf(goals),
    runs: figures?.runs ?? 0,
    all: toContent({ place: everything, figures: byPlatform }),
    platforms: byPlatform.map(toPlatform),
    contents: contentsOf(figures),
    leaders: leadersOf(named),
    winner: {
      ...{ variation: named.campaign.winner, namedAt: named.campaign.namedAt, namedBy: named.campaign.namedBy },
      isLearned: named.campaign.isLearned,
    },
  };
}

type Place = { variation: number | null; locale: string | null };
const everything: Place = { variation: null, locale: null };

type Part = { place: Place; figures: readonly Figures[] };

/** Adds up a content's figures over one or several platforms; rates are calculated from the sums. */
function toContent({ place, figures }: Part) {
  const sum = (numberOf: (one: Figures) => number) => figures.reduce((total, one) => total + numberOf(one), 0);
  const accepted = sum(({ sent }) => sent);
  const shown = sum(({ impressions }) => impressions.messages);
  const clicked = sum(({ clicks }) => clicks.messages);
  const eligible = figures.map(eligibleUsersOf);
  const eligibleUsers = eligible.every((users) => users !== undefined)
    ? eligible.reduce((one, next) => one + next, 0)
    : null;
  return {
    ...place,
    devices: sum(({ devices }) => devices),
    attempted: sum(({ attempted }) => attempted),
    accepted,
    failed: sum(({ failed }) => failed),
    gone: sum(({ gone }) => gone),
    shown,
    clicked,
    impressions: sum(({ impressions }) => impressions.total),
    clicks: sum(({ clicks }) => clicks.total),
    shownRate: toRate(rateFigures(shown, accepted)),
    clickedRate: toRate(rateFigures(clicked, accepted)),
    eligibleUsers,
    goals: (figures[0]?.conversions ?? []).map(({ goal, revenue }, number) => {
      const own = figures.map(({ conversions }) => conversions[number]!);
      const users = sumOf(own, 'users');
      const rates = figures.map((one) => conversionRateOf(one, number));
      const isKnown = eligibleUsers !== null && rates.every((rate) => rate !== undefined);
      // On a platform with control groups every intended recipient counts, reached or not.
      const converted = figures.reduce((total, one) => total + convertedOf(one, number), 0);
      return {
        name: goal,
        total: sumOf(own, 'total'),
        users,
        revenue: revenue ? own.reduce((total, one) => total + (one.revenue?.sum ?? 0), 0) : null,
        currency: revenue?.currency ?? null,
        rate: isKnown ? toRate(rateFigures(converted, eligibleUsers)) : null,
      };
    }),
  };
}

function convertedOf({ groups, conversions }: Figures, goal: number): number {
  const treated = groups?.find(({ group }) => group === null);
  return (treated?.conversions[goal] ?? conversions[goal]!).users;
}

function toPlatform(figures: PlatformFigures) {
  const groups = figures.groups?.some(({ group }) => group !== null) ? figures.groups : [];
  return {
    platform: figures.platform,
    reachableUsers: figures.audience?.reachable ?? null,
    installedUsers: figures.audience?.installed ?? null,
    all: toContent({ place: everything, figures: [figures] }),
    contents: figures.variants.map((variant) => toContent({ place: placeOf(variant), figures: [variant] })),
    groups: groups.map((group) => ({
      group: group.group,
      users: group.users,
      goals: figures.conversions.map(({ goal }, number) => ({
        name: goal,
        total: group.conversions[number]!.total,
        users: group.conversions[number]!.users,
        percent: conversionRate(group, number) ?? null,
      })),
    })),
    uplifts:
      groups.length === 0 ? [] : figures.conversions.map(({ goal }, number) => upliftOf(figures, { goal, number })),
  };
}

function upliftOf({ groups }: PlatformFigures, { goal, number }: { goal: string; number: number }) {
  const { uplift, low, high } = goalUplift(groups!, number);
  return { name: goal, percent: uplift ?? null, low: low ?? null, high: high ?? null };
}

/** Returns each content over all platforms. */
function contentsOf(figures: CampaignFigures | undefined) {
  const variants = (figures?.platforms ?? []).flatMap((platform) => platform.variants);
  return [...Map.groupBy(variants, ({ variation, locale }) => `${locale ?? ''} ${variation ?? ''}`).values()].map(
    (own) => toContent({ place: placeOf(own[0]!), figures: own }),
  );
}

/** Returns the variation that is most likely the best for each measure; empty for a campaign without variations. */
function leadersOf({ figures }: CampaignWinner) {
  return figures.map(({ measure, variations }) => {
    const { variation, bestPercent } = leaderOf(variations);
    return { measure, variation, bestPercent, isBest: bestPercent >= winnerFromPercent };
  });
}

function placeOf({ variation, locale }: Place): Place {
  return { variation, locale };
}

type Rate = { percent: number; low: number; high: number } | null;

/** Null if the rate has no denominator. */
function toRate({ rate, low, high }: RateFigures): Rate {
  return rate === undefined ? null : { percent: rate, low: low!, high: high! };
}
