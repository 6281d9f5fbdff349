import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/storage/database.ts';
import { inTransaction } from '../../src/storage/database.ts';
import { claimDueMessages, listMessages } from '../../src/storage/outbox/outbox.ts';
import { collectPlans, collectPlansOfSent } from '../collect-plans.ts';
import { createTestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

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

test('messages about the files of one segment are found by their operations, however many newer ones of others there are', async () => {
  const at = new Date();
  const workspaceId = await insertTestWorkspace(database, at);
  await database`
    insert into segments (id, workspace_id, name, kind, state, source, attribute_name, attribute_type, created_by,
      created_at, updated_at)
    select 'segment ' || number, ${workspaceId}, 'Segment ' || number, 'FILE', 'READY', 'API', 'u_em', 'string', 'test',
      ${at}, ${at}
    from generate_series(1, 300) as number`;
  await database`
    insert into segment_operations (id, workspace_id, segment_id, number, kind, request_id, state, status, counted_users,
      not_before, requested_by, created_at, ended_at)
    select 'operation ' || number, ${workspaceId}, 'segment ' || number, 1, 'CREATE', lpad(number::text, 32, '0'),
      'SUCCEEDED', 201, 1, ${at}, 'test', ${at}, ${at}
    from generate_series(1, 300) as number`;
  await database`
    insert into callbacks (id, workspace_id, operation_id, url, body, state, created_at, ended_at)
    select 'callback ' || number, ${workspaceId}, 'operation ' || (number % 300 + 1), 'https://example.com/', '{}',
      'DELIVERED', ${at}::timestamptz + number * interval '1 second', ${at}
    from generate_series(0, 5999) as number`;
  await database`
    insert into mails (id, workspace_id, operation_id, recipients, subject, body, state, created_at, ended_at)
    select 'mail ' || number, ${workspaceId}, 'operation ' || (number % 300 + 1), '{a@example.com}', 'S', 'B', 'SENT',
      ${at}::timestamptz + number * interval '1 second', ${at}
    from generate_series(0, 5999) as number`;
  await database`analyze segment_operations, callbacks, mails`;
  const plans: string[] = [];
  const found = await inTransaction(database, async (tx) => {
    const planned = collectPlansOfSent(tx, plans);
    const asked = { workspaceId, segmentId: 'segment 1', limit: 100 };
    const callbacks = await listMessages(planned, { channel: 'callbacks', ...asked });
    const emails = await listMessages(planned, { channel: 'emails', ...asked });
    return [...callbacks, ...emails].map(({ id }) => id);
  });
  const own = Array.from({ length: 20 }, (_, index) => 5700 - index * 300);
  expect(found).toEqual([...own.map((number) => `callback ${number}`), ...own.map((number) => `mail ${number}`)]);
  expect(plans[0]).toContain('segment_operations_segment_id_number_key');
  expect(plans[0]).toContain('callbacks_operation');
  expect(plans[1]).toContain('mails_operation');
});
