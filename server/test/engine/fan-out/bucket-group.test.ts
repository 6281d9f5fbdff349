import { expect, test } from 'vitest';
import { bucketGroup } from '../../../src/engine/fan-out/runs.ts';

type Asked = Parameters<typeof bucketGroup>[0];

/** Every group of a chunk, one after another, each from where the one before ended. */
function groupsOf({ run, chunk }: { run: Partial<Asked['run']>; chunk: Asked['chunk'] }): number[][] {
  const groups: number[][] = [];
  let cursor = { bucket: 0, position: '' };
  for (;;) {
    const asked = { run: { targetUsers: null, audienceDevices: null, ...run }, chunk, cursor, windowDevices: 250 };
    const group = bucketGroup(asked);
    if (!group) return groups;
    groups.push(group.buckets);
    if (group.next === undefined) return groups;
    cursor = { bucket: group.next, position: '' };
  }
}

const all = { bucketFrom: 0, bucketTo: 255 };
const quarter = { bucketFrom: 64, bucketTo: 127 };
const from = (first: number, count: number): number[] => Array.from({ length: count }, (_, index) => first + index);

test('of a large audience a window is read from one bucket', () => {
  const groups = groupsOf({ run: { audienceDevices: 1_000_000 }, chunk: quarter });
  expect(groups).toEqual(from(64, 64).map((bucket) => [bucket]));
});

test('of an audience whose buckets fill no window it is read from as many as fill one', () => {
  // 78 devices a bucket: three of them are 234.
  const groups = groupsOf({ run: { audienceDevices: 20_000 }, chunk: { bucketFrom: 16, bucketTo: 31 } });
  expect(groups).toEqual([from(16, 3), from(19, 3), from(22, 3), from(25, 3), from(28, 3), [31]]);
});

test('a small audience is read from many buckets or all, and one of an unknown size bucket by bucket', () => {
  expect(groupsOf({ run: { audienceDevices: 0 }, chunk: all })).toEqual([from(0, 256)]);
  expect(groupsOf({ run: { audienceDevices: 1_000 }, chunk: all })).toEqual([from(0, 256)]);
  // Four windows of 250 each, and what is left.
  expect(groupsOf({ run: { audienceDevices: 5_000 }, chunk: all }).map(({ length }) => length)).toEqual([
    51, 51, 51, 51, 51, 1,
  ]);
  expect(groupsOf({ run: {}, chunk: all })).toHaveLength(256);
});

test('named users are read from their own buckets, as many users as a window takes', () => {
  const users = (bucket: number, count: number) => Array.from({ length: count }, (): [number, string] => [bucket, 'u']);
  const targetUsers = [...users(200, 100), ...users(3, 100), ...users(7, 150), ...users(9, 300)];
  expect(groupsOf({ run: { targetUsers }, chunk: all })).toEqual([[3, 7], [9], [200]]);
  expect(groupsOf({ run: { targetUsers }, chunk: quarter })).toEqual([]);
});

test('a chunk goes on in the bucket of its cursor', () => {
  const run = { targetUsers: null, audienceDevices: 1_000_000 };
  const cursor = { bucket: 70, position: 'somebody' };
  expect(bucketGroup({ run, chunk: quarter, cursor, windowDevices: 250 })).toEqual({ buckets: [70], next: 71 });
});
