import { hash } from 'node:crypto';

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
