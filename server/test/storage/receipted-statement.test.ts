import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openDatabase, sendWithReceipt } from '../../src/storage/database.ts';
import type { Database } from '../../src/storage/database.ts';
import { createTestDatabase } from '../test-database.ts';

let test_: Awaited<ReturnType<typeof createTestDatabase>>;
let database: Database;
let close: () => void;
/** Of the statement with the note: not passed on, or its answer is not. */
let cut: 'unheard' | 'answered' | undefined;

beforeEach(async () => {
  test_ = await createTestDatabase();
  await test_.database`create table notes (note text)`;
  const target = new URL(test_.url);
  const sockets: Socket[] = [];
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    sockets.push(near, far);
    let isDeaf = false;
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on('error', () => {}).on('close', () => other.destroy());
    }
    near.on('data', (piece) => {
      if (cut !== undefined && piece.includes('a note')) {
        const way = cut;
        cut = undefined;
        if (way === 'unheard') return void near.destroy();
        isDeaf = true;
      }
      far.write(piece);
    });
    far.on('data', (piece) => (isDeaf ? near.destroy() : near.write(piece)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(test_.url);
  url.port = String((server.address() as AddressInfo).port);
  database = openDatabase({ url: url.href, connections: 2, name: 'receipted' });
  close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
});
afterEach(async () => {
  await database.end();
  close();
  await test_.drop();
});

const store = () =>
  sendWithReceipt<{ note: string }[]>(database, {
    statement: ({ poolId, number }) => database`
      with receipt as (
        insert into transaction_receipts (pool_id, number, is_stored) values (${poolId}, ${number}, true)
      )
      insert into notes values (${'a note'}) returning note`,
    readBack: async () => [{ note: 'read back' }],
  });
const notes = async () => (await test_.database`select note from notes`).map(({ note }) => note as string);

test('a statement that stores its receipt answers what it stored', async () => {
  expect(await store()).toEqual([{ note: 'a note' }]);
  expect(await notes()).toEqual(['a note']);
});

test('one that is stored and whose answer is lost is read back, and stored once', async () => {
  cut = 'answered';
  expect(await store()).toEqual([{ note: 'read back' }]);
  expect(await notes()).toEqual(['a note']);
});

test('one that the database never heard of is said to be not stored, for certain', async () => {
  cut = 'unheard';
  await expect(store()).rejects.toMatchObject({ name: 'LostTransactionError', code: 'CONNECTION_CLOSED' });
  expect(await notes()).toEqual([]);
});
