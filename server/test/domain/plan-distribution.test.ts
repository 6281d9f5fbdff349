import { describe, expect, test } from 'vitest';
import {
  cutTable,
  distributedTables,
  measureImbalance,
  planDistribution,
} from '../../src/domain/operations/cluster.ts';
import type { FoundTable } from '../../src/domain/operations/cluster.ts';

const users = { name: 'users', column: 'bucket', besides: 'users' };
const devices = { name: 'devices', column: 'bucket', besides: 'users' };
const addresses = { name: 'push_addresses', column: 'address_hash', besides: 'push_addresses' };
const tables = [users, devices, addresses];

const local = (name: string, localBytes = 0): FoundTable => ({ name, layout: undefined, localBytes, obstacles: [] });
const spread = (name: string, groupId: number, column = 'bucket'): FoundTable => ({
  ...local(name),
  layout: { column, groupId, shards: 8 },
});

describe('what is left to distribute', () => {
  test('is all tables at first, in order, each followed by freeing its local rows', () => {
    expect(planDistribution(tables, [local('users', 10), local('devices'), local('push_addresses', 5)])).toEqual({
      steps: [
        { kind: 'distribute', table: users, bytes: 10 },
        { kind: 'free', table: users, bytes: 10 },
        { kind: 'distribute', table: devices, bytes: 0 },
        { kind: 'distribute', table: addresses, bytes: 5 },
        { kind: 'free', table: addresses, bytes: 5 },
      ],
    });
  });

  test('is the rest after an interrupted run, starting with the rows not yet freed', () => {
    const found = [
      { ...spread('users', 1), localBytes: 10 },
      local('devices'),
      spread('push_addresses', 2, 'address_hash'),
    ];
    expect(planDistribution(tables, found)).toEqual({
      steps: [
        { kind: 'free', table: users, bytes: 10 },
        { kind: 'distribute', table: devices, bytes: 0 },
      ],
    });
  });

  test('is nothing when all is done', () => {
    const found = [spread('users', 1), spread('devices', 1), spread('push_addresses', 2, 'address_hash')];
    expect(planDistribution(tables, found)).toEqual({ steps: [] });
  });

  test.each([
    ['is missing', [local('users'), local('push_addresses')], 'The table devices is missing.'],
    [
      'has what no cluster takes',
      [local('users'), { ...local('devices'), obstacles: ['trigger a', 'foreign key b'] }],
      'The table devices has what no cluster takes: trigger a, foreign key b; drop it first.',
    ],
    [
      'is distributed by another column',
      [spread('users', 1, 'id')],
      "The table users is distributed otherwise than by bucket; undistribute_table('users') makes it local again.",
    ],
    ['is not beside its first', [spread('users', 1), spread('devices', 2)], 'otherwise than by bucket beside users'],
    [
      'is distributed before its first',
      [local('users'), spread('devices', 2)],
      'otherwise than by bucket beside users',
    ],
  ])('is rejected completely for a table that %s', (_what, found, refusal) => {
    expect(planDistribution(tables, found)).toEqual({ refusal: expect.stringContaining(refusal) });
  });
});

describe('the table whose shards are split', () => {
  const first = { name: cutTable, column: 'bucket', besides: cutTable };
  const beside = { ...users, besides: cutTable };
  const uncut = { ...local(cutTable), layout: { column: 'bucket', groupId: 1, shards: 1 } };

  test('is split before another is colocated, also after an interrupted run', () => {
    const rest = [
      { kind: 'cut', table: first, bytes: 0 },
      { kind: 'distribute', table: beside, bytes: 0 },
    ];
    expect(planDistribution([first, beside], [local(cutTable), local('users')])).toEqual({
      steps: [{ kind: 'distribute', table: first, bytes: 0 }, ...rest],
    });
    expect(planDistribution([first, beside], [uncut, local('users')])).toEqual({ steps: rest });
  });

  test('is split whatever other tables are colocated', () => {
    const others = [spread('a', 2), spread('b', 2)];
    expect(planDistribution([first], [...others, uncut])).toEqual({ steps: [{ kind: 'cut', table: first, bytes: 0 }] });
    expect(planDistribution([first], [...others, local(cutTable)])).toMatchObject({ steps: { length: 2 } });
  });

  test('is not split after rows exist that would have to move', () => {
    expect(planDistribution([first, beside], [uncut, spread('users', 1)])).toEqual({ steps: [] });
    expect(planDistribution([first, beside], [spread(cutTable, 1), local('users')])).toEqual({
      steps: [{ kind: 'distribute', table: beside, bytes: 0 }],
    });
  });
});

test('colocates each distributed table with an earlier one, by the same column', () => {
  const known = new Map<string, string>();
  for (const { name, column, besides } of distributedTables) {
    expect(known.has(name)).toBe(false);
    known.set(name, column);
    expect({ name, column: known.get(besides) }).toEqual({ name, column });
  }
});

test.each([
  [[], 1],
  [[0, 0], 1],
  [[5, 5, 5], 1],
  [[9, 0, 0], 3],
  [[30, 10, 20], 1.5],
])('measures the imbalance of %j as %f', (sizes, imbalance) => {
  expect(measureImbalance(sizes)).toBe(imbalance);
});
