import { describe, expect, test } from 'vitest';
import {
  fileFault,
  parseFileNumber,
  callbackBody,
  describeFault,
  operationReport,
  valueMeaningOf,
} from '../../../src/domain/segments/file-operations.ts';
import type { OperationFault, OperationReportInput } from '../../../src/domain/segments/file-operations.ts';

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
