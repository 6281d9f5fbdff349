import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  makeControlGroupOf,
  drawPoint,
  pointCount,
  pointsOfPercent,
} from '../../../src/domain/experiments/control-groups.ts';

describe('a draw', () => {
  const users = Array.from({ length: 20_000 }, (_, number) => number.toString(16).padStart(24, '0'));

  test('gives every tenth of the points to a tenth of the users, within 1 % of them', () => {
    const tenths = new Array<number>(10).fill(0);
    for (const userId of users)
      tenths[Math.floor((drawPoint('global-control', { of: 'w', userId }) * 10) / pointCount)]! += 1;
    for (const count of tenths) expect(Math.abs(count / users.length - 0.1)).toBeLessThan(0.01);
  });

  test('is independent between campaigns, and of the workspace’s draw', () => {
    const shares = { workspaceId: 'w', canonicalCampaignId: 'a', globalPercent: 50, campaignPercent: 50 };
    const [one, other] = [makeControlGroupOf(shares)!, makeControlGroupOf({ ...shares, canonicalCampaignId: 'b' })!];
    const count = (isCounted: (userId: string) => boolean) => users.filter(isCounted).length / users.length;
    const isOwn = (of: typeof one) => (userId: string) => of(userId) === 'CAMPAIGN_CONTROL_GROUP';
    expect(count(isOwn(one))).toBeCloseTo(0.25, 2);
    expect(count((userId) => isOwn(one)(userId) && isOwn(other)(userId))).toBeCloseTo(0.125, 2);
    // Those of the workspace are the same for both.
    const isGlobal = (of: typeof one) => (userId: string) => of(userId) === 'GLOBAL_CONTROL_GROUP';
    expect(users.filter(isGlobal(one))).toEqual(users.filter(isGlobal(other)));
  });

  test('includes a smaller share in a larger one', () => {
    const shares = { workspaceId: 'w', canonicalCampaignId: 'a', globalPercent: null };
    const few = makeControlGroupOf({ ...shares, campaignPercent: 5 })!;
    const many = makeControlGroupOf({ ...shares, campaignPercent: 6 })!;
    expect(users.filter((userId) => few(userId) && !many(userId))).toEqual([]);
    expect(makeControlGroupOf({ ...shares, campaignPercent: 0 })).toBeUndefined();
    expect(users.every(makeControlGroupOf({ ...shares, campaignPercent: 100 })!)).toBe(true);
  });

  test('is the first four bytes of the SHA-256 of purpose, owner and user', () => {
    const point = (text: string) => createHash('sha256').update(text).digest().readUInt32BE(0);
    expect(drawPoint('variation', { of: 'c', userId: 'ada' })).toBe(point('variation c ada'));
    expect(drawPoint('global-control', { of: 'w', userId: 'ada' })).toBe(point('global-control w ada'));
  });

  test('assigns a share up to the first point of the next one', () => {
    expect([0, 25, 50, 100].map(pointsOfPercent)).toEqual([0, 2 ** 30, 2 ** 31, 2 ** 32]);
    // Whole points.
    expect(pointsOfPercent(1)).toBe(42_949_672);
  });
});

describe('the control group of a user', () => {
  const shares = { workspaceId: 'w', canonicalCampaignId: 'c', globalPercent: null, campaignPercent: null };
  const users = Array.from({ length: 400 }, (_, number) => `user ${number}`);

  test('is the workspace’s before the campaign’s own', () => {
    const of = makeControlGroupOf({ ...shares, globalPercent: 20, campaignPercent: 30 })!;
    const isDrawn = (draw: 'global-control' | 'campaign-control', percent: number) => (userId: string) =>
      drawPoint(draw, { of: draw === 'global-control' ? 'w' : 'c', userId }) < pointsOfPercent(percent);
    const [isGlobal, isOwn] = [isDrawn('global-control', 20), isDrawn('campaign-control', 30)];
    for (const userId of users)
      expect(of(userId)).toBe(
        isGlobal(userId) ? 'GLOBAL_CONTROL_GROUP' : isOwn(userId) ? 'CAMPAIGN_CONTROL_GROUP' : undefined,
      );
    expect(users.some((userId) => isGlobal(userId) && isOwn(userId))).toBe(true);
  });

  test('is the only kind if there is one', () => {
    const found = (more: Partial<typeof shares> | object) => [
      ...new Set(users.map(makeControlGroupOf({ ...shares, ...more })!)),
    ];
    expect(found({ globalPercent: 100, campaignPercent: 0 })).toEqual(['GLOBAL_CONTROL_GROUP']);
    expect(found({ campaignPercent: 100 })).toEqual(['CAMPAIGN_CONTROL_GROUP']);
    expect(found({ globalPercent: 100 })).toEqual(['GLOBAL_CONTROL_GROUP']);
  });

  test('is none without a share', () => {
    expect(makeControlGroupOf(shares)).toBeUndefined();
    expect(makeControlGroupOf({ ...shares, globalPercent: 0, campaignPercent: 0 })).toBeUndefined();
  });
});
