import { expect, test } from 'vitest';
import { groupBuckets } from '../../../src/engine/fan-out/retry-deliveries.ts';

const due = (...devices: number[]) =>
  devices.map((count, bucket) => ({ bucket, runNumbers: [bucket % 2], devices: count }));
const grouped = (devices: number[], maxBuckets: number) =>
  groupBuckets(due(...devices), { maxDevices: 500, maxBuckets }).map(({ buckets, devices: count }) => [
    buckets.join(' '),
    count,
  ]);

test.each<[string, { devices: number[]; maxBuckets: number; groups: unknown }]>([
  ['nothing due', { devices: [], maxBuckets: 256, groups: [] }],
  ['few devices in one group', { devices: [1, 2, 3], maxBuckets: 256, groups: [['0 1 2', 6]] }],
  [
    'a batch a group, in the order of the buckets',
    {
      devices: [300, 200, 1, 499, 400],
      maxBuckets: 256,
      groups: [
        ['0 1', 500],
        ['2 3', 500],
        ['4', 400],
      ],
    },
  ],
  [
    'a bucket with more than a batch in several groups',
    {
      devices: [1100, 300],
      maxBuckets: 256,
      groups: [
        ['0', 500],
        ['0', 500],
        ['0 1', 400],
      ],
    },
  ],
  [
    'one bucket a group on a cluster',
    {
      devices: [1, 700],
      maxBuckets: 1,
      groups: [
        ['0', 1],
        ['1', 500],
        ['1', 200],
      ],
    },
  ],
])('makes of %s', (_what, { devices, maxBuckets, groups }) => {
  expect(grouped(devices, maxBuckets)).toEqual(groups);
});

test('names each run of a group once', () => {
  const [group] = groupBuckets(due(1, 1, 1, 1), { maxDevices: 500, maxBuckets: 256 });
  expect(group!.runNumbers).toEqual([0, 1]);
});
