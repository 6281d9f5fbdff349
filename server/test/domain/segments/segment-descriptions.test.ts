import { describe, expect, test } from 'vitest';
import {
  describeAttributes,
  describeSegmentFilter,
  estimateUsers,
  roundToTwoDigits,
  sampledBuckets,
} from '../../../src/domain/segments/preview.ts';
import type { AttributeFilter, GroupFilter, SegmentFilter } from '../../../src/domain/segments/filter.ts';

describe('the attributes of a filter', () => {
  const seen = (type: string, values: string[], users = 1) =>
    values.map((value) => ({ name: 'x', type, value, users }));
  test.each([
    ['string', 'string'],
    ['number', 'double'],
    ['boolean', 'bool'],
    ['array_string', 'array_string'],
    ['array_number', 'array_double'],
  ])('of the type %s are queried as %s', (type, asked) => {
    expect(describeAttributes(['x'], seen(type, ['1', '2']))).toEqual([{ name: 'x', type: asked, values: ['1', '2'] }]);
  });

  test('are texts without suggestions if they have no values or none that a filter knows', () => {
    const of = [{ name: 'other', type: 'number', value: '1', users: 5 }, ...seen('object', ['{}'])];
    expect(describeAttributes(['x', 'y'], of)).toEqual([
      { name: 'x', type: 'string', values: [] },
      { name: 'y', type: 'string', values: [] },
    ]);
  });

  test('have the type of most users, and suggest only its values', () => {
    const of = [...seen('string', ['a'], 3), ...seen('number', ['1', '2'], 2)];
    expect(describeAttributes(['x'], of)).toEqual([{ name: 'x', type: 'double', values: ['1', '2'] }]);
    expect(describeAttributes(['x'], [...of, ...seen('string', ['b'], 2)])).toEqual([
      { name: 'x', type: 'string', values: ['a', 'b'] },
    ]);
  });

  test('are times if every text is one', () => {
    const days = seen('string', ['2026-03-10', '2026-03-11T10:00Z'], 9);
    expect(describeAttributes(['x'], days)[0]!.type).toBe('datetime');
    expect(describeAttributes(['x'], [...days, ...seen('number', ['5'])])[0]!.type).toBe('datetime');
    expect(describeAttributes(['x'], [...days, ...seen('string', ['soon'])])[0]!.type).toBe('string');
  });
});

describe('an estimate of users', () => {
  test('reads 16 of 256 buckets', () => {
    expect(sampledBuckets).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
  });

  test('needs 400 matches, and has two digits', () => {
    expect(estimateUsers(399, { share: 1 / 16 })).toBeUndefined();
    expect(estimateUsers(400, { share: 1 / 16 })).toBe(6_400);
    expect(estimateUsers(25_982, { share: 1 / 16 })).toBe(420_000);
  });

  test.each([
    [0, 0],
    [7.4, 7],
    [99.4, 99],
    [100, 100],
    [104, 100],
    [106, 110],
    [999, 1_000],
    [415_712, 420_000],
  ])('formats %d as %d', (count, read) => expect(roundToTwoDigits(count)).toBe(read));
});

