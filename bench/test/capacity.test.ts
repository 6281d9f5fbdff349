import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Scenario } from '../src/capacity/demands.ts';
import { findSmallest, planCampaign } from '../src/capacity/law.ts';
import { expectLastResponse, flushShare, meanLatency, normalShare, solveClosed } from '../src/capacity/queueing.ts';
import type { Station } from '../src/capacity/queueing.ts';
import {
  clusterConnections,
  compareRuns,
  documentTables,
  presentComparisons,
  presentReport,
} from '../src/capacity/report.ts';
import { presentTable, predictRun } from '../src/capacity/report.ts';
import { readClusterValues, readValuesFile, valueNames } from '../src/capacity/values.ts';
import type { ClusterValues } from '../src/capacity/values.ts';
import { presentPlans, readScenarios } from '../src/cases/capacity.ts';
import { fitCosts } from '../src/cases/fit-costs.ts';
import type { Usage } from '../src/cases/small-runs.ts';
import { UsageError, readCaseOptions } from '../src/kit/case-table.ts';

const root = join(import.meta.dirname, '..', '..');
const file = await readValuesFile();
const values = readClusterValues(file.values);
const change = (replaced: Record<string, number>): ClusterValues =>
  readClusterValues(file.values, new Map(Object.entries(replaced)));
const citus = { kind: 'citus', workers: 4, coordinatorCores: 4, workerCores: 4 } as const;

/** Four workers, one PostgreSQL, providers that accept everything at once; nothing fails. */
function makeScenario(changes: Partial<Scenario> = {}): Scenario {
  const [scenario] = readScenarios(readCaseOptions('capacity', ['--providers', 'unlimited', '--retry', '0']));
  return { ...scenario!, ...changes };
}

describe('the recorded values', () => {
  test('has every name that the law reads', () => {
    expect(Object.keys(file.values).sort()).toEqual([...valueNames].sort());
    expect(values.flushMilliseconds).toBe(file.values.flushMilliseconds!.value);
  });

  test('predicts every recorded campaign within a fifth', () => {
    const comparisons = compareRuns(file.runs, values);
    expect(comparisons).toHaveLength(file.runs.reduce((sum, { measured }) => sum + Object.keys(measured).length, 0));
    expect(comparisons.filter(({ isClose }) => !isClose)).toEqual([]);
  });

  test.each([
    [{ flushMilliseconds: { value: Number.NaN } }, /flushMilliseconds is NaN/],
    [{ flushMilliseconds: { value: -1 } }, /flushMilliseconds is -1/],
    [{ speed: { value: 1 } }, /there is no value speed/],
  ])('rejects %j', (changed, message) => {
    expect(() => readClusterValues({ ...file.values, ...changed })).toThrow(message);
  });

  test('names a missing value', () => {
    const { flushMilliseconds: _gone, ...others } = file.values;
    expect(() => readClusterValues(others)).toThrow('the value flushMilliseconds is missing');
  });
});

describe('docs/capacity.md', () => {
  test('shows what the command prints (npm run capacity -- --document)', async () => {
    const page = await readFile(join(root, 'docs', 'capacity.md'), 'utf8');
    const commands: string[] = [];
    const present = (words: string[]): string => {
      commands.push(words.join(' '));
      return presentPlans(readCaseOptions('capacity', words), file.values);
    };
    expect(documentTables(page, present)).toBe(page);
    expect(commands).toHaveLength(3);
  });

  test('keeps the text between its tables', () => {
    const page = 'Before\n\n<!-- planned: --devices 5 -->\n\nold\n\n<!-- planned end -->\n\nAfter\n';
    const made = documentTables(page, (words) => `| ${words.join('+')} |\n`);
    expect(made).toMatch(/^Before\n\n<!--[^]*\n\| --devices\+5 \|\n\n<!-- planned end -->\n\nAfter\n$/);
    expect(made).not.toContain('old');
    expect(documentTables(made, (words) => `| ${words.join('+')} |\n`)).toBe(made);
  });
});

