import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { startNetwork } from './network.ts';
import { makeChecks, replaceServer, situations } from './situations.ts';
import type { AppStep, Check } from './situations.ts';
import type { makeAppOf } from './web-site.ts';

/** A compiled core of an SDK, in a program that plays steps: it reads a line of JSON for each and replies with one. */
export type CoreProgram = {
  platform: 'ANDROID' | 'IOS';
  folder: string;
  bundle: CarillonBundle;
  app: Awaited<ReturnType<typeof makeAppOf>>;
  /** @param place a folder for the installation */
  command: (place: string) => [program: string, ...words: string[]];
};

type Reply = { notices: string[]; shows?: string; fault?: string };

/** How the node's messages look on a platform. */
const platforms = {
  ANDROID: {
    makeToken: (name: string) => name,
    device: { platform: 'ANDROID', push_id_type: 'token' },
    messageOf: (payload: any) => payload.data,
    challengeOf: (message: any) => message.svc_challenge,
    challengeOfAnother: (message: any) => ({ ...message, svc_installation_id: 'x'.repeat(16) }),
    foreign: (message: any) => ({ ...message, push_from: 'other' }),
    reportToken: (message: any): string => message.svc_report_token,
    campaignId: (message: any): string => message.gcm_campaign_id,
  },
  IOS: {
    makeToken: (name: string) => Buffer.from(name).toString('hex').slice(-64).padStart(64, '0'),
    device: { platform: 'iOS' },
    messageOf: (payload: any) => (payload.svc ? payload : undefined),
    challengeOf: (message: any) => message.svc.challenge,
    challengeOfAnother: (message: any) => ({ ...message, svc: { ...message.svc, installation_id: 'x'.repeat(16) } }),
    foreign: ({ svc, ...message }: any) => ({ ...message, other: svc }),
    reportToken: (message: any): string => message.svc.report_token,
    campaignId: (message: any): string => message.svc.campaign_id,
  },
};

