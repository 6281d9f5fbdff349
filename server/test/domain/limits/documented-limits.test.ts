import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { describeLimitValue, readComments, readLimits } from '../../../../scripts/render-limits.ts';
import { settings } from '../../../src/start/settings-table.ts';

const source = join(import.meta.dirname, '..', '..', '..', 'src');
const limitsFolder = join('domain', 'limits');
const limits = await readLimits();

async function readCodeOutsideLimits(): Promise<{ file: string; text: string }[]> {
  const files = (await readdir(source, { recursive: true })).filter((file) => file.endsWith('.ts'));
  return Promise.all(
    files
      .filter((file) => !file.startsWith(limitsFolder))
      .map(async (file) => ({ file, text: await readFile(join(source, file), 'utf8') })),
  );
}

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
      ...{ what: 'Cards of a push that are kept', beyond: 'The others go.', source: 'ours', setting: 'CARILLON_CARDS' },
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
