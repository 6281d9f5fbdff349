import { describe, expect, test } from 'vitest';
import {
  expandSegmentFilter,
  SegmentExpansionError,
  segmentsUsedBy,
  timeRanges,
} from '../../../src/domain/segments/filter.ts';
import type { FilterTrees, GroupFilter, SegmentFilter, TimeTest } from '../../../src/domain/segments/filter.ts';
import { parseIsoTime } from '../../../src/domain/timing/iso-time.ts';
import type { FilterTime } from '../../../src/domain/timing/iso-time.ts';
import {
  parseSegmentFilter,
  expandStoredFilters,
  parseStoredFilters,
} from '../../../src/domain/segments/filter-reader.ts';

const group = (...filters: SegmentFilter[]): GroupFilter => ({
  kind: 'group',
  operator: 'and',
  negate: false,
  filters,
});
const segment = (id: string, negate = false): SegmentFilter => ({ kind: 'segment', id, negate });
const segmentId = 'a'.repeat(24);
const isVip: SegmentFilter = {
  kind: 'attribute',
  name: 'vip',
  negate: false,
  dataType: 'bool',
  test: { operator: 'is', value: true },
};

describe('a reference to a filter segment', () => {
  const trees = (included: GroupFilter, excluded?: GroupFilter): FilterTrees => ({ included, excluded });

  test('is replaced by its trees: included and not excluded users', () => {
    const treesOf = new Map([['s', trees(group(isVip), group(isVip))]]);
    expect(expandSegmentFilter(group(segment('s', true), segment('file')), treesOf)).toEqual(
      group(
        {
          kind: 'group',
          operator: 'and',
          negate: true,
          filters: [group(isVip), { ...group(isVip), negate: true }],
        },
        segment('file'),
      ),
    );
    expect(expandSegmentFilter(segment('s'), new Map([['s', trees(group(isVip))]]))).toEqual(group(group(isVip)));
  });

  test('is inverted once for excluded users under "not"', () => {
    const treesOf = new Map([['s', trees(group(isVip), { ...group(isVip), negate: true })]]);
    expect(expandSegmentFilter(segment('s'), treesOf)).toEqual(group(group(isVip), group(isVip)));
  });

  test('may occur twice, and is rejected within itself, at any depth', () => {
    const treesOf = new Map([
      ['a', trees(group(segment('b')))],
      ['b', trees(group(isVip))],
      ['c', trees(group(segment('d')))],
      ['d', trees(group(isVip), group(segment('c')))],
    ]);
    expect(() => expandSegmentFilter(group(segment('a'), segment('a'), segment('b')), treesOf)).not.toThrow();
    const refused = (id: string): unknown => {
      try {
        return expandSegmentFilter(segment(id), treesOf);
      } catch (error) {
        return error;
      }
    };
    const error = refused('c') as SegmentExpansionError;
    expect(error).toBeInstanceOf(SegmentExpansionError);
    expect(error).toMatchObject({
      name: 'SegmentExpansionError',
      code: 'cyclic',
      message: 'segments refer to each other in a circle',
    });
  });

  test('resolves to at most 1,000 filters, groups and references', () => {
    const treesOf = new Map([['s', trees(group(...Array<SegmentFilter>(10).fill(isVip)))]]);
    // Each reference is itself, its group and ten filters: 12 with it.
    const of = (references: number, others: number): GroupFilter =>
      group(...Array<SegmentFilter>(references).fill(segment('s')), ...Array<SegmentFilter>(others).fill(isVip));
    expect(() => expandSegmentFilter(of(83, 3), treesOf)).not.toThrow();
    expect(() => expandSegmentFilter(of(83, 4), treesOf)).toThrow(
      expect.objectContaining({ code: 'too-large', message: 'the segments referred to hold more than 1000 filters' }),
    );
  });

  test('is reported once by the filter that contains it', () => {
    expect(segmentsUsedBy(group(segment('a'), group(segment('b', true), isVip), segment('a')))).toEqual(['a', 'b']);
    expect(segmentsUsedBy(isVip)).toEqual([]);
  });
});

