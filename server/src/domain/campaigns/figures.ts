import type { Platform } from '../content/content.ts';
import type { ControlGroup } from '../experiments/control-groups.ts';
import { rateInterval, upliftOf } from '../experiments/learning.ts';

/** `TOTAL` counts everything, `UNIQUE` counts a device or a user once (fact 7). */
export type FigureMetric = 'TOTAL' | 'UNIQUE';

/** The figures of a campaign, or of a part of it. */
export type Figures = {
  /** Devices of the runs, each once per run, whatever the outcome of their messages. */
  devices: number;
  attempted: number;
  sent: number;
  failed: number;
  /** The failed deliveries for which the provider no longer knows the address. */
  gone: number;
  /** Failures by cause, in the provider's words; undefined where the causes of parts are no longer stored. */
  failures: Record<string, number> | undefined;
  impressions: ReportFigures;
  clicks: ReportFigures;
  closes: ReportFigures;
  conversions: GoalFigures[];
  /** Undefined for a part, and for runs that were not counted when they began. */
  audience: AudienceFigures | undefined;
  /** The users in its control groups, and the others; undefined for a campaign without control groups. */
  groups: GroupFigures[] | undefined;
};

/** The reports of devices about messages. */
export type ReportFigures = {
  total: number;
  /** Each message once. */
  messages: number;
  /** Undefined if it is not known which devices are the same. */
  devices: number | undefined;
};

export type ContentFigures = Figures & {
  /** Figures by variant; empty if all users get the same content. */
  variants: VariantFigures[];
};

export type PlatformFigures = ContentFigures & { platform: Platform };

/** Figures of a variation (null: of all) in a locale (null: in all). */
export type VariantFigures = Figures & { variation: number | null; locale: string | null };

/** Users of the runs with a device of the platform, each once per run, as counted when the runs began. */
export type AudienceFigures = {
  /** Users with a device that is sent to. */
  reachable: number;
  /** Users with a device that has the app, even if it is opted out or blocked. */
  installed: number;
};

/** Users of the runs, each once per run: those of a control group, or (null) the intended recipients. */
export type GroupFigures = {
  group: ControlGroup | null;
  users: number;
  /** By goal, in the order of the goals. */
  conversions: (Counted & { users: number })[];
};

export type Counted = { total: number; unique: number };

export type GoalFigures = Counted & {
  goal: string;
  /** Each user once per run. */
  users: number;
  /** The revenue of the events; undefined for a goal that names no revenue attribute. */
  revenue: { sum: number; currency: string | undefined } | undefined;
};

export type CampaignFigures = {
  id: string;
  name: string;
  deliveryType: string;
  /** Number of runs in the figures. */
  runs: number;
  platforms: PlatformFigures[];
};

/** Undefined: unknown, or a share of zero. */
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
 * Returns the figures of a platform in one metric. The ledger has one row per run and device. Within one run, the rows are
 * unique devices. Across several runs, devices are not deduplicated, so the unique numbers are unknown.
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

/** Returns the number of intended recipients; undefined if they were not counted. */
export function eligibleUsersOf({ groups, audience }: Figures): number | undefined {
  return groups ? groups.find(({ group }) => group === null)?.users : audience?.reachable;
}

/** Returns the share of the intended recipients who fulfilled a goal; undefined if they were not counted. */
export function conversionRateOf(figures: Figures, goal: number): RateFigures | undefined {
  const eligible = eligibleUsersOf(figures);
  if (eligible === undefined) return undefined;
  const treated = figures.groups?.find(({ group }) => group === null);
  return rateFigures((treated?.conversions[goal] ?? figures.conversions[goal]!).users, eligible);
}

/** Percent, and the bounds of its 95 % confidence interval; undefined: unknown. */
export type GoalUplift = { uplift?: number | undefined; low?: number | undefined; high?: number | undefined };

/**
 * Returns how much more often the intended recipients fulfilled a goal than the control group. With two control groups, the
 * campaign's group is the reference, because it differs only in this campaign.
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

/** Returns the share of a group's users who fulfilled a goal, in percent; undefined for an empty group. */
export function conversionRate({ users, conversions }: GroupFigures, goal: number): number | undefined {
  return percent(conversions[goal]!.users, users);
}

