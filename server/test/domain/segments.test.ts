import { describe, expect, test } from 'vitest';
import {
  callbackBody,
  describeFault,
  fileFault,
  operationReport,
  parseFileNumber,
  valueMeaningOf,
} from '../../src/domain/segments/file-operations.ts';
import type { OperationFault, OperationReportInput } from '../../src/domain/segments/file-operations.ts';
import {
  expandStoredFilters,
  parseSegmentFilter,
  parseStoredFilters,
} from '../../src/domain/segments/filter-reader.ts';
import {
  SegmentExpansionError,
  expandSegmentFilter,
  segmentsUsedBy,
  timeRanges,
} from '../../src/domain/segments/filter.ts';
import type {
  AttributeFilter,
  FilterTrees,
  GroupFilter,
  SegmentFilter,
  TimeTest,
} from '../../src/domain/segments/filter.ts';
import {
  describeAttributes,
  describeSegmentFilter,
  estimateUsers,
  roundToTwoDigits,
  sampledBuckets,
} from '../../src/domain/segments/preview.ts';
import { parseIsoTime } from '../../src/domain/timing/iso-time.ts';
import type { FilterTime } from '../../src/domain/timing/iso-time.ts';

const describeSeen = (names: string[], sampled: Parameters<typeof describeAttributes>[0]['sampled']) =>
  describeAttributes({ names, sampled, indexed: new Map() });

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
    expect(describeSeen(['x'], seen(type, ['1', '2']))).toEqual([{ name: 'x', type: asked, values: ['1', '2'] }]);
  });

  test('are texts without suggestions if they have no values or none that a filter knows', () => {
    const of = [{ name: 'other', type: 'number', value: '1', users: 5 }, ...seen('object', ['{}'])];
    expect(describeSeen(['x', 'y'], of)).toEqual([
      { name: 'x', type: 'string', values: [] },
      { name: 'y', type: 'string', values: [] },
    ]);
  });

  test('have the type of most users, and suggest only its values', () => {
    const of = [...seen('string', ['a'], 3), ...seen('number', ['1', '2'], 2)];
    expect(describeSeen(['x'], of)).toEqual([{ name: 'x', type: 'double', values: ['1', '2'] }]);
    expect(describeSeen(['x'], [...of, ...seen('string', ['b'], 2)])).toEqual([
      { name: 'x', type: 'string', values: ['a', 'b'] },
    ]);
  });

  test('are times if every text is one', () => {
    const days = seen('string', ['2026-03-10', '2026-03-11T10:00Z'], 9);
    expect(describeSeen(['x'], days)[0]!.type).toBe('datetime');
    expect(describeSeen(['x'], [...days, ...seen('number', ['5'])])[0]!.type).toBe('datetime');
    expect(describeSeen(['x'], [...days, ...seen('string', ['soon'])])[0]!.type).toBe('string');
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

describe('segment files', () => {
  describe('a number in a file (decision D24)', () => {
    test.each([
      ['7', '7'],
      ['7.0', '7'],
      ['7e0', '7'],
      ['+7', '7'],
      ['-7', '-7'],
      ['-0', '0'],
      ['12.', '12'],
      ['.5', '0.5'],
      ['.25', '0.25'],
      ['12.75', '12.75'],
      ['1e3', '1000'],
      ['1E-2', '0.01'],
      ['1e+12', '1000000000000'],
    ])('stores %j as %j', (text, stored) => expect(parseFileNumber(text)).toBe(stored));

    test.each(['', '.', 'a', '0x10', ' 7', '7 ', '7,5', 'e3', '1e', '1e5.5', '1x3', '++7', '1e999', 'Infinity', 'NaN'])(
      'is not %j',
      (text) => expect(parseFileNumber(text)).toBeUndefined(),
    );
  });

  describe('a file that is not a column of values', () => {
    const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
    test.each<[string, Uint8Array, string | undefined]>([
      ['texts', bytes('u1\nu2\n'), undefined],
      ['an empty file', bytes(''), undefined],
      ['UTF-8 with its mark', Uint8Array.of(0xef, 0xbb, 0xbf, 0x61), undefined],
      ['UTF-16, little end first', Uint8Array.of(0xff, 0xfe, 0x61, 0), 'it is UTF-16, not UTF-8'],
      ['UTF-16, big end first', Uint8Array.of(0xfe, 0xff, 0, 0x61), 'it is UTF-16, not UTF-8'],
      ['a byte FF alone', Uint8Array.of(0xff, 0x61), undefined],
      ['a byte FE alone', Uint8Array.of(0xfe, 0x61), undefined],
      ['a byte FE in second place', Uint8Array.of(0x61, 0xfe), undefined],
      ['a byte FF in second place', Uint8Array.of(0x61, 0xff), undefined],
      ['a ZIP archive', Uint8Array.of(0x50, 0x4b, 0x03, 0x04), 'it is a ZIP archive'],
      ['three of its bytes', Uint8Array.of(0x50, 0x4b, 0x03, 0x61), undefined],
      ['others three of its bytes', Uint8Array.of(0x50, 0x4b, 0x61, 0x04), undefined],
      ['again others', Uint8Array.of(0x50, 0x61, 0x03, 0x04), undefined],
      ['and again', Uint8Array.of(0x61, 0x4b, 0x03, 0x04), undefined],
      ['gzip', Uint8Array.of(0x1f, 0x8b, 8), 'it is compressed, and the server did not say so'],
      ['its first byte alone', Uint8Array.of(0x1f, 0x61), undefined],
      ['its second byte alone', Uint8Array.of(0x61, 0x8b), undefined],
      ['UTF-16 without its mark', bytes('u\0v\0\n\0'), 'it is not UTF-8 text'],
      ['a third of NUL', bytes('\0ab\0ab'), 'it is not UTF-8 text'],
      ['less than a third of NUL', bytes('\0ab\0abc'), undefined],
      ['four bytes with two of NUL', bytes('a\0b\0'), 'it is not UTF-8 text'],
      ['three bytes of NUL', bytes('\0\0\0'), undefined],
      ['a page', bytes('  <!DOCTYPE html><title>404'), 'it is an HTML page'],
      ['a page without its type', bytes('\n<HTML lang="en">'), 'it is an HTML page'],
      ['a value that names a page', bytes('see <html>'), undefined],
    ])('is recognized: %s', (_name, head, fault) => expect(fileFault(head)).toBe(fault));
  });

  describe('the failure in a callback (fact 2.2)', () => {
    const left = 'The members of the custom_segment are unchanged.';
    test.each<[OperationFault, string]>([
      [{ kind: 'too-large' }, 'File size cannot be greater than 150MB.'],
      [{ kind: 'download' }, 'File download failed.'],
      [{ kind: 'too-slow' }, 'File download failed: it came slower than 4096 bytes a second.'],
      [
        { kind: 'encoding', reason: 'the content encoding compress is not supported' },
        'File download failed: the content encoding compress is not supported.',
      ],
      [{ kind: 'content-type' }, 'File content type is not supported.'],
      [{ kind: 'unreadable', reason: 'it is a ZIP archive' }, 'File cannot be read: it is a ZIP archive.'],
      [{ kind: 'daily-users' }, 'Users uploaded per day limit breached.'],
    ])('is described for %j', (fault, sentence) => {
      expect(describeFault(fault, 'CREATE')).toEqual({
        status: 400,
        errorMessage: `${sentence} Created custom_segment contains 0 users.`,
      });
      for (const kind of ['ADD', 'REMOVE', 'REPLACE'] as const)
        expect(describeFault(fault, kind)).toEqual({ status: 400, errorMessage: `${sentence} ${left}` });
    });

    test('does not blame the file for an internal fault', () => {
      expect(describeFault({ kind: 'internal' }, 'ADD')).toEqual({
        status: 500,
        errorMessage: 'Internal Server Error. Contact Carillon Team.',
      });
    });
  });

  describe("the callback's body (interface 2.7)", () => {
    const of = { dbName: 'Shop', segmentName: 'VIPs', requestId: 'r-1' };
    test('has the three counts on success, and no message', () => {
      const outcome = { status: 201, valuesFound: 9, valuesProcessed: 8, userCount: 7 } as const;
      expect(JSON.parse(callbackBody({ ...of, outcome }))).toEqual({
        db_name: 'Shop',
        segment_name: 'VIPs',
        request_id: 'r-1',
        status: 201,
        values_found: 9,
        values_processed: 8,
        user_count: 7,
      });
    });

    test('has the message on failure, and no counts', () => {
      expect(JSON.parse(callbackBody({ ...of, outcome: { status: 400, errorMessage: 'No.' } }))).toEqual({
        db_name: 'Shop',
        segment_name: 'VIPs',
        request_id: 'r-1',
        status: 400,
        error_message: 'No.',
      });
    });
  });

  describe('the email about a file operation', () => {
    const input: OperationReportInput = {
      segmentName: 'VIPs',
      kind: 'ADD',
      requestId: 'r-1',
      result: { status: 201, valuesFound: 9, valuesProcessed: 8, userCount: 7 },
      rejects: [],
    };

    test('reports a success', () => {
      expect(operationReport(input)).toEqual({
        subject: 'Segment "VIPs": users added',
        body: [
          'Segment: VIPs',
          'Operation: add',
          'Request: r-1',
          '',
          'Succeeded with status 201.',
          'Values found: 9',
          'Values processed: 8',
          'Users: 7',
          '',
        ].join('\n'),
      });
    });

    test('reports a failure, with rejected lines in the order of the file', () => {
      const rejects = [
        { line: 12, reason: 'the line is empty' },
        { line: 3, reason: 'the value is not UTF-8' },
      ];
      expect(operationReport({ ...input, result: { status: 400, errorMessage: 'Too\nlarge.' }, rejects })).toEqual({
        subject: 'Segment "VIPs": adding users failed',
        body: [
          'Segment: VIPs',
          'Operation: add',
          'Request: r-1',
          '',
          'Failed with status 400: Too large.',
          '',
          'Rejected lines of the file:',
          '  line 3: the value is not UTF-8',
          '  line 12: the line is empty',
          '',
        ].join('\n'),
      });
    });

    test('shows 20 rejected lines, and the number of the others', () => {
      const bodyOf = (count: number): string[] => {
        const rejects = Array.from({ length: count }, (_, index) => ({ line: index + 1, reason: 'no' }));
        return operationReport({ ...input, rejects }).body.split('\n');
      };
      expect(bodyOf(20).slice(-3)).toEqual(['  line 19: no', '  line 20: no', '']);
      expect(bodyOf(23).slice(-3)).toEqual(['  line 20: no', '  and 3 more', '']);
    });

    test('prints names of callers on one line, without bidirectional marks (fault 3.6)', () => {
      const { subject, body } = operationReport({
        ...input,
        segmentName: '  VIP\r\nBcc: x\u202edcba\u2028e\ud800 ',
        requestId: 'r\n\n1',
      });
      expect(subject).toBe('Segment "VIP Bcc: x dcba e\ufffd": users added');
      expect(body.split('\n').slice(0, 3)).toEqual([
        'Segment: VIP Bcc: x dcba e\ufffd',
        'Operation: add',
        'Request: r 1',
      ]);
    });

    test('cuts a long name in the subject to 120 whole characters', () => {
      const subjectOf = (segmentName: string): string => operationReport({ ...input, segmentName }).subject;
      expect(subjectOf('😀'.repeat(120))).toBe(`Segment "${'😀'.repeat(120)}": users added`);
      expect(subjectOf('😀'.repeat(121))).toBe(`Segment "${'😀'.repeat(119)}…": users added`);
    });
  });

  test.each([
    ['uid', { kind: 'customer-id' }],
    ['customer_id', { kind: 'customer-id' }],
    ['USER_ATTRIBUTE_UNIQUE_ID', { kind: 'customer-id' }],
    ['USER_ATTRIBUTE_USER_EMAIL', { kind: 'attribute', attribute: 'u_em', type: 'string' }],
    ['shoe size', { kind: 'attribute', attribute: 'shoe size', type: 'string' }],
  ])('finds the attribute of a file column %j', (attributeName, meaning) => {
    expect(valueMeaningOf({ attributeName, attributeType: 'string' })).toEqual(meaning);
  });
});

describe('outcome of an operation', () => {
  test('reports the rate at which a slow download was given up in the callback', () => {
    expect(describeFault({ kind: 'too-slow' }, 'CREATE')).toEqual({
      status: 400,
      errorMessage:
        'File download failed: it came slower than 4096 bytes a second. Created custom_segment contains 0 users.',
    });
  });
});

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
