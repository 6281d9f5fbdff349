import { expect, test } from 'vitest';
import { maxCapHours, maxCaps } from '../../src/domain/limits/campaigns.ts';
import { quietUntil, parseFrequencyCaps, parseQuietSpan } from '../../src/domain/workspace-controls.ts';

test.each([
  ['12:59:59', undefined],
  ['13:00:00', '15:00'],
  ['14:59:59', '15:00'],
  ['15:00:00', undefined],
  ['23:00:00', undefined],
])('ends quiet hours from 13:00 to 15:00, at %s, at %s', (time, until) => {
  const at = new Date(`2026-05-01T${time}Z`);
  const wanted = until === undefined ? undefined : new Date(`2026-05-01T${until}:00Z`);
  expect(quietUntil({ from: '13:00', to: '15:00', mode: 'HOLD' }, { at, timeZone: 'UTC' })).toEqual(wanted);
});

test.each([
  ['22:00-08:00', { from: '22:00', to: '08:00' }],
  ['  19:59-23:59  ', { from: '19:59', to: '23:59' }],
  ['00:00-20:00', { from: '00:00', to: '20:00' }],
  ['24:00-08:00', undefined],
  ['22:00-24:00', undefined],
  ['22:60-08:00', undefined],
  ['08:00-08:00', undefined],
  ['x22:00-08:00', undefined],
  ['22:00-08:00x', undefined],
  ['22:00-08:00, 12:00-13:00', undefined],
])('parses the span %j as %j', (text, span) => expect(parseQuietSpan(text)).toEqual(span));

const list = (count: number): string => Array.from({ length: count }, (_, index) => `1/${index + 1}h`).join(',');

test.each([
  ['1/1h', [{ messages: 1, hours: 1 }]],
  [
    ' 2/1d , 5/7d ',
    [
      { messages: 2, hours: 24 },
      { messages: 5, hours: 168 },
    ],
  ],
  [`1/${maxCapHours / 24}d`, [{ messages: 1, hours: maxCapHours }]],
  [`1/${maxCapHours / 24 + 1}d`, undefined],
  ['0/1h', undefined],
  ['1/0h', undefined],
  ['2/1d,0/7d', undefined],
  ['2/1d,3/24h', undefined],
  ['x2/1d', undefined],
  ['2/1dx', undefined],
  [list(maxCaps + 1), undefined],
])('parses the caps %j as %j', (text, caps) => expect(parseFrequencyCaps(text)).toEqual(caps));

test('parses the maximum number of caps', () => expect(parseFrequencyCaps(list(maxCaps))).toHaveLength(maxCaps));
