import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/storage/database.ts';
import { inTransaction } from '../../src/storage/database.ts';
import { claimDueMessages, listMessages } from '../../src/storage/outbox/outbox.ts';
import { collectPlans } from '../collect-plans.ts';
import { createTestDatabase } from '../test-database.ts';

let database: Database;
let drop: () => Promise<void>;
beforeAll(async () => ({ database, drop } = await createTestDatabase()));
afterAll(() => drop());

test.each([
  ['callbacks', 'callbacks_given_up_newest', 'callbacks_due'],
  ['emails', 'mails_failed_newest', 'mails_due'],
] as const)('what is due and what has failed of %s is found by its own partial index', async (channel, failed, due) => {
  const plans: string[] = [];
  await inTransaction(database, async (tx) => {
    await tx`set local enable_seqscan = off`;
    const planned = collectPlans(tx, plans);
    await listMessages(planned, { channel, workspaceId: 'w', isFailed: true, limit: 10 });
    const at = new Date();
    await claimDueMessages(planned as Database, { channel, at, leasedAt: at, leaseUntil: at, limit: 10 });
  });
  expect(plans[0]).toContain(failed);
  expect(plans[1]).toContain(due);
});
