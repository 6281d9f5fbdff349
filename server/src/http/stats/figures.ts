import type { CampaignStatsRequest } from '../../app/stats.ts';
import {
  areDeliveriesKnown,
  conversionRate,
  conversionRateOf,
  eligibleUsersOf,
  goalUplift,
  performanceOf,
  rateFigures,
  totalOf,
} from '../../domain/campaigns/figures.ts';
import type {
  CampaignFigures,
  FigureMetric,
  Figures,
  GoalFigures,
  GroupFigures,
  ContentFigures,
  VariantFigures,
} from '../../domain/campaigns/figures.ts';
import type { StatsForm } from '../../app/stats.ts';
import { variationName } from '../../domain/experiments/variants.ts';

export type FiguresAsked = Pick<CampaignStatsRequest, 'attribution'> & { metric: FigureMetric; form: StatsForm };
type Asked = FiguresAsked & { runs: number };

/** Presents the figures of a campaign in the boxes of fact 7. Unknown figures, and shares of a total of zero, are omitted. */
export function presentFigures({ runs, platforms }: CampaignFigures, figuresAsked: FiguresAsked) {
  const asked = { ...figuresAsked, runs };
  const parts: [name: string, figures: ContentFigures][] = platforms.map((figures) => [figures.platform, figures]);
  const named: typeof parts =
    asked.form === 'earlier'
      ? parts.map(([name, figures]) => [name.toLowerCase(), figures])
      : [['ALL_PLATFORMS', totalOf(platforms)], ...parts];
  return {
    platforms: Object.fromEntries(named.map(([name, figures]) => [name, { locales: presentLocales(figures, asked) }])),
  };
}

function presentLocales(figures: ContentFigures, asked: Asked) {
  const ofLocale = (wanted: string | null) =>
    Object.fromEntries(
      figures.variants
        .filter(({ locale }) => locale === wanted)
        .map((variant) => [
          variant.variation === null ? 'all_variations' : variationName(variant.variation),
          presentVariant(variant, asked),
        ]),
    );
  const ofAll = { all_variations: presentBlock(figures, asked), ...ofLocale(null), ...presentGroups(figures, asked) };
  return {
    // Clients read either spelling; the documented one comes last (fact 7).
    ...(asked.form === 'earlier' ? {} : { all_locale: { variations: ofAll } }),
    all_locales: { variations: ofAll },
    ...Object.fromEntries(localesOf(figures).map((locale) => [locale, { variations: ofLocale(locale) }])),
  };
}

function localesOf({ variants }: ContentFigures): string[] {
  return [...new Set(variants.flatMap(({ locale }) => (locale === null ? [] : [locale])))];
}

function presentBlock(figures: Figures, asked: Asked) {
  const performance = performanceOf(figures, asked);
  const { attempted, sent, failed, gone, impressions, clicks, closes, delivered } = performance;
  const isKnown = areDeliveriesKnown(asked);
  return {
    performance_stats: {
      ...{ attempted, sent, failed, bounced: gone, delivered },
      ...{ impression: impressions, click: clicks, closed_click: closes },
      ctr: performance.clickRate,
      delivery_rate: performance.deliveryRate,
      sent_rate: performance.sentRate,
      failure_rate: performance.failureRate,
      eligible_users: eligibleUsersOf(figures),
    },
    conversion_goal_stats: nameGoals(figures.conversions, (goal, number) => ({
      ...presentCounted(goal, asked),
      ...(goal.revenue ? { revenue: goal.revenue.sum, revenue_currency: goal.revenue.currency } : {}),
      ...presentComparison(figures, { goal: number, asked }),
    })),
    delivery_funnel: {
      reachable_users_in_segment: figures.audience?.reachable,
      segment_after_uninstall: figures.audience?.installed,
      users_after_dup: eligibleUsersOf(figures),
      ...(isKnown ? presentDevices(figures) : {}),
      ...{ sent, impressions },
    },
    failure_breakdown: isKnown && figures.failures ? presentCauses(figures.failures) : undefined,
  };
}

