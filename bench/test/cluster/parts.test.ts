import { describe, expect, test } from 'vitest';
import { createTestDatabase } from '../../../server/test/test-database.ts';
import { clusterConnections } from '../../src/cluster/cluster-connections.ts';
import { makeDraws, spreadOver } from '../../src/cluster/draws.ts';
import { makeEventQueue } from '../../src/cluster/event-queue.ts';
import { hashOfSmallint, shardOfBucket } from '../../src/cluster/shard-of-bucket.ts';
import { makeLogDisk, makeStation, makeThread } from '../../src/cluster/stations.ts';
import { makeScenario } from './test-values.ts';

test('events happen in the order of their instants, and of the asking at one instant', () => {
  const queue = makeEventQueue();
  const happened: string[] = [];
  const draws = makeDraws(1);
  for (let number = 0; number < 500; number += 1) {
    const at = Math.floor(draws.next() * 50);
    queue.after(at, () => happened.push(`${String(at).padStart(2, '0')} ${String(number).padStart(3, '0')}`));
  }
  queue.run(() => false);
  expect(happened).toEqual([...happened].sort());
  expect(happened).toHaveLength(500);
  expect(() => queue.after(-1, () => {})).toThrow(RangeError);
});

describe('stations', () => {
  function endsOf(begin: (queue: ReturnType<typeof makeEventQueue>, end: (name: string) => () => void) => void) {
    const queue = makeEventQueue();
    const ends: Record<string, number> = {};
    begin(queue, (name) => () => (ends[name] = queue.now()));
    queue.run(() => false);
    return ends;
  }

  test('two cores do two things at a time, in the order of their coming', () => {
    const ends = endsOf((queue, end) => {
      const cores = makeStation(queue, { name: 'cores', servers: 2 });
      for (const name of ['a', 'b', 'c']) cores.work(10, end(name));
    });
    expect(ends).toEqual({ a: 10, b: 10, c: 20 });
  });

  test('long work takes turns where it is sliced, and lets short work pass', () => {
    const ends = endsOf((queue, end) => {
      const core = makeStation(queue, { name: 'core', servers: 1, sliceMilliseconds: 5 });
      core.work(20, end('long'));
      core.work(5, end('short'));
    });
    expect(ends).toEqual({ short: 10, long: 25 });
  });

  test('a thread does one thing at a time however many cores there are', () => {
    const ends = endsOf((queue, end) => {
      const thread = makeThread('thread', makeStation(queue, { name: 'cores', servers: 8 }));
      thread.work(10, end('a'));
      thread.work(10, end('b'));
    });
    expect(ends).toEqual({ a: 10, b: 20 });
  });

  test('commits that come during a flush share the next', () => {
    const queue = makeEventQueue();
    const disk = makeLogDisk(queue, { name: 'log', flushMilliseconds: 4 });
    const ends: number[] = [];
    for (const at of [0, 1, 2, 3]) queue.after(at, () => disk.work(0, () => ends.push(queue.now())));
    queue.run(() => false);
    expect(ends).toEqual([4, 8, 8, 8]);
    expect(disk.flushes()).toBe(2);
  });
});

describe('draws', () => {
  test('things that are spread over places are all there, about evenly', () => {
    for (const count of [0, 1, 255, 10_000, 100_000_000]) {
      const places = spreadOver(makeDraws(3), { count, places: 256 });
      expect(places.reduce((sum, here) => sum + here, 0)).toBe(count);
      expect(Math.min(...places)).toBeGreaterThanOrEqual(0);
      if (count > 1e6) expect(Math.max(...places) / (count / 256)).toBeLessThan(1.01);
    }
  });

  test.each([0, 0.001, 0.3, 0.5, 0.97, 1])('of many, a share of %d is drawn, never more than there are', (share) => {
    const draws = makeDraws(7);
    const drawn = Array.from({ length: 400 }, () => draws.ofMany(250, share));
    expect(Math.min(...drawn)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...drawn)).toBeLessThanOrEqual(250);
    expect(drawn.reduce((sum, some) => sum + some, 0) / (400 * 250)).toBeCloseTo(share, 2);
  });
});

describe('shards of buckets', () => {
  test('the hash is PostgreSQL’s', async () => {
    const bundle = await createTestDatabase();
    const rows = await bundle.database<{ bucket: number; hash: number }[]>`
      select bucket, hashint2(bucket::smallint) as hash from generate_series(0, 255) as bucket`;
    await bundle.drop();
    expect(rows).toHaveLength(256);
    for (const { bucket, hash } of rows) expect(hashOfSmallint(bucket), `bucket ${bucket}`).toBe(hash);
  });

  test.each([1, 4, 32, 64])('%i shards are all within bounds, and every bucket has one', (shards) => {
    const places = Array.from({ length: 256 }, (_, bucket) => shardOfBucket(bucket, shards));
    expect(places.every((place) => Number.isInteger(place) && place >= 0 && place < shards)).toBe(true);
    // As `database distribute` cuts them.
    const sizes = [...Map.groupBy(places, (place) => place).values()].map(({ length }) => length);
    expect(sizes).toEqual(Array.from({ length: shards }, () => 256 / shards));
  });
});

test('connections of all nodes are held against what the database is set to', () => {
  const few = clusterConnections(makeScenario({ nodes: 4, apiNodes: 2, connectionsPerNode: 20, maxConnections: 200 }));
  expect(few).toMatchObject({ mayOpen: 4 * 21 + 2 * 20, available: 197, finding: undefined });
  const many = clusterConnections(
    makeScenario({ nodes: 20, apiNodes: 2, connectionsPerNode: 20, maxConnections: 100 }),
  );
  expect(many.finding?.todo).toContain('raise max_connections to at least 463');
});
