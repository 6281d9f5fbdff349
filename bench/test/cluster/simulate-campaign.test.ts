import { describe, expect, test } from 'vitest';
import { chunkLeaseMilliseconds } from '../../../server/src/engine/jobs/leased-job.ts';
import { propertyRuns } from '../../../server/test/property-runs.ts';
import { findBottleneck } from '../../src/cluster/find-bottleneck.ts';
import { EndlessCampaignError, simulateCampaign } from '../../src/cluster/simulate-campaign.ts';
import type { CampaignResult } from '../../src/cluster/simulate-campaign.ts';
import { citus, makeScenario, makeValues } from './test-values.ts';

const values = makeValues();

function countEnded({ ended: { accepted, gone, failed } }: CampaignResult): number {
  return accepted + gone + failed;
}

describe('every device ends exactly once', () => {
  const seeds = Array.from({ length: propertyRuns(200, 6) }, (_, index) => index + 1);
  test.each(seeds)('whatever crashes, is refused or waits (seed %i)', (seed) => {
    const result = simulateCampaign(
      makeScenario({
        ...{ seed, devices: 10_000 + seed * 3_919, nodes: 1 + (seed % 5), crashes: seed % 7 },
        ...{ goneShare: 0.03, retryShare: 0.05, restartSeconds: seed % 3 },
        providers: 'real',
        perMinute: { ANDROID: 100_000 },
        database: seed % 2 === 0 ? citus : { kind: 'single', cores: 4 },
      }),
      values,
    );
    expect(countEnded(result)).toBe(result.scenario.devices);
    expect(result.storedPerSecond.reduce((sum, devices) => sum + devices, 0)).toBeLessThanOrEqual(
      result.scenario.devices,
    );
  });

  test('an audience of one device, and one that fills its windows to the last', () => {
    for (const [devices, windowDevices] of [
      [1, 250],
      [5_000, 1_000],
      [256_000, 1_000],
    ] as const)
      expect(countEnded(simulateCampaign(makeScenario({ devices, windowDevices }), values))).toBe(devices);
  });

  test('a request that always fails is made as often as the code allows, and then the device failed', () => {
    const result = simulateCampaign(makeScenario({ devices: 3_000, nodes: 1, retryShare: 0.9 }), values);
    // 0.9 to the power of eight attempts.
    expect(result.ended.failed / 3_000).toBeCloseTo(0.43, 1);
    expect(result.ended.accepted + result.ended.failed).toBe(3_000);
  });
});

describe('crashes', () => {
  const quiet = simulateCampaign(makeScenario({ devices: 400_000 }), values);
  const broken = simulateCampaign(makeScenario({ devices: 400_000, crashes: 3, seed: 5 }), values);

  test('what a lost worker had open is sent again by another, and nothing else', () => {
    expect(broken.takenOver).toBeGreaterThan(0);
    expect(broken.repeatedWindows).toBeLessThanOrEqual(broken.takenOver);
    expect(broken.repeatedDevices).toBeLessThanOrEqual(broken.repeatedWindows * 250);
    expect([quiet.takenOver, quiet.repeatedWindows, quiet.repeatedDevices]).toEqual([0, 0, 0]);
  });

  test('its chunks are free when their leases end', () => {
    expect(broken.seconds).toBeGreaterThan(chunkLeaseMilliseconds / 1000);
    expect(broken.seconds).toBeLessThan(quiet.seconds + (3 * chunkLeaseMilliseconds) / 1000);
  });
});

test('the same seed makes the same result, another one another', () => {
  const scenario = makeScenario({ devices: 30_000, crashes: 2, retryShare: 0.02, providers: 'real', database: citus });
  expect(simulateCampaign(scenario, values)).toEqual(simulateCampaign(scenario, values));
  expect(simulateCampaign({ ...scenario, seed: 2 }, values).seconds).not.toBe(
    simulateCampaign(scenario, values).seconds,
  );
});

test('a campaign that takes longer than anybody waits ends with an error', () => {
  const scenario = makeScenario({ devices: 5_000, nodes: 1, providers: 'real', perMinute: { ANDROID: 0.001 } });
  expect(() => simulateCampaign(scenario, values)).toThrow(EndlessCampaignError);
});

test('more workers are never slower while providers take everything', () => {
  const seconds = [1, 2, 4, 8].map((nodes) => simulateCampaign(makeScenario({ nodes }), values).seconds);
  for (const [index, more] of seconds.slice(1).entries()) expect(more).toBeLessThanOrEqual(seconds[index]! * 1.01);
  expect(seconds[2]!).toBeLessThan(seconds[0]! / 3);
});

test('windows and write-ahead log grow with the devices, and a cluster spreads them', () => {
  const { windows, database } = simulateCampaign(makeScenario({ devices: 400_000, database: citus }), values);
  expect(windows).toBeGreaterThanOrEqual(400_000 / 250);
  expect(windows).toBeLessThan((400_000 / 250) * 1.35);
  const [coordinator, ...workers] = database.servers;
  const written = workers.reduce((sum, { walBytes }) => sum + walBytes, 0);
  expect(written / 400_000).toBeGreaterThan(1_000);
  expect(written / 400_000).toBeLessThan(1_020);
  expect(coordinator!.walBytes).toBeLessThan(written / 20);
  expect(workers.every(({ walBytes }) => walBytes > written / 10)).toBe(true);
});

describe('what is used up is found', () => {
  const bottleneckOf = (...[changes, replaced]: [Parameters<typeof makeScenario>[0], Record<string, number>?]) =>
    findBottleneck(simulateCampaign(makeScenario(changes), makeValues(replaced)).uses);

  test('a quota that is smaller than all else', () => {
    const scenario = makeScenario({ providers: 'real', devices: 200_000, perMinute: { ANDROID: 60_000 } });
    const { uses, seconds } = simulateCampaign(scenario, values);
    expect(findBottleneck(uses)).toMatchObject({ name: 'ANDROID: quota of the provider', cause: 'saturated' });
    // 120,000 messages at a thousand a second, after a minute of growing.
    expect(seconds).toBeGreaterThan(120);
    expect(seconds).toBeLessThan(190);
  });

  test('the threads of the workers', () => {
    expect(bottleneckOf({ nodes: 1 })).toMatchObject({ name: 'workers: threads', cause: 'saturated' });
  });

  test('the processor of the database', () => {
    const found = bottleneckOf({ nodes: 16, database: { kind: 'single', cores: 1 } });
    expect(found).toMatchObject({ name: 'database: processor', cause: 'saturated' });
  });

  test('one server of a cluster', () => {
    const found = bottleneckOf({ nodes: 16, database: citus }, { coordinatorMicrosecondsPerDevice: 1_000 });
    expect(found).toMatchObject({ name: 'coordinator: processor', cause: 'saturated' });
  });

  test('the disk of the log', () => {
    expect(bottleneckOf({ nodes: 8 }, { flushMilliseconds: 40 })).toMatchObject({
      name: 'database: log',
      cause: 'saturated',
    });
  });

  test('windows that all wait for a distant provider', () => {
    const found = bottleneckOf({ providers: 'real', shares: { ANDROID: 0, IOS: 1, WEB: 0 } });
    expect(found).toMatchObject({ name: 'workers: open windows', cause: 'waiting' });
  });

  test('nothing, where there are fewer chunks than workers', () => {
    expect(bottleneckOf({ nodes: 40, devices: 6_000 })).toMatchObject({ cause: 'nothing' });
  });
});