/** Presents the devices of the runs, each once per run. */
function presentDevices({ devices, gone, failures }: Figures) {
  return {
    user_devices: devices,
    active_device_token: devices - gone,
    after_fc: failures && devices - (failures['FREQUENCY_CAP'] ?? 0),
  };
}

function presentVariant(figures: VariantFigures, asked: Asked) {
  const { performance_stats: performance, ...shown } = presentBlock(figures, asked);
  const { rate, low, high } = rateFigures(figures.clicks.messages, figures.sent);
  const clicked = { clicked_rate: rate, clicked_rate_low: low, clicked_rate_high: high };
  return { ...shown, performance_stats: { ...performance, ...clicked } };
}

/**
 * True if groups are compared. Users in a control group cannot see or click a message, so groups are compared only by what
 * users did after it.
 */
function areGroupsCompared({ attribution }: FiguresAsked): boolean {
  return attribution === 'TOTAL_CONVERSIONS';
}

function presentComparison(figures: Figures, { goal, asked }: { goal: number; asked: FiguresAsked }) {
  const { rate, low, high } = conversionRateOf(figures, goal) ?? {};
  const rates = { cvr: rate, cvr_low: low, cvr_high: high };
  if (!figures.groups?.some(({ group }) => group !== null) || !areGroupsCompared(asked)) return rates;
  const { uplift, low: upliftLow, high: upliftHigh } = goalUplift(figures.groups, goal);
  return { ...rates, uplift, uplift_low: upliftLow, uplift_high: upliftHigh };
}

const groupMembers = {
  CAMPAIGN_CONTROL_GROUP: 'campaign_control_group',
  GLOBAL_CONTROL_GROUP: 'global_control_group',
} as const;

/**
 * Presents a block for each control group: how many users it has, and how often they fulfilled the goals without the
 * message.
 */
function presentGroups({ conversions, groups = [] }: Figures, asked: FiguresAsked) {
  return Object.fromEntries(
    groups.flatMap((figures) => {
      if (figures.group === null) return [];
      const block = { performance_stats: { eligible_users: figures.users } };
      if (!areGroupsCompared(asked)) return [[groupMembers[figures.group], block]];
      const goals = nameGoals(conversions, (_goal, number) => presentGoalOfGroup(figures, { goal: number, asked }));
      return [[groupMembers[figures.group], { ...block, conversion_goal_stats: goals }]];
    }),
  );
}

function presentGoalOfGroup(figures: GroupFigures, { goal, asked }: { goal: number; asked: FiguresAsked }) {
  return { ...presentCounted(figures.conversions[goal]!, asked), cvr: conversionRate(figures, goal) };
}

/** Fact 7 names these two causes, one of them misspelt. */
const causeNames: Record<string, string> = {
  CAMPAIGN_CONTROL_GROUP: 'user_removed_due_to_campaing_control_group',
  GLOBAL_CONTROL_GROUP: 'user_removed_due_to_global_control_group',
};

function presentCauses(failures: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(failures).map(([cause, devices]) => [causeNames[cause] ?? cause, devices]));
}

function presentCounted({ total, unique }: { total: number; unique: number }, { metric }: FiguresAsked) {
  return { conversions: metric === 'TOTAL' ? total : unique, total, unique };
}

/** Returns goals by name; a repeated name gets a number. */
function nameGoals<Shown>(goals: readonly GoalFigures[], show: (goal: GoalFigures, number: number) => Shown) {
  const seen = new Map<string, number>();
  return Object.fromEntries(
    goals.map((row, number) => {
      const nth = (seen.get(row.goal) ?? 0) + 1;
      seen.set(row.goal, nth);
      return [nth === 1 ? row.goal : `${row.goal} (${nth})`, show(row, number)];
    }),
  );
}