describe('the description of a filter', () => {
  const attribute = (filter: object, negate = false): SegmentFilter =>
    ({ kind: 'attribute', name: 'x', negate, ...filter }) as AttributeFilter;
  const group = (...filters: SegmentFilter[]): GroupFilter => ({
    kind: 'group',
    operator: 'and',
    negate: false,
    filters,
  });
  const say = (filter: SegmentFilter): string => describeSegmentFilter({ included: filter });
  const text = (operator: string, values = ['a']) => ({
    dataType: 'string',
    test: { operator, values, isCaseSensitive: false },
  });
  const time = (test: object) => ({ dataType: 'datetime', test });
  const at = { kind: 'instant', at: new Date('2026-03-10T10:20:30.400Z') };
  const day = { kind: 'day', startsAt: new Date('2026-03-10T00:00:00Z') };
  const relative = (days: number) => ({ kind: 'relative', days });

  test.each<[string, string, object]>([
    ['x exists', 'x does not exist', { dataType: 'string', test: { operator: 'exists' } }],
    ['x is "a"', 'x is not "a"', text('in')],
    ['x contains "a" or "b"', 'x does not contain "a" or "b"', text('contains', ['a', 'b'])],
    ['x starts with "a"', 'x does not start with "a"', text('startsWith')],
    ['x ends with "a"', 'x does not end with "a"', text('endsWith')],
    ['x is 1, 2 or 3', 'x is not 1, 2 or 3', { dataType: 'double', test: { operator: 'in', values: [1, 2, 3] } }],
    ['x is less than 5', 'x is not less than 5', { dataType: 'double', test: { operator: 'lessThan', value: 5 } }],
    [
      'x is greater than 5',
      'x is not greater than 5',
      { dataType: 'double', test: { operator: 'greaterThan', value: 5 } },
    ],
    [
      'x is between 1 and 2',
      'x is not between 1 and 2',
      { dataType: 'double', test: { operator: 'between', lower: 1, upper: 2 } },
    ],
    ['x exists', 'x does not exist', { dataType: 'bool', test: { operator: 'exists' } }],
    ['x is false', 'x is not false', { dataType: 'bool', test: { operator: 'is', value: false } }],
    ['x exists', 'x does not exist', time({ operator: 'exists' })],
    ['x is today', 'x is not today', time({ operator: 'today' })],
    ['x is in the last 1 day', 'x is not in the last 1 day', time({ operator: 'inTheLast', days: 1 })],
    ['x is in the next 2 days', 'x is not in the next 2 days', time({ operator: 'inTheNext', days: 2 })],
    ['x is on 2026-03-10', 'x is not on 2026-03-10', time({ operator: 'on', value: at })],
    ['x is on 2026-03-10', 'x is not on 2026-03-10', time({ operator: 'on', value: day })],
    ['x is on today', 'x is not on today', time({ operator: 'on', value: relative(0) })],
    [
      'x is after 2026-03-10T10:20:30.400Z',
      'x is not after 2026-03-10T10:20:30.400Z',
      time({ operator: 'after', value: at }),
    ],
    ['x is before 2026-03-10', 'x is not before 2026-03-10', time({ operator: 'before', value: day })],
    ['x is before today', 'x is not before today', time({ operator: 'before', value: relative(0) })],
    ['x is after 1 day ago', 'x is not after 1 day ago', time({ operator: 'after', value: relative(-1) })],
    [
      'x is after 2 days from today',
      'x is not after 2 days from today',
      time({ operator: 'after', value: relative(2) }),
    ],
    ['x is 2026-03-10 or today', 'x is not 2026-03-10 or today', time({ operator: 'in', values: [day, relative(0)] })],
    [
      'x is between 2026-03-10 and 3 days from today',
      'x is not between 2026-03-10 and 3 days from today',
      time({ operator: 'between', lower: day, upper: relative(3) }),
    ],
    ['a value of x is "a"', 'no value of x is "a"', { ...text('in'), dataType: 'array_string', quantifier: 'any_of' }],
    [
      'each of x contains "a"',
      'not each of x contains "a"',
      { ...text('contains'), dataType: 'array_string', quantifier: 'all_of' },
    ],
    [
      'a value of x is less than 5',
      'no value of x is less than 5',
      { dataType: 'array_double', quantifier: 'any_of', test: { operator: 'lessThan', value: 5 } },
    ],
  ])('is: %s; %s', (plain, negated, filter) => {
    expect(say(group(attribute(filter)))).toBe(`Users for whom ${plain}.`);
    expect(say(group(attribute(filter, true)))).toBe(`Users for whom ${negated}.`);
  });

  test('lists up to four values, and three of longer lists', () => {
    expect(say(group(attribute(text('in', ['a', 'b', 'c', 'd']))))).toBe('Users for whom x is "a", "b", "c" or "d".');
    expect(say(group(attribute(text('in', ['a', 'b', 'c', 'd', 'e']))))).toBe(
      'Users for whom x is "a", "b", "c" or 2 more.',
    );
  });

  test('names a segment without a name by its id, and nested groups in parentheses', () => {
    const reference: SegmentFilter = { kind: 'segment', id: 's-1', negate: true };
    const one = attribute({ dataType: 'bool', test: { operator: 'is', value: true } });
    const two: GroupFilter = { ...group(one, one), operator: 'or' };
    expect(say(group(reference))).toBe('Users for whom the user is not in segment "s-1".');
    expect(say(group(one, group(one)))).toBe('Users for whom x is true and x is true.');
    expect(say(group(one, two))).toBe('Users for whom x is true and (x is true or x is true).');
    expect(say(group(one, { ...two, negate: true }))).toBe(
      'Users for whom x is true and not (x is true or x is true).',
    );
  });

  test('ends at 1,000 characters, or with a mark that it was cut there', () => {
    const of = (length: number): string =>
      say(group(attribute(text('in', ['a'.repeat(length - 'Users for whom x is "".'.length)]))));
    expect(of(1_000)).toMatch(/^.{998}"\.$/);
    expect(of(1_001)).toMatch(/^.{998}a…$/);
    expect(of(1_200)).toMatch(/^.{998}a…$/);
    // Half of 😀 would be the 999th character.
    expect(say(group(attribute(text('in', [`${'a'.repeat(977)}😀`]))))).toMatch(/^.{997}a…$/);
  });
});
