import { expect, test } from 'vitest';
import { formatCaps, parseCaps, describeCaps } from '../../../console/src/parts/text/frequency-caps.ts';

test('caps are read and written as the server has them, and told as a person says them', () => {
  expect(parseCaps('none')).toEqual([]);
  expect(formatCaps([])).toBe('none');
  for (const text of ['2/1d,5/7d', '1/12h']) expect(formatCaps(parseCaps(text))).toBe(text);
  expect(describeCaps(parseCaps('2/1d,5/7d'))).toBe('2 messages a day and 5 in 7 days');
  expect(describeCaps(parseCaps('1/1h'))).toBe('1 message an hour');
  expect(describeCaps(parseCaps('3/12h,1/1d'))).toBe('3 messages in 12 hours and 1 a day');
});
