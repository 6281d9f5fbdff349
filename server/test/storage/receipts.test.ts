import { afterAll, beforeAll, expect, test } from 'vitest';
import { deleteReceiptsBefore, inTransaction } from '../../src/storage/database.ts';
import { collectPlans } from '../collect-plans.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';

let bundle: TestDatabase;
beforeAll(async () => {
  bundle = await createTestDatabase();
});
afterAll(() => bundle.drop());

test('receipts of transactions before the given one are forgotten, and those of transactions yet to come', async () => {
  const { database } = bundle;
  await database`delete from transaction_receipts`;
  // The last is what a restore leaves of a database that had gone further.
  await database`
    insert into transaction_receipts (pool_id, number, is_stored, made_in)
    select ${'00'.repeat(16)}::uuid, number, true, made_in::xid8
    from unnest(${[1, 2, 3, 4]}::bigint[], ${['5', '6', '7', '9000000000000']}::text[]) as receipt (number, made_in)`;
  expect(await deleteReceiptsBefore(database, '7')).toBe(3);
  const rows = await database<
    { number: number }[]
  >`select number::int as number from transaction_receipts where number < 5`;
  expect(rows.map(({ number }) => number)).toEqual([3]);
});

test('they are deleted by their places, however few there were when the plan was made', async () => {
  const plans: string[] = [];
  await inTransaction(bundle.database, (tx) => deleteReceiptsBefore(collectPlans(tx, plans) as never, '10'));
  expect(plans.join('\n')).toMatch(/Tid Scan on transaction_receipts|Hash Join/);
  // An array of places would be compared with each row.
  expect(plans.join('\n')).not.toMatch(/ANY/);
});
