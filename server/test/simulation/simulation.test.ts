import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { openDatabase } from '../../src/storage/database.ts';
import type { Database } from '../../src/storage/database.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { findScopeFaults } from './find-scope-faults.ts';
import type { ScopeFacts } from './find-scope-faults.ts';
import { checkHistory } from '../../../checker/check.ts';
import { simulateCalls } from './calls/simulate-calls.ts';
import { simulate } from './simulate.ts';
import { aboutDevice, accepted, accountLimited, dead } from './simulated-answers.ts';
import type { DeviceCondition, TrueAnswer } from './simulated-answers.ts';
import type { PutOff, SimulatedRequest } from './simulated-providers.ts';
import { compareStates, watchStates } from './simulated-store.ts';

describe('simulation', () => {
  const isCluster = inject('workerUrls') !== null;
  let clone: TestDatabase;
  let database: Database;
  beforeAll(async () => {
    clone = await createTestDatabase();
    // One connection, so that statements have one order.
    database = openDatabase({ url: clone.url, connections: 1, name: 'simulation' });
    if (!isCluster) await watchStates(database);
  });
  afterAll(async () => {
    await database.end();
    await clone.drop();
  });

  /** The first seed, which several tests look at. `npm run test:all` plays two hundred, and `npm run test:simulation` a thousand. */
  const firstSeed = once(() => simulate(database, 1));

  test('the first seed of faults breaks no promise of reliability R2 to R7', async () => {
    const { broken, trace } = await firstSeed();
    expect(broken, `npm run test:simulation -- --seed 1\n${trace.join('\n')}`).toEqual([]);
  });

  test(
    'the checker finds no anomaly in the histories of the first seed of either world',
    { timeout: 240_000 },
    async ({ skip }) => {
      skip(isCluster, 'sessions of a cluster are not ended by the coordinator alone');
      const faults = await firstSeed();
      const calls = await createTestDatabase();
      try {
        const { history, numbers } = await simulateCalls(calls.url, 1);
        const checked = [checkHistory('faults-1', faults.history.text()), checkHistory('calls-1', history.text())];
        expect(checked.flatMap(({ anomalies }) => anomalies)).toEqual([]);
        expect(numbers.calls).toBeGreaterThan(200);
        expect(numbers.messages).toBeGreaterThan(20);
      } finally {
        await calls.drop();
      }
    },
  );

  test('a seed repeats its steps, requests and answers', async ({ skip }) => {
    skip(isCluster, 'rows of several shards come in the order in which their workers answer');
    const first = await firstSeed();
    const other = await simulate(database, 4);
    const again = await simulate(database, 1);
    expect(again.trace).toEqual(first.trace);
    expect(other.trace).not.toEqual(first.trace);
  });

  test('no state of these seeds became one that docs/states.md does not have it become', async ({ skip }) => {
    skip(isCluster, 'a cluster takes no triggers');
    const { unknown, seen } = await compareStates(database);
    expect(unknown).toEqual([]);
    expect(seen).toBeGreaterThan(12);
  });
});

/** Returns a function that calls `make` once and gives every caller that result. */
function once<Result>(make: () => Promise<Result>): () => Promise<Result> {
  let made: Promise<Result> | undefined;
  return () => (made ??= make());
}

type Case = {
  conditions: Record<string, DeviceCondition>;
  requests?: Partial<SimulatedRequest>[];
  putOffs?: Partial<PutOff>[];
  selfPauses?: ScopeFacts['selfPauses'];
  dropped?: string[];
  rejected?: string[];
  hadTrouble?: boolean;
};

