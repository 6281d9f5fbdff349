import type { Platform } from '../content/content.ts';
import type { ControlGroup } from '../experiments/control-groups.ts';
import { rateInterval, upliftOf } from '../experiments/learning.ts';

/** `TOTAL` counts everything, `UNIQUE` a device or a user once (fact 7). */
export type FigureMetric = 'TOTAL' | 'UNIQUE';

/** What is known of a campaign, or of a part of it. */
export type Figures = {
  /** Devices that the runs had, each once a run, whatever became of their messages. */
  devices: number;
  attempted: number;
  sent: number;
  failed: number;
  /** Of those that failed: their provider knows no such address any more. */
  gone: number;
  /** Cause, in the provider's words, and how often; undefined where the causes of parts are kept no more. */
  failures: Record<string, number> | undefined;
  impressions: ReportFigures;
  clicks: ReportFigures;
  closes: ReportFigures;
  conversions: GoalFigures[];
  /** Undefined of a part, and of runs that were not counted when they began. */
  audience: AudienceFigures | undefined;
  /** Whom its control groups kept out, and whom not; undefined of a campaign without such groups. */
  groups: GroupFigures[] | undefined;
};

/** What devices reported of messages. */
export type ReportFigures = {
  total: number;
  /** Each once. */
  messages: number;
  /** Undefined where it is not known which devices are the same. */
  devices: number | undefined;
};

export type PlatformFigures = Figures & {
  platform: Platform;
  /** Of those who got one of several contents; none where there is one for all. */
  variants: VariantFigures[];
};

/** Of a variation (null: of all) in a locale (null: in all). */
export type VariantFigures = Figures & { variation: number | null; locale: string | null };

/** Users of the runs with a device of the platform, each once a run, as counted when the runs began. */
export type AudienceFigures = {
  /** With one that is sent to. */
  reachable: number;
  /** With one that has the app, be it opted out or blocked. */
  installed: number;
};

/** Users of the runs, each once a run: of a control group, or (null) those whom the message was meant for. */
export type GroupFigures = {
  group: ControlGroup | null;
  users: number;
  /** By goal, in the order of the goals. */
  conversions: (Counted & { users: number })[];
};

export type Counted = { total: number; unique: number };

export type GoalFigures = Counted & {
  goal: string;
  /** Each user once a run. */
  users: number;
  /** What the events brought; undefined of a goal that names no attribute for it. */
  revenue: { sum: number; currency: string | undefined } | undefined;
};

export type CampaignFigures = {
  id: string;
  name: string;
  deliveryType: string;
  /** Runs that the figures are of. */
  runs: number;
  platforms: PlatformFigures[];
};

/** Undefined: not known, or a share of nothing. */
export type Performance = Partial<
  Record<
    | 'attempted'
    | 'sent'
    | 'failed'
    | 'gone'
    | 'impressions'
    | 'clicks'
    | 'closes'
    | 'delivered'
    | 'clickRate'
    | 'deliveryRate'
    | 'sentRate'
    | 'failureRate',
    number | undefined
  >
>;

/**
 * The figures of a platform in one metric. The ledger has one row per run and device: within one run the rows are
 * unique devices; across several runs devices are not deduplicated, so the unique numbers are unknown.
 */
export function performanceOf(figures: Figures, { runs, metric }: { runs: number; metric: FigureMetric }): Performance {
  const { attempted, sent, failed, gone } = figures;
  const count = ({ total, devices }: ReportFigures) => (metric === 'TOTAL' ? total : devices);
  const [impressions, clicks, closes] = [figures.impressions, figures.clicks, figures.closes].map(count);
  const delivered = metric === 'TOTAL' ? figures.impressions.messages : figures.impressions.devices;
  const reported = { impressions, clicks, closes, delivered, clickRate: percent(clicks, impressions) };
  if (!areDeliveriesKnown({ runs, metric })) return reported;
  return {
    ...reported,
    ...{ attempted, sent, failed, gone },
    deliveryRate: percent(delivered, sent),
    sentRate: percent(sent, attempted),
    failureRate: percent(attempted - sent, attempted),
  };
}

export function areDeliveriesKnown({ runs, metric }: { runs: number; metric: FigureMetric }): boolean {
  return metric === 'TOTAL' || runs <= 1;
}

/** Users whom the message was meant for; undefined where they were not counted. */
export function eligibleUsersOf({ groups, audience }: Figures): number | undefined {
  return groups ? groups.find(({ group }) => group === null)?.users : audience?.reachable;
}

/** The shares of them who fulfilled a goal; undefined where they were not counted. */
export function conversionRateOf(figures: Figures, goal: number): RateFigures | undefined {
  const eligible = eligibleUsersOf(figures);
  if (eligible === undefined) return undefined;
  const treated = figures.groups?.find(({ group }) => group === null);
  return rateFigures((treated?.conversions[goal] ?? figures.conversions[goal]!).users, eligible);
}

/** Percent, and the bounds between which the true value is with 95 % confidence; undefined: not known. */
export type GoalUplift = { uplift?: number | undefined; low?: number | undefined; high?: number | undefined };

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

/** The share of a group's users who fulfilled a goal, in percent; undefined of an empty group. */
export function conversionRate({ users, conversions }: GroupFigures, goal: number): number | undefined {
  return percent(conversions[goal]!.users, users);
}

/** Percent of the trials, with the bounds of its 95 % interval; undefined without trials. */
export type RateFigures = { rate?: number | undefined; low?: number | undefined; high?: number | undefined };

/** Reports may come of messages whose acceptance was never heard of: there are at least as many trials as successes. */
export function rateFigures(successes: number, sent: number): RateFigures {
  const trials = Math.max(sent, successes);
  const { low, high } = rateInterval({ successes, trials }) ?? {};
  return { rate: percent(successes, trials), low: inPercent(low), high: inPercent(high) };
}

function inPercent(share: number | undefined): number | undefined {
  return share === undefined ? undefined : Math.round(share * 10_000) / 100;
}

/** Percent, to two decimals; of nothing there is no share. */
function percent(part: number | undefined, whole: number | undefined): number | undefined {
  if (part === undefined || whole === undefined || whole === 0) return undefined;
  return Math.round((part / whole) * 10_000) / 100;
}

/** The sum of one number of each row; 0 of none. */
export function sumOf<Name extends string>(rows: readonly Record<Name, number>[], name: Name): number {
  return rows.reduce((sum, row) => sum + row[name], 0);
}
