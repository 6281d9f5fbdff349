import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importCampaignsFile } from '../../src/app/import/import-campaigns.ts';
import { importFile } from '../../src/app/import/import-file.ts';
import { upsertUser } from '../../src/app/users/users.ts';
import { makeLog } from '../../src/log.ts';
import { inTransaction } from '../../src/storage/database.ts';
import type { ImportKind } from '../../src/storage/users/user-import.ts';
import { makeAuthoringBundle } from '../campaigns/authoring-bundle.ts';
import type { AuthoringBundle } from '../campaigns/authoring-bundle.ts';
import { until } from '../carillon-bundle.ts';
import { makeDataBundle } from '../data/data-bundle.ts';
import type { DataBundle } from '../data/data-bundle.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

describe('import', () => {
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

  const lines = (...users: object[]) => users.map((user) => JSON.stringify(user)).join('\n');

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
      await load(
        lines({ customer_id: 'has-it', devices: [{ device_id: 'd', platform: 'ANDROID', push_id: 'moving' }] }),
      );
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
      ['{"customer_id":5.5}', /customer_id/],
      ['{"customer_id":"guest"}', /reserved/],
      ['{"customer_id":"x","attributes":[]}', /attributes/],
      ['{"customer_id":"x","attributes":{"id":1}}', /'id' is a reserved/],
      ['{"customer_id":"x","attributes":{"a":"\\u0000"}}', /NUL/],
      ['{"customer_id":"x","attributes":{"a":"\\ud800"}}', /Unicode/],
      ['{"customer_id":"x","attributes":{"a":{"addValueToArrayField":[1]}}}', /must not be a list edit/],
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
});

