import { createECDH, generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { makeManualClock } from '../../src/clock.ts';
import { defaultAppId } from '../../src/domain/apps.ts';
import { messageIdentity } from '../../src/domain/content/message.ts';
import { encryptionContext, makeEncryption } from '../../src/domain/crypto/encryption.ts';
import type { ProviderCredential, ProviderCredentials } from '../../src/domain/delivery/providers.ts';
import type { ApnsCredential } from '../../src/domain/providers/apns.ts';
import { makeLoadCredentials, makeShareProviderToken } from '../../src/engine/credentials.ts';
import { makeLog } from '../../src/log.ts';
import { isDeviceToken } from '../../src/providers/apns/plan.ts';
import { makeApnsProviderTokens } from '../../src/providers/apns/provider-token.ts';
import { checkCredential, makeAskProvider } from '../../src/providers/check-credential.ts';
import type { DeliveryRequest, Outcome } from '../../src/providers/provider.ts';
import { realProviderEndpoints } from '../../src/providers/registry.ts';
import { sendAccountOf } from '../../src/providers/send-account.ts';
import type { Database } from '../../src/storage/database.ts';
import { upsertProviderCredential } from '../../src/storage/keys/provider-credentials.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

describe('a credential check with a provider', () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const credential: ApnsCredential = {
    ...{
      provider: 'apns',
      teamId: 'TEAM',
      keyId: 'KEY',
      topic: 'com.shop',
      environment: 'production',
      simulated: false,
    },
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };

  test('ends at the time limit if the provider does not respond', async () => {
    const server = createServer((socket) => void socket.on('error', () => {}));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const askedAt = performance.now();
    expect(await makeAsk({ origin })(credential)).toEqual({
      verdict: 'UNKNOWN',
      words: 'no answer within 0.06 seconds',
    });
    expect(performance.now() - askedAt).toBeGreaterThan(55);
  });

  test('returns immediately if the result is already known', async () => {
    expect(await makeAsk({ maxMilliseconds: 20_000 })(credential)).toMatchObject({ verdict: 'UNKNOWN' });
    const halves = {
      provider: 'webpush',
      publicKey: 'x',
      privateKey: 'y',
      subject: 'mailto:a@x.example',
      simulated: false,
    } as const;
    expect(await makeAsk()(halves)).toMatchObject({ verdict: 'REFUSED' });
  });

  test('is unknown for a sandbox credential if no simulator runs', async () => {
    expect(await makeAsk()({ ...credential, simulated: true })).toEqual({
      verdict: 'UNKNOWN',
      words: 'It leads to the simulators of a sandbox, and none runs.',
    });
  });
});

