import { inTransaction } from '../../src/storage/database.ts';
import { gzipSync } from 'node:zlib';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { upsertUser } from '../../src/app/users/users.ts';
import { importFile } from '../../src/app/import/import-file.ts';
import type { ImportKind } from '../../src/storage/users/user-import.ts';
import { makeLog } from '../../src/log.ts';
import { until } from '../carillon-bundle.ts';
import { makeDataBundle } from '../data/data-bundle.ts';
import type { DataBundle } from '../data/data-bundle.ts';

let bundle: DataBundle;
let folder: string;
beforeAll(async () => {
  bundle = await makeDataBundle({ requestsPerMinute: 1_000_000 });
  folder = await mkdtemp(join(tmpdir(), 'carillon-import-'));
});
afterAll(async () => {
  await bundle.end();
  await rm(folder, { recursive: true });
});

let files = 0;
async function load(content: string | Buffer, suffix = '.ndjson', kind: ImportKind = 'users') {
  const path = join(folder, `file-${(files += 1)}${suffix}`);
  await writeFile(path, content);
  const steps: number[] = [];
  const result = await importFile(
    {
      database: bundle.database,
      clock: bundle.clock,
      log: makeLog({ level: 'silent', pretty: false }),
      prefixes: ['svc'],
    },
    { workspaceId: bundle.workspaceId, kind, path, onProgress: (progress) => void steps.push(progress.users) },
  );
  const rejects = await readFile(`${path}.rejects.ndjson`, 'utf8').catch(() => '');
  return {
    result,
    steps,
    rejects: rejects
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { line: number; reason: string }),
  };
}

const lines = (...users: object[]) => users.map((user) => JSON.stringify(user)).join('\n');
/** What the tables hold of a customer, without ids and times. */
async function stateOf(customerId: string) {
  const devices = (await bundle.devices()).filter((row) => row.customer === customerId);
  return {
    attributes: await bundle.attributes(customerId),
    identifiers: await bundle.identifiers(customerId),
    devices: devices.map(({ customer: _customer, ...row }) => row),
  };
}

async function stateOfNew(customerId: string, attributes: Record<string, unknown>) {
  await bundle.addUser(customerId, attributes);
  return stateOf(customerId);
}

describe('a file', () => {
  test('leaves the tables as the same calls of the API would', async () => {
    const attributes = {
      u_fn: 'Zoë\t"quoted" \\ back',
      age: 36.5,
      tags: ['a', 'b'],
      vip: true,
      nested: { a: [1, { b: null }] },
    };
    const device = {
      device_id: 'phone',
      platform: 'ANDROID',
      push_id: 'TOKEN',
      model: 'Pixel\\9',
      svc_push_opted: 'False',
    };
    await load(lines({ customer_id: 'file-user', attributes, devices: [{ ...device, push_id: 'file-token' }] }));
    await bundle.addUser('api-user', attributes);
    await bundle.addDevice('api-user', 'phone', { ...device, device_id: undefined, push_id: 'api-token' });
    const [file, api] = [await stateOf('file-user'), await stateOf('api-user')];
    const swap = (text: string) => text.replaceAll('file-token', 'api-token');
    expect(JSON.parse(swap(JSON.stringify(file)))).toEqual(api);
  });

  const countRows = () =>
    Promise.all(
      ['users', 'identifiers', 'devices', 'push_addresses'].map(async (table) => {
        const [row] = await bundle.database`select count(*) as rows from ${bundle.database(table)}`;
        return [table, row!.rows];
      }),
    );

  test('loaded twice changes nothing', async () => {
    const content = lines(
      {
        customer_id: 'twice-1',
        attributes: { a: 1 },
        devices: [{ device_id: 'd', platform: 'ANDROID', push_id: 'twice-1' }],
      },
      { customer_id: 'twice-2', attributes: { a: 'x' } },
    );
    await load(content);
    const rowsBefore = await countRows();
    const before = await stateOf('twice-1');
    await load(content);
    const rowsAfter = await countRows();
    expect(rowsAfter).toEqual(rowsBefore);
    expect(await stateOf('twice-1')).toEqual(before);
  });

  test('merges into users that exist: a value replaces, null removes, the rest stays', async () => {
    await bundle.addUser('merged', { a: 'old', b: 2, c: 'stays' });
    await load(lines({ customer_id: 'merged', attributes: { a: 'new', b: null } }));
    expect(await bundle.attributes('merged')).toEqual({ a: 'new', c: 'stays' });
    expect(await bundle.identifiers('merged')).toEqual(['a:string=new', 'c:string=stays']);
  });

  test('and API upsert of the same user race safely: values are replaced, the rest stays', async () => {
    const { database, workspaceId, clock } = bundle;
    const held = Promise.withResolvers<void>();
    const made = Promise.withResolvers<void>();
    const attributes = { city: 'Rome', plan: 'gold', stays: 'here' };
    const making = inTransaction(database, async (tx) => {
      await upsertUser(tx, { workspaceId, customerId: 'twice', attributes, at: clock.now() });
      made.resolve();
      await held.promise;
    });
    await made.promise;
    const loading = load(lines({ customer_id: 'twice', attributes: { city: 'Oslo', plan: null } }));
    await until(async () => {
      const [row] = await database`
        select count(*)::int as waiting from pg_stat_activity
        where datname = current_database() and query ~ 'insert into users'
          -- The coordinator of a cluster waits for its worker as for a client.
          and state = 'active' and wait_event_type in ('Lock', 'Client')`;
      return row!.waiting === 1;
    });
    held.resolve();
    await making;
    expect((await loading).result).toMatchObject({ users: 1, rejected: 0 });
    expect(await bundle.attributes('twice')).toEqual({ city: 'Oslo', stays: 'here' });
    expect(await stateOf('twice')).toEqual(await stateOfNew('once', { city: 'Oslo', stays: 'here' }));
  });

  test('moves a push address to its new owner', async () => {
    await bundle.addUser('had-it');
    await bundle.addDevice('had-it', 'd', { push_id: 'moving' });
    await load(lines({ customer_id: 'has-it', devices: [{ device_id: 'd', platform: 'ANDROID', push_id: 'moving' }] }));
    expect((await bundle.devices()).filter((row) => row.push === 'moving')).toMatchObject([{ customer: 'has-it' }]);
    expect(await bundle.identifiers('had-it')).toEqual([]);
  });

  test('of repeats in the file the last line counts', async () => {
    await load(
      lines(
        { customer_id: 'repeat', attributes: { a: 1 } },
        { customer_id: 'other', devices: [{ device_id: 'd', platform: 'ANDROID', push_id: 'both' }] },
        {
          customer_id: 'repeat',
          attributes: { a: 2 },
          devices: [{ device_id: 'd', platform: 'ANDROID', push_id: 'both' }],
        },
      ),
    );
    expect(await bundle.attributes('repeat')).toEqual({ a: 2 });
    expect((await bundle.devices()).filter((row) => row.push === 'both')).toMatchObject([{ customer: 'repeat' }]);
  });

  test('may be compressed, begin with a mark, and end its lines with CR, LF or both', async () => {
    const content = `\ufeff${['a', 'b', 'c'].map((name) => JSON.stringify({ customer_id: `ends-${name}` })).join('\r\n')}\r\r\n${JSON.stringify({ customer_id: 'ends-d' })}\r${JSON.stringify({ customer_id: 'ends-e' })}`;
    const { result, rejects } = await load(gzipSync(content), '.ndjson.gz');
    expect([result.users, rejects]).toEqual([5, []]);
  });

  test('of 45,000 users goes in batches, each counted', async () => {
    const { result, steps } = await load(
      lines(...Array.from({ length: 45_000 }, (_, n) => ({ customer_id: `batch-${n}` }))),
    );
    expect(result.users).toBe(45_000);
    expect(steps).toEqual([20_000, 40_000, 45_000]);
  });
});

