import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { describeSegmentFilter } from '../../src/domain/segments/preview.ts';
import { isoTimePattern, parseIsoTime } from '../../src/domain/timing/iso-time.ts';
import { parseSegmentFilter } from '../../src/domain/segments/filter-reader.ts';
import { attribute, filterOf, group, parsed, segmentIds } from './filter-arbitraries.ts';
import type { Filter } from './filter-arbitraries.ts';
import { propertyRuns } from '../property-runs.ts';

describe('segment filter parsing', () => {
  const is = { data_type: 'string', operator: 'is', value: 'a' };
  const nest = (levels: number): Filter =>
    levels === 1 ? group(attribute(is)) : group({ filter_type: 'nested_filters', ...nest(levels - 1) });
  const one = (filter: Filter) => group(attribute({ ...is, ...filter }));
  const action = (filter: Filter) => group({ filter_type: 'actions', action_name: 'x', ...filter });
  const reference = { filter_type: 'custom_segments', id: segmentIds[0] };
  test.each<[string, unknown, string, string]>([
    ['no object', 'all users', 'invalid', 'the filters must be an object'],
    ['a list', [], 'invalid', 'the filters must be an object'],
    ['no filters', { filter_operator: 'and' }, 'invalid', 'filters must be a list of at least one filter'],
    ['empty filters', group(), 'invalid', 'filters must be a list of at least one filter'],
    ['no operator between filters', { filters: [attribute(is)] }, 'invalid', 'filter_operator is required'],
    [
      'another operator',
      { filter_operator: 'xor', filters: [attribute(is)] },
      'invalid',
      'filter_operator must be one of and, or, not "xor"',
    ],
    [
      'a filter as the tree',
      attribute(is),
      'invalid',
      'filter_type must be one of nested_filters, not "user_attributes"',
    ],
    ['a filter without type', group(is), 'invalid', 'filters[0].filter_type is required'],
    [
      'an unknown type',
      group({ filter_type: 'weather' }),
      'invalid',
      'filters[0].filter_type must be one of user_attributes, actions, custom_segments, nested_filters, not "weather"',
    ],
    ['an action without a name', group({ filter_type: 'actions' }), 'invalid', 'filters[0].action_name is required'],
    [
      'the first time of an action',
      action({ execution: { type: 'firstTime', count: 1 } }),
      'unavailable',
      'filters[0].execution.type "firstTime" is not available in this service',
    ],
    [
      'an action at least 0 times, which all users match',
      action({ execution: { type: 'atleast', count: 0 } }),
      'invalid',
      'filters[0].execution.count must be at least 1 with the type atleast',
    ],
    [
      'an action not done twice',
      action({ executed: false, execution: { type: 'exactly', count: 2 } }),
      'invalid',
      'filters[0].executed must be true, or execution exactly 0',
    ],
    [
      'an action more than 1,000 times',
      action({ execution: { type: 'atmost', count: 1_001 } }),
      'invalid',
      'filters[0].execution.count must be a whole number from 0 to 1000',
    ],
    [
      'an action in the last years',
      action({ primary_time_range: { type: 'inTheLast', value: 1, period_unit: 'years' } }),
      'invalid',
      'filters[0].primary_time_range.period_unit must be one of hours, days, weeks, months, not "years"',
    ],
    [
      'an action in the future',
      action({ primary_time_range: { type: 'on', value: 1, value_type: 'relative_future' } }),
      'invalid',
      'filters[0].primary_time_range.value_type must be one of absolute, relative_past, not "relative_future"',
    ],
    [
      'a sum over actions',
      action({ aggregation_attributes: { name: 'total' } }),
      'unavailable',
      'filters[0].aggregation_attributes is not available in this service',
    ],
    [
      'a list of an action',
      action({ attributes: group({ ...is, name: 'x', data_type: 'array_string' }) }),
      'unavailable',
      'filters[0].attributes.filters[0].data_type "array_string" is not available for attributes of events',
    ],
    [
      'a segment in an action',
      action({ attributes: group(reference) }),
      'invalid',
      'filters[0].attributes.filters[0].filter_type must be one of user_attributes, not "custom_segments"',
    ],
    [
      'affinity',
      group({ filter_type: 'psychographic_event' }),
      'unavailable',
      'filters[0].filter_type "psychographic_event" is not available in this service',
    ],
    [
      'geopoint',
      one({ data_type: 'geopoint' }),
      'unavailable',
      'filters[0].data_type "geopoint" is not available in this service',
    ],
    [
      'object',
      one({ data_type: 'object' }),
      'unavailable',
      'filters[0].data_type "object" is not available in this service',
    ],
    [
      'array_object',
      one({ data_type: 'array_object' }),
      'unavailable',
      'filters[0].data_type "array_object" is not available in this service',
    ],
    [
      'extract_type',
      one({ extract_type: 'day' }),
      'unavailable',
      'filters[0].extract_type is not available in this service',
    ],
    ['radius', one({ radius: 5 }), 'unavailable', 'filters[0].radius is not available in this service'],
    [
      'a dynamic value',
      one({ is_dynamic_value: true }),
      'unavailable',
      'filters[0].is_dynamic_value is not available in this service',
    ],
    [
      'dynamic_attribute_type',
      one({ dynamic_attribute_type: 'x' }),
      'unavailable',
      'filters[0].dynamic_attribute_type is not available in this service',
    ],
    ['no name', one({ name: null }), 'invalid', 'filters[0].name is required'],
    ['an empty name', one({ name: '' }), 'invalid', 'filters[0].name must not be empty'],
    ['a long name', one({ name: 'x'.repeat(257) }), 'too-long', 'filters[0].name must have at most 256 characters'],
    ['NUL in a name', one({ name: 'a\0' }), 'invalid', 'filters[0].name must not hold NUL'],
    ['half a character', one({ value: '\ud83d' }), 'invalid', 'filters[0].value must be well-formed Unicode'],
    [
      'an unknown data type',
      one({ data_type: 'integer' }),
      'invalid',
      'filters[0].data_type must be one of string, double, bool, datetime, array_string, array_double, not "integer"',
    ],
    [
      'an operator of another type',
      one({ operator: 'lessThan' }),
      'invalid',
      'filters[0].operator must be one of in, is, contains, exists, containsInTheFollowing, startsWithInTheFollowing, startWithInTheFollowing, endsWithInTheFollowing, not "lessThan"',
    ],
    [
      'an inherited operator',
      one({ operator: 'constructor' }),
      'invalid',
      'filters[0].operator must be one of in, is, contains, exists, containsInTheFollowing, startsWithInTheFollowing, startWithInTheFollowing, endsWithInTheFollowing, not "constructor"',
    ],
    ['a number as text', one({ value: 7 }), 'invalid', 'filters[0].value must be a text'],
    ['no value', one({ value: null }), 'invalid', 'filters[0].value is required'],
    ['an empty list', one({ operator: 'in', value: [] }), 'invalid', 'filters[0].value must hold at least one value'],
    ['null in a list', one({ operator: 'in', value: [null] }), 'invalid', 'filters[0].value must be a text'],
    ['containing nothing', one({ operator: 'contains', value: '' }), 'invalid', 'filters[0].value must not be empty'],
    [
      'a long list',
      one({ operator: 'in', value: Array(1001).fill('a') }),
      'too-long',
      'filters[0].value must hold at most 1000 values',
    ],
    ['a long text', one({ value: 'ä'.repeat(513) }), 'too-long', 'filters[0].value must have at most 1024 bytes'],
    [
      'exists with a value',
      one({ operator: 'exists' }),
      'invalid',
      'filters[0].value must be absent with the operator exists',
    ],
    [
      'today with a value',
      one({ data_type: 'datetime', operator: 'today', value: 1 }),
      'invalid',
      'filters[0].value must be absent with the operator today',
    ],
    ['value1 without between', one({ value1: 'b' }), 'invalid', 'filters[0].value1 belongs to the operator between'],
    ['negate as text', one({ negate: 'true' }), 'invalid', 'filters[0].negate must be true or false'],
    [
      'case_sensitive as text',
      one({ case_sensitive: 'no' }),
      'invalid',
      'filters[0].case_sensitive must be true or false',
    ],
    [
      'another array_filter_type',
      one({ array_filter_type: 'none_of' }),
      'invalid',
      'filters[0].array_filter_type must be one of any_of, all_of, not "none_of"',
    ],
    [
      'a relative text',
      one({ value_type: 'relative_past' }),
      'invalid',
      'filters[0].value_type belongs to the data type datetime',
    ],
    [
      'text as number',
      one({ data_type: 'double', operator: 'in', value: '7' }),
      'invalid',
      'filters[0].value must be a finite number',
    ],
    [
      'no finite number',
      one({ data_type: 'double', operator: 'lessThan', value: Infinity }),
      'invalid',
      'filters[0].value must be a finite number',
    ],
    [
      'a list to compare with',
      one({ data_type: 'double', operator: 'lessThan', value: [1] }),
      'invalid',
      'filters[0].value must be a finite number',
    ],
    [
      'no upper bound',
      one({ data_type: 'double', operator: 'between', value: 1 }),
      'invalid',
      'filters[0].value1 is required',
    ],
    [
      'bounds the wrong way',
      one({ data_type: 'double', operator: 'between', value: 2, value1: 1 }),
      'invalid',
      'filters[0].value1 must not be below value',
    ],
    ['a text as truth', one({ data_type: 'bool', value: 'true' }), 'invalid', 'filters[0].value must be true or false'],
    ['no truth', one({ data_type: 'bool', value: undefined }), 'invalid', 'filters[0].value is required'],
    [
      'no time',
      one({ data_type: 'datetime', operator: 'on', value: '10.03.2026' }),
      'invalid',
      'filters[0].value must be an ISO 8601 date or time',
    ],
    [
      'an invalid day',
      one({ data_type: 'datetime', operator: 'on', value: '2026-02-29' }),
      'invalid',
      'filters[0].value must be an ISO 8601 date or time',
    ],
    [
      'times the wrong way',
      one({ data_type: 'datetime', operator: 'between', value: '2026-02-02', value1: '2026-02-01' }),
      'invalid',
      'filters[0].value1 must not be before value',
    ],
    [
      'half days',
      one({ data_type: 'datetime', operator: 'on', value: 1.5, value_type: 'relative_past' }),
      'invalid',
      'filters[0].value must be a whole number of days from 0 to 36500',
    ],
    [
      'no last days',
      one({ data_type: 'datetime', operator: 'inTheLast', value: 0 }),
      'invalid',
      'filters[0].value must be a whole number of days from 1 to 36500',
    ],
    [
      'the last days of the future',
      one({ data_type: 'datetime', operator: 'inTheLast', value: 1, value_type: 'relative_future' }),
      'invalid',
      'filters[0].value_type must be relative_past with the operator inTheLast',
    ],
    [
      'a segment without id',
      group({ filter_type: 'custom_segments', name: 'x' }),
      'invalid',
      'filters[0].id is required',
    ],
    [
      'a segment by name',
      group({ filter_type: 'custom_segments', id: 'mine' }),
      'invalid',
      'filters[0].id must be the id of a segment',
    ],
    ['21 segments', group(...Array(21).fill(reference)), 'too-many-segments', 'there must be at most 20 segments'],
    ['101 filters', group(...Array(101).fill(attribute(is))), 'too-long', 'there must be at most 100 filters'],
    ['11 levels', nest(11), 'too-deep', `${Array(10).fill('filters[0]').join('.')} is more than 10 levels deep`],
    [
      'a fault deep inside',
      group({ filter_type: 'nested_filters', ...group(attribute(is), attribute({ ...is, value: 1 })) }),
      'invalid',
      'filters[0].filters[1].value must be a text',
    ],
  ])('rejects what it cannot honour, by name: %s', (...[, tree, code, reason]) => {
    expect(parseSegmentFilter(tree)).toEqual({ fault: { code, reason } });
  });

  test('rejects filters on affinity, places and objects by their names', () => {
    const refused: [string, unknown][] = [
      ['filter_type "psychographic_event"', group({ filter_type: 'psychographic_event' })],
      ['data_type "geopoint"', one({ data_type: 'geopoint' })],
      ['data_type "object"', one({ data_type: 'object' })],
    ];
    for (const [name, filters] of refused)
      expect(parseSegmentFilter(filters)).toMatchObject({
        fault: { reason: `filters[0].${name} is not available in this service` },
      });
  });

  test('accepts a tree at the limits', () => {
    for (const tree of [
      nest(10),
      group(...Array(100).fill(attribute(is))),
      group(...Array(20).fill(reference)),
      one({ operator: 'in', value: Array(1000).fill('a') }),
      one({ value: 'ä'.repeat(512) }),
      one({ name: 'x'.repeat(256) }),
    ])
      expect(parseSegmentFilter(tree)).toEqual({ filter: expect.anything(), unknownFields: [] });
  });

  test('treats null as absent, and accepts options that do not apply to a type', () => {
    const tree = one({
      data_type: 'double',
      operator: 'in',
      value: 1,
      value1: null,
      extract_type: null,
      is_dynamic_value: false,
      case_sensitive: true,
      array_filter_type: 'all_of',
      value_type: 'absolute',
      category: 'Standard',
    });
    expect(parsed(tree)).toEqual({
      kind: 'group',
      operator: 'and',
      negate: false,
      filters: [
        { kind: 'attribute', name: 'x', negate: false, dataType: 'double', test: { operator: 'in', values: [1] } },
      ],
    });
  });

  test('returns unknown fields with their paths, at most 20', () => {
    const tree = { ...group(attribute({ ...is, colour: 1 }), { ...reference, colour: null }), colour: 'red' };
    expect(parseSegmentFilter(tree)).toMatchObject({
      unknownFields: ['colour', 'filters[0].colour', 'filters[1].colour'],
    });
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`colour${index}`, 1]));
    expect((parseSegmentFilter(one(many)) as { unknownFields: string[] }).unknownFields).toHaveLength(20);
  });

  test('rejects a tree that contains itself as too deep', () => {
    const tree: Filter = { filter_type: 'nested_filters', filter_operator: 'and' };
    tree.filters = [tree];
    expect(parseSegmentFilter(tree)).toMatchObject({ fault: { code: 'too-deep' } });
  });

  test('never throws', () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withNullPrototype: true,
      withSparseArray: true,
      withTypedArray: true,
    });
    fc.assert(
      fc.property(anything, (tree) => void parseSegmentFilter(tree)),
      { numRuns: propertyRuns(1_000) },
    );
    const members = filterOf('x').chain((filter) =>
      fc.tuple(
        fc.constant(filter),
        fc.constantFrom(...Object.keys(filter), 'value1', 'value_type', 'filters', 'id'),
        anything,
      ),
    );
    fc.assert(
      fc.property(members, ([filter, name, value]) => void parseSegmentFilter(group({ ...filter, [name]: value }))),
      { numRuns: propertyRuns(3_000) },
    );
  });
});

