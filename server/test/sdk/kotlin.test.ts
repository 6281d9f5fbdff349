import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { startNetwork } from './network.ts';
import { findKotlin, jsonJar } from './kotlin-compiler.ts';
import { makeChecks, replaceServer, situations } from './situations.ts';
import type { AppStep, Check } from './situations.ts';
import { makeAppOf } from './web-site.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const android = join(root, 'sdk', 'android');
const kotlin = process.env.FULL === '1' ? await findKotlin() : 'FULL=1 compiles it';
const reason = typeof kotlin === 'string' ? ` (skipped: ${kotlin})` : '';

describe.skipIf(typeof kotlin === 'string')(`carillon-android${reason}`, () => {
  if (typeof kotlin === 'string') return;
  let folder: string;
  let bundle: CarillonBundle;
  let app: Awaited<ReturnType<typeof makeAppOf>>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'carillon-kotlin-'));
    kotlin.compile([join(android, 'core', 'src')], { classes: join(folder, 'core'), classPath: [] });
    bundle = await startCarillonBundle();
    app = await makeAppOf(bundle);
  }, 400_000);
  afterAll(async () => {
    await bundle?.stop();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  test('its layers for Android, Huawei, React Native and Capacitor and the sample compile against what they use of Android', () => {
    const core = join(folder, 'core');
    const stubs = join(folder, 'stubs');
    kotlin.compile([join(import.meta.dirname, 'android-stubs')], { classes: stubs, classPath: [] });
    const layers = ['carillon', 'huawei'].map((name) => join(android, name, 'src', 'main'));
    const bridges = ['react-native', 'capacitor'].map((name) => join(root, 'sdk', name, 'android/src/main/kotlin'));
    const sample = join(root, 'samples', 'android', 'app', 'src', 'main', 'kotlin');
    kotlin.compile([...layers, ...bridges, sample], { classes: join(folder, 'layers'), classPath: [core, stubs] });
  }, 300_000);

  test.each(situations)('handles: $name', ({ name, steps }) =>
    withPhone(name, async (phone) => {
      for (const step of steps) await phone.take(step);
    }),
  );

  test('keeps the queue, the user and the installation when the process ends', () =>
    withPhone('process ends', async ({ take, perform }) => {
      await take({ do: 'start' });
      await take({ do: 'login', user: 'ada', identity: 'valid' });
      await take({ do: 'offline' });
      await take({ do: 'track', event: 'Kept' });
      await perform({ do: 'restart' });
      await take({ do: 'online' });
      await take({ do: 'start' });
      await take({ expect: 'events', user: 'ada', events: ['Kept'] });
      await take({ expect: 'sign-ins', count: 1 });
    }));

  test('reads a message of the node, and shows none while a logout waits', () =>
    withPhone('message', async ({ take, perform, tokenOf, suffix }) => {
      await take({ do: 'start' });
      await take({ do: 'subscribe', token: 'first' });
      await take({ do: 'login', user: 'ada', identity: 'valid' });
      await take({ expect: 'devices', user: 'ada', tokens: ['first'] });
      const data = await sendTo(`ada ${suffix}`, tokenOf('first'));
      expect(await perform({ do: 'receive', data })).toMatchObject({ shows: 'Only today' });
      expect(await perform({ do: 'receive', data: { ...data, push_from: 'other' } })).toMatchObject({
        shows: 'foreign',
      });
      await take({ do: 'offline' });
      await take({ do: 'logout' });
      expect(await perform({ do: 'receive', data })).toMatchObject({ shows: 'nothing' });
      await take({ do: 'online' });
      await take({ expect: 'signed in', user: null });
      expect(await perform({ do: 'receive', data })).toMatchObject({ shows: 'Only today' });
    }));

  test('reports messages of a phone that the server of the app registered, without an app key', () =>
    withPhone('own server', async ({ take, perform, tokenOf, suffix, host, requests }) => {
      const device = { platform: 'ANDROID', push_id: tokenOf('first'), push_id_type: 'token' };
      const known = { customer_id: `ada ${suffix}`, device_id: 'phone-of-ada' };
      for (const [path, body] of [
        ['customer', { type: 'customer', customer_id: known.customer_id, attributes: {} }],
        ['device', { type: 'device', ...known, attributes: device }],
      ] as const) {
        const created = await bundle.call('POST', `/v1/${path}/${bundle.workspaceId}`, {
          headers: bundle.basic(),
          body,
        });
        expect(created.status, created.text).toBe(200);
      }
      await perform({ do: 'start receiving', host });
      const data = await sendTo(`ada ${suffix}`, tokenOf('first'));
      expect(await perform({ do: 'receive', data })).toMatchObject({ shows: 'Only today' });
      await take({ do: 'offline' });
      for (const type of ['SHOWN', 'CLICKED', 'DISMISSED'])
        await perform({ do: 'receipt', token: data.svc_report_token, type });
      await perform({ do: 'receipt', token: 'x'.repeat(30), type: 'SHOWN' });
      await take({ do: 'online' });
      const counts = () => bundle.database`
        select kind, total::integer from campaign_interactions where campaign_id = ${data.gcm_campaign_id!} order by kind`;
      const once = ['CLICK', 'CLOSE', 'IMPRESSION'].map((kind) => ({ kind, total: 1 }));
      await expect.poll(counts).toEqual(once);
      await expect.poll(() => requests).toEqual(Array(4).fill('/v1/interactions'));
      expect(await perform({ do: 'login', user: 'ada' })).toMatchObject({ fault: 'IllegalStateException' });
    }));

  test('opts out, and sets attributes that the workspace lets apps write', () =>
    withPhone('opt-out', async ({ take, perform, installations }) => {
      const access = { headers: bundle.basic(), body: { attributes: ['favourite_team'] } };
      expect((await bundle.call('PUT', '/v1/app-access', access)).status).toBe(200);
      await take({ do: 'start' });
      await take({ do: 'subscribe', token: 'first' });
      await perform({ do: 'set', name: 'favourite_team', value: 'Kestrels' });
      await perform({ do: 'opt out' });
      const [id] = installations;
      const look = () => bundle.database`
        select devices.state, users.attributes from installations
        join users on users.bucket = user_bucket and users.id = installations.user_id
        join devices on devices.bucket = user_bucket and devices.user_id = installations.user_id
        where installations.id = ${id!}`;
      await expect.poll(look).toMatchObject([{ state: 'OPTED_OUT', attributes: { 'app:favourite_team': 'Kestrels' } }]);
    }));

  /** Sends a push to a user, and returns the data that the phone with the token gets. */
  async function sendTo(user: string, token: string): Promise<Record<string, string>> {
    const sent = await bundle.push({
      ...{ campaignName: 'Offers', targetPlatform: ['ANDROID'], targetAudience: 'User' },
      targetUserAttributes: {
        ...{ attribute: 'USER_ATTRIBUTE_UNIQUE_ID', comparisonParameter: 'is', attributeValue: user },
      },
      payload: { ANDROID: { title: 'Only today', message: 'For Ada' } },
      campaignDelivery: { type: 'soon' },
    });
    expect(sent.status, sent.text).toBe(200);
    return until(async () => {
      const found = (await bundle.inbox()).find((one) => one.deviceToken === token && one.payload.data);
      return found?.payload.data as Record<string, string> | undefined;
    });
  }

  type Phone = Awaited<ReturnType<typeof openPhone>>;

  async function withPhone(name: string, work: (phone: Phone) => Promise<void>): Promise<void> {
    const phone = await openPhone(name);
    try {
      await work(phone);
    } finally {
      await phone.close();
    }
  }

  /** A process with the core, whose users and tokens no other situation has. */
  async function openPhone(name: string) {
    if (typeof kotlin === 'string') throw new Error(kotlin);
    const suffix = `of ${name}`;
    const network = await startNetwork(bundle.url);
    const place = await mkdtemp(join(folder, 'phone-'));
    const classPath = [join(folder, 'core'), kotlin.library, jsonJar].join(':');
    const child = spawn('java', ['-Xmx64m', '-cp', classPath, 'dev.carillon.core.PlayStepsKt', place], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const tokens = new Map<string, string>();
    const tokenOf = (token: string): string => {
      if (!tokens.has(token))
        tokens.set(token, `${token}-${name.replaceAll(' ', '-')}-${randomBytes(8).toString('hex')}`);
      return tokens.get(token)!;
    };

    async function perform(command: { do: string; [member: string]: unknown }) {
      child.stdin.write(`${JSON.stringify(command)}\n`);
      const { value } = await lines.next();
      return JSON.parse(value as string) as { notices: string[]; shows?: string; fault?: string };
    }

    async function act(step: AppStep): Promise<unknown> {
      switch (step.do) {
        case 'offline':
          return network.goOffline();
        case 'online':
          network.goOnline();
          return perform({ do: 'online' });
        case 'start':
          return perform({ do: 'start', appKey: app.appKey, host: network.url });
        case 'subscribe':
          return perform({ do: 'subscribe', token: tokenOf(step.token) });
        case 'receive challenge': {
          const data = await until(async () => {
            const found = (await bundle.inbox()).find(
              ({ deviceToken, payload }) => deviceToken === tokenOf(step.token) && payload.data?.svc_challenge,
            );
            return found?.payload.data as object | undefined;
          });
          return perform({ do: 'receive', data: step.of ? { ...data, svc_installation_id: 'x'.repeat(16) } : data });
        }
        case 'login': {
          const user = `${step.user} ${suffix}`;
          const token = await app.sign(user, { isExpired: step.identity === 'expired' });
          return perform({ do: 'login', user, token });
        }
        case 'lose next answer':
          return network.loseNextReply(step.of);
        case 'replace server':
          return replaceServer(bundle, { installations: network.installations, suffix });
        case 'logout':
        case 'track':
        case 'clock':
        case 'reinstall':
          return perform(step);
      }
    }

    const check = makeChecks(bundle, {
      ...{ suffix, requests: network.requests, installations: network.installations },
      notices: async () => (await perform({ do: 'look' })).notices,
      nameToken: (pushId) => [...tokens].find(([, token]) => token === pushId)?.[0],
    });
    return {
      ...{ perform, tokenOf, suffix, installations: network.installations },
      ...{ host: network.url, requests: network.requests },
      take: (step: AppStep | Check): Promise<unknown> => ('do' in step ? act(step) : check(step)),
      async close() {
        child.kill();
        if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
        await network.stop();
      },
    };
  }
});
