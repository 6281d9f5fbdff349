import { describe, expect, test } from 'vitest';
import { attributesFault, readBusinessAttributes } from '../../../src/domain/events/events.ts';
import type { BusinessAttributeType } from '../../../src/domain/events/events.ts';

describe('an attribute of a business event (fact 6.3)', () => {
  test.each<[BusinessAttributeType, taken: unknown[], refused: unknown[]]>([
    ['string', ['', 'x'.repeat(4_096)], ['x'.repeat(4_097), 'a\0', '\ud800', 7, null]],
    ['int', [0, -7, 9_007_199_254_740_991], [0.5, 9_007_199_254_740_992, '7', null]],
    ['float', [0.5, -7], [Number.POSITIVE_INFINITY, Number.NaN, '0.5', true]],
    [
      'array',
      [[], ['a', 1, true], Array.from({ length: 1_000 }, () => 1)],
      [Array.from({ length: 1_001 }, () => 1), ['a', null], [[1]], [{}], ['a\0'], 'a', { length: 0 }],
    ],
    ['date', ['2026-03-01', '2026-03-01T12:00:00Z'], ['2026-02-30', 'today', 1_772_366_400, ['2026-03-01']]],
  ])('has the type %s', (type, taken, refused) => {
    const fault = (value: unknown) => attributesFault({ a: value }, [{ name: 'a', type }]);
    expect(taken.map(fault)).toEqual(taken.map(() => undefined));
    expect(refused.map(fault)).toEqual(refused.map(() => `a must be of type ${type}`));
  });

  test('may be missing, but must not be unknown', () => {
    const known = [
      { name: 'a', type: 'int' },
      { name: 'b', type: 'string' },
    ] as const;
    expect(attributesFault({}, known)).toBeUndefined();
    expect(attributesFault({ b: 'x' }, known)).toBeUndefined();
    expect(attributesFault({ a: 1, c: 2 }, known)).toBe('c is no attribute of the event');
  });
});

describe('the attributes of a new business event', () => {
  const one = (name: unknown, type: unknown = 'int') => ({ attribute_name: name, attribute_data_type: type });

  test('are parsed as they are sent, and may be missing', () => {
    expect(readBusinessAttributes([one('a'), one('b', 'date')])).toEqual([
      { name: 'a', type: 'int' },
      { name: 'b', type: 'date' },
    ]);
    expect([undefined, null, []].map(readBusinessAttributes)).toEqual([[], [], []]);
    expect(readBusinessAttributes(Array.from({ length: 100 }, (_, index) => one(`a${index}`)))).toHaveLength(100);
    expect(readBusinessAttributes([one('x'.repeat(256))])).toHaveLength(1);
  });

  const names = 'must hold objects with attribute_name, a text of 1 to 256 characters';
  const list = 'must be a list of at most 100 attributes';
  test.each<[unknown, string]>([
    [{}, list],
    ['a', list],
    [Array.from({ length: 101 }, (_, index) => one(`a${index}`)), list],
    [[null], names],
    [['a'], names],
    [[{}], names],
    [[one('')], names],
    [[one(7)], names],
    [[one('a\0')], names],
    [[one('x'.repeat(257))], names],
    [[one('a', 'number')], 'must have attribute_data_type string, int, float, array, date'],
    [[{ attribute_name: 'a' }], 'must have attribute_data_type string, int, float, array, date'],
    [[one('a'), one('b'), one('a', 'date')], 'names a twice'],
  ])('may not be %j', (sent, reason) => {
    expect(readBusinessAttributes(sent)).toEqual({ reason });
  });
});