/** Declares the tests that the core of every native SDK passes. Call it in a `describe`; the program is read when tests run. */
export function testCore(read: () => CoreProgram): void {
  test.each(situations)('handles: $name', ({ name, steps }) =>
    withPhone(read(), name, async (phone) => {
      for (const step of steps) await phone.take(step);
    }),
  );

  test('keeps the queue, the user and the installation when the process ends', () =>
    withPhone(read(), 'process ends', async ({ take, perform }) => {
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
    withPhone(read(), 'message', async ({ take, perform, tokenOf, suffix, send, form }) => {
      await take({ do: 'start' });
      await take({ do: 'subscribe', token: 'first' });
      await take({ do: 'login', user: 'ada', identity: 'valid' });
      await take({ expect: 'devices', user: 'ada', tokens: ['first'] });
      const data = await send(`ada ${suffix}`, tokenOf('first'));
      expect(await perform({ do: 'receive', data })).toMatchObject({ shows: 'Only today' });
      expect(await perform({ do: 'receive', data: form.foreign(data) })).toMatchObject({ shows: 'foreign' });
      await take({ do: 'offline' });
      await take({ do: 'logout' });
      expect(await perform({ do: 'receive', data })).toMatchObject({ shows: 'nothing' });
      await take({ do: 'online' });
      await take({ expect: 'signed in', user: null });
      expect(await perform({ do: 'receive', data })).toMatchObject({ shows: 'Only today' });
    }));

  test('reports messages of a phone that the server of the app registered, without an app key', () =>
    withPhone(read(), 'own server', async ({ take, perform, tokenOf, suffix, send, form, host, requests }) => {
      const { bundle } = read();
      const known = { customer_id: `ada ${suffix}`, device_id: 'phone-of-ada' };
      for (const [path, body] of [
        ['customer', { type: 'customer', customer_id: known.customer_id, attributes: {} }],
        ['device', { type: 'device', ...known, attributes: { ...form.device, push_id: tokenOf('first') } }],
      ] as const) {
        const created = await bundle.call('POST', `/v1/${path}/${bundle.workspaceId}`, {
          headers: bundle.basic(),
          body,
        });
        expect(created.status, created.text).toBe(200);
      }
      await perform({ do: 'start receiving', host });
      const data = await send(`ada ${suffix}`, tokenOf('first'));
      expect(await perform({ do: 'receive', data })).toMatchObject({ shows: 'Only today' });
      await take({ do: 'offline' });
      for (const type of ['shown', 'clicked', 'dismissed'])
        await perform({ do: 'receipt', token: form.reportToken(data), type });
      await perform({ do: 'receipt', token: 'x'.repeat(30), type: 'shown' });
      await take({ do: 'online' });
      const counts = () => bundle.database`
        select kind, total::integer from campaign_interactions
        where campaign_id = ${form.campaignId(data)} order by kind`;
      const once = ['CLICK', 'CLOSE', 'IMPRESSION'].map((kind) => ({ kind, total: 1 }));
      await expect.poll(counts).toEqual(once);
      await expect.poll(() => requests).toEqual(Array(4).fill('/v1/interactions'));
      expect((await perform({ do: 'login', user: 'ada' })).fault).toBeDefined();
    }));

  test('opts out, and sets attributes that the workspace lets apps write', () =>
    withPhone(read(), 'opt-out', async ({ take, perform, installations }) => {
      const { bundle } = read();
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
}

export type Phone = Awaited<ReturnType<typeof openPhone>>;

/** Starts a phone, whose users and tokens no other phone has, for as long as the work lasts. */
export async function withPhone(
  program: CoreProgram,
  name: string,
  work: (phone: Phone) => Promise<void>,
): Promise<void> {
  const phone = await openPhone(program, name);
  try {
    await work(phone);
  } finally {
    await phone.close();
  }
}

async function openPhone(program: CoreProgram, name: string) {
  const { bundle, app, folder } = program;
  const form = platforms[program.platform];
  const suffix = `of ${name}`;
  const network = await startNetwork(bundle.url);
  const place = await mkdtemp(join(folder, 'phone-'));
  const [file, ...words] = program.command(place);
  const child = spawn(file, words, { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const tokens = new Map<string, string>();
  const tokenOf = (token: string): string => {
    const fresh = () => form.makeToken(`${token}-${name.replaceAll(' ', '-')}-${randomBytes(8).toString('hex')}`);
    if (!tokens.has(token)) tokens.set(token, fresh());
    return tokens.get(token)!;
  };

  async function perform(command: { do: string; [member: string]: unknown }): Promise<Reply> {
    child.stdin.write(`${JSON.stringify(command)}\n`);
    const { value } = await lines.next();
    return JSON.parse(value as string) as Reply;
  }

  const findMessage = (token: string, isWanted: (message: any) => unknown) =>
    until(async () => {
      const sent = (await bundle.inbox()).filter(({ deviceToken }) => deviceToken === token);
      const messages = sent.map(({ payload }) => form.messageOf(payload));
      return messages.find((message) => message && isWanted(message));
    });

  /** Sends a push to a user, and returns what the phone with the token gets. */
  async function send(user: string, token: string): Promise<Record<string, unknown>> {
    const sent = await bundle.push({
      ...{ campaignName: 'Offers', targetPlatform: [program.platform], targetAudience: 'User' },
      targetUserAttributes: {
        ...{ attribute: 'USER_ATTRIBUTE_UNIQUE_ID', comparisonParameter: 'is', attributeValue: user },
      },
      payload: { [program.platform]: { title: 'Only today', message: 'For Ada' } },
      campaignDelivery: { type: 'soon' },
    });
    expect(sent.status, sent.text).toBe(200);
    return findMessage(token, (message) => !form.challengeOf(message));
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
        const data = await findMessage(tokenOf(step.token), form.challengeOf);
        return perform({ do: 'receive', data: step.of ? form.challengeOfAnother(data) : data });
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
    ...{ perform, send, tokenOf, suffix, form, installations: network.installations },
    ...{ host: network.url, requests: network.requests },
    take: (step: AppStep | Check): Promise<unknown> => ('do' in step ? act(step) : check(step)),
    async close() {
      child.kill();
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      await network.stop();
    },
  };
}
