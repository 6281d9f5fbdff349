import type { CampaignFiguresReport } from '../../app/campaigns/campaign-figures.ts';
import { variationName } from '../../domain/experiments/variants.ts';
import { presentCsv } from './csv.ts';

type Platform = CampaignFiguresReport['platforms'][number];
type Content = Platform['all'];
type Group = Platform['groups'][number];

const allPlatforms = 'ALL';

/** Returns one line for each platform, its contents and its control groups, and one for each content over all platforms. */
export function presentFigureFile({ platforms, contents }: CampaignFiguresReport): string {
  const goals = platforms[0]?.all.goals ?? [];
  const goalNames = goals.flatMap(({ name }) => goalColumns.map((column) => `${name}: ${column}`));
  const rows = [
    ...platforms.flatMap(({ platform, all, contents: own, groups }) => [
      ...[all, ...own].map((content) => presentContent(platform, content)),
      ...groups.filter(({ group }) => group !== null).map((group) => presentGroup(platform, group)),
    ]),
    ...contents.map((content) => presentContent(allPlatforms, content)),
  ];
  return presentCsv([[...placeColumns, ...numberColumns.map(([name]) => name), ...goalNames], ...rows]);
}

const placeColumns = ['platform', 'locale', 'variation', 'control group'];

const numberColumns: readonly [string, (content: Content) => number | null | undefined][] = [
  ['devices', ({ devices }) => devices],
  ['attempted', ({ attempted }) => attempted],
  ['accepted', ({ accepted }) => accepted],
  ['failed', ({ failed }) => failed],
  ['gone', ({ gone }) => gone],
  ['shown', ({ shown }) => shown],
  ['shown % of accepted', ({ shownRate }) => shownRate?.percent],
  ['clicked', ({ clicked }) => clicked],
  ['clicked % of accepted', ({ clickedRate }) => clickedRate?.percent],
  ['clicked % low', ({ clickedRate }) => clickedRate?.low],
  ['clicked % high', ({ clickedRate }) => clickedRate?.high],
  ['impressions', ({ impressions }) => impressions],
  ['clicks', ({ clicks }) => clicks],
  ['people', ({ eligibleUsers }) => eligibleUsers],
];

const goalColumns = ['events', 'people', '% of people', '% low', '% high', 'revenue', 'currency'] as const;

function presentContent(platform: string, content: Content): string[] {
  return [
    ...[platform, content.locale ?? '', content.variation === null ? '' : variationName(content.variation), ''],
    ...numberColumns.map(([, numberOf]) => cell(numberOf(content))),
    ...content.goals.flatMap(({ total, users, rate, revenue, currency }) => [
      ...[total, users, rate?.percent, rate?.low, rate?.high, revenue].map(cell),
      currency ?? '',
    ]),
  ];
}

function presentGroup(platform: string, { group, users, goals }: Group): string[] {
  return [
    ...[platform, '', '', group ?? ''],
    ...numberColumns.map(([name]) => (name === 'people' ? cell(users) : '')),
    ...goals.flatMap(({ total, users: converted, percent }) => [
      ...[total, converted, percent].map(cell),
      '',
      '',
      '',
      '',
    ]),
  ];
}

/** Unknown values are empty cells. */
function cell(value: number | null | undefined): string {
  return value === null || value === undefined ? '' : String(value);
}
