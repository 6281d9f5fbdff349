import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readClusterValues, valueNames } from '../../src/cluster/cluster-values.ts';
import { compareRuns, predictRun } from '../../src/cluster/compare-runs.ts';
import { documentTables, listDocumentedRows } from '../../src/cluster/document-tables.ts';
import { fitCosts } from '../../src/cluster/fit-costs.ts';
import { presentComparisons } from '../../src/cluster/present-comparisons.ts';
import { presentReport, presentTable } from '../../src/cluster/present-report.ts';
import { readOptions } from '../../src/cluster/read-options.ts';
import type { Usage } from '../../src/cluster/read-usage.ts';
import { simulateCampaign } from '../../src/cluster/simulate-campaign.ts';
import { valueTable } from '../../src/cluster/value-table.ts';
import { readValuesFile } from '../../src/cluster/values-file.ts';
import { citus, makeScenario, makeValues } from './test-values.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const file = await readValuesFile(join(root, 'bench', 'results', 'cluster-values.json'));

describe('the recorded values', () => {
  test('are all there, each with its unit and whether it was measured', () => {
    expect(Object.keys(file.values).sort()).toEqual([...valueNames].sort());
    for (const [name, { value: _value, ...described }] of Object.entries(file.values))
      expect(described, name).toEqual(valueTable[name]);
    expect(readClusterValues(file.values, new Map()).flushMilliseconds).toBe(file.values.flushMilliseconds!.value);
  });

  test('predict every recorded campaign within a fifth', () => {
    const comparisons = compareRuns(file.runs, readClusterValues(file.values, new Map()));
    expect(comparisons).toHaveLength(file.runs.reduce((sum, { measured }) => sum + Object.keys(measured).length, 0));
    expect(comparisons.filter(({ isClose }) => !isClose)).toEqual([]);
  });

  test.each([
    [{ flushMilliseconds: { value: Number.NaN } }, /flushMilliseconds is NaN/],
    [{ flushMilliseconds: { value: -1 } }, /flushMilliseconds is -1/],
    [{ speed: { value: 1 } }, /there is no value speed/],
  ])('%j is refused', (changed, message) => {
    expect(() => readClusterValues({ ...file.values, ...changed }, new Map())).toThrow(message);
  });

  test('one that is missing is named', () => {
    const { flushMilliseconds: _gone, ...others } = file.values;
    expect(() => readClusterValues(others, new Map())).toThrow('the value flushMilliseconds is missing');
  });
});

test('docs/capacity.md shows what the command prints (npm run simulate -- --document)', async () => {
  const rows = listDocumentedRows(await readFile(join(root, 'docs', 'capacity.md'), 'utf8'));
  expect(rows).toHaveLength(2);
  for (const { command, row } of rows) {
    const read = readOptions(command.split(' '));
    if (read.kind !== 'simulate') throw new Error(command);
    // The first and smallest of each table: the others take half a minute.
    const result = simulateCampaign(read.scenarios[0]!, readClusterValues(file.values, read.replaced));
    expect(presentTable([result]).split('\n')[2], command).toBe(row);
  }
});

test('a table is made anew between its marks, and nothing else is touched', () => {
  const page = 'Before\n\n<!-- simulated: --devices 5 -->\n\nold\n\n<!-- simulated end -->\n\nAfter\n';
  const made = documentTables(page, (words) => `| ${words.join('+')} |\n`);
  expect(made).toContain('npm run simulate -- --devices 5\n');
  expect(made).toMatch(/^Before\n\n<!--[^]*\n\| --devices\+5 \|\n\n<!-- simulated end -->\n\nAfter\n$/);
  expect(made).not.toContain('old');
  expect(documentTables(made, (words) => `| ${words.join('+')} |\n`)).toBe(made);
});

test('a prediction that is more than a fifth off is said to be', () => {
  const values = makeValues();
  const shape = { workers: 1, devices: 5_000, parallelChunks: 4, windowDevices: 250, cores: 2 };
  const run = { ...shape, name: 'one', shares: { ANDROID: 1, IOS: 0, WEB: 0 } };
  const predicted = predictRun(run, values);
  // Five thousand rows and twenty windows, and a heartbeat or two.
  expect(predicted.walBytes).toBeGreaterThan(5_000 * 1_000 + 20 * 2_000);
  expect(predicted.walBytes).toBeLessThan(5_100_000);
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

test('costs of a window and of a device are told apart', () => {
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

test('the report says when it ends, what held it up and what each database carried; several make a table', () => {
  const result = simulateCampaign(
    makeScenario({ devices: 60_000, database: citus, nodes: 20, maxConnections: 100 }),
    makeValues(),
  );
  const report = presentReport(result);
  expect(report).toMatch(/^60,000 devices end after \d+ s: [\d,]+\/s\naccepted 60,000, gone 0, failed 0/);
  expect(report).toMatch(/\nbottleneck: \S+/);
  expect(report).toMatch(/\n {2}coordinator .* statements\/s .* MB\/s of WAL .* cores busy\n {2}database worker 1 /);
  expect(report).toMatch(
    /connections that may be opened: 460, of 97 that there are\n {2}The 22 nodes may open 460 connections/,
  );
  expect(report).toMatch(/crashes: 0; chunks taken over 0, windows sent again 0, requests repeated 0\n/);
  const table = presentTable([result, result]).split('\n');
  expect(table).toHaveLength(5);
  expect(new Set(table.slice(0, 4).map((line) => line.split('|').length)).size).toBe(1);
});
