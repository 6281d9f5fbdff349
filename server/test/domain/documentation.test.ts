import { readFileSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { describeLimitValue, readComments, readLimits } from '../../../scripts/render-limits.ts';
import { declaredDifferences } from '../../src/domain/declared-differences.ts';
import { errorRegistry } from '../../src/domain/errors.ts';
import { leftOutTables } from '../../src/domain/operations/backup.ts';
import { keptTables } from '../../src/domain/operations/retention.ts';
import { stateMachines } from '../../src/domain/state-machines.ts';
import { settings } from '../../src/start/settings-table.ts';

describe('documented texts', () => {
  test('lists every error of the registry with its public text in docs/errors.md', () => {
    const rows = rowsOf('errors.md', 'errors').map(([name, , text]) => [name!.replaceAll('`', ''), text]);
    expect(rows).toEqual(Object.entries(errorRegistry).map(([name, { text }]) => [name, text]));
  });

  test('has an advice for every error, and none repeats a public text', () => {
    const texts = Object.values(errorRegistry).map(({ text }) => text);
    for (const [name, { advice }] of Object.entries(errorRegistry)) {
      expect(advice, name).toMatch(/^[A-Z0-9].{10,}\.$/);
      expect(texts, name).not.toContain(advice);
    }
  });

  test('lists every table that a backup leaves out in docs/backup.md, with the reason', () => {
    expect(rowsOf('backup.md', 'left-out-tables')).toEqual(
      Object.entries(leftOutTables).map(([name, why]) => [`\`${name}\``, why]),
    );
  });

  test('lists every declared difference in docs/switch.md, with its operations and the test that shows it', () => {
    expect(rowsOf('switch.md', 'switch-differences')).toEqual(
      declaredDifferences.map(({ what, here, operationIds, test: shown }) => [
        ...[what, here, operationIds.map((id) => `\`${id}\``).join(', ')],
        `[${shown.name}](../${shown.file})`,
      ]),
    );
  });
});

const limits = await readLimits();

describe('documented limits', () => {
  const source = join(import.meta.dirname, '..', '..', 'src');
  const limitsFolder = join('domain', 'limits');

  describe('a limit', () => {
    test('is documented by the comment of its constant', () => {
      expect(limits.length).toBeGreaterThan(150);
      expect(new Set(limits.map(({ name }) => name)).size).toBe(limits.length);
      for (const { name, value } of limits) expect(value, name).toBeDefined();
    });

    test('is used by code', async () => {
      const code = (await readCodeOutsideLimits()).map(({ text }) => text.replace(/\/\*[^]*?\*\/|\/\/[^\n]*/g, ' '));
      const used = new Set(code.flatMap((text) => text.match(/\w+/g) ?? []));
      expect(limits.filter(({ name }) => !used.has(name)).map(({ name }) => name)).toEqual([]);
    });

    test('is the default of the setting that overrides it', () => {
      const overridden = limits.filter(({ setting }) => setting !== undefined);
      expect(overridden.length).toBeGreaterThan(3);
      for (const { name, setting, value } of overridden) {
        const found = Object.values(settings).find(({ variable }) => variable === setting);
        expect(found?.default, name).toBe(value);
      }
    });

    test('is the only place of a rate', async () => {
      const code = await readCodeOutsideLimits();
      expect(code.length).toBeGreaterThan(300);
      for (const { file, text } of code) {
        expect(text, file).not.toMatch(/\b\w+Per(Second|Minute|Hour|Day)(: number)? ?[=:] ?\d/);
        expect(text, file).not.toMatch(/\{ events: \d/);
      }
    });
  });

  /** Interface 8 as it is written there. */
  test.each([
    ['tokenRequestWindows', { token: [5, 30], refresh: [5, 30] }],
    ['pushRequestsPerMinute', 10_000],
    ['maxSelectedUsers', 100],
    ['minPushNameCharacters', 5],
    ['maxActiveSegments', 1_000],
    ['fileOperationsPerHour', 10],
    ['fileOperationsPerDay', 100],
    ['fileUsersPerDay', 2_000_000],
    ['maxFileBytes', 157_286_400],
    ['maxCampaignsPerPage', { V5: 15 }],
    ['defaultAccessTokenMinutes', 15],
    ['refreshTokenSeconds', 2_592_000],
  ])('has the value of the interface: %s', (name, expected) => {
    const { value } = limits.find((limit) => limit.name === name)!;
    if (typeof expected === 'number') expect(value).toBe(expected);
    else if ('V5' in expected) expect(value).toMatchObject(expected);
    else {
      const events = (windows: { events: number }[]): number[] => windows.map((window) => window.events);
      const { token, refresh } = value as unknown as Record<'token' | 'refresh', { events: number }[]>;
      expect({ token: events(token), refresh: events(refresh) }).toEqual(expected);
    }
  });

  describe('the comment of a limit', () => {
    const read = (comment: string) => readComments(`// Pushes\n\n${comment}\nexport const maxCards = 10;\n`);
    const complete = '/** Cards of a push (fact 3.2). Unit: cards per request. Exceeded: PUSH_PARAMETER_INVALID. */';

    test('has its name, unit, scope, effect and source', () => {
      const card = { heading: 'Pushes', name: 'maxCards', what: 'Cards of a push', unit: 'cards', per: 'request' };
      expect(read(complete)).toEqual([{ ...card, beyond: 'PUSH_PARAMETER_INVALID', source: 'fact 3.2' }]);
    });

    test('may continue with the reason, in several lines, and name a setting', () => {
      const comment = `/**
 * Cards of a push that are
 * kept.
 * Unit: cards per request. Exceeded: The others go. Setting: CARILLON_CARDS.
 * No push has more (fact 7).
 */`;
      expect(read(comment)[0]).toMatchObject({
        ...{
          what: 'Cards of a push that are kept',
          beyond: 'The others go.',
          source: 'ours',
          setting: 'CARILLON_CARDS',
        },
      });
    });

    test.each([
      ['has no unit', complete.replace(' Unit: cards per request.', '')],
      ['has no scope', complete.replace(' per request', '')],
      ['has no effect', complete.replace(' Exceeded: PUSH_PARAMETER_INVALID.', '')],
      ['is missing', ''],
      ['belongs to something else', `${complete}\nconst cards = 7;`],
      ['names an error that does not exist', complete.replace('PUSH_PARAMETER_INVALID', 'PUSH_CARDS')],
    ])('is rejected if it %s', (_, comment) => {
      expect(() => read(comment)).toThrow('maxCards');
    });

    test('is rejected if no heading is above it', () => {
      expect(() => readComments(`${complete}\nexport const maxCards = 10;\n`)).toThrow('maxCards is below no heading');
    });
  });

  test.each([
    [900, 'seconds', '15 minutes'],
    [60, 'seconds', '1 minute'],
    [90, 'seconds', '90 seconds'],
    [259_200, 'seconds', '3 days'],
    [1_536, 'bytes', '1,536 bytes'],
    [157_286_400, 'bytes', '150 MiB'],
    [[30, 120], 'seconds', '30 seconds, 2 minutes'],
    [[{ events: 5, seconds: 60 }], 'requests', '5 requests in 1 minute'],
    [{ V1: 100, V5: [{ events: 1, seconds: 1 }] }, 'calls', '`V1`: 100 calls; `V5`: 1 call in 1 second'],
  ])('formats %j %s as %s', (value, unit, expected) => {
    expect(describeLimitValue(value, unit)).toBe(expected);
  });

  async function readCodeOutsideLimits(): Promise<{ file: string; text: string }[]> {
    const files = (await readdir(source, { recursive: true })).filter((file) => file.endsWith('.ts'));
    return Promise.all(
      files
        .filter((file) => !file.startsWith(limitsFolder))
        .map(async (file) => ({ file, text: await readFile(join(source, file), 'utf8') })),
    );
  }
});

describe('states page', () => {
  const page = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'states.md'), 'utf8');

  test('shows the state machines as the diagrams of the page, in their order', () => {
    const diagrams = readDiagrams();
    expect(Object.keys(diagrams)).toEqual(stateMachines.map(({ name }) => name));
    for (const { name, begins, changes, ends = [] } of stateMachines) {
      const causes: Record<string, Set<string>> = {};
      const add = (arrow: string, by: string) => (causes[arrow] ??= new Set()).add(by);
      for (const { state, by } of begins) add(`[*] --> ${state}`, by);
      for (const { from, to, by } of changes) add(`${from} --> ${to}`, by);
      for (const { state, by } of ends) add(`${state} --> [*]`, by);
      const arrows = Object.fromEntries(
        Object.entries(causes).map(([arrow, words]) => [arrow, [...words].join(', or ')]),
      );
      expect(diagrams[name], name).toEqual(arrows);
    }
  });

  /** By whose states they are: the arrows of each diagram with their causes. */
  function readDiagrams(): Record<string, Record<string, string>> {
    const diagrams = [...page.matchAll(/accTitle: The states of (.*)\n([^]*?)```/g)];
    return Object.fromEntries(
      diagrams.map(([, name, lines]) => [
        name!,
        Object.fromEntries([...lines!.matchAll(/^ +(.*) : (.*)$/gm)].map(([, arrow, causes]) => [arrow!, causes!])),
      ]),
    );
  }
});

describe('docs/retention.md', () => {
  const page = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'retention.md'), 'utf8');

  test('has a row on the page for each group of tables, with the text of the list', () => {
    const [, section] = page.split('<!-- generated: retention -->') as [string, string];
    const lines = section.slice(0, section.indexOf('<!-- end -->')).split('\n');
    const rows = lines.filter((line) => line.startsWith('| ')).slice(2);
    const read = rows.map((row) => {
      const [what, tables, grows, kept, removed] = row.slice(2, -2).split(' | ') as [
        string,
        string,
        string,
        string,
        string,
      ];
      // What a setting says stands with the settings.
      const [, setting] = /^`(CARILLON_\w+)`: [\d,]+ \w+; at least [\d,]+$/.exec(kept) ?? [];
      const until = /^until (.*)$/.exec(kept)?.[1];
      return {
        ...{ what, tables: tables.split(', ').map((name) => name.slice(1, -1)), grows },
        ...{ kept: setting === undefined ? { until } : { setting }, removed },
      };
    });
    expect(read).toEqual(keptTables);
  });
});

/** The rows of a generated table, each with its cells. */
function rowsOf(page: string, section: string): string[][] {
  const text = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', page), 'utf8');
  const table = text.split(`<!-- generated: ${section} -->`)[1]!.split('<!-- end -->')[0]!;
  const rows = table.split('\n').filter((line) => line.startsWith('| '));
  return rows.slice(2).map((line) => line.slice(2, -2).replaceAll('&lt;', '<').split(' | '));
}
