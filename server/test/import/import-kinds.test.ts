import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importFile } from '../../src/app/import/import-file.ts';
import { parseCsvRecord } from '../../src/app/import/read-rows.ts';
import { makeLog } from '../../src/log.ts';
import type { ImportKind } from '../../src/storage/users/user-import.ts';
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

const log = makeLog({ level: 'silent', pretty: false });
async function load(name: string, kind: ImportKind, more: { again?: true; onProgress?: () => void } = {}) {
  const path = join(folder, name);
  const result = await importFile(
    { database: bundle.database, clock: bundle.clock, log, prefixes: ['acme', 'svc'] },
    { workspaceId: bundle.workspaceId, kind, path, onProgress: () => {}, ...more },
  );
  const rejects = await readFile(`${path}.rejects.ndjson`, 'utf8').catch(() => '');
  const lines = rejects.split('\n').filter((line) => line !== '');
  return { result, rejects: lines.map((line) => JSON.parse(line) as { line: number; reason: string }) };
}
const write = (name: string, content: string) => writeFile(join(folder, name), content);
const ndjson = (rows: object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
const count = async (table: string): Promise<number> =>
  (await bundle.database`select count(*) as rows from ${bundle.database(table)}`)[0]!.rows as number;

describe('CSV', () => {
  test.each([
    ['a,b', ['a', 'b']],
    ['a,', ['a', '']],
    ['', ['']],
    ['"a,1","b ""q"" b"', ['a,1', 'b "q" b']],
    ['"line\nend",x', ['line\nend', 'x']],
    ['"",""', ['', '']],
    ['"open,x', undefined],
    ['"open""', undefined],
  ])('%j is %j', (text, cells) => {
    expect(parseCsvRecord(text)).toEqual(cells);
  });

  test('users: a column is an attribute, of the type its name says; an empty cell is no value', async () => {
    await write(
      'users.csv',
      '\ufeffcustomer_id,u_fn,visits:number,vip:boolean,tags:json,note\r\n' +
        'csv-1,Ada,7.5,TRUE,"[""a"",1]","two\r\nlines, and a comma"\r\n' +
        'csv-2,007,,false,,\r\n' +
        '\r\n' +
        'csv-3,x,seven,,,\r\n' +
        'guest,x,,,,\r\n' +
        'csv-4,x,1,true,[],n,too many\r\n',
    );
    const { result, rejects } = await load('users.csv', 'users');
    expect(await bundle.attributes('csv-1')).toEqual({
      u_fn: 'Ada',
      visits: 7.5,
      vip: true,
      tags: ['a', 1],
      note: 'two\nlines, and a comma',
    });
    expect(await bundle.attributes('csv-2')).toEqual({ u_fn: '007', vip: false });
    expect(await bundle.identifiers('csv-2')).toEqual(['u_fn:string=007']);
    expect([result.users, result.rejected, result.lines]).toEqual([2, 3, 8]);
    expect(rejects).toEqual([
      { line: 6, reason: "'visits' is not of type number" },
      { line: 7, reason: "'customer_id' is a reserved value" },
      { line: 8, reason: '7 cells under 6 columns' },
    ]);
  });
});

describe('devices', () => {
  test('of users who exist are loaded, from JSON lines and CSV; the others are named', async () => {
    await bundle.addUser('has-devices');
    await write(
      'devices.ndjson',
      ndjson([
        { customer_id: 'has-devices', device_id: 'a', platform: 'ANDROID', push_id: 'p-a', acme_gaid: 'g' },
        { customer_id: 'nobody-at-all', device_id: 'b', platform: 'ANDROID', push_id: 'p-b' },
        { customer_id: 'has-devices', device_id: 'c', platform: 'ANDROID', push_id: 'p-c', svc_gaid: 'g' },
        { customer_id: 'has-devices', device_id: 'd', platform: 'TV', push_id: 'p-d' },
      ]),
    );
    const { result, rejects } = await load('devices.ndjson', 'devices');
    expect([result.devices, result.rejected]).toEqual([2, 2]);
    expect(rejects.map(({ line, reason }) => [line, reason])).toEqual([
      [2, "'customer_id' must exist"],
      [4, "'platform' TV devices cannot be reached by this service."],
    ]);
    // One of two devices with the same advertising id loses it: the user still has it.
    await write('devices.csv', 'customer_id,device_id,platform,push_id,svc_gaid\nhas-devices,a,ANDROID,p-a2,other\n');
    expect((await load('devices.csv', 'devices')).result.devices).toBe(1);
    expect(await bundle.identifiers('has-devices')).toEqual([
      'device:gaid:string=g',
      'device:gaid:string=other',
      'device:push_id:string=p-a2',
      'device:push_id:string=p-c',
    ]);
  });
});

describe('events', () => {
  const row = (customerId: string, n: number) => ({
    customer_id: customerId,
    action: `Old ${n}`,
    user_time: '2026-02-01T00:00:00Z',
    attributes: { n },
  });

  test('are loaded with their users, once; --again loads them a second time', async () => {
    await bundle.addUser('did-things');
    await bundle.addDevice('did-things', 'phone');
    await write(
      'events.ndjson',
      ndjson([
        { ...row('did-things', 1), device_id: 'phone', platform: 'iOS', user_timezone_offset: 3600 },
        row('made-by-event', 2),
        { ...row('did-things', 3), user_time: '2030-01-01' },
        { ...row('did-things', 4), user_time: undefined },
      ]),
    );
    const { result, rejects } = await load('events.ndjson', 'events');
    expect([result.events, rejects.map(({ line }) => line)]).toEqual([2, [3, 4]]);
    const rows = await bundle.database`
      select users.customer_id as customer, name, events.attributes, platform, utc_offset_seconds as offset,
        device_row_id is not null as device
      from events join users on users.bucket = events.bucket and users.id = events.user_id order by name`;
    expect([...rows]).toEqual([
      { customer: 'did-things', name: 'Old 1', attributes: { n: 1 }, platform: 'IOS', offset: 3600, device: true },
      { customer: 'made-by-event', name: 'Old 2', attributes: { n: 2 }, platform: null, offset: null, device: false },
    ]);
    expect((await load('events.ndjson', 'events')).result).toMatchObject({ isKnown: true, events: 2 });
    expect(await count('events')).toBe(2);
    await load('events.ndjson', 'events', { again: true });
    expect(await count('events')).toBe(4);
  });

  test('in CSV have their attributes in columns of their own', async () => {
    await write(
      'events.csv',
      'customer_id,action,user_time,user_timezone_offset,amount:number,item\nbuyer,Bought,1767225600,-7200,9.5,Cup\n',
    );
    await load('events.csv', 'events');
    const [event] = await bundle.database`
      select occurred_at, utc_offset_seconds as offset, attributes from events where name = 'Bought'`;
    expect(event).toEqual({
      occurred_at: new Date('2026-01-01T00:00:00Z'),
      offset: -7200,
      attributes: { amount: 9.5, item: 'Cup' },
    });
  });
});

describe('a broken-off import', () => {
  const users = Array.from({ length: 45_000 }, (_, n) => ({ customer_id: `resumed-${n}`, attributes: { n } }));

  test('resumes after the last stored line, and counts as if it had not been interrupted', async () => {
    await write('resumed.ndjson', `${ndjson(users.slice(0, 100))}{broken\n${ndjson(users.slice(100))}`);
    let batches = 0;
    const onProgress = () => {
      batches += 1;
      if (batches === 1) throw new Error('power cut');
    };
    await expect(load('resumed.ndjson', 'users', { onProgress })).rejects.toThrow('power cut');
    const stored = await count('users');
    const [state] = await bundle.database`select lines, users, ended_at from imports where users = 20000`;
    expect(state).toEqual({ lines: 20_001, users: 20_000, ended_at: null });
    const { result, rejects } = await load('resumed.ndjson', 'users');
    expect(result).toMatchObject({ resumedAt: 20_001, lines: 45_001, users: 45_000, rejected: 1 });
    expect(rejects).toEqual([{ line: 101, reason: 'not JSON' }]);
    expect(await count('users')).toBe(stored + 25_000);
    // A file that was loaded to its end is loaded anew.
    expect((await load('resumed.ndjson', 'users')).result).toMatchObject({ resumedAt: 0, users: 45_000 });
  });

  test('batches that share a customer are stored in the order of the file', async () => {
    const twice = [...users.slice(0, 20_000), { customer_id: 'resumed-7', attributes: { last: true } }];
    await write('shared.ndjson', ndjson(twice));
    await load('shared.ndjson', 'users');
    expect(await bundle.attributes('resumed-7')).toEqual({ n: 7, last: true });
  });

  test('is refused while it is under way elsewhere', async () => {
    await write('busy.ndjson', ndjson(users.slice(0, 10)));
    const results = await Promise.allSettled([load('busy.ndjson', 'users'), load('busy.ndjson', 'users')]);
    const refused = results.filter(({ status }) => status === 'rejected');
    for (const { reason } of refused as PromiseRejectedResult[]) expect(reason.name).toBe('ImportUnderWayError');
    expect(await bundle.attributes('resumed-3')).toEqual({ n: 3 });
  });
});

test('a line under a merged customer id changes the retained user', async () => {
  await bundle.addUser('kept-id', { mine: 1 });
  await bundle.addUser('gone-id');
  await bundle.call('/v1/customer/merge', { merge_data: [{ merged_user: 'gone-id', retained_user: 'kept-id' }] });
  await write(
    'merged.ndjson',
    ndjson([
      { customer_id: 'kept-id', attributes: { own: true } },
      { customer_id: 'gone-id', attributes: { told: 'x' } },
    ]),
  );
  await load('merged.ndjson', 'users');
  expect(await bundle.attributes('gone-id')).toBeUndefined();
  expect(await bundle.attributes('kept-id')).toEqual({ mine: 1, own: true, told: 'x' });
});

test('a line whose time zone is no zone is rejected by name, the others are loaded', async () => {
  const rows = ['IST', 'Asia/Kolkata', 'Mars/Phobos'].map((zone, number) => ({
    customer_id: `zone-${number}`,
    attributes: { time_zone: zone },
  }));
  await write('zones.ndjson', ndjson(rows));
  const { result, rejects } = await load('zones.ndjson', 'users');
  expect(result).toMatchObject({ users: 2, rejected: 1 });
  expect(rejects).toEqual([{ line: 3, reason: "'time_zone' is not a time-zone name: Mars/Phobos" }]);
});
