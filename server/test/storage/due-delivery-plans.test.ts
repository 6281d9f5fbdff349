import { expect, inject, test } from 'vitest';
import { ensureDeliveriesPartition } from '../../src/storage/ledger/deliveries.ts';
import { claimDueDeliveries, listDueBuckets, settleDeliveries } from '../../src/storage/ledger/due-deliveries.ts';
import type { SettledDelivery } from '../../src/storage/ledger/due-deliveries.ts';
import type { Queryable } from '../../src/storage/database.ts';
import { collectPlans } from '../collect-plans.ts';
import { createTestDatabase } from '../test-database.ts';

const days = ['2026-03-04', '2026-03-11'];
const at = new Date('2026-03-11T12:00:00Z');
const lease = { leasedAt: at, leaseUntil: new Date('2026-03-11T12:01:00Z') };

const delivery: Omit<SettledDelivery, 'day'> = {
  ...{ runNumber: 5, bucket: 1, deviceId: 'd'.repeat(24), userId: 'e'.repeat(24) },
  ...{ platform: 'ANDROID', outcome: 'ACCEPTED', code: null, providerMessageId: null, retryAt: null },
  ...{ attempts: 2, claimedAttempts: 2 },
};

/** On a cluster one bucket a claim. */
const of = { buckets: inject('workerUrls') === null ? [7, 8] : [7], runNumbers: [5] };

const statements: Record<string, (tx: Queryable) => Promise<unknown>> = {
  'the buckets of a claim': (tx) => listDueBuckets(tx, { days, at, limit: 500, kind: 'fresh', ...lease }),
  'a claim': (tx) => claimDueDeliveries(tx, { days, at, limit: 500, kind: 'fresh', ...of, ...lease }),
  'a claim of lost ones': (tx) => claimDueDeliveries(tx, { days, at, limit: 50, kind: 'lost', ...of, ...lease }),
  'a claim of a suspect': (tx) => claimDueDeliveries(tx, { days, at, limit: 1, kind: 'suspect', ...of, ...lease }),
  'the outcomes': (tx) => settleDeliveries(tx, { sentAt: at, deliveries: days.map((day) => ({ ...delivery, day })) }),
};

// Planned over every day that is kept, a look each second took a tenth of a second after 150 days.
test('what is due again is looked for and stored in the partitions of its days alone', async () => {
  const { database, application, drop } = await createTestDatabase();
  for (let day = 1; day <= 20; day += 1)
    await ensureDeliveriesPartition(database, `2026-03-${String(day).padStart(2, '0')}`);
  for (const [what, statement] of Object.entries(statements)) {
    const plans: string[] = [];
    await statement(collectPlans(application.acrossWorkspaces(), plans));
    const partitions = new Set(plans.join('\n').match(/deliveries_\d{8}\b(?!_)/g));
    expect([...partitions].sort(), what).toEqual(['deliveries_20260304', 'deliveries_20260311']);
  }
  await drop();
});
