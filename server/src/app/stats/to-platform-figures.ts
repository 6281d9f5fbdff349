import type {
  AudienceFigures,
  Figures,
  GroupFigures,
  PlatformFigures,
  ReportFigures,
} from '../../domain/campaigns/campaign-figures.ts';
import type { Platform } from '../../domain/campaigns/content.ts';
import { sumOf } from '../../domain/sum-of.ts';
import type {
  AskedVariant,
  ConversionNumbers,
  FailureNumbers,
  LedgerFailureNumbers,
  NumbersOfVariant,
  OutcomeNumbers,
  RunNumbers,
  StatsCampaign,
} from '../../storage/campaigns/campaign-stats.ts';
import type { AudienceNumbers, GroupConversionNumbers, GroupUserNumbers } from '../../storage/campaigns/group-stats.ts';
import type { InteractionNumbers, RunInteractionNumbers } from '../../storage/campaigns/report-stats.ts';

/** What was counted of campaigns, each row of one of them. */
export type StatsNumbers = {
  runs: RunNumbers[];
  outcomes: OutcomeNumbers[];
  failures: LedgerFailureNumbers[];
  keptFailures: FailureNumbers[];
  conversions: ConversionNumbers[];
  audiences: AudienceNumbers[];
  groupUsers: GroupUserNumbers[];
  groupConversions: GroupConversionNumbers[];
  /** Of the runs, and of all that the campaigns ever had. */
  runInteractions: RunInteractionNumbers[];
  interactions: InteractionNumbers[];
};

type OfPlatform = { numbers: StatsNumbers; campaign: StatsCampaign; platform: Platform };
type Part = OfPlatform & { of: AskedVariant };

const all: AskedVariant = { variation: null, locale: null };

/** The figures of one platform of a campaign, and of each of its contents. */
export function toPlatformFigures(asked: OfPlatform): PlatformFigures {
  const { platform } = asked;
  const variants = variantsOf(asked).map((of) => ({ ...of, ...toFigures({ ...asked, of }) }));
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

function toFigures(part: Part): Figures {
  const outcomes = ownRows(part, part.numbers.outcomes);
  const sum = (...wanted: string[]): number =>
    sumOf(
      outcomes.filter((row) => wanted.includes(row.outcome)),
      'devices',
    );
  const failed = sum('GONE', 'REJECTED', 'EXPIRED', 'FAILED');
  return {
    devices: sumOf(outcomes, 'devices'),
    attempted: sum('ACCEPTED', 'WAITING') + failed,
    sent: sum('ACCEPTED'),
    failed,
    gone: sum('GONE'),
    failures: toFailures(part),
    impressions: toReports(part, 'IMPRESSION'),
    clicks: toReports(part, 'CLICK'),
    closes: toReports(part, 'CLOSE'),
    conversions: toConversions(part),
    audience: toAudience(part),
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

/**
 * Of the runs that are asked for. Which devices are the same in several runs is counted for the whole campaign alone: it is
 * known where these runs have all the messages that the campaign was ever told of. Of a single content a device that got it
 * in two runs is two.
 */
function toReports(part: Part, kind: string): ReportFigures {
  const { numbers, campaign, of } = part;
  const ofKind = <Row extends { kind: string }>(rows: readonly Row[]) => rows.filter((row) => row.kind === kind);
  const rows = ofKind(ownRows(part, numbers.runInteractions));
  const [total, messages] = [sumOf(rows, 'total'), sumOf(rows, 'messages')];
  if (of !== all) return { total, messages, devices: messages };
  const ever = ofKind(ofPlatform(part, numbers.interactions));
  if (sumOf(ever, 'messages') === messages) return { total, messages, devices: sumOf(ever, 'uniqueDevices') };
  const runs = numbers.runs.find(({ campaignId }) => campaignId === campaign.id)?.runsInSpan ?? 0;
  return { total, messages, devices: runs <= 1 ? messages : undefined };
}

function toConversions(part: Part): Figures['conversions'] {
  const { campaign, of } = part;
  const rows = ofPlatform(part, part.numbers.conversions).filter(
    ({ variation, locale }) => variation === of.variation && locale === of.locale,
  );
  return campaign.goals.map(({ name, revenue }, goal) => {
    const { total = 0, unique = 0, users = 0, revenue: sum } = rows.find((row) => row.goal === goal) ?? {};
    return {
      ...{ goal: name, total, unique, users },
      revenue: revenue && { sum: sum ?? 0, currency: revenue.currency },
    };
  });
}

/** Of everything together: whose language is which is not counted when a run begins. */
function toAudience(part: Part): AudienceFigures | undefined {
  if (part.of !== all) return undefined;
  const { campaign, numbers, platform } = part;
  const own = numbers.audiences.filter(({ campaignId }) => campaignId === campaign.id);
  if (own.length === 0 || own.some(({ isUncounted }) => isUncounted)) return undefined;
  const rows = own.filter((row) => row.platform === platform);
  return { reachable: sumOf(rows, 'users'), installed: sumOf(rows, 'installed') };
}

/** Whose language is which was not counted when the run began. */
function toGroups(part: Part): GroupFigures[] | undefined {
  const { numbers, campaign, of } = part;
  const users = ofPlatform(part, numbers.groupUsers);
  if (users.length === 0 || of.locale !== null) return undefined;
  // Of a run that learns, or in which a winner was named, nobody knew before who would get which.
  const isDrawn = users.every(({ group, variation }) => group !== null || variation > 0);
  if (of.variation !== null && !isDrawn) return undefined;
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
