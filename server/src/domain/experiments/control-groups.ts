import { hash } from 'node:crypto';

/**
 * Control groups: users who are kept out of a campaign for comparison. The names are values of `deliveries.code`. The
 * workspace's group is checked first.
 */
export const controlGroups = ['GLOBAL_CONTROL_GROUP', 'CAMPAIGN_CONTROL_GROUP'] as const;
export type ControlGroup = (typeof controlGroups)[number];

export type ControlShares = {
  workspaceId: string;
  /** The id that all versions of a campaign share. */
  canonicalCampaignId: string;
  /** Percent of the workspace's users; null: the workspace's group is not kept out of the campaign. */
  globalPercent: number | null;
  /** Percent of the users in the campaign's own control group; null: it has none. */
  campaignPercent: number | null;
};

export type ControlGroupOf = (userId: string) => ControlGroup | undefined;

/**
 * Returns a function that gives a user's control group; undefined if the campaign has none. The workspace's group is
 * the same for all of its campaigns. A campaign's group is drawn for that campaign alone. Both stay the same as long as
 * their share does.
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

/** The kinds of draws. Draws with different names are independent of each other. */
export type Draw = 'global-control' | 'campaign-control' | 'variation';

/** The number of points in a draw: whole numbers from 0 to below this. */
export const pointCount = 2 ** 32;

/**
 * Returns a user's point in a draw, evenly distributed over all users: the first four bytes of SHA-256 of `<draw> <of>
 * <user>`. The point is the same on every node and after every crash, so it is not stored. The database computes it in
 * the same way (`storage/campaigns/audience-groups.ts`).
 *
 * @param of the id of the campaign or workspace that draws
 */
export function drawPoint(draw: Draw, { of, userId }: { of: string; userId: string }): number {
  return hash('sha256', `${draw} ${of} ${userId}`, 'buffer').readUInt32BE(0);
}

/** Returns the first point after those of a share. A larger share includes all points of a smaller one. */
export function pointsOfPercent(percent: number): number {
  return Math.floor((percent * pointCount) / 100);
}
