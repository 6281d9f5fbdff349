import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as everything from '../src/index.ts';
import { CarillonError, makeAccessTokens, makeCarillonClient, signPush } from '../src/index.ts';
import { startCarillonBundle, until } from '../../server/test/carillon-bundle.ts';
import type { CarillonBundle } from '../../server/test/carillon-bundle.ts';
import { signPush as signOnServer } from '../../server/src/domain/crypto/signatures.ts';

let bundle: CarillonBundle;
beforeAll(async () => {
  bundle = await startCarillonBundle();
});
afterAll(() => bundle.stop());

const makeClient = (more: object = {}) =>
  makeCarillonClient({
    baseUrl: bundle.url,
    workspaceId: bundle.workspaceId,
    oauthKey: bundle.keys.oauth,
    pushKey: bundle.keys.push,
    ...more,
  });

test('the package offers what an integrator uses, and nothing of the console', () => {
  expect(Object.keys(everything).sort()).toEqual([
    'CarillonError',
    'SubscribeBrowserError',
    'hostsOfDataCenter',
    'makeAccessTokens',
    'makeCallbackReceiver',
    'makeCarillonClient',
    'signPush',
    'signPushV2',
    'subscribeBrowser',
    'toCarillonError',
    'unsubscribeBrowser',
    'verifyCallback',
  ]);
});

/** The example of the README that holds `word`, as a function of what it imports and with what a reader fills in. */
async function readExample(
  word: string,
  filledIn: Record<string, string>,
): Promise<(given: object) => Promise<unknown>> {
  const readme = await readFile(join(import.meta.dirname, '..', 'README.md'), 'utf8');
  const [, code] = [...readme.matchAll(/```ts\n(.*?)```/gs)].find(([, block]) => block!.includes(word))!;
  const [, imported] = /import \{ (.*) \} from '@carillon\/client(?:\/browser)?';/.exec(code!)!;
  let body = code!.replace(/import .*/, '').replace(/const (\{ )?(\w+)( \})? = await (?!.*await)/s, 'return await ');
  for (const [placeholder, value] of Object.entries(filledIn)) {
    expect(body).toContain(placeholder);
    body = body.replaceAll(placeholder, value);
  }
  const run = new Function(imported!, `return (async () => { ${body} })()`) as (given: unknown) => Promise<unknown>;
  return (given) => run(given);
}

describe('the examples of the README', () => {
  test('a user, a device and a push: as it stands there, the phone gets it', async () => {
    const run = await readExample('makeCarillonClient', {
      'http://127.0.0.1:8080': bundle.url,
      YOUR_WORKSPACE_ID: bundle.workspaceId,
      'cok_…': bundle.keys.oauth,
      'cpk_…': bundle.keys.push,
      'fcm-token…': 'token-of-the-readme',
    });
    expect(await run(makeCarillonClient)).toMatchObject({ cid: expect.stringMatching(/^[0-9a-f]{24}$/) });
    const message = await until(async () =>
      (await bundle.inbox()).find((found) => found.deviceToken === 'token-of-the-readme'),
    );
    expect(message).toMatchObject({ title: 'On its way', body: 'Your order has been shipped' });
  });

  test('a browser: what it gives is what the function takes, and outside of a browser it says so', async () => {
    const run = await readExample('subscribeBrowser', {});
    await expect(run(everything.subscribeBrowser)).rejects.toMatchObject({
      name: 'SubscribeBrowserError',
      code: 'unsupported',
    });
  });
});