describe('the description of a filter', () => {
  const describeTrees = (included: unknown, excluded?: unknown) =>
    describeSegmentFilter({
      included: parsed(included),
      excluded: excluded === undefined ? undefined : parsed(excluded),
      segmentNames: new Map([[segmentIds[0]!, 'VIPs']]),
    });
  test.each<[Filter, string]>([
    [{ data_type: 'string', operator: 'is', value: 'Köln' }, 'x is "Köln"'],
    [
      { data_type: 'string', operator: 'in', value: ['a', 'b'], case_sensitive: true },
      'x is "a" or "b" (case-sensitive)',
    ],
    [{ data_type: 'string', operator: 'in', value: ['a', 'b', 'c', 'd', 'e'] }, 'x is "a", "b", "c" or 2 more'],
    [{ data_type: 'string', operator: 'contains', value: 'a', negate: true }, 'x does not contain "a"'],
    [{ data_type: 'string', operator: 'startWithInTheFollowing', value: ['a'] }, 'x starts with "a"'],
    [{ data_type: 'string', operator: 'exists', negate: true }, 'x does not exist'],
    [{ data_type: 'double', operator: 'between', value: 1, value1: 2 }, 'x is between 1 and 2'],
    [{ data_type: 'double', operator: 'lessThan', value: 1, negate: true }, 'x is not less than 1'],
    [{ data_type: 'bool', operator: 'is', value: true }, 'x is true'],
    [{ data_type: 'datetime', operator: 'inTheLast', value: 7 }, 'x is in the last 7 days'],
    [{ data_type: 'datetime', operator: 'before', value: 1, value_type: 'relative_past' }, 'x is before 1 day ago'],
    [{ data_type: 'datetime', operator: 'on', value: '2026-03-10T10:00Z' }, 'x is on 2026-03-10'],
    [{ data_type: 'datetime', operator: 'today', negate: true }, 'x is not today'],
    [{ data_type: 'array_string', operator: 'is', value: 'a' }, 'a value of x is "a"'],
    [
      { data_type: 'array_double', operator: 'greaterThan', value: 1, negate: true, array_filter_type: 'all_of' },
      'not each of x is greater than 1',
    ],
  ])('describes %j as "%s"', (filter, sentence) =>
    expect(describeTrees(group(attribute(filter)))).toBe(`Users for whom ${sentence}.`),
  );

  test('joins groups, names segments and states who is excluded', () => {
    const level = attribute({ name: 'level', data_type: 'double', operator: 'greaterThan', value: 2 });
    const town = attribute({ name: 'town', data_type: 'string', operator: 'is', value: 'Bonn' });
    const inner = { filter_type: 'nested_filters', filter_operator: 'or', filters: [level, town] };
    const segment = { filter_type: 'custom_segments', id: segmentIds[0], name: 'a wrong label' };
    expect(describeTrees(group(segment, inner), group({ ...inner, negate: true }))).toBe(
      'Users for whom the user is in segment "VIPs" and (level is greater than 2 or town is "Bonn"), ' +
        'except those for whom not (level is greater than 2 or town is "Bonn").',
    );
  });

  test('is truncated to 1,000 characters, never within one', () => {
    const filters = Array.from({ length: 60 }, () =>
      attribute({ data_type: 'string', operator: 'is', value: '😀'.repeat(20) }),
    );
    const sentence = describeTrees(group(...filters));
    expect(sentence.length).toBeLessThanOrEqual(1_000);
    expect(sentence.isWellFormed()).toBe(true);
    expect(sentence.endsWith('…')).toBe(true);
  });
});

