import { expect, test } from 'vitest';
import { sourceOfAddress } from '../../../src/domain/access/rate-limits.ts';

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['nonsense', 'unknown'],
  ['', 'unknown'],
])('counts guesses from %s against %s (decision D19)', (address, source) => {
  expect(sourceOfAddress(address)).toBe(source);
});
