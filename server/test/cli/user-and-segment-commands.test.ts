import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { runCommand } from './run-command.ts';

/** One node for all sections, because a start takes a second of processor time. */
let bundle: CarillonBundle;
beforeAll(async () => {
  bundle = await startCarillonBundle();
});
afterAll(() => bundle?.stop());

describe('devices command', () => {
  beforeEach(async () => {
    await bundle.database`
      update devices set state = 'ACTIVE', gone_at = null, gone_reason = null, suspected_code = null, suspected_sends = null,
        suspected_since = null, suspected_at = null`;
  });

  const run = (...parameters: string[]) => runCommand(bundle, parameters);

  test('lists suspected devices with their users, and keeps a given device', async () => {
    const [device, ...others] = await suspectAll();
    const { id, customerId } = device!;
    await bundle.database`
      update devices set state = 'GONE', suspected_sends = 3, suspected_at = '2026-03-04T10:00:00Z',
        gone_at = '2026-03-04T10:00:00Z', gone_reason = 'BadDeviceToken'
      where id = ${id}`;
    const listed = await run('devices', 'suspected', '--json');
    const rows = listed.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(rows[0]).toMatchObject({
      ...{ id, user: customerId, code: 'BadDeviceToken', sends: '3', audience: 'left' },
      ...{ since: '2026-03-01T10:00:00.000Z', last: '2026-03-04T10:00:00.000Z' },
    });
    expect(rows.slice(1).map((row) => [row.id, row.audience])).toEqual(others.map((other) => [other.id, 'in']));
    expect((await run('devices', 'suspected')).stdout).toMatch(/^ID +USER +DEVICE +PLATFORM +CODE +SENDS/);

    expect(await run('devices', 'keep', id)).toEqual({
      ...{ code: 0, stderr: '' },
      stdout: `Kept: device ${id} is not suspected any more, and its strikes start from zero.\n`,
    });
    const [kept] = await bundle.database`select state, suspected_sends from devices where id = ${id}`;
    expect(kept).toEqual({ state: 'ACTIVE', suspected_sends: null });
    const [line] = await bundle.database`
      select actor_id, actor_name, detail->>'code' as code from audit_log where action = 'person.device-keep'`;
    expect(line).toEqual({ actor_id: null, actor_name: 'the command line', code: 'BadDeviceToken' });
    expect((await run('devices', 'suspected', '--json')).stdout).not.toContain(id);
    const json = await run('devices', 'keep', others[0]!.id, '--json');
    expect(JSON.parse(json.stdout)).toEqual({ workspaceId: bundle.workspaceId, id: others[0]!.id });
  });

  test('prints all pages, even if many devices failed in the same window', async () => {
    await suspectAll();
    const { database, workspaceId } = bundle;
    await database`
      insert into devices (workspace_id, bucket, id, user_id, device_id, platform, push_id, state, suspected_code, suspected_sends,
        suspected_since, suspected_at, registered_at, created_at, updated_at)
      select ${workspaceId}, users.bucket, lpad(to_hex(number), 24, '0'), users.id, 'phone ' || number, 'ANDROID',
        'push-' || number, 'ACTIVE', 'INVALID_ARGUMENT', 1, '2026-03-05', '2026-03-05', now(), now(), now()
      from generate_series(1, 130) as number,
        lateral (select bucket, id from users where workspace_id = ${workspaceId} order by id limit 1) as users`;
    try {
      const { stdout } = await run('devices', 'suspected', '--json');
      expect(stdout.match(/INVALID_ARGUMENT/g)).toHaveLength(130);
    } finally {
      await database`delete from devices where suspected_code = 'INVALID_ARGUMENT'`;
    }
  });

  test('exits with 2 if there is no such suspected device or workspace', async () => {
    for (const id of ['0'.repeat(24), 'x'])
      expect(await run('devices', 'keep', id)).toEqual({
        ...{ code: 2, stdout: '' },
        stderr: `carillon: There is no suspected device ${id} in workspace ${bundle.workspaceId}; see: carillon devices suspected.\n`,
      });
    expect(await run('devices', 'suspected', '--workspace', 'nobody')).toMatchObject({
      ...{ code: 2, stderr: 'carillon: There is no workspace nobody.\n' },
    });
  });

  /** Marks the devices of the demo as suspected, one failed send before they leave the audience. */
  async function suspectAll(): Promise<{ id: string; customerId: string }[]> {
    const { database } = bundle;
    await database`
      update devices set suspected_code = 'BadDeviceToken', suspected_sends = 2, suspected_since = '2026-03-01T10:00:00Z',
        suspected_at = '2026-03-03T10:00:00Z'`;
    const rows = await database<{ id: string; customerId: string }[]>`
      select devices.id, users.customer_id as "customerId"
      from devices join users on users.workspace_id = devices.workspace_id and users.bucket = devices.bucket
        and users.id = devices.user_id
      where devices.workspace_id = ${bundle.workspaceId} order by devices.id desc`;
    return [...rows];
  }
});