describe('the credentials that a node loads', () => {
  let bundle: TestDatabase;
  beforeEach(async () => {
    bundle = await createTestDatabase();
  });
  afterEach(() => bundle.drop());

  /** The database, and how many statements were sent to it. */
  const count = (database: Database) => {
    let sent = 0;
    const counting = new Proxy(database, {
      apply(target, self, words: Parameters<Database>) {
        const statement = Reflect.apply(target, self, words) as object as PromiseLike<unknown>;
        const then = statement.then.bind(statement);
        // Parts of statements are made in the same way, and are not awaited.
        const noted = (...how: Parameters<typeof then>) => {
          sent += 1;
          return then(...how);
        };
        return Object.assign(statement, { then: noted });
      },
    });
    return { database: counting, sent: () => sent };
  };

  const setUp = async (workspaces: number) => {
    const { database } = bundle;
    const clock = makeManualClock(new Date('2026-11-28T12:00:00Z'));
    const encryption = makeEncryption(Buffer.alloc(32, 7));
    const save = (workspaceId: string, projectId: string, by = encryption) =>
      upsertProviderCredential(database, {
        ...{ workspaceId, provider: 'fcm', appId: defaultAppId, simulated: true, summary: {}, at: clock.now() },
        encrypted: by.encrypt(
          JSON.stringify({ provider: 'fcm', projectId, simulated: true }),
          encryptionContext.providerCredential({ workspaceId, provider: 'fcm', appId: defaultAppId }),
        ),
      });
    const ids: string[] = [];
    for (let number = 0; number < workspaces; number += 1) {
      ids.push(await insertTestWorkspace(database, clock.now()));
      await save(ids[number]!, `project ${number}`);
    }
    const counted = count(database);
    const load = makeLoadCredentials({ database: counted.database, encryption, clock });
    const projectOf = async (workspaceId: string) =>
      (await load(workspaceId)).find({ platform: 'ANDROID', appId: null })?.credentials.fcm?.projectId;
    return { ids, clock, save, projectOf, load, sent: counted.sent };
  };

  test('of many workspaces are read together, also when only one of them is due', async () => {
    const { ids, clock, projectOf, sent } = await setUp(30);
    expect(await Promise.all(ids.map(projectOf))).toEqual(ids.map((_, number) => `project ${number}`));
    expect(sent()).toBe(2);
    clock.advance(1_500);
    await Promise.all(ids.map(projectOf));
    expect(sent()).toBe(2);
    clock.advance(500);
    await projectOf(ids[0]!);
    await Promise.all(ids.map(projectOf));
    expect(sent()).toBe(4);
    // Only what was sent to is read again.
    clock.advance(10_000);
    await projectOf(ids[0]!);
    clock.advance(10_000);
    await projectOf(ids[0]!);
    expect(sent()).toBe(8);
  });

  test('are those that were stored two seconds before, at the latest', async () => {
    const { ids, clock, save, projectOf } = await setUp(2);
    const [shop, cafe] = [ids[0]!, ids[1]!];
    expect(await projectOf(shop)).toBe('project 0');
    clock.advance(1);
    await save(shop, 'another');
    expect(await projectOf(shop)).toBe('project 0');
    clock.advance(1_999);
    expect([await projectOf(shop), await projectOf(cafe)]).toEqual(['another', 'project 1']);
  });

  test('are decrypted once, until they change', async () => {
    const { ids, clock, load, save } = await setUp(1);
    const shop = ids[0]!;
    const first = await load(shop);
    clock.advance(2_000);
    expect(await load(shop)).toBe(first);
    await save(shop, 'another');
    clock.advance(2_000);
    expect(await load(shop)).not.toBe(first);
  });

  test('fail for the workspace alone that cannot be decrypted, and are read again the next time', async () => {
    const { ids, save, projectOf } = await setUp(2);
    const [shop, cafe] = [ids[0]!, ids[1]!];
    await save(shop, 'lost', makeEncryption(Buffer.alloc(32, 8)));
    const [ofShop, ofCafe] = await Promise.allSettled([projectOf(shop), projectOf(cafe)]);
    expect([ofShop.status, ofCafe]).toEqual(['rejected', { status: 'fulfilled', value: 'project 1' }]);
    await save(shop, 'mended');
    expect(await projectOf(shop)).toBe('mended');
  });
});