describe('faults of scopes', () => {
  const [second, hour] = [1_000, 3_600_000];

  const healthy: DeviceCondition = { kind: 'healthy' };
  const limited: DeviceCondition = { kind: 'limited', name: 'limited', phase: 0 };
  const limitedAnswer = aboutDevice({ provider: 'fcm', name: 'limited', device: 'b' });
  const malformedAnswer: TrueAnswer = {
    ...aboutDevice({ provider: 'fcm', name: 'malformed', device: 'm' }),
    isForEver: true,
  };

  test('a healthy device that waits after an answer about another one is held back without cause', () => {
    const requests = [{ deviceId: 'b', given: limitedAnswer }];
    const putOff = { deviceId: 'a', at: 5 * second, realAt: 5 * second, until: 65 * second };
    expect(faultsOf({ conditions: { a: healthy, b: limited }, requests, putOffs: [putOff] })).toEqual([
      'r0 held back a without cause for 60 s (X), after b got 429 about the device; 1 healthy devices of fcm in all (field A1, A3)',
    ]);
    expect(
      faultsOf({ conditions: { a: healthy, b: limited }, putOffs: [{ ...putOff, until: undefined }] }),
    ).toHaveLength(1);
  });

  test.each<[string, Case]>([
    [
      'waits for less than 30 seconds',
      { conditions: { a: healthy }, putOffs: [{ deviceId: 'a', until: 29 * second }] },
    ],
    ['is not well itself', { conditions: { a: limited }, putOffs: [{ deviceId: 'a', until: hour }] }],
    [
      'is of an account in trouble',
      { conditions: { a: healthy }, putOffs: [{ deviceId: 'a', until: hour }], hadTrouble: true },
    ],
    [
      'is of a project that was asked to wait',
      {
        conditions: { a: healthy, b: healthy },
        requests: [{ deviceId: 'b', given: accountLimited('fcm', 60) }],
        putOffs: [{ deviceId: 'a', until: 60 * second, realAt: 2 * second }],
      },
    ],
  ])('a device is held back with cause when it %s', (_name, given) => {
    expect(faultsOf(given)).toEqual([]);
  });

  test('a cause ends: after the wait that was asked for, the account is well again', () => {
    const requests = [{ deviceId: 'b', given: accountLimited('fcm', 60) }];
    const putOff = { deviceId: 'a', at: hour, realAt: hour, until: 2 * hour };
    expect(faultsOf({ conditions: { a: healthy, b: healthy }, requests, putOffs: [putOff] })).toHaveLength(1);
  });

  test('a run that pauses by itself leaves no healthy device unasked', () => {
    const selfPauses = [{ runId: 'r0', realAt: 0, requestsBefore: 1 }];
    const requests = [{ deviceId: 'b', given: limitedAnswer }];
    expect(faultsOf({ conditions: { a: healthy, b: limited }, requests, selfPauses })).toEqual([
      'r0 was paused by itself with 1 healthy devices that were not asked (field A3)',
    ]);
    expect(faultsOf({ conditions: { a: healthy, b: limited }, requests, selfPauses, hadTrouble: true })).toEqual([]);
  });

  test('a device is dropped for an answer that says so, or after three useless sends over 72 hours', () => {
    const conditions: Case['conditions'] = { m: { kind: 'malformed' } };
    const uselessAt = (...hours: number[]) =>
      hours.map((at) => ({ deviceId: 'm', runId: `r${at}`, at: at * hour, given: malformedAnswer }));
    const dropped = ['m'];
    expect(faultsOf({ conditions, dropped, requests: [{ deviceId: 'm', given: dead('fcm', new Date(0)) }] })).toEqual(
      [],
    );
    expect(faultsOf({ conditions, dropped, requests: uselessAt(0, 36, 72) })).toEqual([]);
    expect(faultsOf({ conditions, dropped, requests: uselessAt(0, 36, 71) })).toEqual([
      'm, which is malformed, was dropped without cause, after 400 malformed about the device (field A2)',
    ]);
    expect(faultsOf({ conditions, dropped })).toEqual([
      'm, which is malformed, was dropped without cause, after no answer at all (field A2)',
    ]);
  });

  test('a message is not given up after one answer that passes', () => {
    const once = [{ deviceId: 'b', given: limitedAnswer }];
    const given = { conditions: { b: limited }, rejected: ['r0/b'] };
    expect(faultsOf({ ...given, requests: once })).toEqual(['r0 gave up b after one 429, which passes (field A3, A4)']);
    expect(faultsOf({ ...given, requests: [...once, ...once] })).toEqual([]);
  });

  test('an address of no use leaves the audience after three sends over 72 hours in which most were accepted', () => {
    const conditions: Case['conditions'] = { a: healthy, m: { kind: 'malformed' } };
    const sends = (hours: number[], to: string[]) =>
      hours.flatMap((at) =>
        to.map((deviceId) => ({
          ...{ deviceId, runId: `r${at}`, at: at * hour },
          ...(deviceId === 'm' ? { given: malformedAnswer } : {}),
        })),
      );
    expect(faultsOf({ conditions, requests: sends([0, 37, 74, 111], ['a', 'm']) })).toEqual([
      'r111 was sent to m, which is malformed: 400 malformed in 3 sends over 74 hours (field A8, A9)',
    ]);
    expect(faultsOf({ conditions, requests: sends([0, 37, 74], ['a', 'm']) })).toEqual([]);
    expect(faultsOf({ conditions, requests: sends([0, 37, 74, 111], ['m']) })).toEqual([]);
  });

  /** Devices of one account that are sent runs named by their hour. */
  function faultsOf({ conditions, dropped = [], rejected = [], selfPauses = [], hadTrouble = false, ...more }: Case) {
    const device = (id: string) => ({ id, userId: id, name: id, account: 'fcm', condition: conditions[id]! });
    const wave = { worker: {}, kind: 'window', beganAt: 0, end: 'stored' };
    const requests = (more.requests ?? []).map(
      (request) =>
        ({
          ...{ runId: 'r0', account: 'fcm', platform: 'ANDROID', at: 0, asked: 1, wave, given: accepted('fcm') },
          ...request,
          realAt: request.at ?? 0,
          answeredAt: request.at ?? 0,
        }) as unknown as SimulatedRequest,
    );
    const putOffs = (more.putOffs ?? []).map((one) => ({ runId: 'r0', at: 0, realAt: 0, code: 'X', ...one }) as PutOff);
    const runIds = new Set(['r0', ...requests.map(({ runId }) => runId)]);
    return findScopeFaults({
      world: {
        devices: Object.keys(conditions).map(device),
        deviceOf: device,
        nameOf: (id: string) => id,
        campaigns: [{ id: 'c', users: undefined }],
      },
      providers: { requests, putOffs },
      troubles: { hadTrouble: () => hadTrouble },
      runs: [...runIds].map((id) => ({
        id,
        campaignId: 'c',
        bound: 'z',
        createdAt: new Date(Number(id.slice(1)) * hour),
      })),
      requestsOf: Map.groupBy(requests, ({ runId, deviceId }) => `${runId}/${deviceId}`),
      selfPauses,
      dropped: new Set(dropped),
      rejected: new Set(rejected),
    } as unknown as ScopeFacts);
  }
});