describe('a closed network', () => {
  const stations: Station[] = [
    { name: 'threads', copies: 4, servers: 1, milliseconds: 8, windows: 'own' },
    { name: 'database', copies: 1, servers: 8, milliseconds: 6, windows: 'all' },
  ];
  const rate = (open: number): number => solveClosed(stations, { open, delayMilliseconds: 86 });

  test('takes the sum of all times with one window', () => {
    expect(rate(1)).toBeCloseTo(1 / (8 + 6 + 86), 10);
  });

  test('grows with the windows, up to the bound of the busiest station', () => {
    const rates = Array.from({ length: 200 }, (_, index) => rate(index + 1));
    for (const [index, more] of rates.slice(1).entries()) expect(more).toBeGreaterThanOrEqual(rates[index]! * 0.999);
    // Four threads of 8 ms are half a window a millisecond.
    expect(Math.max(...rates)).toBeLessThanOrEqual(0.5);
    expect(rates.at(-1)!).toBeGreaterThan(0.48);
    expect(rates[9]!).toBeLessThanOrEqual(10 / 100);
  });
});

test('flushes a log for a larger part of the time with more commits, and never for more than all of it', () => {
  const share = (commits: number): number => flushShare({ commits, flushMilliseconds: 4 });
  expect(share(0)).toBe(0);
  expect(share(0.01)).toBeCloseTo(0.04, 2);
  expect(share(100)).toBeCloseTo(1, 6);
});

test('expects one response after the mean latency, and the last of many after the slowest', () => {
  const latency = { median: 80, spread: 5 };
  const last = (count: number): number => expectLastResponse([{ count, sentAfter: 0, latency }]);
  expect(last(1) / meanLatency(latency)).toBeCloseTo(1, 2);
  expect(last(100)).toBeGreaterThan(80 * 5);
  expect(expectLastResponse([{ count: 1, sentAfter: 30, latency }]) - last(1)).toBeCloseTo(30, 0);
  expect([normalShare(0), normalShare(2.326), normalShare(-2.326)].map((share) => share.toFixed(3))).toEqual([
    ...['0.500', '0.990', '0.010'],
  ]);
});

describe('the law', () => {
  const find = (...[changes, replaced = {}]: [Partial<Scenario>, Record<string, number>?]) =>
    planCampaign(makeScenario(changes), change(replaced)).bottleneck;

  test('finds a quota that is smaller than all else', () => {
    const scenario = makeScenario({ providers: 'real', devices: 200_000, perMinute: { ANDROID: 60_000 } });
    const { bottleneck, seconds } = planCampaign(scenario, values);
    expect(bottleneck).toMatchObject({ name: 'ANDROID: quota of the provider', cause: 'saturated' });
    // 120,000 messages at a thousand a second, after a minute of growing.
    expect(seconds).toBeGreaterThan(120);
    expect(seconds).toBeLessThan(190);
  });

  test.each([
    [{ nodes: 1, parallelChunks: 16 }, {}, 'workers: threads'],
    [{ nodes: 1, parallelChunks: 16, shares: { ANDROID: 0, IOS: 0, WEB: 1 } }, {}, 'workers: cores'],
    [{ nodes: 16, database: { kind: 'single', cores: 1 } as const }, {}, 'database: processor'],
    [{ nodes: 32, database: citus }, { coordinatorMicrosecondsPerDevice: 1_000 }, 'coordinator: processor'],
    [{ nodes: 32 }, { flushMilliseconds: 40 }, 'database: log'],
  ])('finds what is used up (%j, %j)', (changes, replaced, name) => {
    expect(find({ devices: 5_000_000, ...changes }, replaced)).toMatchObject({ name, cause: 'saturated' });
  });

  test('finds windows that all wait for a distant provider, and that nothing limits fewer chunks than slots', () => {
    const distant = find({ providers: 'real', shares: { ANDROID: 0, IOS: 1, WEB: 0 } });
    expect(distant).toMatchObject({ name: 'workers: open windows', cause: 'waiting' });
    expect(find({ nodes: 40, devices: 6_000 })).toMatchObject({ cause: 'nothing' });
  });

  test('is never faster than any resource allows', () => {
    for (const nodes of [1, 4, 20, 60])
      for (const database of [citus, { kind: 'single', cores: 4 } as const])
        for (const { name, share } of planCampaign(makeScenario({ nodes, database, devices: 3_000_000 }), values).uses)
          expect(share, `${nodes} ${name}`).toBeLessThanOrEqual(1.02);
  });

  test('is never slower with more workers while providers accept everything', () => {
    const seconds = [1, 2, 4, 8].map((nodes) => planCampaign(makeScenario({ nodes }), values).seconds);
    for (const [index, more] of seconds.slice(1).entries()) expect(more).toBeLessThanOrEqual(seconds[index]! * 1.01);
    expect(seconds[2]!).toBeLessThan(seconds[0]! / 3);
  });

  test('counts the windows and the log of every device, and spreads them over a cluster', () => {
    const { windows, servers } = planCampaign(makeScenario({ devices: 400_000, database: citus }), values);
    expect(windows).toBeGreaterThanOrEqual(400_000 / 250);
    expect(windows).toBeLessThan((400_000 / 250) * 1.35);
    const written = servers[1]!.walBytes * citus.workers;
    expect(written / 400_000).toBeGreaterThan(values.walBytesPerDevice);
    expect(written / 400_000).toBeLessThan(values.walBytesPerDevice + values.walBytesPerWindow / 125);
    expect(servers[0]!.walBytes).toBeLessThan(written / 2);
  });

  test('finds the smallest number of workers that ends in time, or none', () => {
    const scenario = makeScenario({ devices: 10_000_000, providers: 'real', perMinute: { ANDROID: 60_000_000 } });
    const found = findSmallest(scenario, { values, withinSeconds: 600 })!;
    expect(found.seconds).toBeLessThanOrEqual(600);
    const { nodes } = found.scenario;
    expect(planCampaign({ ...scenario, nodes: nodes - 1 }, values).seconds).toBeGreaterThan(600);
    expect(findSmallest(scenario, { values, withinSeconds: 1 })).toBeUndefined();
  });

  test('expects the end of the last retry some tens of seconds after the last chunk', () => {
    const { tail, retriedDevices } = planCampaign(makeScenario({ retryShare: 0.01, devices: 1_000_000 }), values);
    expect(retriedDevices).toBeCloseTo(1_000_000 * 0.010_1, -3);
    expect(tail.lastChunkSeconds).toBeGreaterThan(20);
    expect(tail.lastChunkSeconds).toBeLessThan(120);
  });
});

