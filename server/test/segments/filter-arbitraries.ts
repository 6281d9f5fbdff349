import fc from 'fast-check';
import { parseSegmentFilter } from '../../src/domain/segments/filter-reader.ts';
import type { SegmentFilter } from '../../src/domain/segments/filter.ts';

/** When the filters of these tests are asked. */
export const at = new Date('2026-03-10T15:30:00.250Z');

export const segmentIds = ['a', 'b', 'c'].map((letter) => letter.repeat(24));

export type Filter = Record<string, unknown>;

export const group = (...filters: Filter[]) => ({ filter_operator: 'and', filters });
export const attribute = (filter: Filter): Filter => ({ filter_type: 'user_attributes', name: 'x', ...filter });

export function parsed(tree: unknown): SegmentFilter {
  const result = parseSegmentFilter(tree);
  if ('fault' in result) throw new Error(`${result.fault.code}: ${result.fault.reason}`);
  return result.filter;
}

export const words = [
  'a',
  'A',
  'ä',
  'Ä',
  'a\u0308',
  'ß',
  'SS',
  'ss',
  'σ',
  'ς',
  'Σ',
  'ı',
  'I',
  'i',
  '%',
  '_',
  '\\',
  "'",
  '"',
  '😀',
  ' ',
  '.*',
];
const text = fc.oneof(
  fc.constantFrom(...words),
  fc.array(fc.constantFrom(...words), { maxLength: 5 }).map((parts) => parts.join('')),
);
const wantedText = text.filter((value) => value !== '');
const number = fc.oneof(
  fc.constantFrom(-1, 0, 1, 2, 0.1, 0.2, 0.1 + 0.2, 1e21, 1e-7, Number.MAX_VALUE, 5e-324, 9007199254740991),
  fc.integer({ min: -3, max: 3 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
);
const nearNow = fc
  .oneof(
    fc.integer({ min: -10 * 86_400_000, max: 10 * 86_400_000 }),
    fc
      .tuple(fc.integer({ min: -10, max: 10 }), fc.integer({ min: -1, max: 1 }))
      .map(([days, off]) => days * 86_400_000 + off),
  )
  .map((distance) => new Date(at.getTime() + distance));
const isoText = fc.oneof(
  nearNow.map((date) => date.toISOString()),
  nearNow.map((date) => date.toISOString().slice(0, 10)),
  nearNow.map((date) => date.toISOString().slice(0, 16)),
  nearNow.map((date) => date.toISOString().slice(0, 23).replace('T', ' ')),
  fc
    .tuple(
      nearNow,
      fc.constantFrom('+05:30', '-0800', '+14:59', '-00:00'),
      fc.constantFrom('', '.5', '.123456', '.999999999'),
    )
    .map(([date, offset, fraction]) => `${date.toISOString().slice(0, 19)}${fraction}${offset}`),
);
const storedTime = fc.oneof(
  { weight: 4, arbitrary: isoText },
  {
    weight: 2,
    arbitrary: fc.tuple(nearNow, fc.constantFrom(0, 0.0003, -0.0003)).map(([date, off]) => date.getTime() / 1000 + off),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<unknown>(
      '2026-02-30',
      '0000-01-01',
      '0001-01-01',
      '9999-12-31',
      'now',
      '2026-3-1',
      1e12,
      -1e12,
    ),
  },
);
/** Values of an attribute, of every type, near to what the filters ask for. */
export const stored = fc.oneof(
  { weight: 3, arbitrary: text },
  { weight: 3, arbitrary: number },
  { weight: 1, arbitrary: fc.boolean() },
  { weight: 4, arbitrary: storedTime },
  { weight: 2, arbitrary: fc.array(fc.oneof(text, text, number), { maxLength: 3 }) },
  { weight: 2, arbitrary: fc.array(text, { maxLength: 3 }) },
  { weight: 2, arbitrary: fc.array(number, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(null, {}, { a: 1 }, [null], [[]]) },
);

const oneOrList = (value: fc.Arbitrary<unknown>) => fc.oneof(value, fc.array(value, { minLength: 1, maxLength: 3 }));
const days = fc.integer({ min: 0, max: 12 });

/** Every attribute filter that can be sent, in the words of fact 2.3. */
export function filterOf(...names: string[]): fc.Arbitrary<Filter> {
  const record = (dataType: string, filter: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Filter> =>
    fc.record(
      {
        filter_type: fc.constant('user_attributes'),
        name: fc.constantFrom(...names),
        data_type: fc.constant(dataType),
        negate: fc.boolean(),
        case_sensitive: fc.boolean(),
        array_filter_type: fc.constantFrom('any_of', 'all_of'),
        ...filter,
      },
      { requiredKeys: ['filter_type', 'name', 'data_type', ...Object.keys(filter)] as 'name'[] },
    );
  const operator = (...operators: string[]) => ({ operator: fc.constantFrom(...operators) });
  const numbers = (dataType: string) => [
    record(dataType, { ...operator('in'), value: oneOrList(number) }),
    record(dataType, { ...operator('lessThan', 'greaterThan'), value: number }),
    fc
      .tuple(record(dataType, operator('between')), number, number)
      .map(([filter, one, other]) => ({ ...filter, value: Math.min(one, other), value1: Math.max(one, other) })),
    record(dataType, operator('exists')),
  ];
  const relative = { value_type: fc.constantFrom('relative_past', 'relative_future') };
  return fc.oneof(
    record('string', { ...operator('in', 'is'), value: oneOrList(text) }),
    record('string', {
      ...operator(
        'contains',
        'containsInTheFollowing',
        'startsWithInTheFollowing',
        'startWithInTheFollowing',
        'endsWithInTheFollowing',
      ),
      value: oneOrList(wantedText),
    }),
    record('string', operator('exists')),
    record('array_string', { ...operator('in', 'is'), value: oneOrList(text) }),
    record('array_string', { ...operator('contains', 'startsWith', 'endsWith'), value: oneOrList(wantedText) }),
    record('array_string', operator('exists')),
    ...numbers('double'),
    ...numbers('array_double'),
    record('bool', { ...operator('is'), value: fc.boolean() }),
    record('bool', operator('exists')),
    record('datetime', { ...operator('on', 'before', 'after', 'is', 'in'), value: isoText }),
    record('datetime', { ...operator('is', 'in'), value: fc.array(isoText, { minLength: 1, maxLength: 3 }) }),
    record('datetime', { ...operator('on', 'before', 'after', 'is'), value: days, ...relative }),
    record('datetime', { ...operator('between'), value: days, value1: days, ...relative }),
    fc
      .tuple(record('datetime', operator('between')), nearNow, nearNow, fc.constantFrom(10, 24))
      .map(([filter, one, other, length]) => {
        const [value, value1] = [one, other].map((date) => date.toISOString().slice(0, length)).sort();
        return { ...filter, value, value1 };
      }),
    record('datetime', { ...operator('inTheLast', 'inTheNext'), value: fc.integer({ min: 1, max: 12 }) }),
    record('datetime', operator('today', 'exists')),
  );
}