describe('shared provider tokens', () => {
  let bundle: TestDatabase;
  beforeEach(async () => {
    bundle = await createTestDatabase();
  });
  afterEach(() => bundle.drop());

  const clock = makeManualClock(new Date('2026-03-01T12:00:00Z'));
  const log = makeLog({ level: 'silent', pretty: false });
  const masterKey = randomBytes(32);
  const minute = 60_000;

  const node = (key = masterKey) =>
    makeApnsProviderTokens({
      clock,
      share: makeShareProviderToken({ ...bundle, encryption: makeEncryption(key), log }),
    });

  const credential = (more: Partial<ApnsCredential> = {}): ApnsCredential => ({
    provider: 'apns',
    teamId: 'TEAM1',
    keyId: 'KEY1',
    privateKey: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
      type: 'pkcs8',
      format: 'pem',
    }) as string,
    topic: 'com.shop',
    environment: 'production',
    simulated: false,
    ...more,
  });

  test('are created once for any number of nodes, and renewed together close to an hour', async () => {
    const apple = credential();
    const nodes = Array.from({ length: 6 }, () => node());
    const all = async () => new Set(await Promise.all(nodes.flatMap((one) => [one.get(apple), one.get({ ...apple })])));
    const first = await all();
    expect(first.size).toBe(1);
    clock.advance(49 * minute);
    expect(await all()).toEqual(first);
    clock.advance(2 * minute);
    const second = await all();
    expect(second.size).toBe(1);
    expect(second).not.toEqual(first);
    expect(await bundle.database`select 1 from provider_tokens`).toHaveLength(1);
  });

  test('are requested once for any number of concurrent messages', async () => {
    const share = makeShareProviderToken({ ...bundle, encryption: makeEncryption(masterKey), log });
    let asked = 0;
    const tokens = makeApnsProviderTokens({
      clock,
      share(request) {
        asked += 1;
        return share(request);
      },
    });
    const apple = credential();
    const all = () => Promise.all(Array.from({ length: 400 }, () => tokens.get(apple)));
    expect(new Set(await all()).size).toBe(1);
    expect(asked).toBe(1);
    clock.advance(51 * minute);
    await all();
    expect(asked).toBe(2);
    const refused = await tokens.get(apple);
    const next = await Promise.all(Array.from({ length: 400 }, () => tokens.replace(apple, refused)));
    expect([new Set(next).size, next[0] === refused, asked]).toEqual([1, false, 3]);
  });

  test('lock the token in one transaction per process for 400 messages after a start, and in one more at renewal', async () => {
    const transactions = vi.spyOn(bundle.database.reach.pool, 'take');
    const apple = credential();
    const nodes = [node(), node(), node()];
    // A worker reads its credentials anew every two seconds: the messages have copies of them.
    const all = () =>
      Promise.all(nodes.flatMap((one) => Array.from({ length: 400 }, () => one.get(structuredClone(apple)))));
    await all();
    expect(transactions).toHaveBeenCalledTimes(3);
    await all();
    expect(transactions).toHaveBeenCalledTimes(3);
    clock.advance(51 * minute);
    await all();
    expect(transactions).toHaveBeenCalledTimes(6);
    const broken = credential({ privateKey: 'no key' });
    for (let time = 0; time < 2; time += 1)
      await Promise.allSettled(Array.from({ length: 400 }, () => nodes[0]!.get(broken)));
    // What failed is not remembered, and asked for once by all that wait.
    expect(transactions).toHaveBeenCalledTimes(8);
  });

  test('are replaced once for all nodes if Apple rejects one; the successor only after twenty minutes', async () => {
    const apple = credential();
    const [one, other] = [node(), node()];
    const first = await one.get(apple);
    expect(await other.get(apple)).toBe(first);
    const second = await one.replace(apple, first);
    expect(second).not.toBe(first);
    expect(await one.get(apple)).toBe(second);
    expect(await other.replace(apple, first)).toBe(second);
    expect(await one.replace(apple, first)).toBe(second);
    expect(await one.replace(apple, second!)).toBeUndefined();
    expect(await one.get(apple)).toBe(second);
    clock.advance(21 * minute);
    expect(await one.replace(apple, second!)).not.toBe(second);
  });

  test('are replaced in memory and in the database if they were issued while the clock was ahead', async () => {
    const apple = credential();
    const right = clock.now();
    clock.advance(24 * 60 * minute);
    const tokens = node();
    const ahead = await tokens.get(apple);
    clock.anchor(right);
    const next = await tokens.get(apple);
    expect(next).not.toBe(ahead);
    expect(await node().get(apple)).toBe(next);
  });

  test('are dated by real time, not by the clock of a sandbox, because Apple uses real time', async () => {
    const apple = credential();
    const issuedAt = (token: string) =>
      (JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString('utf8')) as { iat: number }).iat;
    const tokens = node();
    clock.setOffset(30 * 24 * 60 * minute);
    const token = await tokens.get(apple);
    expect(issuedAt(token)).toBe(Math.floor(clock.realNow().getTime() / 1000));
    clock.setOffset(0);
    expect(await tokens.get(apple)).toBe(token);
  });

  test('are separate for another team, another key and a replaced key', async () => {
    const apple = credential();
    const tokens = await Promise.all(
      [apple, { ...apple, teamId: 'TEAM2' }, { ...apple, keyId: 'KEY2' }, credential()].map((given) =>
        node().get(given),
      ),
    );
    expect(new Set(tokens).size).toBe(4);
  });

  test('are stored encrypted; a node with another master key signs its own', async () => {
    const apple = credential();
    const token = await node().get(apple);
    const [row] = await bundle.database`select sealed as token from provider_tokens`;
    expect(row!.token.includes(token.split('.')[2]!)).toBe(false);
    expect(await node(randomBytes(32)).get(apple)).not.toBe(token);
  });

  test('are signed locally while the database is unavailable', async () => {
    const tokens = makeApnsProviderTokens({
      clock,
      share: makeShareProviderToken({
        database: { kind: 'database', pool: { take: () => Promise.reject(new Error('away')) } } as never,
        encryption: makeEncryption(masterKey),
        log,
      }),
    });
    expect((await tokens.get(credential())).split('.')).toHaveLength(3);
  });

  test('fail for an unusable key on each request, without remembering the failure', async () => {
    const tokens = node();
    const broken = credential({ privateKey: 'no key' });
    await expect(tokens.get(broken)).rejects.toThrow();
    await expect(tokens.get(broken)).rejects.toThrow();
  });
});