/** Percent of the trials, with the bounds of its 95 % interval; undefined without trials. */
export type RateFigures = { rate?: number | undefined; low?: number | undefined; high?: number | undefined };

/** Devices may report on messages without a recorded acceptance, so there are at least as many trials as successes. */
export function rateFigures(successes: number, sent: number): RateFigures {
  const trials = Math.max(sent, successes);
  const { low, high } = rateInterval({ successes, trials }) ?? {};
  return { rate: percent(successes, trials), low: inPercent(low), high: inPercent(high) };
}

function inPercent(share: number | undefined): number | undefined {
  return share === undefined ? undefined : Math.round(share * 10_000) / 100;
}

/** Returns a percentage to two decimals; undefined for a share of zero. */
function percent(part: number | undefined, whole: number | undefined): number | undefined {
  if (part === undefined || whole === undefined || whole === 0) return undefined;
  return Math.round((part / whole) * 10_000) / 100;
}

/**
 * Returns the figures of all platforms together. A device has one platform, so messages, reports and events add up. A user may
 * have several: the numbers of users are unknown then, and unique conversions count a user once a platform.
 */
export function totalOf(platforms: readonly PlatformFigures[]): ContentFigures {
  const [only, ...others] = platforms;
  if (only && others.length === 0) return only;
  const keyOf = ({ variation, locale }: VariantFigures): string => JSON.stringify([variation, locale]);
  const variants = [
    ...Map.groupBy(
      platforms.flatMap((figures) => figures.variants),
      keyOf,
    ).values(),
  ];
  return {
    ...sumFigures(platforms),
    variants: variants.map((rows) => ({
      ...{ variation: rows[0]!.variation, locale: rows[0]!.locale },
      ...sumFigures(rows),
    })),
  };
}

function sumFigures(rows: readonly Figures[]): Figures {
  const reports = (kind: 'impressions' | 'clicks' | 'closes'): ReportFigures =>
    sumReports(rows.map((row) => row[kind]));
  return {
    devices: sumOf(rows, 'devices'),
    attempted: sumOf(rows, 'attempted'),
    sent: sumOf(rows, 'sent'),
    failed: sumOf(rows, 'failed'),
    gone: sumOf(rows, 'gone'),
    failures: sumFailures(rows.map(({ failures }) => failures)),
    ...{ impressions: reports('impressions'), clicks: reports('clicks'), closes: reports('closes') },
    conversions: (rows[0]?.conversions ?? []).map(({ goal, revenue }, number) => {
      const own = rows.map(({ conversions }) => conversions[number]!);
      const sums = { total: sumOf(own, 'total'), unique: sumOf(own, 'unique'), users: sumOf(own, 'users') };
      const sum = own.reduce((all, row) => all + (row.revenue?.sum ?? 0), 0);
      return { goal, ...sums, revenue: revenue && { sum, currency: revenue.currency } };
    }),
    audience: undefined,
    groups: undefined,
  };
}

function sumReports(rows: readonly ReportFigures[]): ReportFigures {
  const devices = rows.map((row) => row.devices);
  const known = devices.filter((number) => number !== undefined);
  const sum = known.length === rows.length ? known.reduce((all, number) => all + number, 0) : undefined;
  return { total: sumOf(rows, 'total'), messages: sumOf(rows, 'messages'), devices: sum };
}

function sumFailures(rows: readonly Figures['failures'][]): Figures['failures'] {
  const sums: Record<string, number> = {};
  for (const failures of rows) {
    if (failures === undefined) return undefined;
    for (const [cause, devices] of Object.entries(failures)) sums[cause] = (sums[cause] ?? 0) + devices;
  }
  return sums;
}

/** Returns the sum of one number of each row; 0 for no rows. */
export function sumOf<Name extends string>(rows: readonly Record<Name, number>[], name: Name): number {
  return rows.reduce((sum, row) => sum + row[name], 0);
}
