import { afterAll, beforeAll, expect, test } from 'vitest';
import { countConnections } from '../../src/start/node/engine.ts';
import { formatStartBlock } from '../../src/start/start-block.ts';
import { openDatabase } from '../../src/storage/database.ts';
import { startCarillonBundle } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { runCommand } from '../cli/run-command.ts';

let bundle: CarillonBundle;
beforeAll(async () => {
  bundle = await startCarillonBundle(
    { CARILLON_DATABASE_CONNECTIONS: '30' },
    {
      // Another node, heard of now, and one that died a while ago: before this one starts.
      async startFront(databaseUrl) {
        const database = openDatabase({ url: databaseUrl, connections: 1, name: 'test' });
        await database`
          insert into nodes (id, host, process_id, role, version, started_at, seen_at, memory_bytes, duties, connections)
          values ('other', 'h', 1, 'worker', '1', now(), now() + interval '10 seconds', 1, '[]', 20),
            ('dead', 'h', 2, 'worker', '1', now(), now() - interval '60 seconds', 1, '[]', 1000)`;
        const [name] = await database<{ name: string }[]>`select current_database() as name`;
        await database.unsafe(`alter database ${name!.name} connection limit 50`);
        await database.end();
        return { environment: {}, async close() {} };
      },
    },
  );
});
afterAll(() => bundle?.stop());

const what =
  'The 2 nodes may open 51 connections to the database, which has 50 for them (the connection limit of the database).';
const todo =
  'Lower CARILLON_DATABASE_CONNECTIONS, raise the connection limit of the database to at least 51, or put a pooler in between.';

test('a start beside nodes that together may open more connections than there are says so, and goes on', async () => {
  expect(bundle.block.tooManyConnections).toBe(`${what} ${todo}`);
  expect(formatStartBlock(bundle.block)).toMatch(/^ {2}Connections +The 2 nodes may open 51 /m);
  expect((await bundle.call('GET', '/readyz')).status).toBe(200);
});

test('`status` says it too, and with room for all the numbers alone', async () => {
  expect((await runCommand(bundle, ['status'])).stdout).toContain(`${what} ${todo}`);
  await bundle.database`delete from nodes where id = 'other'`;
  const { stdout } = await runCommand(bundle, ['status', '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ connections: { mayOpen: 31, available: 50 } });
});

test('an api node does not listen; behind a pooler the statements are the pooler’s to limit', () => {
  const count = (role: 'api' | 'all', databasePooler: 'none' | 'transaction') =>
    countConnections({ role, databasePooler, databaseConnections: 20 });
  expect([
    count('api', 'none'),
    count('all', 'none'),
    count('api', 'transaction'),
    count('all', 'transaction'),
  ]).toEqual([20, 21, 0, 4]);
});
