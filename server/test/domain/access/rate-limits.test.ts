import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { describe, expect, test } from 'vitest';
import { isPlainIpv4, passBurst, secondsUntilPass, sourceOfAddress } from '../../../src/domain/access/rate-limits.ts';
import { propertyRuns } from '../../property-runs.ts';

describe('the limit of bursts', () => {
  const limit = { events: 5, seconds: 10 };
  const passed = (occurrences: number[]): number => {
    let fullAt: number | undefined;
    return occurrences.filter((now) => {
      const result = passBurst(limit, { fullAt, now });
      if ('fullAt' in result) fullAt = result.fullAt;
      return 'fullAt' in result;
    }).length;
  };

  test('allows a full burst, then one event at a time', () => {
    expect(passed([0, 0, 0, 0, 0, 0, 0])).toBe(5);
    expect(passed([0, 0, 0, 0, 0, 2000, 2000])).toBe(6);
    expect(passed([0, 0, 0, 0, 0, 10_000, 10_000, 10_000, 10_000, 10_000, 10_000])).toBe(10);
  });

  test('allows an even stream at its rate forever', () => {
    const stream = Array.from({ length: 1000 }, (_, index) => index * 2000);
    expect(passed(stream)).toBe(1000);
  });

  test('returns when the next event is allowed, and locks no caller out when the clock is set back', () => {
    expect(passBurst(limit, { fullAt: 10_000, now: 0 })).toEqual({ retryAfterSeconds: 2 });
    expect(passBurst(limit, { fullAt: 10_000, now: 2000 })).toEqual({ fullAt: 12_000 });
    expect(passBurst(limit, { fullAt: 400_000_000, now: 0 })).toEqual({ fullAt: 2000 });
  });

  test('starts with the full burst for a subject that was idle', () => {
    expect(passBurst(limit, { fullAt: undefined, now: 5_000 })).toEqual({ fullAt: 7_000 });
    expect(passBurst(limit, { fullAt: 1_000, now: 5_000 })).toEqual({ fullAt: 7_000 });
    expect(passBurst(limit, { fullAt: 6_000, now: 5_000 })).toEqual({ fullAt: 8_000 });
  });

  test('tolerates the rounding of a millisecond, and no more', () => {
    expect(passBurst(limit, { fullAt: 8_000.4, now: 0 })).toEqual({ fullAt: 10_000.4 });
    expect(passBurst(limit, { fullAt: 8_000.5, now: 0 })).toEqual({ retryAfterSeconds: 1 });
  });

  test('never delays longer than its period', () => {
    expect(passBurst(limit, { fullAt: 18_000, now: 0 })).toEqual({ retryAfterSeconds: 10 });
    expect(passBurst(limit, { fullAt: 18_001, now: 0 })).toEqual({ fullAt: 2_000 });
  });
});

type Row = { name: string; events: number[]; now: number; seconds: number };

describe('sliding window', () => {
  const windows = [
    { events: 5, seconds: 60 },
    { events: 30, seconds: 600 },
  ];
  const at = (seconds: number) => new Date(seconds * 1000);
  const wait = (events: number[], now: number) => secondsUntilPass(windows, { events: events.map(at), at: at(now) });
  const every = (count: number, seconds: number) => Array.from({ length: count }, (_, index) => index * seconds);

  test.each<Row>([
    { name: 'no event', events: [], now: 0, seconds: 0 },
    { name: 'four events', events: [0, 1, 2, 3], now: 3, seconds: 0 },
    { name: 'five events at once', events: [0, 0, 0, 0, 0], now: 0, seconds: 60 },
    { name: 'five events, the first 59.999 s ago', events: [0, 1, 2, 3, 4], now: 59.999, seconds: 1 },
    { name: 'five events, the first exactly 60 s ago', events: [0, 1, 2, 3, 4], now: 60, seconds: 0 },
    { name: 'a fraction of a second is rounded up', events: [0.4, 1, 2, 3, 4], now: 10, seconds: 51 },
    { name: 'thirty events in 450 s', events: every(30, 15), now: 450, seconds: 150 },
    { name: 'thirty events, the first exactly 600 s ago', events: every(30, 15), now: 600, seconds: 0 },
    { name: 'both limits are full, the narrow one for longer', events: bothFull(0), now: 595, seconds: 55 },
    { name: 'both limits are full, the wide one for longer', events: bothFull(100), now: 595, seconds: 105 },
    { name: 'order does not matter', events: [4, 0, 3, 1, 2], now: 10, seconds: 50 },
    { name: 'events of a clock that was moved back', events: every(5, 0).map(() => 86_400), now: 0, seconds: 0 },
    { name: 'five events of a node whose clock is 5 s ahead', events: every(5, 0).map(() => 5), now: 0, seconds: 65 },
    { name: 'five events of one that is further ahead', events: every(5, 0).map(() => 5.001), now: 0, seconds: 0 },
  ])('waits with $name: $seconds s', ({ events, now, seconds }) => {
    expect(wait(events, now)).toBe(seconds);
  });

  /** 25 events that begin `offset` seconds late, and five in the last seconds. */
  function bothFull(offset: number): number[] {
    return [...every(25, 16).map((second) => second + offset), 590, 591, 592, 593, 594];
  }
});

describe('source addresses', () => {
  test('takes a text as a plain IPv4 address if it is how ipaddr.js writes what it reads', () => {
    const part = fc.oneof(fc.integer({ min: 0, max: 300 }).map(String), fc.constantFrom('00', '01', '0x1', '', '1 '));
    const text = fc.oneof(
      fc.ipV4(),
      fc.array(part, { minLength: 3, maxLength: 5 }).map((parts) => parts.join('.')),
    );
    fc.assert(
      fc.property(text, (address) => {
        const isPlain = ipaddr.IPv4.isValid(address) && ipaddr.IPv4.parse(address).toString() === address;
        expect(isPlainIpv4(address)).toBe(isPlain);
      }),
      { numRuns: propertyRuns(2_000, 500) },
    );
  });

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
});
