import type { CampaignProgress } from '../../../api/generated/campaign-answers.ts';
import type { CampaignFigures, ContentFigures, FigureRate } from '../../../api/generated/campaign-figures.ts';
import { countDevices, notDelivered, countText, percentText, pointsText, shareOf } from '../figures.ts';

type Compared = { progress: CampaignProgress; figures: CampaignFigures };
type Side = { count: string; rate?: string };

export type ComparedRow = {
  name: string;
  one: Side;
  other: Side;
  /** The difference between the shares if both exist, otherwise between the counts. */
  difference: string | undefined;
  /** True if the difference is statistically significant. */
  verdict?: string | undefined;
};

/** Compares the results of two campaigns as shares of their own audience, with the difference. */
export function compareCampaigns({ one, other }: { one: Compared; other: Compared }): ComparedRow[] {
  const goalNames = [...new Set([one, other].flatMap(({ figures }) => figures.all.goals.map(({ name }) => name)))];
  const both = <Value>(of: (side: Compared) => Value) => [of(one), of(other)] as const;
  return [
    compareCounts(
      'Reachable devices',
      both(({ progress }) => progress.reachableDevices),
    ),
    compareShares(
      'Accepted',
      both(({ progress }) => {
        const count = countDevices(progress, ['ACCEPTED']);
        return { count, percent: shareOf(count, progress.reachableDevices), of: 'of reachable' };
      }),
    ),
    compareShares(
      'Shown',
      both(({ figures: { all } }) => ofRate(all.shown, { rate: all.shownRate, of: 'of accepted' })),
    ),
    compareShares(
      'Clicked',
      both(({ figures: { all } }) => ofRate(all.clicked, { rate: all.clickedRate, of: 'of accepted' })),
    ),
    ...goalNames.map((name) =>
      compareShares(
        `Converted: ${name}`,
        both(({ figures: { all } }) => ofGoal(all, name)),
      ),
    ),
    compareShares(
      'Not delivered',
      both(({ progress }) => {
        const count = countDevices(progress, notDelivered);
        return { count, percent: shareOf(count, progress.reachableDevices), of: 'of reachable' };
      }),
    ),
  ];
}

type Share = { count: number; percent: number | undefined; interval?: FigureRate; of: string } | undefined;

function ofRate(count: number, { rate, of }: { rate: FigureRate | null; of: string }): Share {
  return { count, percent: rate?.percent, of, ...(rate && { interval: rate }) };
}

function ofGoal({ goals }: ContentFigures, wanted: string): Share {
  const goal = goals.find(({ name }) => name === wanted);
  return goal && ofRate(goal.users, { rate: goal.rate, of: 'of eligible people' });
}

function compareCounts(name: string, [one, other]: readonly [number | null, number | null]): ComparedRow {
  const sideWith = (count: number | null): Side => ({ count: count === null ? '–' : countText(count) });
  if (one === null || other === null)
    return { name, one: sideWith(one), other: sideWith(other), difference: undefined };
  const difference = one - other;
  const text = `${difference > 0 ? '+' : ''}${countText(difference).replace('-', '−')}`;
  return { name, one: sideWith(one), other: sideWith(other), difference: text };
}

function compareShares(name: string, [one, other]: readonly [Share, Share]): ComparedRow {
  const isKnown = one?.percent !== undefined && other?.percent !== undefined;
  return {
    name,
    one: sideOf(one),
    other: sideOf(other),
    difference: isKnown ? pointsText(one.percent! - other.percent!) : undefined,
    verdict: verdictOf(one?.interval, other?.interval),
  };
}

function sideOf(share: Share): Side {
  if (share === undefined) return { count: '–' };
  const { count, percent, of } = share;
  return { count: countText(count), ...(percent !== undefined && { rate: `${percentText(percent)} ${of}` }) };
}

function verdictOf(one: FigureRate | undefined, other: FigureRate | undefined): string | undefined {
  if (!one || !other) return undefined;
  return one.low > other.high || other.low > one.high ? 'more than chance' : 'may be chance';
}
