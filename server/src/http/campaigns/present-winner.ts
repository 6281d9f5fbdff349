import type { CampaignWinner } from '../../app/campaigns/winner.ts';
import type { ComparedVariation } from '../../domain/experiments/learning.ts';
import { variationName } from '../../domain/experiments/variants.ts';

export function presentWinner({ campaign, figures }: CampaignWinner) {
  const { id, winner, namedAt, namedBy } = campaign;
  return {
    campaign_id: id,
    winner: winner === null ? null : variationName(winner),
    named_at: namedAt?.toISOString() ?? null,
    named_by: namedBy,
    figures: figures.map(({ measure, variations }) => ({
      metric: measure,
      variations: variations.map(presentCompared),
    })),
  };
}

function presentCompared({ variation, trials, successes, rate, interval, bestPercent }: ComparedVariation) {
  return {
    variation: variationName(variation),
    ...{ sent: trials, successes },
    ...(rate === undefined ? {} : { rate: inPercent(rate) }),
    ...(interval && { rate_low: inPercent(interval.low), rate_high: inPercent(interval.high) }),
    best_percent: bestPercent,
  };
}

function inPercent(share: number): number {
  return Math.round(share * 10_000) / 100;
}