describe('erasures command', () => {
  beforeEach(async () => {
    await bundle.database`delete from erasures`;
  });

  const run = (...parameters: string[]) => runCommand(bundle, parameters);
  const listStates = async () =>
    (await bundle.database`select state from erasures`).map(({ state }) => state as string);
  const cancelled = async () => {
    const select = bundle.database`
      select actor_id, actor_name, object_id, object_name, detail from audit_log where action = 'person.erase-cancel'
      order by at, id`;
    return [...(await select)];
  };
  const refusalOf = (customerId: string) =>
    `carillon: No deletion of ${customerId} is waiting; see: carillon erasures list --customer ${customerId}.\n`;

  test('cancels a waiting deletion by customer id, and logs the command line, but not the user', async () => {
    const id = await askToDelete('ada');
    const ended = await run('erasures', 'cancel', 'ada');
    expect(ended).toEqual({ code: 0, stderr: '', stdout: `Erasure    ${id}\nCancelled: ada is kept.\n` });
    expect(await listStates()).toEqual([]);
    expect((await run('erasures', 'list', '--customer', 'ada', '--json')).stdout).toBe('');
    expect(await cancelled()).toEqual([
      { actor_id: null, actor_name: 'the command line', object_id: id, object_name: null, detail: {} },
    ]);

    const next = await askToDelete('ada');
    expect(next).not.toBe(id);
    const json = JSON.parse((await run('erasures', 'cancel', 'ada', '--json')).stdout);
    expect(json).toEqual({ workspaceId: bundle.workspaceId, customerId: 'ada', id: next });
  });

  test('changes and logs nothing if no deletion waits, it has begun, or the id is unknown', async () => {
    const before = await cancelled();
    expect(await run('erasures', 'cancel', 'ada')).toEqual({ code: 2, stdout: '', stderr: refusalOf('ada') });
    expect(await run('erasures', 'cancel', 'nobody')).toEqual({ code: 2, stdout: '', stderr: refusalOf('nobody') });
    await askToDelete('ada');
    await bundle.database`update erasures set state = 'REMOVED', removed_at = requested_at`;
    expect(await run('erasures', 'cancel', 'ada')).toEqual({ code: 2, stdout: '', stderr: refusalOf('ada') });
    expect(await listStates()).toEqual(['REMOVED']);
    expect(await cancelled()).toEqual(before);
  });

  test('keeps the deletion of another user', async () => {
    const id = await askToDelete('ada');
    expect((await run('erasures', 'cancel', 'grace')).code).toBe(2);
    const [waiting] = await bundle.database`select id, state from erasures`;
    expect({ ...waiting }).toEqual({ id, state: 'PENDING' });
  });

  async function askToDelete(customerId: string): Promise<string> {
    const body = { identity_type: 'customer_id', identity_value: customerId };
    const asked = await bundle.call('POST', `/v1/customer/delete?app_id=${bundle.workspaceId}`, {
      headers: bundle.basic(),
      body,
    });
    expect(asked.status).toBe(200);
    const [erasure] = await bundle.database`select id from erasures where state = 'PENDING'`;
    return erasure!.id as string;
  }
});

