import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { findAllUsersPage, findSegmentPage, findTargetUsersPage } from '../../src/storage/campaigns/audience.ts';
import { inTransaction, planByValues } from '../../src/storage/database.ts';
import type { Database, Queryable } from '../../src/storage/database.ts';
import {
  addRunCounts,
  ensureDeliveriesPartition,
  insertDeliveries,
  markDevicesGone,
} from '../../src/storage/ledger/deliveries.ts';
import { claimDueDeliveries, settleDeliveries } from '../../src/storage/ledger/due-deliveries.ts';
import { findCursor, moveCursor } from '../../src/storage/runs/chunks.ts';
import { findUsersForEligibility, reserveUserMessages } from '../../src/storage/users/user-messages.ts';
import { collectPlans } from '../collect-plans.ts';
import { createTestDatabase } from '../test-database.ts';

const isOnCluster = (inject('workerUrls') ?? []).length > 0;
const at = new Date('2026-03-01T12:00:00Z');
const day = '2026-03-01';
const [bucket, workspaceId, runId] = [7, 'W', 'r'];
const page = {
  ...{ workspaceId, iosProvisional: null, platforms: ['ANDROID' as const], buckets: [bucket], limit: 250 },
  ...{ after: { bucket, position: 'd' }, bound: 'f'.repeat(24) },
};
const delivery = {
  ...{
    bucket,
    deviceId: 'd'.repeat(24),
    userId: 'e'.repeat(24),
    platform: 'ANDROID' as const,
    outcome: 'ACCEPTED' as const,
  },
  ...{ code: null, providerMessageId: null, attempts: 1, retryAt: null },
};
const due = { days: [day], at, limit: 500, kind: 'fresh' as const, leasedAt: at, leaseUntil: at };

/** All statements of a window of one bucket and of a retry. */
const statements: Record<string, (tx: Queryable) => Promise<unknown>> = {
  'a page of all users': (tx) => findAllUsersPage(tx, page),
  'a page of named users': (tx) => findTargetUsersPage(tx, { ...page, targetUsers: [[bucket, 'u']] }),
  'a page of a segment': (tx) => findSegmentPage(tx, { ...page, segmentId: 's', version: 1 }),
  'the users of a window': (tx) =>
    findUsersForEligibility(tx, {
      ...{ workspaceId, users: [{ bucket, userId: 'u' }] },
      ...{ zoneAttribute: 'zone', withMessages: 'yes' },
    }),
  'its messages': (tx) =>
    reserveUserMessages(tx, {
      ...{ workspaceId, runId, campaignId: 'c', at, isCounted: 'yes', forgottenUntil: at },
      users: [{ bucket, userId: 'u', revision: 1 }],
    }),
  'its outcomes': (tx) =>
    insertDeliveries(tx, { day, workspaceNumber: 1, runNumber: 5, sentAt: at, deliveries: [delivery] }),
  'its counters': (tx) =>
    addRunCounts(tx, [{ workspaceId, runId, bucket, platform: 'ANDROID', outcome: 'ACCEPTED', devices: 1 }]),
  'its cursor': (tx) => moveCursor(tx, { runId, workspaceId, bucket, position: 'd' }),
  'the position where a chunk continues': (tx) =>
    findCursor(tx as Database, { runId, bucketFrom: bucket, bucketTo: bucket }),
  'devices that are gone': (tx) =>
    markDevicesGone(tx, { workspaceId, at, devices: [{ bucket, deviceId: 'd', code: 'GONE', goneSince: at }] }),
  'a claim of due messages': (tx) => claimDueDeliveries(tx, { ...due, buckets: [bucket], runNumbers: [5] }),
  'its new outcomes': (tx) =>
    settleDeliveries(tx, {
      deliveries: [{ ...delivery, day, runNumber: 5, claimedAttempts: 1 }],
      sentAt: at,
    }),
};

describe.skipIf(!isOnCluster)('a window of one bucket (skipped: no cluster; npm run test:citus)', () => {
  let bundle: Awaited<ReturnType<typeof createTestDatabase>>;
  beforeAll(async () => {
    bundle = await createTestDatabase();
    await ensureDeliveriesPartition(bundle.database, day);
  });
  afterAll(() => bundle?.drop());

  test.each(Object.keys(statements))('runs as one task on one shard: %s', async (name) => {
    const plans: string[] = [];
    await statements[name]!(collectPlans(bundle.application.acrossWorkspaces(), plans));
    expect(plans.length).toBeGreaterThan(0);
    for (const plan of plans) {
      const counts = [...plan.matchAll(/Task Count: (\d+)/g)].map(([, count]) => Number(count));
      // The coordinator sends inserted rows to their shard, so the plan names no tasks. All rows are in one bucket.
      const isGiven = /^Custom Scan \(Citus INSERT \.\.\. SELECT\)\n *INSERT\/SELECT method: pull to coordinator/.test(
        plan,
      );
      expect(new Set(counts), plan).toEqual(isGiven ? new Set() : new Set([1]));
    }
  });

  test('plans a transaction by its values on the workers too', async () => {
    const plan = await inTransaction(bundle.application.acrossWorkspaces(), async (tx) => {
      await planByValues(tx);
      return tx`explain select from users where bucket = 7`;
    });
    expect(plan.map((row) => row['QUERY PLAN']).join('\n')).not.toContain('Seq Scan');
  });
});
