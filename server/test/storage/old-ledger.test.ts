import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { openDatabase } from '../../src/storage/database.ts';
import type { Database } from '../../src/storage/database.ts';
import { migrate } from '../../src/storage/migrate.ts';
import { unpackMessageId } from '../../src/domain/ledger/message-id.ts';
import { insertSentRun } from '../insert-sent-run.ts';
import { migrateUntil } from '../migrate-until.ts';

const at = new Date('2026-03-01T09:00:00Z');
const name = `old_ledger_${randomBytes(6).toString('hex')}`;
const days = ['2026-02-28', '2026-03-01'];
const platforms = ['ANDROID', 'IOS', 'WEB'];
const outcomes = ['ACCEPTED', 'GONE', 'REJECTED', 'EXPIRED', 'FAILED', 'WITHHELD', 'WAITING'];
const messageIds = ['projects/shop/messages/0:1700000000000001%2fd9afcdf9fd7ecd', '5A2B…', null];
const id = (number: number): string => number.toString(16).padStart(24, '0');

let server: Database;
let database: Database;

beforeAll(async () => {
  const url = new URL(inject('postgresUrl'));
  server = openDatabase({ url: url.href, connections: 1, name });
  await server.unsafe(`create database ${name}`);
  url.pathname = `/${name}`;
  database = openDatabase({ url: url.href, connections: 2, name });
});
afterAll(async () => {
  await database.end();
  await server.unsafe(`drop database ${name} with (force)`);
  await server.end();
});

/** Every platform with every outcome, of two workspaces, on two days; as the ledger of before had it. */
async function fill(): Promise<Record<string, unknown>[]> {
  for (const [index, workspace] of ['ONE', 'TWO'].entries()) {
    await database`insert into workspaces (id, db_name, name, created_at) values (${workspace}, ${workspace}, 'W', ${at})`;
    await insertSentRun(database, { workspaceId: workspace, id: id(index), at: new Date(days[index]!) });
    await database`select make_day_partition('deliveries', ${days[index]!}::date)`;
  }
  const rows = [0, 1].flatMap((run) =>
    platforms.flatMap((platform) =>
      outcomes.map((outcome, index) => ({
        day: days[run]!,
        workspace_id: ['ONE', 'TWO'][run]!,
        bucket: 250 + index,
        run_id: id(run),
        device_id: id(0xabcdef + index + 16 * platforms.indexOf(platform)),
        user_id: id(0xfedcba + platforms.indexOf(platform)),
        platform,
        outcome,
        code: outcome === 'ACCEPTED' ? null : 'UNREGISTERED',
        provider_message_id: outcome === 'ACCEPTED' ? messageIds[platforms.indexOf(platform)]! : null,
        attempts: index,
        sent_at: new Date(at.getTime() + index),
        retry_at: outcome === 'WAITING' ? at : null,
        lease_until: outcome === 'WAITING' && run === 0 ? at : null,
      })),
    ),
  );
  for (const row of rows) await database`insert into deliveries ${database(row)}`;
  return rows;
}

test('a ledger of before is read as it was, row by row, in the partitions of its days', async () => {
  await migrateUntil(database, { last: '000040_push_bodies.sql', at });
  const before = await fill();
  await migrate(database, at);
  const after = await database<{ packed: Buffer | null }[]>`
    select readable.day::text as day, readable.workspace_id, readable.bucket, readable.run_id, readable.device_id,
      readable.user_id, readable.platform, readable.outcome, readable.code, deliveries.provider_message_id as packed,
      readable.attempts, readable.sent_at, readable.retry_at, readable.lease_until
    from readable_deliveries as readable
    join deliveries on deliveries.tableoid::regclass::text = 'deliveries_' || to_char(readable.day, 'YYYYMMDD')
      and deliveries.bucket = readable.bucket and encode(deliveries.user_id, 'hex') = readable.user_id
      and encode(deliveries.device_id, 'hex') = readable.device_id
    join runs on runs.number = deliveries.run_number and runs.id = readable.run_id`;
  const unpacked = after.map(({ packed, ...row }) => ({
    ...row,
    provider_message_id: packed && unpackMessageId(packed),
  }));
  expect(unpacked).toHaveLength(before.length);
  expect(unpacked).toEqual(expect.arrayContaining(before));
  // Each run is of the workspace whose number its rows have.
  const strangers = await database`
    select from deliveries join runs on runs.number = run_number join workspaces on workspaces.id = runs.workspace_id
    where workspaces.number <> workspace_number`;
  expect(strangers).toEqual([]);
});