test('marks a prediction that is more than a fifth off', () => {
  const shape = { workers: 1, devices: 5_000, parallelChunks: 4, windowDevices: 250, cores: 2 };
  const run = { ...shape, name: 'one', shares: { ANDROID: 1, IOS: 0, WEB: 0 } };
  const predicted = predictRun(run, values);
  const measured = { walBytes: predicted.walBytes * 1.3, seconds: predicted.seconds * 0.95 };
  const comparisons = compareRuns([{ ...run, measured }], values);
  expect(comparisons.map(({ figure, isClose }) => [figure, isClose])).toEqual([
    ['walBytes', false],
    ['seconds', true],
  ]);
  expect(presentComparisons(comparisons).join('\n')).toMatch(
    /TOO FAR OFF\n[^]* \+5.3 %\n1 of 2 figures are more than 20 % off$/,
  );
});

test('separates the costs of a window from those of a device', () => {
  const nothing: Usage = {
    ...{ atMilliseconds: 0, workerThreadSeconds: 0, workerOtherSeconds: 0, databaseSeconds: 0, simulatorSeconds: 0 },
    ...{ walBytes: 0, statements: 0, windows: 0, statementMilliseconds: 0, pageMilliseconds: 0 },
  };
  const idle: Usage = { ...nothing, databaseSeconds: 0.5, statements: 100 };
  const used = (windows: number) => ({
    ...{ atMilliseconds: 0, seconds: 2, windows, statements: windows * 8 + 20, simulatorSeconds: 1 },
    workerThreadSeconds: 10_000 * 60e-6 + windows * 900e-6,
    workerOtherSeconds: 0.1,
    databaseSeconds: 10_000 * 40e-6 + windows * 1_500e-6 + 0.1,
    walBytes: 10_000 * 1_200 + windows * 3_000,
    ...{ statementMilliseconds: 100, pageMilliseconds: 20 },
  });
  const costs = fitCosts({
    large: [{ platform: 'ANDROID', devices: 10_000, rounds: [used(40), used(40)] }],
    small: { platform: 'ANDROID', devices: 10_000, rounds: [used(400)] },
    rest: { nobody: nothing, one: idle, seconds: 10 },
  });
  expect(costs.workerMicrosecondsPerWindow).toBeCloseTo(900, 6);
  expect(costs['workerMicrosecondsPerDevice.ANDROID']).toBeCloseTo(60, 6);
  expect(costs.databaseMicrosecondsPerWindow).toBeCloseTo(1_500, 6);
  expect(costs['databaseMicrosecondsPerDevice.ANDROID']).toBeCloseTo(40, 6);
  expect(costs['helperMicrosecondsPerDevice.ANDROID']).toBeCloseTo(10, 6);
  expect([costs.walBytesPerWindow, costs.walBytesPerDevice]).toEqual([3_000, 1_200]);
  expect([costs.statementsPerWindow, costs.pageShare, costs.idleDatabaseMillisecondsPerSecond]).toEqual([8, 0.2, 50]);
});