test('a line that is no user is named with its number and reason; the others are loaded', async () => {
  const device = { device_id: 'd', platform: 'ANDROID', push_id: 'p' };
  const bad: [string, RegExp][] = [
    ['{', /JSON/],
    ['[1]', /object/],
    ['{"customer_id":5}', /customer_id/],
    ['{"customer_id":"guest"}', /reserved/],
    ['{"customer_id":"x","attributes":[]}', /attributes/],
    ['{"customer_id":"x","attributes":{"id":1}}', /'id' is a reserved/],
    ['{"customer_id":"x","attributes":{"a":"\\u0000"}}', /NUL/],
    ['{"customer_id":"x","attributes":{"a":"\\ud800"}}', /Unicode/],
    ['{"customer_id":"x","attributes":{"a":{"addValueToArrayField":[1]}}}', /edits a list/],
    ['{"customer_id":"x","devices":{}}', /devices/],
    [JSON.stringify({ customer_id: 'x', devices: [{ ...device, platform: 'TV' }] }), /TV/],
    [JSON.stringify({ customer_id: 'x', devices: [{ ...device, push_id: '' }] }), /push_id/],
    [JSON.stringify({ customer_id: 'x', devices: [{ ...device, device_id: '' }] }), /device_id/],
    [JSON.stringify({ customer_id: 'x', attributes: { a: 'y'.repeat(132_000) } }), /128 KB/],
  ];
  const { result, rejects } = await load(
    ['{"customer_id":"good-first"}', ...bad.map(([line]) => line), '', '{"customer_id":"good-last"}'].join('\n'),
  );
  expect([result.users, result.rejected]).toEqual([2, bad.length]);
  expect(rejects.map((reject) => reject.line)).toEqual(bad.map((_, index) => index + 2));
  rejects.forEach((reject, index) => expect(reject.reason).toMatch(bad[index]![1]));
  expect(await bundle.attributes('good-last')).toEqual({});
  expect(await bundle.attributes('x')).toBeUndefined();
});

test('a file that is not there fails before anything is stored', async () => {
  const [before] = await bundle.database`select count(*) as users from users`;
  await expect(
    importFile(
      {
        database: bundle.database,
        clock: bundle.clock,
        log: makeLog({ level: 'silent', pretty: false }),
        prefixes: ['svc'],
      },
      { workspaceId: bundle.workspaceId, kind: 'users', path: join(folder, 'nowhere'), onProgress: () => {} },
    ),
  ).rejects.toMatchObject({ code: 'ENOENT' });
  expect((await bundle.database`select count(*) as users from users`)[0]).toEqual(before);
});
