import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCarillonBundle } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { openSignedInClient } from './signed-in-client.ts';

let bundle: CarillonBundle;
let cookie: string;
beforeAll(async () => {
  bundle = await startCarillonBundle();
  ({ cookie } = await openSignedInClient(bundle));
});
afterAll(() => bundle.stop());

const id = 'a'.repeat(24);
// A month, days and a time of day that no calendar has, and a year that no database has.
const days = ['2026-13-01', '2026-02-31', '2026-04-31', '2025-02-29', '0000-01-01'];
const instants = [...days.map((day) => `${day}T00:00:00`), '2026-01-01T24:00:00', '2026-01-01T00:60:00'];

async function statusOf(path: string): Promise<number> {
  const query = `${path.includes('?') ? '&' : '?'}workspaceId=${bundle.workspaceId}`;
  return (await bundle.call('GET', `/console/api/${path}${query}`, { headers: { cookie } })).status;
}

test.each([
  ...['audit?from=', 'audit?until=', 'audit.csv?from=', 'calls?from=', 'calls?before='].map((path) => [path, '.000Z']),
  ['calls?after=', `.000Z~${id}`],
  ['deliveries?after=2026-01-01~', `.000Z~1~${id}`],
  ['callbacks?after=', `.000Z~${id}`],
  ['mails?after=', `.000Z~${id}`],
  ['people/suspected-devices?after=', `.000Z~${id}`],
  [`people/${id}/timeline?after=`, '.000000Z~x'],
])('an instant that cannot be is refused: %s…%s', async (before, behind) => {
  for (const instant of instants) expect(await statusOf(`${before}${instant}${behind}`), instant).toBe(400);
  expect(await statusOf(`${before}2028-02-29T23:59:59${behind}`)).not.toBe(400);
});

test.each([
  ['deliveries?after=', ''],
  ['deliveries/', `/7/${id}/${id}/${id}`],
])('a day that cannot be is refused: %s…%s', async (before, behind) => {
  for (const day of days) expect(await statusOf(`${before}${day}${behind}`), day).toBe(400);
  expect(await statusOf(`${before}2028-02-29${behind}`)).not.toBe(400);
});

test('a day that a month lacks is the last one of the month on the calendar', async () => {
  expect(await statusOf('calendar?view=month&date=2026-02-31')).toBe(200);
});