test('the package is what its README says: no dependencies, and sources that a bundler or Node takes', async () => {
  const manifest = JSON.parse(await readFile(join(import.meta.dirname, '..', 'package.json'), 'utf8'));
  expect(manifest.dependencies).toBeUndefined();
  const folder = join(import.meta.dirname, '..', 'src');
  const sources = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.ts'));
  for (const file of sources) {
    const text = await readFile(join(folder, file), 'utf8');
    for (const [, from] of text.matchAll(/from '(.*)';/g)) expect(from).toMatch(/^\.\//);
  }
});

test('the signature is the one the server checks', async () => {
  const signed = { workspaceId: 'WS', campaignName: 'Grüße | 🎉 menu', pushKey: 'key' };
  expect(await signPush(signed)).toBe(signOnServer({ appId: 'WS', campaignName: signed.campaignName, key: 'key' }));
});

describe('against a running node', () => {
  test('a user, a device and a push: the phone gets it', async () => {
    const client = makeClient();
    await client.upsertUser({ customerId: 'linus', attributes: { u_fn: 'Linus' } });
    await client.registerDevice({ customerId: 'linus', deviceId: 'phone', platform: 'ANDROID', pushId: 'linus-token' });
    const answer = await client.sendPush({
      campaignName: 'To Linus alone',
      targetPlatform: ['ANDROID'],
      targetAudience: 'User',
      targetUserAttributes: {
        attribute: 'USER_ATTRIBUTE_UNIQUE_ID',
        comparisonParameter: 'is',
        attributeValue: 'linus',
      },
      payload: { ANDROID: { title: 'For Linus', message: 'Hello' } },
      campaignDelivery: { type: 'soon' },
    });
    expect(answer.cid).toMatch(/^[0-9a-f]{24}$/);
    const message = await until(async () =>
      (await bundle.inbox()).find((found) => found.deviceToken === 'linus-token'),
    );
    expect(message.title).toBe('For Linus');
  });

  test("a refusal is an error with the service's own word", async () => {
    const wrong = makeClient({ pushKey: 'wrong' });
    const push = {
      campaignName: 'Never sent',
      targetPlatform: ['ANDROID' as const],
      targetAudience: 'All Users' as const,
      payload: { ANDROID: { title: 'T', message: 'M' } },
      campaignDelivery: { type: 'soon' as const },
    };
    const error = await wrong.sendPush(push).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(CarillonError);
    expect((error as CarillonError).code).toBe('Signature is not verified');
    const strangerTokens = makeAccessTokens({ baseUrl: bundle.url, workspaceId: bundle.workspaceId, oauthKey: 'no' });
    await expect(strangerTokens.get()).rejects.toMatchObject({ code: 'ER011', status: 401 });
  });
});

describe('access tokens', () => {
  const answer = (data: object) => new Response(JSON.stringify({ data }), { status: 200 });

  test('one is shared by callers at the same moment, reused, and refreshed two minutes before its end', async () => {
    const asked: string[] = [];
    let now = 0;
    const tokens = makeAccessTokens({
      baseUrl: 'http://service',
      workspaceId: 'WS',
      oauthKey: 'key',
      now: () => now,
      fetch: (async (url: string, init: RequestInit) => {
        const form = init.body as URLSearchParams;
        asked.push(`${new URL(url).pathname} ${form.get('refresh_token') ?? form.get('client_secret')}`);
        const data = { access_token: `a${asked.length}`, expires_in: 900 };
        return answer(url.endsWith('token') ? { ...data, refresh_token: 'r1' } : data);
      }) as never,
    });
    expect(await Promise.all([tokens.get(), tokens.get(), tokens.get()])).toEqual(['a1', 'a1', 'a1']);
    now = 779_000;
    expect(await tokens.get()).toBe('a1');
    now = 781_000;
    expect(await tokens.get()).toBe('a2');
    expect(asked).toEqual(['/v1/oauth/token key', '/v1/oauth/refresh r1']);
  });

  test('a refresh token that is dead leads to a new generation, once', async () => {
    const asked: string[] = [];
    let now = 0;
    const tokens = makeAccessTokens({
      baseUrl: 'http://service',
      workspaceId: 'WS',
      oauthKey: 'key',
      now: () => now,
      fetch: (async (url: string) => {
        asked.push(new URL(url).pathname);
        if (url.endsWith('refresh')) return new Response(JSON.stringify({ error_type: 'ER010' }), { status: 401 });
        return answer({ access_token: `a${asked.length}`, expires_in: 900, refresh_token: 'r' });
      }) as never,
    });
    await tokens.get();
    now = 900_000;
    expect(await tokens.get()).toBe('a3');
    expect(asked).toEqual(['/v1/oauth/token', '/v1/oauth/refresh', '/v1/oauth/token']);
  });
});

test('429 and 503 are waited out as long as the service asks, a bounded number of times', async () => {
  const statuses = [429, 503, 200];
  let calls = 0;
  const client = makeCarillonClient({
    baseUrl: 'http://service',
    workspaceId: 'WS',
    pushKey: 'key',
    fetch: (async () => {
      const status = statuses[calls++]!;
      const body = status === 200 ? { status: 'Success', requestId: 'r', responseId: 's', cid: 'c' } : {};
      return new Response(JSON.stringify(body), { status, headers: { 'retry-after': '0' } });
    }) as never,
  });
  const push = {
    campaignName: 'Patience',
    targetPlatform: [],
    targetAudience: 'All Users',
    payload: {},
    campaignDelivery: { type: 'soon' },
  };
  expect((await client.sendPush(push as never)).cid).toBe('c');
  expect(calls).toBe(3);
});
