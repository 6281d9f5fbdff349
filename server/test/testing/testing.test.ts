import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installTools } from '../../../client/test/install-tools.ts';
import { signPush } from '../../src/domain/crypto/signatures.ts';
import { isFull, proofSize } from '../full-test.ts';
import { createTestServer } from '../../src/testing/create-test-server.ts';
import type { TestServer } from '../../src/testing/create-test-server.ts';

describe('the test server', () => {
  const started: TestServer[] = [];
  afterAll(() => Promise.all(started.map((server) => server.stop())));

  test('test servers have the same workspace and keys, and see nothing of each other', async () => {
    const [one, other] = [await start(), await start()];
    expect(other).toMatchObject({ workspaceId: one.workspaceId, dbName: one.dbName, keys: one.keys });
    expect(await push(one, 'Only in one')).toBe(200);
    expect(await titlesIn(one, '?wait=20000')).toEqual(['Only in one']);
    await fetch(`${one.url}/sandbox/clock`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"advanceSeconds":3600}',
    });
    expect(await titlesIn(other)).toEqual([]);
    expect(await (await fetch(`${other.url}/sandbox/clock`)).json()).toMatchObject({ offsetSeconds: 0 });
  });

  test('a server that was stopped answers no more, and stopping it again is nothing', async () => {
    const server = await start();
    await server.stop();
    await expect(fetch(server.inbox)).rejects.toThrow('fetch failed');
    await server.stop();
  });

  test('a setting is obeyed; one that is unknown, or that a test server has no choice in, is refused by name', async () => {
    const { url } = await start({ CARILLON_HEADER_PREFIX: 'ACME' });
    expect(await (await fetch(`${url}/openapi.json`)).text()).toContain('X-ACME-APPKEY');
    await expect(start({ CARILLON_PORTT: '1' })).rejects.toThrow('CARILLON_PORTT is not a setting');
    for (const name of ['CARILLON_PORT', 'DATABASE_URL', 'CARILLON_MASTER_KEY_FILE'])
      await expect(start({ [name]: '1' })).rejects.toThrow(`A test server has its own ${name}.`);
  });

  describe.skipIf(!isFull)('many (FULL=1)', () => {
    const many = proofSize({ short: 20, full: 20, large: 100 });

    // The time is told, not asserted: beside other tests it says how busy the machine is. Alone, half start within 200 ms.
    test(`${many} run side by side, each with its own messages`, async () => {
      await start();
      const milliseconds: number[] = [];
      const servers: TestServer[] = [];
      for (let index = 0; index < many; index += 1) {
        const from = performance.now();
        servers.push(await start());
        milliseconds.push(performance.now() - from);
      }
      const median = milliseconds.toSorted((a, b) => a - b)[many / 2]!;
      process.stdout.write(`${many} test servers, median start ${median.toFixed(0)} ms\n`);
      expect(new Set(servers.map(({ url }) => url)).size).toBe(many);
      for (const [index, server] of servers.entries()) expect(await push(server, `Number ${index}`)).toBe(200);
      for (const [index, server] of servers.entries())
        expect(await titlesIn(server, '?wait=20000')).toEqual([`Number ${index}`]);
    }, 900_000);
  });

  async function start(settings?: Record<string, string>): Promise<TestServer> {
    const server = await createTestServer(settings ? { settings } : {});
    started.push(server);
    return server;
  }
});

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..', '..');

describe.skipIf(process.env.FULL !== '1')('the packed server (FULL=1)', () => {
  let folder: string;
  const installed = () => join(folder, 'node_modules', '@carillon', 'server');

  // As npm would install it, but for the packages it depends on: those are of this repository.
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'carillon-packed-server-'));
    const pack = [join(root, 'bootstrap.js'), 'scripts/pack-server.ts', '--out', folder];
    const { stdout } = await run(process.execPath, pack, { cwd: root });
    await mkdir(installed(), { recursive: true });
    await run('tar', ['xzf', stdout.trim().split('\n').at(-1)!, '--strip-components', '1', '-C', installed()]);
    for (const name of await readdir(join(root, 'node_modules')))
      if (name !== '@carillon' && !name.startsWith('.'))
        await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  }, 240_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test.each(['20', '22', '24', '26'])(
    'Node %s starts a test server of it, and its command line',
    async (version) => {
      const node =
        version === '26'
          ? process.execPath
          : join(await installTools(), `node-${version}-${process.arch}`, 'bin', 'node');
      await writeFile(
        join(folder, 'test.mjs'),
        `import { createTestServer } from '@carillon/server/testing';
        const server = await createTestServer();
        const statuses = [];
        for (const path of ['/readyz', '/console/', '/sandbox/browser', '/sandbox/browser/subscribe-browser.js', '/openapi.json'])
          statuses.push((await fetch(server.url + path)).status);
        await server.stop();
        console.log(process.versions.node.split('.')[0], statuses.join(' '));`,
      );
      const environment = { env: { PATH: dirname(node) }, cwd: folder };
      const { stdout } = await run(node, [join(folder, 'test.mjs')], environment);
      expect(stdout).toBe(`${version} 200 200 200 200 200\n`);
      const help = await run(node, [join(installed(), 'carillon.js'), '--help'], environment);
      expect(help.stdout).toContain('Usage: carillon');
    },
    240_000,
  );
});

async function push({ url, workspaceId, keys }: TestServer, campaignName: string): Promise<number> {
  const answer = await fetch(`${url}/v2.1/transaction/sendpush`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-svc-appkey': workspaceId,
      'x-svc-pushapi-signature': signPush({ appId: workspaceId, campaignName, key: keys.push }),
      'x-svc-query-type': 'user',
    },
    body: JSON.stringify({
      campaignName,
      targetPlatform: ['ANDROID'],
      targetAudience: 'User',
      targetUserAttributes: { attribute: 'USER_ATTRIBUTE_UNIQUE_ID', comparisonParameter: 'is', attributeValue: 'ada' },
      payload: { ANDROID: { title: campaignName, message: 'Hello' } },
      campaignDelivery: { type: 'soon' },
    }),
  });
  return answer.status;
}

async function titlesIn({ inbox }: TestServer, query = ''): Promise<string[]> {
  const { messages } = (await (await fetch(`${inbox}${query}`)).json()) as { messages: { title: string }[] };
  return messages.map(({ title }) => title);
}
