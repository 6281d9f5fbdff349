import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCarillonBundle, until } from '../../server/test/carillon-bundle.ts';
import { installPackedClient } from './packed-client.ts';
import { installTools } from './install-tools.ts';

const run = promisify(execFile);
const isFull = process.env.FULL === '1';
const executablePath = '/usr/bin/chromium';
const root = join(import.meta.dirname, '..', '..');

let client: Awaited<ReturnType<typeof installPackedClient>>;
beforeAll(async () => {
  client = await installPackedClient();
  // npm takes a few seconds of the processor, which on a busy machine are a minute.
}, 240_000);
afterAll(() => client?.remove());

test('the tarball has the build with its maps and their sources, the service worker and the licence, and no test', () => {
  expect(client.packed).toEqual(
    expect.arrayContaining([
      ...['LICENSE', 'README.md', 'package.json', 'browser/carillon-service-worker.js'],
      ...['index', 'browser'].flatMap((name) => [
        ...[`dist/${name}.js`, `dist/${name}.js.map`, `dist/${name}.d.ts`, `dist/${name}.d.ts.map`, `src/${name}.ts`],
      ]),
    ]),
  );
  expect(
    client.packed.filter((path) => !/^(dist|src|browser)\/|^(LICENSE|README\.md|package\.json)$/.test(path)),
  ).toEqual([]);
});

test('every map leads to a source that is in the tarball', async () => {
  const maps = client.packed.filter((path) => path.endsWith('.map'));
  expect(maps.length).toBeGreaterThan(10);
  for (const path of maps) {
    const file = join(client.folder, 'node_modules/@carillon/client', path);
    const { sources } = JSON.parse(await readFile(file, 'utf8')) as { sources: string[] };
    for (const source of sources) expect(existsSync(join(dirname(file), source)), `${path} → ${source}`).toBe(true);
  }
});

const printed =
  'console.log(process.versions.node, Object.keys(all).length, typeof all.makeCarillonClient, await all.signPush({workspaceId:"W",campaignName:"n",pushKey:"k"}), typeof browser.subscribeBrowser)';
const imported = {
  name: 'imported.mjs',
  text: `import * as all from '@carillon/client'; import * as browser from '@carillon/client/browser'; ${printed}`,
};
const required = {
  name: 'required.cjs',
  text: `const all = require('@carillon/client'); const browser = require('@carillon/client/browser'); (async () => { ${printed} })()`,
};
const expected = / \d+ function [0-9a-f]{64} function$/;

test('it is imported and required by the Node that runs this', async () => {
  expect(await client.runFile(process.execPath, imported)).toMatch(expected);
  expect(await client.runFile(process.execPath, required)).toMatch(expected);
});

const name = '@carillon/client';
/** A program of a site, which says nothing that the types do not know. */
const typed = `import { makeCarillonClient } from '${name}';
import { subscribeBrowser } from '${name}/browser';
const carillon = makeCarillonClient({ baseUrl: 'http://127.0.0.1', workspaceId: 'W', pushKey: 'k' });
export const cid: Promise<string> = carillon
  .sendPush({
    campaignName: 'Order shipped', targetPlatform: ['ANDROID'], targetAudience: 'All Users',
    payload: { ANDROID: { title: 'T', message: 'M' } }, campaignDelivery: { type: 'soon' },
  })
  .then((sent) => sent.cid);
export const endpoint: Promise<string> = subscribeBrowser({ workerUrl: '/w.js', publicKey: 'k' }).then((made) => made.endpoint);
// @ts-expect-error: the types hold.
void carillon.sendPush({ campaignName: 4 });
`;

async function checkTypes(more: string[]): Promise<void> {
  await writeFile(join(client.folder, 'typed.mts'), typed);
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const options = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2022,dom', ...more];
  const { stdout } = await run(process.execPath, [compiler, ...options, 'typed.mts'], { cwd: client.folder }).catch(
    (error: { stdout: string }) => error,
  );
  expect(stdout).toBe('');
}

