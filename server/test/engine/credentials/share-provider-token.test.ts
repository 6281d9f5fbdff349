import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeManualClock } from '../../../src/clock.ts';
import type { ApnsCredential } from '../../../src/domain/provider-credential.ts';
import { makeEncryption } from '../../../src/domain/encryption.ts';
import { makeShareProviderToken } from '../../../src/engine/credentials/share-provider-token.ts';
import { makeApnsProviderTokens } from '../../../src/engine/delivery/apns/apns-provider-token.ts';
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

test('a token that Apple calls expired is renewed once for all nodes, and not within twenty minutes', async () => {
  const apple = credential();
  const [one, other] = [node(), node()];
  const first = await one.get(apple);
  expect(await other.get(apple)).toBe(first);
  expect(await one.renew(apple)).toBe(false);
  clock.advance(21 * minute);
  expect(await one.renew(apple)).toBe(true);
  const second = await one.get(apple);
  expect(second).not.toBe(first);
  expect(await other.renew(apple)).toBe(true);
  expect(await other.get(apple)).toBe(second);
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