describe('segments command', () => {
  let folder: string;
  let receiver: Server;
  let receiverUrl: string;
  const received: { headers: IncomingMessage['headers']; body: string }[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'carillon-cli-'));
    receiver = createServer(async (request, response) => {
      if (request.url === '/people.csv') return response.writeHead(200, { 'content-type': 'text/csv' }).end('tim\n');
      let body = '';
      for await (const piece of request) body += piece;
      received.push({ headers: request.headers, body });
      return response.writeHead(200).end();
    });
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    receiver?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const create = (...more: string[]) =>
    run('segments', 'create', '--attribute', 'uid', '--type', 'string', '--expiry-days', '30', ...more);

  /** Resolves when no operation of the segment is open. */
  const ended = (name: string) =>
    until(async () => {
      const [row] = await bundle.database`
        select count(*) as open from segment_operations join segments on segments.id = segment_operations.segment_id
        where segments.name = ${name} and segment_operations.ended_at is null`;
      return row!.open === 0;
    });

  describe('carillon segments', () => {
    test('create uploads a local file, and show reports the result with the rejected lines', async () => {
      const path = join(folder, 'people.csv');
      await writeFile(path, 'ada\n\nnobody\na,b\ngrace');
      const created = await create('--name', 'From a file', '--file', path);
      expect([created.code, created.stderr]).toEqual([0, '']);
      expect(created.lines[0]).toBe('Segment    From a file');
      await ended('From a file');
      const shown = await run('segments', 'show', 'From a file');
      expect(shown.code).toBe(0);
      expect(shown.lines).toEqual([
        'Segment    From a file',
        expect.stringMatching(/^Segment id [0-9a-f]{24}$/),
        'Kind       FILE',
        'State      READY',
        'Users      2',
        expect.stringMatching(/^Created    \d{4}-/),
        expect.stringMatching(/^Expires    \d{4}-/),
        '',
        'NUMBER  OPERATION  STATE      FOUND  PROCESSED  USERS  MESSAGE',
        '1       CREATE     SUCCEEDED  5      3          2',
        '',
        'Rejected lines of operation 1:',
        '  line 2: the line is empty',
        '  line 4: the value contains a comma',
      ]);
    });

    test('create downloads a file from a URL, and list shows every segment', async () => {
      const created = await create('--name', 'From an address', '--url', `${receiverUrl}/people.csv`);
      expect(created.code).toBe(0);
      await ended('From an address');
      const { lines } = await run('segments', 'list');
      expect(lines[0]).toMatch(/^NAME +KIND +STATE +USERS +EXPIRES$/);
      expect(lines[1]).toMatch(/^From an address +FILE +READY +1 +\d{4}-/);
      expect(lines.at(-1)).toMatch(/^\d of 1000 active$/);
    });

    test('reports a rejected request in one line, exits with 2, and stores nothing', async () => {
      const path = join(folder, 'one.csv');
      await writeFile(path, 'ada');
      const refused: [string[], string][] = [
        [['--name', 'From a file', '--file', path], 'carillon: Name already exists : From a file\n'],
        [['--name', 'Both', '--file', path, '--url', receiverUrl], 'carillon: Give either --file or --url.\n'],
        [['--name', 'Neither'], 'carillon: Give either --file or --url.\n'],
        [['--name', 'Ftp', '--url', 'ftp://example.com/a'], 'must be a URL with http or https'],
        [['--name', 'Late', '--file', path, '--expiry-days', '0'], 'expiry_time'],
        [['--name', 'Nowhere', '--file', join(folder, 'missing.csv')], 'missing.csv cannot be used'],
        [['--name', 'Elsewhere', '--file', path, '--workspace', 'NONE'], 'carillon: There is no workspace NONE.\n'],
      ];
      for (const [parameters, sentence] of refused) {
        const { code, stderr } = await create(...parameters);
        expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)]);
        expect(stderr.trimEnd().split('\n')).toHaveLength(1);
      }
      const unknown = await run('segments', 'show', 'Nobody');
      expect([unknown.code, unknown.stderr]).toEqual([2, 'carillon: Segment not found with the given name: Nobody\n']);
      const [row] = await bundle.database`select count(*) as segments from segments`;
      expect(row!.segments).toBe(2);
    });
  });

  describe('carillon callbacks', () => {
    test('list, resend and secret: sends a delivered callback again, signed with the secret', async () => {
      const path = join(folder, 'told.csv');
      await writeFile(path, 'ada');
      await create('--name', 'Told', '--file', path, '--callback-url', `${receiverUrl}/callback`);
      const delivered = async () => (await run('callbacks', 'list')).lines.find((line) => line.includes('DELIVERED'));
      const line = await until(delivered);
      const id = line.split(' ')[0]!;
      expect(line).toMatch(new RegExp(`^${id}  \\S+  DELIVERED  1      0        ${receiverUrl}/callback$`));

      const again = await run('callbacks', 'resend', id);
      expect([again.code, again.lines[0]]).toEqual([0, `Callback   ${id}`]);
      await until(async () => received.length === 2);
      const { lines } = await run('callbacks', 'secret');
      const secret = /^Secret {5}(whsec_.+)$/.exec(lines[1]!)![1]!;
      for (const { headers, body } of received) {
        expect(headers['webhook-id']).toBe(id);
        new Webhook(secret).verify(body, headers as Record<string, string>);
      }
      const unknown = await run('callbacks', 'resend', 'a'.repeat(24));
      expect([unknown.code, unknown.stderr]).toEqual([2, 'carillon: There is nothing with that id.\n']);
    });
  });

  async function run(...parameters: string[]): Promise<{ code: number | null; lines: string[]; stderr: string }> {
    const { code, stdout, stderr } = await runCommand(bundle, parameters);
    return { code, lines: stdout.trimEnd().split('\n'), stderr };
  }
});
