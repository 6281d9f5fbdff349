import type {
  Figures,
  GroupFigures,
  PlatformFigures,
  VariantFigures,
} from '../../domain/campaigns/campaign-figures.ts';
import type { Platform } from '../../domain/campaigns/content.ts';
import { sumOf } from '../../domain/sum-of.ts';
import type {
  AskedVariant,
  ConversionNumbers,
  FailureNumbers,
  InteractionNumbers,
  LedgerFailureNumbers,
  NumbersOfVariant,
  OutcomeNumbers,
  RunNumbers,
  StatsCampaign,
} from '../../storage/campaigns/campaign-stats.ts';
import type { GroupConversionNumbers, GroupUserNumbers } from '../../storage/campaigns/group-stats.ts';

/** What was counted of campaigns, each row of one of them. */
export type StatsNumbers = {
  runs: RunNumbers[];
  outcomes: OutcomeNumbers[];
  failures: LedgerFailureNumbers[];
  keptFailures: FailureNumbers[];
  conversions: ConversionNumbers[];
  groupUsers: GroupUserNumbers[];
  groupConversions: GroupConversionNumbers[];
  interactions: InteractionNumbers[];
};

type OfPlatform = { numbers: StatsNumbers; campaign: StatsCampaign; platform: Platform };
type Part = OfPlatform & { of: AskedVariant };

const all: AskedVariant = { variation: null, locale: null };

/** The figures of one platform of a campaign, and of each of its contents. */
export function toPlatformFigures(asked: OfPlatform): PlatformFigures {
  const { platform } = asked;
  const variants = variantsOf(asked).map((of) => toVariantFigures({ ...asked, of }));
  return { platform, ...toFigures({ ...asked, of: all }), variants };
}

/** Each variation in all locales, each locale in all variations, and each variation in each locale. */
function variantsOf(asked: OfPlatform): AskedVariant[] {
  const { locales, variations } = asked.campaign;
  // A campaign that was changed between two runs has figures of contents that are there no more.
  const counted = ofPlatform(asked, asked.numbers.outcomes);
  const most = Math.max(variations ?? 0, ...counted.map(({ variation }) => variation));
  const numbers = most > 1 ? Array.from({ length: most }, (_, index) => index + 1) : [];
  const names = new Set([...(locales ?? []), ...counted.map(({ locale }) => locale)]);
  names.delete('');
  return [null, ...names].flatMap((locale) =>
    [null, ...numbers].flatMap((variation) => (locale === null && variation === null ? [] : [{ variation, locale }])),
  );
}

function toVariantFigures(part: Part): VariantFigures {
  const { of, numbers } = part;
  const clicks = ownRows(part, numbers.interactions).filter(({ kind }) => kind === 'CLICK');
  return {
    ...of,
    ...toFigures(part),
    clickedMessages: areReportsOfSpan(part) ? sumOf(clicks, 'messages') : undefined,
  };
}

function toFigures(part: Part): Figures {
  const { numbers, campaign, of } = part;
  const outcomes = ownRows(part, numbers.outcomes);
  const sum = (...wanted: string[]): number =>
    sumOf(
      outcomes.filter((row) => wanted.includes(row.outcome)),
      'devices',
    );
  const conversions = ofPlatform(part, numbers.conversions).filter(
    ({ variation, locale }) => variation === of.variation && locale === of.locale,
  );
  const failed = sum('GONE', 'REJECTED', 'EXPIRED', 'FAILED');
  return {
    attempted: sum('ACCEPTED', 'WAITING') + failed,
    sent: sum('ACCEPTED'),
    failed,
    failures: toFailures(part),
    interactions: toInteractions(part),
    conversions: campaign.goals.map(({ name }, goal) => {
      const { total = 0, unique = 0 } = conversions.find((row) => row.goal === goal) ?? {};
      return { goal: name, counted: { total, unique } };
    }),
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

/** By cause: a campaign may have runs in the ledger and runs that are only counted, which know nothing of contents. */
function toFailures(part: Part): Record<string, number> | undefined {
  const kept = ofPlatform(part, part.numbers.keptFailures);
  if (part.of !== all && kept.length > 0) return undefined;
  const devicesOf: Record<string, number> = {};
  for (const { cause, devices } of [...ownRows(part, part.numbers.failures), ...kept])
    devicesOf[cause] = (devicesOf[cause] ?? 0) + devices;
  return devicesOf;
}

/** Reports are counted per campaign, not per day: they are those of the span when it holds every run. */
function areReportsOfSpan({ numbers, campaign }: OfPlatform): boolean {
  const row = numbers.runs.find(({ campaignId }) => campaignId === campaign.id);
  return !row || row.runsInSpan === row.runs;
}

function toInteractions(part: Part): Figures['interactions'] {
  if (!areReportsOfSpan(part)) return undefined;
  const counted = (wanted: string) => {
    const rows = ownRows(part, part.numbers.interactions).filter(({ kind }) => kind === wanted);
    // A device that got two contents in two runs is one of each.
    return { total: sumOf(rows, 'total'), unique: sumOf(rows, part.of === all ? 'uniqueDevices' : 'messages') };
  };
  return { impressions: counted('IMPRESSION'), clicks: counted('CLICK') };
}

/** Whose language is which was not counted when the run began. */
function toGroups(part: Part): GroupFigures[] | undefined {
  const { numbers, campaign, of } = part;
  const users = ofPlatform(part, numbers.groupUsers);
  if (users.length === 0 || of.locale !== null) return undefined;
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
