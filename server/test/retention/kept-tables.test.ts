import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { keptTables } from '../../src/domain/operations/retention.ts';
import { ConfigError, readConfig } from '../../src/start/config.ts';
import { retentionSettings } from '../../src/start/retention-settings.ts';
import { settings } from '../../src/start/settings-table.ts';
import { readSchema } from '../dump-schema.ts';

const server = join(import.meta.dirname, '..', '..');

/** Every table of the schema with its columns. */
async function readTables(): Promise<Map<string, string[]>> {
  const tables = [...(await readSchema()).matchAll(/^create table (\w+) \(\n([^]*?)\n\)/gm)];
  return new Map(
    tables.map(([, name, body]) => [name!, [...body!.matchAll(/^ {2}(\w+) /gm)].map(([, word]) => word!)]),
  );
}

test('every table of the schema is in the list of what is kept, once, and every table of the list exists', async () => {
  const tables = await readTables();
  expect(tables.size).toBeGreaterThan(50);
  expect(keptTables.flatMap((entry) => [...entry.tables]).sort()).toEqual([...tables.keys()].sort());
});

test('every setting of the list exists, and every setting of what is kept is in the list', () => {
  const named = keptTables.flatMap(({ kept }) => ('setting' in kept ? [kept.setting as string] : []));
  const variables: string[] = Object.values(settings).map(({ variable }) => variable);
  expect(named.filter((variable) => !variables.includes(variable))).toEqual([]);
  for (const { variable } of Object.values(retentionSettings)) expect(named).toContain(variable);
});

test('a table that knows its run lives with the runs or has a time of its own, and one that lives with them goes with them', async () => {
  const ofRuns = [...(await readTables())]
    .filter(([, columns]) => columns.includes('run_id') || columns.includes('run_number'))
    .map(([name]) => name);
  const group = keptTables.find(({ tables }) => tables[0] === 'runs')!.tables;
  const ofTheirOwn = ['deliveries', 'device_interactions', 'event_stream_marks', 'push_requests', 'triggers'];
  expect(ofRuns.filter((name) => !group.includes(name)).sort()).toEqual(ofTheirOwn);
  const statements = await readFile(join(server, 'src', 'storage', 'old-records.ts'), 'utf8');
  for (const name of group) expect(statements).toMatch(new RegExp(`delete from ${name}\\b`));
});

test('runs are kept at least as long as the ledger whose rows belong to them', () => {
  const read = (environment: Record<string, string>) => readConfig({ environment, arguments: [] });
  expect(read({})).toMatchObject({ keepLedgerDays: 90, keepRunsDays: 400 });
  expect(() => read({ CARILLON_KEEP_LEDGER_DAYS: '401' })).toThrow(ConfigError);
  expect(read({ CARILLON_KEEP_LEDGER_DAYS: '401', CARILLON_KEEP_RUNS_DAYS: '401' })).toMatchObject({
    keepLedgerDays: 401,
  });
  expect(() => read({ CARILLON_KEEP_LEDGER_DAYS: '13' })).toThrow('from 14 to 36500 (days)');
});
