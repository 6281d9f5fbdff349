import type { ControlGroup } from '../experiments/control-groups.ts';
import { rateInterval, upliftOf } from '../experiments/intervals.ts';
import type { Platform } from './content.ts';

/** `TOTAL` counts everything, `UNIQUE` a device or a user once (fact 7). */
export type FigureMetric = 'TOTAL' | 'UNIQUE';

/** What is known of a campaign, or of a part of it. */
export type Figures = {
  attempted: number;
  sent: number;
  failed: number;
  /** Cause, in the provider's words, and how often; undefined where the causes of parts are kept no more. */
  failures: Record<string, number> | undefined;
  /** Undefined when the reports cannot be told from those of runs that were not asked for. */
  interactions: { impressions: Counted; clicks: Counted } | undefined;
  conversions: { goal: string; counted: Counted }[];
  /** Whom its control groups kept out, and whom not; undefined of a campaign without such groups. */
  groups: GroupFigures[] | undefined;
};

export type PlatformFigures = Figures & {
  platform: Platform;
  /** Of those who got one of several contents; none where there is one for all. */
  variants: VariantFigures[];
};

/** Of a variation (null: of all) in a locale (null: in all). */
export type VariantFigures = Figures & {
  variation: number | null;
  locale: string | null;
  /** Messages that were clicked at least once; undefined like `interactions`. */
  clickedMessages: number | undefined;
};

/** Users of the runs, each once a run: of a control group, or (null) those whom the message was meant for. */
export type GroupFigures = {
  group: ControlGroup | null;
  users: number;
  /** By goal, in the order of the goals. */
  conversions: (Counted & { users: number })[];
};

export type Counted = { total: number; unique: number };

export type CampaignFigures = {
  id: string;
  /** Runs that the figures are of. */
  runs: number;
  platforms: PlatformFigures[];
};

/** Null: not known. */
export type Performance = Record<
  'attempted' | 'sent' | 'failed' | 'impressions' | 'clicks' | 'clickRate' | 'sentRate' | 'failureRate',
  number | null
>;

/**
 * The figures of a platform in one metric. The ledger has one row per run and device: within one run the rows are
 * unique devices; across several runs devices are not deduplicated, so the unique numbers are unknown.
 */
export function performanceOf(figures: Figures, { runs, metric }: { runs: number; metric: FigureMetric }): Performance {
  const isCounted = areDeliveriesKnown({ runs, metric });
  const { attempted, sent, failed } = figures;
  const { impressions, clicks } = figures.interactions ?? {};
  const count = (counted: Counted | undefined): number | null =>
    counted === undefined ? null : metric === 'TOTAL' ? counted.total : counted.unique;
  return {
    attempted: isCounted ? attempted : null,
    sent: isCounted ? sent : null,
    failed: isCounted ? failed : null,
    impressions: count(impressions),
    clicks: count(clicks),
    clickRate: percent(count(clicks), count(impressions)),
    sentRate: isCounted ? percent(sent, attempted) : null,
    failureRate: isCounted ? percent(attempted - sent, attempted) : null,
  };
}

export function areDeliveriesKnown({ runs, metric }: { runs: number; metric: FigureMetric }): boolean {
  return metric === 'TOTAL' || runs <= 1;
}

/** Percent, and the bounds between which the true value is with 95 % confidence; null: not known. */
export type GoalUplift = { uplift: number | null; low: number | null; high: number | null };

/**
 * By how much those whom a campaign was meant for fulfilled a goal more often than its control group did; of two control
 * groups the campaign's own is the measure, since it differs in nothing but this campaign.
 */
export function goalUplift(groups: readonly GroupFigures[], goal: number): GoalUplift {
  const trialsOf = (wanted: ControlGroup | null) => {
    const found = groups.find(({ group }) => group === wanted);
    return found && { trials: found.users, successes: found.conversions[goal]!.users };
  };
  const treated = trialsOf(null);
  const control = trialsOf('CAMPAIGN_CONTROL_GROUP') ?? trialsOf('GLOBAL_CONTROL_GROUP');
  const found = treated && control && upliftOf({ treated, control });
  const { low, high } = found?.interval ?? {};
  return { uplift: inPercent(found?.value), low: inPercent(low), high: inPercent(high) };
}

/** The share of a group's users who fulfilled a goal, in percent; null of an empty group. */
export function conversionRate({ users, conversions }: GroupFigures, goal: number): number | null {
  return percent(conversions[goal]!.users, users);
}

/** Percent of the trials, with the bounds of its 95 % interval; null: not known. */
export type RateFigures = { rate: number | null; low: number | null; high: number | null };

/** Reports may come of messages whose acceptance was never heard of: there are at least as many trials as successes. */
export function rateFigures(successes: number | undefined, sent: number): RateFigures {
  if (successes === undefined) return { rate: null, low: null, high: null };
  const trials = Math.max(sent, successes);
  const { low, high } = rateInterval({ successes, trials }) ?? {};
  return { rate: percent(successes, trials), low: inPercent(low), high: inPercent(high) };
}

/** The same of those who fulfilled a goal. */
export function conversionInterval({ users, conversions }: GroupFigures, goal: number): RateFigures {
  return rateFigures(conversions[goal]!.users, users);
}

function inPercent(share: number | undefined): number | null {
  return share === undefined ? null : Math.round(share * 10_000) / 100;
}

/** Percent, to two decimals; of nothing there is no share. */
function percent(part: number | null, whole: number | null): number | null {
  if (part === null || whole === null || whole === 0) return null;
  return Math.round((part / whole) * 10_000) / 100;
}
