import type { CampaignProgress, DeliveryOutcome } from '../../api/generated/campaign-answers.ts';

export const notDelivered: DeliveryOutcome[] = ['GONE', 'REJECTED', 'EXPIRED', 'FAILED', 'WITHHELD'];

export function countDevices(progress: CampaignProgress, outcomes: DeliveryOutcome[], platform?: string): number {
  return progress.outcomes
    .filter((row) => outcomes.includes(row.outcome) && (platform === undefined || row.platform === platform))
    .reduce((sum, row) => sum + row.devices, 0);
}

/** Messages, counted once per run: a device in two runs counts twice, as it does among the accepted messages. */
export function countReports(progress: CampaignProgress, kind: 'IMPRESSION' | 'CLICK', platform?: string): number {
  return progress.interactions
    .filter((row) => row.kind === kind && (platform === undefined || row.platform === platform))
    .reduce((sum, row) => sum + row.messages, 0);
}

/** `41,200`. */
export function countText(count: number): string {
  return count.toLocaleString('en');
}

/** Formats a share as `3.2 %`, `0.04 %` or `100 %`, with enough decimals to distinguish rates. */
export function percentText(percent: number): string {
  const digits = percent !== 0 && Math.abs(percent) < 1 ? 2 : 1;
  return `${percent.toLocaleString('en', { maximumFractionDigits: digits })} %`;
}

/**
 * Returns the share of one number in another; undefined if the whole is 0 or unknown. It can exceed 1, because devices may report
 * messages whose acceptance was never received.
 */
export function shareOf(part: number, whole: number | null): number | undefined {
  return whole === null || whole === 0 ? undefined : Math.min(100, (part / whole) * 100);
}

/** Formats the difference between two shares as `+1.2 points`. */
export function pointsText(points: number): string {
  const shown = Math.abs(points) < 1 ? points.toFixed(2) : points.toFixed(1);
  return `${points > 0 ? '+' : ''}${Number(shown) === 0 ? '0' : shown.replace('-', '−')} points`;
}
