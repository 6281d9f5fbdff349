import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { makeManualClock } from '../../../src/clock.ts';
import type { ApnsCredential } from '../../../src/domain/providers/apns.ts';
import { makeEncryption } from '../../../src/domain/crypto/encryption.ts';
import { makeShareProviderToken } from '../../../src/engine/credentials.ts';
import { makeApnsProviderTokens } from '../../../src/providers/apns/provider-token.ts';
import { makeLog } from '../../../src/log.ts';
import { createTestDatabase } from '../../test-database.ts';
import type { TestDatabase } from '../../test-database.ts';

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
  makeApnsProviderTokens({ clock, share: makeShareProviderToken({ ...bundle, encryption: makeEncryption(key), log }) });

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

test('any number of nodes use one token, made once, and renew it together close to an hour', async () => {
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

test('any number of messages at once ask for the token once', async () => {
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

test('400 messages after a start take the lock of the token in one transaction a process, and in one more when it is renewed', async () => {
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

test('a token that Apple refuses is replaced once for all nodes; its successor only after twenty minutes', async () => {
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

test('a token issued while the clock was ahead is replaced when the clock is right again, in memory and in the database', async () => {
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

test('the clock of a sandbox does not date a token: Apple has the real time', async () => {
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

test('another team, another key and a replaced key have tokens of their own', async () => {
  const apple = credential();
  const tokens = await Promise.all(
    [apple, { ...apple, teamId: 'TEAM2' }, { ...apple, keyId: 'KEY2' }, credential()].map((given) => node().get(given)),
  );
  expect(new Set(tokens).size).toBe(4);
});

test('is encrypted: the database does not reveal it, and a node with another master key signs its own', async () => {
  const apple = credential();
  const token = await node().get(apple);
  const [row] = await bundle.database`select sealed as token from provider_tokens`;
  expect(row!.token.includes(token.split('.')[2]!)).toBe(false);
  expect(await node(randomBytes(32)).get(apple)).not.toBe(token);
});

test('a database that is away holds nobody back', async () => {
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

test('a key that cannot sign is refused each time, not remembered', async () => {
  const tokens = node();
  const broken = credential({ privateKey: 'no key' });
  await expect(tokens.get(broken)).rejects.toThrow();
  await expect(tokens.get(broken)).rejects.toThrow();
});
