import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describePublicRoutes } from '../../../scripts/list-routes.ts';
import { compareReply, swapPath } from '../../src/cli/commands/check.ts';
import { declaredDifferences } from '../../src/domain/declared-differences.ts';
import { startCarillonBundle } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { runCommand } from '../cli/run-command.ts';

describe('the command check', () => {
  const recording = join(import.meta.dirname, 'integration.har');
  let bundle: CarillonBundle;
  let folder: string;
  beforeAll(async () => {
    bundle = await startCarillonBundle();
    folder = await mkdtemp(join(tmpdir(), 'carillon-check-'));
  });
  afterAll(async () => {
    await bundle.stop();
    await rm(folder, { recursive: true, force: true });
  });

  test('a recorded integration that is replied to in the same way ends with 0, under the credentials of this workspace', async () => {
    const { code, stdout, stderr } = await check(['--recording', recording]);
    expect(stdout).toContain('extra body.access_token: recorded nothing, found string');
    expect(stdout + stderr).toContain('6 of 6 requests are replied to as recorded.');
    expect(code).toBe(0);
  });

  test('what differs is named by its place, as JSON too, and the command ends with 3', async () => {
    const har = JSON.parse(await readFile(recording, 'utf8'));
    const [token, refresh] = har.log.entries;
    token.response.content.text = token.response.content.text.replace('900', '"900", "scope": "all"');
    const changed = await write('changed.har', JSON.stringify({ log: { entries: [token, refresh] } }));
    const { code, stdout } = await check(['--recording', changed, '--json']);
    const { requests, differing, checked } = JSON.parse(stdout);
    expect([code, requests, differing]).toEqual([3, 2, 1]);
    expect(checked[0].name).toBe('POST /v1/oauth/token');
    expect(checked[0].differences.filter(({ kind }: { kind: string }) => kind !== 'extra')).toEqual([
      { kind: 'type', where: 'body.data.expires_in', expected: 'string', found: 'number' },
      { kind: 'missing', where: 'body.data.scope', expected: 'string', found: 'nothing' },
    ]);
  });

  test('a described integration is read line by line; what it expects and does not get is printed', async () => {
    const lines = [
      { path: '/livez', expect: { status: 200 } },
      {
        name: 'a search without a key',
        method: 'POST',
        path: '/v5/campaigns/search',
        body: {},
        expect: { status: 200 },
      },
    ];
    const { code, stdout } = await check([
      '--recording',
      await write('a.jsonl', lines.map((line) => JSON.stringify(line)).join('\n')),
    ]);
    expect(code).toBe(3);
    expect(stdout).toContain('same     GET /livez\n');
    expect(stdout).toContain('differs  a search without a key\n           status status: recorded 200, found 401\n');
    expect(stdout).toContain('1 of 2 requests are replied to as recorded.');
  });

  test('nothing but the base URL is called: neither the host of the recording nor where a reply leads', async () => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url!);
      response.writeHead(302, { location: `${bundle.url}/livez` }).end();
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    try {
      const path = await write('b.jsonl', '{"path":"/a?b=1","expect":{"status":302,"headers":{"Location":"x"}}}');
      const { code } = await check(['--recording', path], `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
      expect([code, asked]).toEqual([0, ['/a?b=1']]);
    } finally {
      server.close();
    }
  });

  test('a file that is no recording, and a base URL that is no origin, are refused in one sentence', async () => {
    const wrong = await write('c.json', '[{"path":"livez","expect":{"status":200}}]');
    expect(await check(['--recording', wrong])).toMatchObject({
      code: 2,
      stderr: `carillon: ${wrong}: request 1: path begins with /.\n`,
    });
    expect(await check(['--recording', wrong], `${bundle.url}/v1`)).toMatchObject({ code: 2, stdout: '' });
  });

  test.each([
    ['/v1/customer/OLD', '/v1/customer/OWN'],
    ['/v1/customer/OLD/', '/v1/customer/OWN/'],
    ['/v1/transition/OLD?x=1', '/v1/transition/OWN?x=1'],
    ['/v1/customer?app_id=OLD', '/v1/customer?app_id=OWN'],
    ['/v1/customers/export?a=1&app_id=OLD&b=2', '/v1/customers/export?a=1&app_id=OWN&b=2'],
    ['/v1/customer/merge?app_id=OLD', '/v1/customer/merge?app_id=OWN'],
    ['/v1/customer/delete/?app_id=OLD', '/v1/customer/delete/?app_id=OWN'],
    ['/v1/customer/merged', '/v1/customer/OWN'],
    ['/v3/custom-segments/OLD', '/v3/custom-segments/OLD'],
  ])('replaces the workspace id of the path %j: %j', (path, swapped) => {
    expect(swapPath(path, 'OWN')).toBe(swapped);
  });

  test('replaces the credentials of a connection test', async () => {
    const path = join(folder, 'connection.jsonl');
    const body = { app_id: 'OLD', app_secret: 'old', source: 'partner', region: '01' };
    const call = {
      name: 'connection',
      method: 'POST',
      path: '/v1/integrations/authentication',
      body,
      expect: { status: 200 },
    };
    await writeFile(
      path,
      `${JSON.stringify({ ...call, headers: { 'content-type': 'application/json', 'SVC-APPKEY': 'OLD' } })}\n`,
    );
    expect((await check(['--recording', path])).stdout).toMatch(/^same +connection/m);
  });

  describe('comparing', () => {
    const reply = {
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: { a: 1, list: [{ b: 'x' }] } as unknown,
    };
    test.each([
      [{ ...reply, body: { a: 2, list: [] } }, []],
      [{ ...reply, headers: { 'content-type': 'Application/JSON; charset=utf-8' } }, []],
      [{ ...reply, headers: { 'content-type': 'text/html' } }, ['header header content-type']],
      [{ ...reply, headers: {} }, ['header header content-type']],
      [{ ...reply, status: 201 }, ['status status']],
      [{ ...reply, body: { list: [{ b: 'y', c: true }] } }, ['missing body.a', 'extra body.list[0].c']],
      [{ ...reply, body: { a: '1', list: [{ b: null }] } }, ['type body.a']],
      [{ ...reply, body: 'text' }, ['type body']],
      [{ ...reply, body: undefined }, ['missing body']],
    ])('%j', (found, expected) => {
      expect(compareReply(reply, found as never).map(({ kind, where }) => `${kind} ${where}`)).toEqual(expected);
    });
  });

  describe('comparing a map whose keys are ids', () => {
    const reply = (data: unknown) => ({ status: 200, headers: {}, body: { data } });
    test.each<[string, { recorded: unknown; found: unknown; differences: string[] }]>([
      [
        'other ids',
        {
          recorded: { '6a1d8c3292d59351fe910b13': { sent: 1 } },
          found: { '19ca9450a00b075c6edcc6c1': { sent: 2 } },
          differences: [],
        },
      ],
      ['other days', { recorded: { '2026-03-01': 1 }, found: { '2027-01-01': 2 }, differences: [] }],
      ['no entries', { recorded: { '12345': { sent: 1 } }, found: {}, differences: [] }],
      [
        'values of another shape',
        {
          recorded: { '12345': { sent: 1, clicks: 2 } },
          found: { '67890': { sent: '1' } },
          differences: ['type body.data.<12345>.sent', 'missing body.data.<12345>.clicks'],
        },
      ],
      [
        'a name of the interface among them',
        {
          recorded: { '12345': 1, total: 2 },
          found: { '67890': 1 },
          differences: ['missing body.data.12345', 'missing body.data.total', 'extra body.data.67890'],
        },
      ],
    ])('finds what differs with %s', (_what, { recorded, found, differences }) => {
      const told = compareReply(reply(recorded), reply(found));
      expect(told.map(({ kind, where }) => `${kind} ${where}`)).toEqual(differences);
    });
  });

  async function check(parameters: string[], url = bundle.url) {
    const environment = {
      CARILLON_WORKSPACE_ID: bundle.workspaceId,
      CARILLON_WORKSPACE_DB_NAME: bundle.block.dbName!,
      CARILLON_OAUTH_KEY: bundle.keys.oauth,
      CARILLON_DATA_KEY: bundle.keys.data,
      CARILLON_PUSH_KEY: bundle.keys.push,
      CARILLON_CAMPAIGNS_KEY: bundle.keys.campaigns,
    };
    return runCommand({ config: bundle.config, environment }, ['check', url, ...parameters]);
  }

  async function write(name: string, text: string): Promise<string> {
    const path = join(folder, name);
    await writeFile(path, text);
    return path;
  }
});

describe('declared differences', () => {
  const root = join(import.meta.dirname, '..', '..', '..');

  test('every difference that docs/switch.md tells of names operations that exist', async () => {
    const { document } = await describePublicRoutes();
    const known = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    );
    for (const { what, operationIds } of declaredDifferences) {
      expect(operationIds.length, what).toBeGreaterThan(0);
      expect(known, what).toEqual(expect.arrayContaining([...operationIds]));
    }
  });

  test.each(declaredDifferences.map(({ what, test: shown }) => [what, shown] as const))(
    '%s: a test of that name shows it',
    (_what, { file, name }) => {
      expect(readFileSync(join(root, file), 'utf8')).toContain(`test('${name}'`);
    },
  );
});