describe('a stored filter segment', () => {
  const tree = (filter: object) => ({ filter_operator: 'and', filters: [filter] });
  const vip = tree({ filter_type: 'user_attributes', name: 'vip', data_type: 'bool', operator: 'is', value: true });
  const id = segmentId;
  const reference = tree({ filter_type: 'custom_segments', id });

  test('is parsed by the parser that accepted it', () => {
    expect(parseStoredFilters({ includedFilters: vip, excludedFilters: null })).toEqual({
      included: group(isVip),
      excluded: undefined,
    });
    expect(parseStoredFilters({ includedFilters: vip, excludedFilters: vip }).excluded).toEqual(group(isVip));
    expect(() => parseStoredFilters({ includedFilters: {}, excludedFilters: null })).toThrow(
      'a stored filter cannot be read: filter_operator is required',
    );
  });

  test('contains the trees of filter segments that it refers to, and leaves other segments', () => {
    const of = { includedFilters: reference, excludedFilters: reference };
    const referred = { includedFilters: vip, excludedFilters: null, id };
    const replaced = group(group(group(isVip)));
    expect(expandStoredFilters(of, [{ ...referred, kind: 'FILTER' }])).toEqual({
      included: replaced,
      excluded: replaced,
    });
    expect(expandStoredFilters(of, [{ ...referred, kind: 'FILE' }]).included).toEqual(group(segment(id)));
    expect(expandStoredFilters({ includedFilters: vip, excludedFilters: null }, [])).toEqual({
      included: group(isVip),
      excluded: undefined,
    });
  });
});

describe('the spans of a time condition', () => {
  const now = new Date('2026-03-10T10:00:00.000Z');
  const time = (text: string): FilterTime => parseIsoTime(text)!;
  const relative = (days: number): FilterTime => ({ kind: 'relative', days });
  const begin = '-029719-04-05T22:13:20.000Z';
  const end = '+033658-09-27T01:46:40.000Z';
  test.each<[TimeTest, [string, string][]]>([
    [{ operator: 'exists' }, [[begin, end]]],
    [{ operator: 'today' }, [['2026-03-10T00:00:00.000Z', '2026-03-11T00:00:00.000Z']]],
    [{ operator: 'inTheLast', days: 2 }, [['2026-03-08T10:00:00.000Z', '2026-03-10T10:00:00.001Z']]],
    [{ operator: 'inTheNext', days: 2 }, [['2026-03-10T10:00:00.000Z', '2026-03-12T10:00:00.001Z']]],
    [
      { operator: 'on', value: time('2026-02-01T23:59:59.999Z') },
      [['2026-02-01T00:00:00.000Z', '2026-02-02T00:00:00.000Z']],
    ],
    [{ operator: 'before', value: time('2026-02-01T12:00Z') }, [[begin, '2026-02-01T12:00:00.000Z']]],
    [{ operator: 'before', value: time('2026-02-01') }, [[begin, '2026-02-01T00:00:00.000Z']]],
    [{ operator: 'after', value: time('2026-02-01T12:00Z') }, [['2026-02-01T12:00:00.001Z', end]]],
    [{ operator: 'after', value: time('2026-02-01') }, [['2026-02-02T00:00:00.000Z', end]]],
    [{ operator: 'after', value: relative(-1) }, [['2026-03-10T00:00:00.000Z', end]]],
    [
      { operator: 'between', lower: relative(-1), upper: relative(1) },
      [['2026-03-09T00:00:00.000Z', '2026-03-12T00:00:00.000Z']],
    ],
    [
      { operator: 'in', values: [relative(0), time('2026-02-01T12:00Z')] },
      [
        ['2026-03-10T00:00:00.000Z', '2026-03-11T00:00:00.000Z'],
        ['2026-02-01T12:00:00.000Z', '2026-02-01T12:00:00.001Z'],
      ],
    ],
  ])('are those of %j', (asked, spans) => {
    const read = timeRanges(asked, now).map(({ from, until }) => [
      new Date(from).toISOString(),
      new Date(until).toISOString(),
    ]);
    expect(read).toEqual(spans);
  });
});

