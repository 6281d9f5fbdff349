import { hash } from 'node:crypto';

/** Who is kept out of a campaign to compare with; the words of `deliveries.code`. The workspace's is asked first. */
export const controlGroups = ['GLOBAL_CONTROL_GROUP', 'CAMPAIGN_CONTROL_GROUP'] as const;
export type ControlGroup = (typeof controlGroups)[number];

export type ControlShares = {
  workspaceId: string;
  /** The same in all versions of a campaign. */
  canonicalCampaignId: string;
  /** Percent of the workspace's users; null: the campaign is for all of them. */
  globalPercent: number | null;
  /** Percent of the campaign's own. */
  campaignPercent: number | null;
};

export type ControlGroupOf = (userId: string) => ControlGroup | undefined;

/**
 * In which control group a user is. The workspace's is the same for all of its campaigns, a campaign's is drawn for it
 * alone, and both stay as long as their share does; undefined where a campaign has none.
 */
export function makeControlGroupOf({
  workspaceId,
  canonicalCampaignId,
  ...shares
}: ControlShares): ControlGroupOf | undefined {
  const globalPoints = pointsOfPercent(shares.globalPercent ?? 0);
  const campaignPoints = pointsOfPercent(shares.campaignPercent ?? 0);
  if (globalPoints === 0 && campaignPoints === 0) return undefined;
  return (userId) => {
    if (globalPoints > 0 && drawPoint('global-control', { of: workspaceId, userId }) < globalPoints)
      return 'GLOBAL_CONTROL_GROUP';
    if (campaignPoints > 0 && drawPoint('campaign-control', { of: canonicalCampaignId, userId }) < campaignPoints)
      return 'CAMPAIGN_CONTROL_GROUP';
    return undefined;
  };
}

/** What is drawn. Draws of different names know nothing of each other. */
export type Draw = 'global-control' | 'campaign-control' | 'variation';

/** Points are whole numbers below this. */
export const pointCount = 2 ** 32;

/**
 * Where a user stands in a draw, evenly over all users: the first four bytes of SHA-256 of `<draw> <of> <user>`. The same
 * on every node and after every crash, so nothing is stored of it; a database finds it the same way
 * (`storage/campaigns/audience-groups.ts`).
 *
 * @param of the campaign or workspace that draws
 */
export function drawPoint(draw: Draw, { of, userId }: { of: string; userId: string }): number {
  return hash('sha256', `${draw} ${of} ${userId}`, 'buffer').readUInt32BE(0);
}

/** The first point that a share no longer holds. Points of a smaller share are all in a larger one. */
export function pointsOfPercent(percent: number): number {
  return Math.floor((percent * pointCount) / 100);
}