describe.skipIf(!isFull)('elsewhere (FULL=1)', () => {
  test('a program that uses it compiles as strictly as TypeScript can, and one that misuses it does not', async () => {
    await checkTypes(['--module', 'nodenext']);
  });

  test('a program compiles for a bundler too', () =>
    checkTypes(['--module', 'esnext', '--moduleResolution', 'bundler']));

  test.each(['20', '22', '24'])(
    'Node %s imports and requires it',
    async (version) => {
      const node = join(await installTools(), `node-${version}-${process.arch}`, 'bin', 'node');
      for (const file of [imported, required]) {
        const said = await client.runFile(node, file);
        expect(said).toMatch(new RegExp(`^${version}\\.`));
        expect(said).toMatch(expected);
      }
    },
    600_000,
  );

  test.each(['20', '22', '24', '26'])(
    'Node %s makes a user and a device and sends a push, which the phone gets',
    async (version) => {
      const bundle = await startCarillonBundle();
      try {
        const node =
          version === '26'
            ? process.execPath
            : join(await installTools(), `node-${version}-${process.arch}`, 'bin', 'node');
        const settings = {
          baseUrl: bundle.url,
          workspaceId: bundle.workspaceId,
          oauthKey: bundle.keys.oauth,
          pushKey: bundle.keys.push,
        };
        const said = await client.runFile(node, {
          name: 'sends.mjs',
          text: `import { makeCarillonClient } from '${name}';
const carillon = makeCarillonClient(${JSON.stringify(settings)});
await carillon.upsertUser({ customerId: 'linus' });
await carillon.registerDevice({ customerId: 'linus', deviceId: 'phone', platform: 'ANDROID', pushId: 'packed-token' });
const { cid } = await carillon.sendPush({
  campaignName: 'From the tarball', targetPlatform: ['ANDROID'], targetAudience: 'User',
  targetUserAttributes: { attribute: 'USER_ATTRIBUTE_UNIQUE_ID', comparisonParameter: 'is', attributeValue: 'linus' },
  payload: { ANDROID: { title: 'T', message: 'M' } }, campaignDelivery: { type: 'soon' },
});
console.log(process.versions.node, cid);`,
        });
        expect(said).toMatch(new RegExp(`^${version}\\.\\S+ [0-9a-f]{24}$`));
        const find = async () => (await bundle.inbox()).find(({ deviceToken }) => deviceToken === 'packed-token');
        expect(await until(find)).toMatchObject({ title: 'T' });
      } finally {
        await bundle.stop();
      }
    },
    600_000,
  );

  test.skipIf(!existsSync(executablePath))(
    'Chromium loads it and its service worker as they are in the tarball, and asks its push service',
    async () => {
      const installed = join(client.folder, 'node_modules/@carillon/client');
      const page = `<script type="importmap">{"imports":{"@carillon/client":"/client/dist/index.js","@carillon/client/browser":"/client/dist/browser.js"}}</script>`;
      const server = createServer((request, response) => {
        const path = new URL(request.url!, 'http://site').pathname;
        const file = path.startsWith('/client/')
          ? path.slice('/client/'.length)
          : path === '/carillon-service-worker.js'
            ? `browser${path}`
            : undefined;
        response.setHeader('content-type', file === undefined ? 'text/html' : 'text/javascript');
        if (file === undefined) return response.end(page);
        readFile(join(installed, file)).then(
          (text) => response.end(text),
          () => response.writeHead(404).end(),
        );
        return undefined;
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const context = await chromium.launchPersistentContext(join(client.folder, 'profile'), {
        executablePath,
        args: ['--no-sandbox', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'],
      });
      try {
        await context.grantPermissions(['notifications'], { origin });
        const site = await context.newPage();
        await site.goto(origin);
        const found = await site.evaluate(`(async () => {
          const { signPush } = await import('@carillon/client');
          const { subscribeBrowser, unsubscribeBrowser } = await import('@carillon/client/browser');
          const { publicKey } = await crypto.subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, ['deriveBits']);
          const key = btoa(String.fromCharCode(...new Uint8Array(await crypto.subtle.exportKey('raw', publicKey))));
          const options = { workerUrl: '/carillon-service-worker.js', timeoutMilliseconds: 2000,
            publicKey: key.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '') };
          const fault = await subscribeBrowser(options).catch((error) => error.code);
          const registration = await navigator.serviceWorker.getRegistration();
          const before = await unsubscribeBrowser(options);
          // No push service can be reached from here, so a subscription is put in the place of one that it gave.
          const subscription = { endpoint: 'https://push.example/1', keys: { p256dh: 'p', auth: 'a' } };
          let isEnded = false;
          PushManager.prototype.getSubscription = async () => isEnded ? null
            : { toJSON: () => subscription, unsubscribe: async () => (isEnded = true) };
          const ended = [before, await unsubscribeBrowser(options), await unsubscribeBrowser(options)];
          return { ended, signature: await signPush({ workspaceId: 'W', campaignName: 'n', pushKey: 'k' }), fault,
            worker: registration.active.scriptURL };
        })()`);
        expect(found).toEqual({
          signature: expect.stringMatching(/^[0-9a-f]{64}$/),
          // No push service can be reached from here.
          fault: 'push-service',
          worker: `${origin}/carillon-service-worker.js`,
          ended: [undefined, { endpoint: 'https://push.example/1', keys: { p256dh: 'p', auth: 'a' } }, undefined],
        });
      } finally {
        await context.close();
        server.close();
      }
    },
    120_000,
  );
});