describe('import of campaigns', () => {
  let bundle: AuthoringBundle;
  let folder: string;
  beforeAll(async () => {
    bundle = await makeAuthoringBundle();
    await bundle.addDevices(3);
    folder = await mkdtemp(join(tmpdir(), 'carillon-import-'));
  });
  afterAll(async () => {
    await bundle.close();
    await rm(folder, { recursive: true });
  });

  let files = 0;

  const sms = (more: object = {}) => ({
    campaign_id: '6a1d8c3292d59351fe910b13',
    channel: 'SMS',
    campaign_delivery_type: 'ONE_TIME',
    status: 'Sent',
    created_by: 'ada@example.com',
    created_at: '2024-07-04 08:00:54.847000',
    updated_at: '2024-07-04 09:00:00.000000',
    sent_time: '2024-07-04 08:01:00',
    basic_details: { name: 'Summer by SMS', tags: ['summer'] },
    campaign_content: { content: { sms: { message: 'Hello' } } },
    scheduling_details: { delivery_type: 'ASAP' },
    connector: { name: 'x' },
    sender_name: 'Shop',
    ...more,
  });
  const search = async (version: 'v1' | 'v5', fields: object) => {
    const body = { request_id: 'r', limit: 15, page: 1, campaign_fields: fields };
    const answer = (await bundle.call('POST', `/${version}/campaigns/search`, body)).json();
    return version === 'v1' ? answer : answer.data.campaigns;
  };

  test('a record is found as the interface says: SMS by V5 when asked, never by V1; parts as they were', async () => {
    expect(await load([sms()])).toMatchObject({ lines: 1, campaigns: 1, known: 0, rejected: 0 });
    const name = 'summer by';
    expect(await search('v5', { name, channels: ['SMS'] })).toEqual([
      {
        id: '6a1d8c3292d59351fe910b13',
        campaign_id: '6a1d8c3292d59351fe910b13',
        status: 'SENT',
        channel: 'SMS',
        campaign_delivery_type: 'ONE_TIME',
        created_by: 'ada@example.com',
        created_at: '2024-07-04 08:00:54.847000',
        updated_at: '2024-07-04 09:00:00.000000',
        sent_time: '2024-07-04 08:01:00.000000',
        basic_details: { name: 'Summer by SMS', tags: ['summer'] },
        campaign_content: { content: { sms: { message: 'Hello' } } },
        scheduling_details: { delivery_type: 'ASAP' },
        connector: { name: 'x' },
        sender_name: 'Shop',
      },
    ]);
    expect(await search('v5', { name })).toEqual([]);
    expect(await search('v1', { name, channels: ['SMS'] })).toEqual([]);
    await load([sms({ campaign_id: 'e'.repeat(24), channel: 'EMAIL', basic_details: { name: 'Summer by mail' } })]);
    expect((await search('v1', { name })).map(({ channel }: any) => channel)).toEqual(['EMAIL']);
  });

  test('the same file again adds nothing; a longer one adds what is new, and ids of other services are kept apart', async () => {
    const lines = [
      sms({ campaign_id: '12345678901', basic_details: { name: 'Numbered' } }),
      sms({ campaign_id: undefined, basic_details: { name: 'Unnamed' } }),
    ];
    expect(await load(lines)).toMatchObject({ campaigns: 2, known: 0 });
    expect(await load(lines, { gzip: true })).toMatchObject({ campaigns: 0, known: 2 });
    const more = sms({ campaign_id: 'x', basic_details: { name: 'New' } });
    expect(await load([...lines, more, more])).toMatchObject({ lines: 4, campaigns: 1, known: 3, rejected: 0 });
  });

  test('refused lines are reported with number and reason, the others are stored', async () => {
    const result = await load([
      'no json',
      '[]',
      sms({ channel: 'FAX' }),
      sms({ status: 'ACTIVE' }),
      '',
      sms({ status: 'DRAFT' }),
      sms({ campaign_delivery_type: 'PERIODIC', status: 'SENT' }),
      sms({ created_at: 'yesterday' }),
      sms({ created_at: '2999-01-01' }),
      sms({ basic_details: {} }),
      sms({ created_by: undefined }),
      sms({ campaign_id: 'good', basic_details: { name: 'Good one' } }),
      `{"name": "${'x'.repeat(130 * 1024)}"}`,
    ]);
    expect(result).toMatchObject({ lines: 13, campaigns: 1, rejected: 11 });
    expect(result.rejects).toEqual([
      { line: 1, reason: 'not JSON' },
      { line: 2, reason: 'not a JSON object' },
      { line: 3, reason: "'channel' must be one of PUSH, EMAIL, SMS" },
      { line: 4, reason: "'status' must be one of SENT, STOPPED, FAILED, ARCHIVED" },
      { line: 6, reason: "'status' must be one of SENT, STOPPED, FAILED, ARCHIVED" },
      { line: 7, reason: "'status' must be one of RETIRED, STOPPED, FAILED, ARCHIVED" },
      { line: 8, reason: "'created_at' must be a time such as 2024-07-04 08:00:54.847000" },
      { line: 9, reason: "'created_at' is in the future" },
      { line: 10, reason: "'basic_details.name' is not found" },
      { line: 11, reason: "'created_by' is not found" },
      { line: 13, reason: 'the line is longer than 128 KB' },
    ]);
  });

  test("an id of another workspace's campaign, or of one that was made here, is refused", async () => {
    const other = await insertTestWorkspace(bundle.database, bundle.clock.now());
    const made = await bundle.draft();
    expect((await load([sms()], { workspaceId: other })).rejects).toEqual([
      { line: 1, reason: "'id' is that of another campaign" },
    ]);
    expect((await load([sms({ campaign_id: made })])).rejected).toBe(1);
    expect((await bundle.get(made)).status).toBe('DRAFT');
  });

  test('a folder whose name looks compressed is refused as one that does not is', async () => {
    const path = join(folder, 'folder.gz');
    await mkdir(path);
    const loading = importCampaignsFile(bundle, { workspaceId: bundle.workspaceId, path, onProgress: () => {} });
    await expect(loading).rejects.toThrow('EISDIR');
  });

  test('a record is never sent, whatever is tried', async () => {
    const id = 'd'.repeat(24);
    await load([sms({ campaign_id: id, channel: 'PUSH', basic_details: { name: 'History', platforms: ['ANDROID'] } })]);
    for (const action of ['PUBLISH', 'STOP', 'RESUME', 'PAUSE'])
      expect((await bundle.act(id, action)).statusCode).toBe(422);
    const change = { request_id: 'r', updated_by: 'ada', basic_details: { name: 'X' } };
    expect((await bundle.call('PATCH', `/v1/campaigns/${id}`, change)).statusCode).toBe(409);
    const pushed = await bundle.push({ campaignName: 'History' });
    expect(pushed).not.toBe(id);
    await bundle.fire();
    await bundle.deliver();
    expect(await bundle.runs(id)).toEqual([]);
  });

  test('thousands of lines are stored in batches, with progress after each', async () => {
    const lines = Array.from({ length: 2_500 }, (_, index) => sms({ campaign_id: `many-${index}`, name: 'Many' }));
    const result = await load(lines);
    expect([result.campaigns, result.seen, result.bytes]).toEqual([2_500, [1_000, 2_000, 2_500], result.totalBytes]);
    expect(result.rejects).toEqual([]);
  });

  async function load(lines: readonly (object | string)[], { gzip = false, workspaceId = bundle.workspaceId } = {}) {
    const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
    const path = join(folder, `file-${(files += 1)}.ndjson${gzip ? '.gz' : ''}`);
    await writeFile(path, gzip ? gzipSync(text) : text);
    const seen: number[] = [];
    const result = await importCampaignsFile(bundle, {
      workspaceId,
      path,
      onProgress: ({ lines: count }) => void seen.push(count),
    });
    const rejectsPath = `${path}.rejects.ndjson`;
    const rejects = existsSync(rejectsPath)
      ? (await readFile(rejectsPath, 'utf8'))
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line))
      : [];
    return { ...result, seen, rejects };
  }
});
