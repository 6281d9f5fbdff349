import type { CampaignProgress, DeliveryOutcome } from '../api/generated/campaign-answers.ts';

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
