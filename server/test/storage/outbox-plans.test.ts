import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/storage/database.ts';
import { inTransaction } from '../../src/storage/database.ts';
import { claimCallbacks, listDueCallbackReceivers } from '../../src/storage/outbox/receivers.ts';
import { claimDueEmails, listMessages } from '../../src/storage/outbox/outbox.ts';
import { collectPlans, collectPlansOfSent } from '../collect-plans.ts';
import { createTestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

let database: Database;
let drop: () => Promise<void>;
beforeAll(async () => ({ database, drop } = await createTestDatabase()));
afterAll(() => drop());

test('emails that are due and messages that have failed are found by their partial indexes', async () => {
  const plans: string[] = [];
  await inTransaction(database, async (tx) => {
    await tx`set local enable_seqscan = off`;
    const planned = collectPlans(tx, plans);
    for (const channel of ['callbacks', 'emails'] as const)
      await listMessages(planned, { channel, workspaceId: 'w', isFailed: true, limit: 10 });
    const at = new Date();
    await claimDueEmails(planned as Database, { at, leasedAt: at, leaseUntil: at, limit: 10 });
  });
  expect(plans[0]).toContain('callbacks_given_up_newest');
  expect(plans[1]).toContain('mails_failed_newest');
  expect(plans[2]).toContain('mails_due');
});

/** Callbacks of one workspace to one host, all of them due. */
async function addDueCallbacks({ host, count }: { host: string; count: number }): Promise<string> {
  const at = new Date();
  const workspaceId = await insertTestWorkspace(database, at);
  await database`
    insert into callbacks (id, workspace_id, url, body, state, next_at, created_at)
    select ${host} || number, ${workspaceId}, ${`https://${host}/`} || number, '{}', 'PENDING', ${at}, ${at}
    from generate_series(1, ${count}::int) as number`;
  return workspaceId;
}

test('a receiver with callbacks that are due is found in one step, however many wait for the one before it', async () => {
  const noisy = await addDueCallbacks({ host: 'silent.example', count: 20_000 });
  const quiet = await addDueCallbacks({ host: 'healthy.example', count: 1 });
  await database`analyze callbacks`;
  const at = new Date();
  const plans: string[] = [];
  const page = { at, leasedAt: at, after: undefined, limit: 500 };
  const found = await inTransaction(database, (tx) =>
    listDueCallbackReceivers(collectPlansOfSent(tx, plans) as Database, page),
  );
  expect(found.map(({ workspaceId, key }) => ({ workspaceId, key }))).toEqual(
    [
      { workspaceId: noisy, key: 'https://silent.example' },
      { workspaceId: quiet, key: 'https://healthy.example' },
    ].toSorted((one, other) => (one.workspaceId < other.workspaceId ? -1 : 1)),
  );
  expect(plans[0]!.match(/Index Scan using callbacks_receivers/g)).toHaveLength(2);
  expect(plans[0]).not.toContain('Seq Scan on callbacks');
  const turns = found.map(({ workspaceId, key }) => ({ workspaceId, key, count: 3 }));
  const claim = { turns, at, leasedAt: at, leaseUntil: new Date(at.getTime() + 60_000), probeUntil: at };
  const claimed = await inTransaction(database, (tx) =>
    claimCallbacks(collectPlansOfSent(tx, plans) as Database, claim),
  );
  expect(claimed.map(({ origin }) => origin).toSorted()).toEqual([
    'https://healthy.example',
    ...Array.from({ length: 3 }, () => 'https://silent.example'),
  ]);
  expect(plans[1]).toContain('callbacks_receivers');
});

test('the origin of an address is its scheme, host and port, in lower case and of bounded length', async () => {
  const at = new Date();
  const workspaceId = await insertTestWorkspace(database, at);
  const urls = [
    'HTTPS://Hooks.Example:8443/a?b#c',
    'https://hooks.example?b',
    'http:hooks.example/a',
    `https://${'a'.repeat(3_000)}/`,
    '',
  ];
  const rows = await database<{ origin: string }[]>`
    insert into callbacks (id, workspace_id, url, body, state, next_at, created_at)
    select 'address ' || place, ${workspaceId}, url, '{}', 'PENDING', ${at}, ${at}
    from unnest(${urls}::text[]) with ordinality as given (url, place)
    returning origin`;
  expect(rows.map(({ origin }) => origin)).toEqual([
    'https://hooks.example:8443',
    'https://hooks.example',
    '',
    `https://${'a'.repeat(292)}`,
    '',
  ]);
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
