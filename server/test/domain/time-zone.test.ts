import { describe, expect, test } from 'vitest';
import {
  localDate,
  localTime,
  offsetAt,
  toInstant,
  timeZoneAliases,
  findTimeZone,
} from '../../src/domain/timing/local-time.ts';

const names = Object.keys(timeZoneAliases);
const seasons = [new Date('2026-01-15T12:00:00Z'), new Date('2026-07-15T12:00:00Z')];

/** As the machine's ICU reckons. */
function offsetOfIntl(at: Date, timeZone: string): string {
  const parts = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' }).formatToParts(at);
  const text = parts.find(({ type }) => type === 'timeZoneName')!.value.replace('GMT', '');
  return text === '' ? '+00:00' : text;
}

describe('the name of a time zone', () => {
  test('is valid if and only if local times can be computed with it', () => {
    const legacy = ['EST', 'MST', 'HST', 'EST5EDT', 'Asia/Calcutta', 'asia/calcutta', 'GB', 'ROC', 'Zulu', 'W-SU'];
    const wrong = ['+05:30', 'GMT+5:30', 'Mars/Phobos', 'India', 'XYZ', '', ' ', 'a\0b', 'constructor', 'UTC '];
    for (const name of [...Intl.supportedValuesOf('timeZone'), ...legacy, ...names]) {
      const zone = findTimeZone(name);
      expect(zone, name).toBeDefined();
      expect(toInstant({ date: '2026-03-01', time: '09:00', timeZone: name }), name).toEqual(
        toInstant({ date: '2026-03-01', time: '09:00', timeZone: zone! }),
      );
    }
    for (const name of wrong) expect(findTimeZone(name), name).toBeUndefined();
  });

  test.each(names)('maps %s, which Intl knows and Temporal rejects, to the zone that ICU means', (name) => {
    const zone = findTimeZone(name)!;
    expect(findTimeZone(name.toLowerCase())).toBe(zone);
    for (const at of seasons) {
      expect(offsetAt(at, zone)).toBe(offsetOfIntl(at, name));
      expect([localDate(at, name), localTime(at, name)]).toEqual([localDate(at, zone), localTime(at, zone)]);
    }
  });

  test('has 25 aliases, of which IST is India', () => {
    expect(names).toHaveLength(25);
    expect(findTimeZone('IST')).toBe('Asia/Kolkata');
  });
});