describe('a parsed filter', () => {
  const read = (filter: object): unknown => {
    const parsed = parseSegmentFilter({
      filter_operator: 'or',
      filters: [{ filter_type: 'user_attributes', name: 'x', data_type: 'datetime', ...filter }],
    });
    return 'fault' in parsed ? parsed.fault.reason : (parsed.filter.filters[0] as { test: unknown }).test;
  };
  const days = (count: number) => ({ kind: 'relative', days: count });
  test.each<[object, unknown]>([
    [
      { operator: 'on', value: 0, value_type: 'relative_past' },
      { operator: 'on', value: days(0) },
    ],
    [
      { operator: 'on', value: -0, value_type: 'relative_future' },
      { operator: 'on', value: days(0) },
    ],
    [
      { operator: 'on', value: 3, value_type: 'relative_past' },
      { operator: 'on', value: days(-3) },
    ],
    [
      { operator: 'on', value: 3, value_type: 'relative_future' },
      { operator: 'on', value: days(3) },
    ],
    [{ operator: 'on', value_type: 'relative_future' }, 'filters[0].value is required'],
    [{ operator: 'on' }, 'filters[0].value is required'],
    [{ operator: 'on', value: 7 }, 'filters[0].value must be an ISO 8601 date or time'],
    [
      { operator: 'on', value: 36_500, value_type: 'relative_past' },
      { operator: 'on', value: days(-36_500) },
    ],
    [
      { operator: 'on', value: 36_501, value_type: 'relative_past' },
      'filters[0].value must be a whole number of days from 0 to 36500',
    ],
    [
      { operator: 'on', value: '7', value_type: 'relative_past' },
      'filters[0].value must be a whole number of days from 0 to 36500',
    ],
    [
      { operator: 'inTheLast', value: 1 },
      { operator: 'inTheLast', days: 1 },
    ],
    [
      { operator: 'inTheLast', value: 1, value_type: 'relative_past' },
      { operator: 'inTheLast', days: 1 },
    ],
    [
      { operator: 'inTheNext', value: 1, value_type: 'relative_future' },
      { operator: 'inTheNext', days: 1 },
    ],
    [
      { operator: 'inTheNext', value: 1, value_type: 'absolute' },
      'filters[0].value_type must be relative_future with the operator inTheNext',
    ],
    [
      { operator: 'between', value: 3, value1: 10, value_type: 'relative_past' },
      { operator: 'between', lower: days(-10), upper: days(-3) },
    ],
    [
      { operator: 'between', value: 3, value1: 10, value_type: 'relative_future' },
      { operator: 'between', lower: days(3), upper: days(10) },
    ],
    [
      { operator: 'between', value: '2026-02-01', value1: 'soon' },
      'filters[0].value1 must be an ISO 8601 date or time',
    ],
    [
      { operator: 'between', value: '2026-02-01', value1: '2026-01-31T23:59:59Z' },
      'filters[0].value1 must not be before value',
    ],
    [
      { operator: 'between', value: '2026-02-01T00:00Z', value1: '2026-02-01' },
      {
        operator: 'between',
        lower: { kind: 'instant', at: new Date('2026-02-01T00:00Z') },
        upper: { kind: 'day', startsAt: new Date('2026-02-01T00:00Z') },
      },
    ],
    [{ data_type: 'double', operator: 'in', value: 'x' }, 'filters[0].value must be a finite number'],
    [
      { data_type: 'double', operator: 'between', value: 1, value1: 1 },
      { operator: 'between', lower: 1, upper: 1 },
    ],
    [{ category: 5, operator: 'today' }, 'filters[0].category must be a text'],
    [
      { data_type: 'string', operator: 'is', value: 'x'.repeat(1_025) },
      'filters[0].value must have at most 1024 bytes',
    ],
    [
      { data_type: 'string', operator: 'is', value: 'x'.repeat(1_024) },
      { operator: 'in', values: ['x'.repeat(1_024)], isCaseSensitive: false },
    ],
    [
      { data_type: 'x'.repeat(60), operator: 'is' },
      `filters[0].data_type must be one of string, double, bool, datetime, array_string, array_double, not "${'x'.repeat(50)}"`,
    ],
    [
      { data_type: 'string', operator: 'is', value: 'x', colour: '\0' },
      'filters[0].colour must be well-formed Unicode without NUL, names of members too',
    ],
  ])('is checked: %j', (filter, test) => expect(read(filter)).toStrictEqual(test));

  test('is rejected with a member name that cannot be stored', () => {
    const filter = { filter_type: 'custom_segments', id: segmentId };
    expect(parseSegmentFilter({ filter_operator: 'and', filters: [filter], 'a\0': 1 })).toEqual({
      fault: { code: 'invalid', reason: 'the tree must be well-formed Unicode without NUL, names of members too' },
    });
  });

  test('may negate a segment, whose label must be a text', () => {
    const filter = { filter_type: 'custom_segments', id: segmentId };
    expect(parseSegmentFilter({ filter_operator: 'and', filters: [{ ...filter, negate: true }] })).toEqual({
      filter: group(segment(filter.id, true)),
      unknownFields: [],
    });
    expect(parseSegmentFilter({ filter_operator: 'and', filters: [{ ...filter, name: 7 }] })).toEqual({
      fault: { code: 'invalid', reason: 'filters[0].name must be a text' },
    });
    expect(parseSegmentFilter({ filter_operator: 'and', filters: [null] })).toEqual({
      fault: { code: 'invalid', reason: 'filters[0] must be an object' },
    });
  });

  test('reports up to twenty unknown fields, at any place', () => {
    const unknown = Object.fromEntries(Array.from({ length: 15 }, (_, index) => [`colour${index}`, 1]));
    const filter = { filter_type: 'custom_segments', id: segmentId, ...unknown };
    const parsed = parseSegmentFilter({ filter_operator: 'and', filters: [filter, filter, filter] });
    expect((parsed as { unknownFields: string[] }).unknownFields).toEqual([
      ...Object.keys(unknown).map((name) => `filters[0].${name}`),
      ...Object.keys(unknown)
        .slice(0, 5)
        .map((name) => `filters[1].${name}`),
    ]);
  });
});