test('reports the end, the bottleneck and the load of each database, and makes a table of several plans', () => {
  const plan = planCampaign(makeScenario({ devices: 60_000, database: citus, nodes: 20 }), values);
  const report = presentReport(plan);
  expect(report).toMatch(/^60,000 devices end after \d+ s: [\d,]+\/s\nbottleneck: \S+/);
  expect(report).toMatch(/\n {2}coordinator .* MB\/s of WAL .* cores busy\n {2}each database worker /);
  expect(report).toMatch(
    /connections that may be opened: 462, of 97 that there are\n {2}The 22 nodes may open 462 connections/,
  );
  const table = presentTable([plan, plan]).split('\n');
  expect(table).toHaveLength(5);
  expect(new Set(table.slice(0, 4).map((line) => line.split('|').length)).size).toBe(1);
});

test('compares the connections of all nodes with the setting of the database', () => {
  const few = clusterConnections(makeScenario({ nodes: 4, apiNodes: 2, connectionsPerNode: 20, maxConnections: 200 }));
  expect(few).toMatchObject({ mayOpen: 4 * 21 + 2 * 21, available: 197, finding: undefined });
  const many = clusterConnections(makeScenario({ nodes: 20, connectionsPerNode: 20, maxConnections: 100 }));
  expect(many.finding?.todo).toContain('raise max_connections to at least 465');
});

describe('options of npm run capacity', () => {
  test.each([
    [['--devices', '0'], /--devices is a whole number from 1 to 10000000000, not 0/],
    [['--devices', '1e6'], /--devices is a whole number/],
    [['--devices', '1000,'], /--devices is a whole number/],
    [['--nodes', '1001'], /--nodes is a whole number from 1 to 1000, not 1001/],
    [['--chunks', '17'], /--chunks is a whole number from 1 to 16, not 17/],
    [['--window', '1001'], /--window is a whole number from 1 to 1000/],
    [['--within', '0'], /--within is a whole number from 1 to 100000, not 0/],
    [['--mix', '60,40'], /--mix is three numbers that make 100/],
    [['--mix', '60,35,6'], /--mix is three numbers that make 100/],
    [['--providers', 'none'], /--providers is real or unlimited, not none/],
    [['--retry', '1'], /--retry is a share from 0 to 0.9, not 1/],
    [['--devices', '10000000000', '--fcm-per-minute', '1'], /the campaign takes more than 10 days/],
    [['--set', 'speed=9'], /--set knows no speed; it knows .*flushMilliseconds/],
    [['--set', 'flushMilliseconds'], /--set takes name=number, not flushMilliseconds/],
  ] as const)('rejects %j with the reason', (words, message) => {
    const plan = (): string => presentPlans(readCaseOptions('capacity', words), file.values);
    expect(plan).toThrow(UsageError);
    expect(plan).toThrow(message);
  });

  test('makes a table of several numbers of devices, with replaced values', () => {
    const words = [
      '--devices',
      '10000,20000',
      '--set',
      'streams.IOS=5,latencyMilliseconds.IOS=900',
      '--mix',
      '0,100,0',
    ];
    const slow = presentPlans(readCaseOptions('capacity', words), file.values);
    expect(slow.split('\n')).toHaveLength(5);
    expect(slow).toContain('IOS: streams');
  });
});
