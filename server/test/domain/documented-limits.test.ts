import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { settings } from '../../src/start/settings-table.ts';
import { documentedLimits, limitConstants } from '../../src/domain/limits/texts/documented-limits.ts';

const source = join(import.meta.dirname, '..', '..', 'src');

async function listLimitFiles(): Promise<string[]> {
  const files = await readdir(join(source, 'domain', 'limits'));
  return files.filter((file) => file.endsWith('.ts')).sort();
}

test('every exported constant of domain/limits is documented, and every documented value is that constant itself', async () => {
  const exported = new Map<string, unknown>();
  for (const file of await listLimitFiles()) {
    const constants = (await import(join(source, 'domain', 'limits', file))) as Record<string, unknown>;
    for (const [name, value] of Object.entries(constants)) exported.set(`${file.replace('.ts', '')}.${name}`, value);
  }
  expect(documentedLimits.map(({ id }) => id).sort()).toEqual([...exported.keys()].sort());
  for (const { id, value } of documentedLimits) expect(value, id).toBe(exported.get(id));
});

test('a noun with limits has one file of them', async () => {
  const nouns = (await listLimitFiles()).map((file) => file.replace('.ts', ''));
  expect(Object.keys(limitConstants).sort()).toEqual(nouns);
});

test('a limit that a setting changes is the default of that setting', () => {
  const changeable = documentedLimits.filter(({ setting }) => setting !== undefined);
  expect(changeable.length).toBeGreaterThan(3);
  for (const { id, setting, value } of changeable) {
    const found = Object.values(settings).find(({ variable }) => variable === setting);
    expect(found?.default, id).toBe(value);
  }
});

test('no rate is a number outside of domain/limits', async () => {
  const files = (await readdir(source, { recursive: true })).filter((file) => file.endsWith('.ts'));
  expect(files.length).toBeGreaterThan(300);
  for (const file of files.filter((name) => !name.startsWith(join('domain', 'limits')))) {
    const text = await readFile(join(source, file), 'utf8');
    expect(text, file).not.toMatch(/\b\w+Per(Second|Minute|Hour|Day)(: number)? ?[=:] ?\d/);
    expect(text, file).not.toMatch(/\{ events: \d/);
  }
});

/** Interface 8 as it is written there. */
test.each([
  ['tokens.tokenRequestWindows', { token: [5, 30], refresh: [5, 30] }],
  ['push.pushRequestsPerMinute', 10_000],
  ['push.maxSelectedUsers', 100],
  ['push.minPushNameCharacters', 5],
  ['segments.maxActiveSegments', 1_000],
  ['segments.fileOperationsPerHour', 10],
  ['segments.fileOperationsPerDay', 100],
  ['segments.fileUsersPerDay', 2_000_000],
  ['segments.maxFileBytes', 157_286_400],
  ['campaigns.maxCampaignsPerPage', { V5: 15 }],
  ['tokens.defaultAccessTokenMinutes', 15],
  ['tokens.refreshTokenSeconds', 2_592_000],
])('%s is what the interface says', (id, expected) => {
  const { value } = documentedLimits.find((limit) => limit.id === id)!;
  if (typeof expected === 'number') expect(value).toBe(expected);
  else if ('V5' in expected) expect(value).toMatchObject(expected);
  else {
    const events = (windows: { events: number }[]): number[] => windows.map((window) => window.events);
    const { token, refresh } = value as unknown as Record<'token' | 'refresh', { events: number }[]>;
    expect({ token: events(token), refresh: events(refresh) }).toEqual(expected);
  }
});