describe('credential checks', () => {
  describe('the verdict on the response to a made-up device', () => {
    test.each<[Outcome, object]>([
      [{ kind: 'accepted' }, { verdict: 'ACCEPTED', words: 'The provider took the call.' }],
      [
        { kind: 'gone', code: 'BadDeviceToken' },
        { verdict: 'ACCEPTED', words: 'BadDeviceToken, which is about the made-up device, not about the credential.' },
      ],
      [
        { kind: 'rejected', code: 'INVALID_ARGUMENT', detail: 'bad token' },
        { verdict: 'ACCEPTED', words: 'INVALID_ARGUMENT: bad token, which is about the made-up message.' },
      ],
      [
        { kind: 'rejected', code: 'BadCollapseId', detail: 'HTTP 400 BadCollapseId' },
        { verdict: 'ACCEPTED', words: 'HTTP 400 BadCollapseId, which is about the made-up message.' },
      ],
      [
        { kind: 'stopped', code: 'InvalidProviderToken', detail: 'HTTP 403 InvalidProviderToken' },
        { verdict: 'REFUSED', words: 'HTTP 403 InvalidProviderToken' },
      ],
      [
        { kind: 'stopped', code: 'A', detail: 'b' },
        { verdict: 'REFUSED', words: 'A: b' },
      ],
      [
        { kind: 'wait', code: '503', scope: 'device' },
        { verdict: 'UNKNOWN', words: '503' },
      ],
      [
        { kind: 'unreached', code: 'NOT_CONNECTED' },
        { verdict: 'UNKNOWN', words: 'NOT_CONNECTED' },
      ],
      [
        { kind: 'unknown', code: 'TIMEOUT' },
        { verdict: 'UNKNOWN', words: 'TIMEOUT' },
      ],
      ...(['reject', 'wait', 'suspect', 'drop'] as const).map((ifDevice): [Outcome, object] => [
        { kind: 'ambiguous', code: 'A', detail: 'HTTP 400 A', ifDevice, ifAccount: 'hold' },
        {
          verdict: ifDevice === 'reject' ? 'REFUSED' : ifDevice === 'wait' ? 'UNKNOWN' : 'ACCEPTED',
          words: /^(reject|wait)$/.test(ifDevice)
            ? 'HTTP 400 A'
            : 'A, which is about the made-up device, not about the credential.',
        },
      ]),
      ...['BadCertificate', 'BadEnvironmentKeyIdInToken'].map((code): [Outcome, object] => [
        { kind: 'rejected', code, detail: `HTTP 400 ${code}` },
        { verdict: 'REFUSED', words: `HTTP 400 ${code}` },
      ]),
      [
        { kind: 'rejected', code: 'NotBadTopic', detail: 'NotBadTopic' },
        { verdict: 'ACCEPTED', words: 'NotBadTopic, which is about the made-up message.' },
      ],
    ])('is derived from the outcome: %j', async (outcome, result) => {
      expect((await check({ provider: 'apns' }, outcome)).result).toEqual(result);
    });
  });

  describe('the probe', () => {
    test.each([
      ['fcm', 'ANDROID'],
      ['hms', 'ANDROID'],
      ['apns', 'IOS'],
    ])('%s: sends one request, with the credential alone, for a device of %s', async (provider, platform) => {
      const { asked } = await check({ provider });
      expect(asked).toHaveLength(1);
      const [{ message, device, credentials }] = asked as [DeliveryRequest];
      expect(credentials).toEqual({ [provider]: { provider } });
      expect(device).toMatchObject({ platform, provider });
      expect(message).toMatchObject({ platform, ttlSeconds: 0, isSilent: false });
      expect(message.content).toMatchObject({ title: 'Credential check', message: 'Not delivered to anybody' });
      expect(message).not.toHaveProperty('report');
      // Apple's form, which the others take too, as long as Apple's are; and no two checks name two devices.
      expect(device.pushId).toMatch(/^dead0400[0-9a-f]{56}$/);
      expect(isDeviceToken(device.pushId)).toBe(true);
      expect((await check({ provider })).asked[0]!.device).toEqual(device);
    });
  });

  test('sends the plainest message that the phone’s app could read, in a made-up campaign and run', async () => {
    const ids = {
      workspaceId: 'probe',
      campaignId: '0'.repeat(24),
      runId: '0'.repeat(24),
      ttlSeconds: 0,
      isSilent: false,
    };
    const content = {
      ...{ title: 'Credential check', message: 'Not delivered to anybody' },
      ...{ richContent: [], additionalActions: [] },
    };
    const { identity, ...android } = (await check({ provider: 'fcm' })).asked[0]!.message;
    expect(identity).toEqual(messageIdentity('0'.repeat(24), 'probe'));
    expect(android).toEqual({
      ...ids,
      platform: 'ANDROID',
      priority: 'NORMAL',
      content,
      payload: { mode: 'data', pushFrom: 'carillon', dataPrefix: 'svc' },
    });
    const { identity: _identity, ...ios } = (await check({ provider: 'apns' })).asked[0]!.message;
    expect(ios).toEqual({
      ...ids,
      platform: 'IOS',
      priority: 5,
      content: { ...content, enableBadge: false },
      dataPrefix: 'svc',
    });
  });

  describe('a VAPID key', () => {
    const ecdh = createECDH('prime256v1');
    const pair = {
      provider: 'webpush',
      subject: 'mailto:push@example.com',
      publicKey: ecdh.generateKeys('base64url'),
      privateKey: Buffer.from(ecdh.getPrivateKey('hex').padStart(64, '0'), 'hex').toString('base64url'),
    };

    test('is accepted if its halves match, without a request', async () => {
      const { result, asked } = await check(pair);
      expect(result).toEqual({ verdict: 'ACCEPTED', words: expect.stringMatching(/^The two keys are a pair\./) });
      expect(asked).toEqual([]);
    });

    test('is rejected with a reason if its halves do not match', async () => {
      const { result } = await check({ ...pair, publicKey: createECDH('prime256v1').generateKeys('base64url') });
      expect(result.verdict).toBe('REFUSED');
      expect(result.words).toMatch(/\w+ \w+/);
    });

    test('fails without one of its halves, as an error of the caller', async () => {
      const { privateKey: _privateKey, ...half } = pair;
      await expect(check(half)).rejects.toThrow(TypeError);
    });
  });
});