describe('filter times', () => {
  test('accept every day of the calendar and no other, and convert it', () => {
    const isTime = new RegExp(isoTimePattern);
    for (const year of [0, 1, 4, 99, 100, 400, 1582, 1900, 2000, 2023, 2024, 2026, 2100, 9999]) {
      for (let month = 0; month <= 13; month += 1) {
        for (let day = 0; day <= 32; day += 1) {
          const text = [
            String(year).padStart(4, '0'),
            ...[month, day].map((part) => String(part).padStart(2, '0')),
          ].join('-');
          const date = new Date(0);
          date.setUTCFullYear(year, month - 1, day);
          const exists = year > 0 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day && month > 0;
          expect([text, isTime.test(text)]).toEqual([text, exists]);
          expect(parseIsoTime(text)).toEqual(exists ? { kind: 'day', startsAt: date } : undefined);
        }
      }
    }
  });

  test('have an offset and a fraction, which is truncated to milliseconds', () => {
    expect(parseIsoTime('2026-03-10T10:00:00.123999999+05:30')).toEqual({
      kind: 'instant',
      at: new Date('2026-03-10T04:30:00.123Z'),
    });
    expect(parseIsoTime('2026-03-10 10:00:00.5')).toEqual({
      kind: 'instant',
      at: new Date('2026-03-10T10:00:00.500Z'),
    });
  });
});
