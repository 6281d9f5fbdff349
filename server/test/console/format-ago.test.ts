import { expect, test } from 'vitest';
import { formatAgo, formatTime } from '../../../console/src/parts/text/format-time.ts';

const now = Date.parse('2026-03-10T12:00:00.000Z');
const ago = (at: string) => formatAgo(at, { now, timeZone: 'Europe/Berlin' });

test.each([
  ['2026-03-10T12:00:20.000Z', 'just now'],
  ['2026-03-10T11:59:01.000Z', 'just now'],
  ['2026-03-10T11:59:00.000Z', '1 minute ago'],
  ['2026-03-10T11:00:01.000Z', '59 minutes ago'],
  ['2026-03-10T10:00:00.000Z', '2 hours ago'],
  ['2026-03-09T11:59:59.000Z', '1 day ago'],
  ['2026-03-03T12:00:01.000Z', '6 days ago'],
  ['2026-03-03T12:00:00.000Z', '3 Mar 2026, 13:00 CET'],
  ['2026-03-11T08:30:00.000Z', '11 Mar 2026, 09:30 CET'],
])('%s is said as "%s" at noon', (at, words) => {
  expect(ago(at)).toBe(words);
});

test('a time that was planned to the minute is said without seconds, any other with them', () => {
  expect(formatTime('2026-03-10T09:30:00.000Z', 'UTC')).toBe('10 Mar 2026, 09:30 UTC');
  expect(formatTime('2026-03-10T09:30:00.400Z', 'UTC')).toBe('10 Mar 2026, 09:30:00 UTC');
});