const credentials = {
  fcm: { projectId: 'shop', simulated: false },
  apns: { teamId: 'TEAM000001' },
  webpush: { publicKey: 'B'.repeat(87) },
  hms: { clientId: '10', owner: { kind: 'app', id: '42' } },
} as unknown as ProviderCredentials;
// The keys of the example in RFC 8291 §5.
const keys = {
  p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
  auth: 'BTBZMqHH6r4Tts7J_aSIgg',
};
const subscription = JSON.stringify({ endpoint: 'https://push.example:8443/x', keys });
const unlimited = { perMinute: undefined, throttledPerMinute: undefined };

describe('the account of a device', () => {
  test('counts 600,000 messages per minute and project for FCM (delivery 1)', () => {
    expect(sendAccountOf({ platform: 'ANDROID', pushId: 't' }, credentials)).toEqual({
      ...unlimited,
      key: 'fcm:shop',
      perMinute: 600_000,
    });
  });

  test('has no quota for the simulators', () => {
    const fcm = { ...credentials.fcm!, simulated: true };
    expect(sendAccountOf({ platform: 'ANDROID', pushId: 't' }, { fcm })).toEqual({ ...unlimited, key: 'fcm:shop' });
  });

  test('is the team for Apple, and the app of the message for Huawei', () => {
    expect(sendAccountOf({ platform: 'IOS', pushId: 't' }, credentials)).toEqual({
      ...unlimited,
      key: 'apns:TEAM000001',
    });
    expect(sendAccountOf({ platform: 'ANDROID', provider: 'hms', pushId: 't' }, credentials)).toEqual({
      ...unlimited,
      key: 'hms:42',
    });
  });

  test('is the key of the site for a push service, which limits a noisy site to 1,000 a minute (delivery 3)', () => {
    expect(sendAccountOf({ platform: 'WEB', pushId: subscription }, credentials)).toEqual({
      key: `webpush:${'B'.repeat(22)}:https://push.example:8443`,
      perMinute: undefined,
      throttledPerMinute: 1_000,
      isChosenByDevice: true,
    });
    const known = JSON.parse(subscription) as { endpoint: string };
    for (const host of ['fcm.googleapis.com', 'wns2-par02p.notify.windows.com', 'web.push.apple.com']) {
      const pushId = JSON.stringify({ ...known, endpoint: `https://${host}/1` });
      expect(sendAccountOf({ platform: 'WEB', pushId }, credentials)).not.toHaveProperty('isChosenByDevice');
    }
  });

  test('belongs to the provider that the device names', () => {
    expect(sendAccountOf({ platform: 'WEB', provider: 'fcm', pushId: 't' }, credentials)!.key).toBe('fcm:shop');
    expect(sendAccountOf({ platform: 'IOS', provider: 'fcm', pushId: 't' }, credentials)!.key).toBe('fcm:shop');
  });

  test('is undefined without a credential, and for an invalid subscription', () => {
    for (const platform of ['ANDROID', 'IOS', 'WEB'] as const)
      expect(sendAccountOf({ platform, pushId: subscription }, {})).toBeUndefined();
    expect(sendAccountOf({ platform: 'ANDROID', provider: 'hms', pushId: 't' }, {})).toBeUndefined();
    expect(sendAccountOf({ platform: 'WEB', pushId: '{}' }, credentials)).toBeUndefined();
  });
});

function makeAsk({ origin = 'http://127.0.0.1:1', maxMilliseconds = 60 } = {}) {
  const clock = makeManualClock(new Date('2026-11-21T12:00:00Z'));
  const endpoints = { ...realProviderEndpoints, apns: { production: origin, sandbox: origin } };
  const log = makeLog({ level: 'silent', pretty: false });
  return makeAskProvider({ clock, log, endpoints, allowedNetworks: [], maxMilliseconds });
}

/** The credential is asked for what a provider says with `outcome`. */
async function check(credential: object, outcome: Outcome = { kind: 'accepted' }) {
  const asked: DeliveryRequest[] = [];
  const delivery = {
    async probe(request: DeliveryRequest) {
      asked.push(request);
      return outcome;
    },
  };
  const result = await checkCredential({ delivery }, credential as ProviderCredential);
  return { result, asked };
}
