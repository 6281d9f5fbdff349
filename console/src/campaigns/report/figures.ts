import type { CampaignProgress, DeliveryOutcome } from '../../api/generated/campaign-answers.ts';

export const notDelivered: DeliveryOutcome[] = ['GONE', 'REJECTED', 'EXPIRED', 'FAILED', 'WITHHELD'];

export function countDevices(progress: CampaignProgress, outcomes: DeliveryOutcome[], platform?: string): number {
  return progress.outcomes
    .filter((row) => outcomes.includes(row.outcome) && (platform === undefined || row.platform === platform))
    .reduce((sum, row) => sum + row.devices, 0);
}

/** Messages, each once: a device that was sent to by two runs counts twice, as among the accepted. */
export function countReports(progress: CampaignProgress, kind: 'IMPRESSION' | 'CLICK', platform?: string): number {
  return progress.interactions
    .filter((row) => row.kind === kind && (platform === undefined || row.platform === platform))
    .reduce((sum, row) => sum + row.messages, 0);
}

/** `41,200`. */
export function countText(count: number): string {
  return count.toLocaleString('en');
}

/** `3.2 %`, `0.04 %`, `100 %`: as many places as tell one rate from the next. */
export function percentText(percent: number): string {
  const digits = percent !== 0 && Math.abs(percent) < 1 ? 2 : 1;
  return `${percent.toLocaleString('en', { maximumFractionDigits: digits })} %`;
}

/** The share of one number of another; undefined of nothing. Reports may come of messages whose acceptance was never heard of. */
export function shareOf(part: number, whole: number): number | undefined {
  return whole === 0 ? undefined : Math.min(100, (part / whole) * 100);
}

/** `+1.2 points`: between two shares, which are not divided by each other. */
export function pointsText(points: number): string {
  const shown = Math.abs(points) < 1 ? points.toFixed(2) : points.toFixed(1);
  return `${points > 0 ? '+' : ''}${Number(shown) === 0 ? '0' : shown.replace('-', '−')} points`;
}
