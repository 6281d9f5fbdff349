import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { makeManualClock } from '../../../src/clock.ts';
import type { Seen } from '../../../src/domain/delivery/evidence.ts';
import { makeEvidence, probeMilliseconds } from '../../../src/engine/governor/provider-evidence.ts';
import type { BatchKey } from '../../../src/engine/governor/provider-evidence.ts';
import { makeLog } from '../../../src/log.ts';
import type { Database } from '../../../src/storage/database.ts';
import { createTestDatabase } from '../../test-database.ts';
import type { TestDatabase } from '../../test-database.ts';
import { insertTestWorkspace } from '../../test-workspace.ts';

const start = new Date('2026-11-26T12:00:00Z');
const log = makeLog({ level: 'silent', pretty: false });
let database: TestDatabase;
let clock: ReturnType<typeof makeManualClock>;
let key: BatchKey;
beforeAll(async () => {
  database = await createTestDatabase();
  const workspaceId = await insertTestWorkspace(database.database, start);
  const text = `${workspaceId} apns default 1 production com.example.shop`;
  key = { text, credential: text, canHold: true, workspaceId, provider: 'apns', appId: 'default' };
});
afterAll(() => database.drop());
beforeEach(async () => {
  clock = makeManualClock(start);
  await database.database`delete from provider_evidence`;
});

const node = (of: Database = database.database) => makeEvidence({ database: of, clock, log });
const answers = (from: number, count: number, code: string | null = 'BadDeviceToken'): Seen[] =>
  Array.from({ length: count }, (_, index) => ({ deviceId: `d${from + index}`, code, at: clock.now().getTime() }));
const bad = {
  code: 'BadDeviceToken',
  detail: 'HTTP 400',
  effect: 'hold',
  isDrop: false,
  retryAfterSeconds: undefined,
} as const;
const judge = async (evidence: ReturnType<typeof node>, given: Seen[], codes = [bad]) =>
  (await evidence.judge(key, { answers: given, codes })).get('BadDeviceToken')!;
/** A database that is away: every statement fails once it is waited for; a part of a statement is never waited for. */
const away = (() => {
  const fail = () => ({
    // oxlint-disable-next-line unicorn/no-thenable -- postgres.js sends a statement when it is waited for
    then: (...handlers: Parameters<Promise<never>['then']>) => Promise.reject(new Error('away')).then(...handlers),
    catch: (handler: (error: unknown) => unknown) => Promise.reject(new Error('away')).catch(handler),
  });
  return Object.assign(fail, { begin: fail, transaction: fail }) as unknown as Database;
})();

describe('what two nodes know of one credential', () => {
  test('is added up: ten devices of each are twenty', async () => {
    const [one, other] = [node(), node()];
    expect((await judge(one, answers(0, 10))).verdict).toBe('undecided');
    expect((await judge(other, answers(10, 10))).verdict).toBe('account');
  });

  test('a hold of one is known to the other within a second, and so is its end', async () => {
    const [one, other] = [node(), node()];
    expect((await other.findHolds()).size).toBe(0);
    await judge(one, answers(0, 20));
    clock.advance(1_000);
    expect((await other.findHolds()).get(key.text)).toMatchObject({ code: 'BadDeviceToken', until: null });
    await other.release(key.text);
    expect((await other.findHolds()).size).toBe(0);
    clock.advance(1_000);
    expect((await one.findHolds()).size).toBe(0);
    // What failed before the release says nothing after it.
    expect((await judge(one, answers(100, 1))).verdict).toBe('undecided');
  });

  test('lets one message through in five seconds, whichever node asks, and none to a device that has just failed', async () => {
    const [one, other] = [node(), node()];
    await judge(one, answers(0, 20));
    clock.advance(probeMilliseconds);
    const hold = (await one.findHolds()).get(key.text)!;
    expect(await one.mayProbe(hold, 'd3')).toBe(false);
    const asked = await Promise.all([one.mayProbe(hold, 'new'), other.mayProbe(hold, 'another')]);
    expect(asked.filter(Boolean)).toHaveLength(1);
    clock.advance(probeMilliseconds - 1);
    expect(await other.mayProbe(hold, 'another')).toBe(false);
    clock.advance(1);
    expect(await other.mayProbe(hold, 'another')).toBe(true);
  });

  test('an acceptance after a response of which nobody knew the cause is known to the other at once', async () => {
    const [one, other] = [node(), node()];
    expect((await judge(one, answers(0, 1))).verdict).toBe('undecided');
    one.noteAccepted(key, ['d10']);
    const stored = async () => (await database.database`select remembered from provider_evidence`)[0]!.remembered;
    await vi.waitUntil(async () => JSON.stringify(await stored()).includes('d10'));
    expect(await judge(other, answers(0, 1))).toMatchObject({ verdict: 'device', isHealthy: true });
  });

  test('outlasts twelve quiet hours', async () => {
    const [one, other] = [node(), node()];
    one.noteAccepted(
      key,
      answers(0, 10, null).map(({ deviceId }) => deviceId),
    );
    await vi.waitUntil(async () => (await database.database`select from provider_evidence`).length === 1);
    clock.advance(12 * 3_600_000);
    expect(await judge(other, answers(50, 1))).toMatchObject({ verdict: 'device', isHealthy: true });
    clock.advance(12 * 3_600_000);
    expect((await judge(other, answers(60, 1))).verdict).toBe('undecided');
  });
});

test('a refusal for sure holds the credential, and a check that accepts it is another statement’s to end it', async () => {
  const one = node();
  await one.hold(key, { code: 'InvalidProviderToken', detail: 'no such key' });
  expect((await one.findHolds()).get(key.text)).toMatchObject({ code: 'InvalidProviderToken', detail: 'no such key' });
  const [row] = await database.database`select held_for_sure as "isSure" from provider_evidence`;
  expect(row!.isSure).toBe(true);
});

test('a pause ends by itself, after the time that the provider asked for', async () => {
  const one = node();
  const pause = { ...bad, effect: 'pause', retryAfterSeconds: 90 } as const;
  const { hold } = await judge(one, answers(0, 20), [pause as never]);
  expect(hold!.until).toEqual(new Date(start.getTime() + 90_000));
  clock.advance(90_000);
  expect((await node().findHolds()).size).toBe(0);
});

test('without the database a node decides by what it saw itself, and rejects nothing', async () => {
  const one = node(away);
  expect((await one.findHolds()).size).toBe(0);
  expect((await judge(one, answers(0, 10))).verdict).toBe('undecided');
  expect((await judge(one, answers(10, 10))).verdict).toBe('account');
  expect((await one.findHolds()).has(key.text)).toBe(true);
  expect(await one.findAccepted([{ bucket: 0, userId: 'u', id: 'd' }])).toEqual(new Set());
  expect(await one.mayProbe((await one.findHolds()).get(key.text)!, 'new')).toBe(false);
  await one.release(key.text);
  expect((await one.findHolds()).size).toBe(0);
});
