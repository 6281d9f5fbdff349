import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeHeaders, findSuccess } from '../../../../src/providers/http2/hpack-decoder.ts';
import { HpackError } from '../../../../src/providers/http2/hpack-tables.ts';
import { HpackEncoder } from '../../../../src/providers/http2/hpack-encoder.ts';
import { RequestHead } from '../../../../src/providers/http2/requests.ts';
import { propertyRuns } from '../../../property-runs.ts';

const decode = (hex: string) => decodeHeaders(Buffer.from(hex.replaceAll(' ', ''), 'hex'));

describe('a header block', () => {
  test.each([
    [
      'C.2.1 literal with indexing',
      '400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572',
      [['custom-key', 'custom-header']],
    ],
    ['C.2.2 literal without indexing', '040c 2f73 616d 706c 652f 7061 7468', [[':path', '/sample/path']]],
    ['C.2.3 literal never indexed', '1008 7061 7373 776f 7264 0673 6563 7265 74', [['password', 'secret']]],
    ['C.2.4 indexed', '82', [[':method', 'GET']]],
    [
      'C.4.1 request with Huffman code',
      '8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff',
      [
        [':method', 'GET'],
        [':scheme', 'http'],
        [':path', '/'],
        [':authority', 'www.example.com'],
      ],
    ],
    [
      'C.6.1 answer with Huffman code',
      '4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3',
      [
        [':status', '302'],
        ['cache-control', 'private'],
        ['date', 'Mon, 21 Oct 2013 20:13:21 GMT'],
        ['location', 'https://www.example.com'],
      ],
    ],
    ['an update of the table to size 0', '20 88', [[':status', '200']]],
  ])('matches RFC 7541 Appendix %s', (_name, hex, expected) => expect(decode(hex)).toEqual(expected));

  test.each([
    ['index 0 (§6.1)', '80'],
    ['an entry of a table that was announced as empty', 'be'],
    ['a table size beyond the one announced (§4.2)', '3f01'],
    ['an integer without end (§5.1)', '7fffffffffff7f'],
    ['a text beyond its block', '400a6375'],
    ['a name and no value', '400163'],
    ['padding of zeros (§5.2)', '0081 fe 8100'],
    ['padding of more than seven ones (§5.2)', '0081 ff 82ffff'],
    ['an end of string within a text (§5.2)', '0084 ffffffff 00'],
    ['more headers than anybody sends', '88'.repeat(201)],
  ])('is rejected: %s', (_name, hex) => expect(() => decode(hex)).toThrow(HpackError));

  test('decodes any bytes to a list of texts or throws an HpackError, and nothing else (property)', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          for (const [name, value] of decodeHeaders(Buffer.from(bytes)))
            expect([typeof name, typeof value]).toEqual(['string', 'string']);
        } catch (error) {
          expect(error).toBeInstanceOf(HpackError);
        }
      }),
      { numRuns: propertyRuns(5_000) },
    );
  });

  test('is skipped for a success exactly when it can be decoded (property)', () => {
    const field = fc.oneof(
      fc.uint8Array({ maxLength: 12 }),
      // Real ones: by index, with a name of the table, with a name of its own, with Huffman code.
      ...['88', '0f0d0130', '5c0130', '0001610162', '6196d07abe941054d444a8200595040b8166e082a62d1bff'].map((hex) =>
        fc.constant(Buffer.from(hex, 'hex')),
      ),
    );
    const blocks = fc
      .tuple(fc.constantFrom('88', '2088', '89', '8a', '48830f', '8b'), fc.array(field, { maxLength: 5 }))
      .map(([first, fields]) => Buffer.concat([Buffer.from(first, 'hex'), ...fields]));
    let successes = 0;
    fc.assert(
      fc.property(blocks, (block) => {
        const status = findSuccess(Buffer.concat([Buffer.alloc(1, 0xff), block, Buffer.alloc(1)]), 1, 1 + block.length);
        if (status === 0) return;
        successes += 1;
        expect(decodeHeaders(block)[0]).toEqual([':status', String(status)]);
      }),
      { numRuns: propertyRuns(20_000, 2_000) },
    );
    expect(successes).toBeGreaterThan(propertyRuns(20_000, 2_000) / 20);
  });

  test('leaves the next one readable if its encoding fails half-way', () => {
    const encoder = new HpackEncoder([]);
    const into = Buffer.alloc(1_000);
    const head = new RequestHead([['apns-topic', 'com.shop']], ['x']);
    const encode = (path: string, value: string): string => {
      const end = encoder.encode({ head, path, values: [value] }, into, 0);
      return into.toString('latin1', 0, end);
    };
    const refuse = (): void => {
      expect(() => encode('/', 'a\r\nb: c')).toThrow(TypeError);
      expect(() => encode('/\n', 'a')).toThrow(TypeError);
    };
    refuse();
    expect(encode('/first', 'a')).toContain('com.shop');
    refuse();
    // The name of `x` in full, and the pair before it by its index in the peer's table.
    expect(encode('/second', 'a')).toBe('\x04\x07/second\xbe\x00\x01x\x01a');
    refuse();
    expect(encode('/third', 'a')).toBe('\x04\x06/third\xbe\x00\x01x\x01a');
  });

  const faults = ['a\rb', 'a\nb', 'a\0b', 'a\x7fb', '\u0436', ' a', 'a ', '\ta'];
  test.each(faults)('is never sent with the value %j (RFC 9113 §8.2.1)', (value) => {
    const encoder = new HpackEncoder([]);
    const own = new RequestHead([], ['x']);
    expect(() => new RequestHead([['x', value]])).toThrow(TypeError);
    for (const path of ['/first', '/later']) {
      expect(() => encoder.encode({ head: own, path, values: [value] }, Buffer.alloc(100), 0)).toThrow(TypeError);
      expect(encoder.encode({ head: own, path, values: ['a'] }, Buffer.alloc(100), 0)).toBeGreaterThan(0);
    }
  });

  test.each(['', ':path', 'X-Upper', 'a b', 'a\r\nb', '\u00e9'])('is never sent with the name %j', (name) => {
    expect(() => new RequestHead([[name, 'a']])).toThrow(TypeError);
    expect(() => new RequestHead([], [name])).toThrow(TypeError);
  });
});

describe('the fast search for a success', () => {
  const byte = (count: number, hex = '61'): string => hex.repeat(count);
  const rows: [string, string, number][] = [
    ['200, 204 and 206 by their index', '88', 200],
    ['204', '89', 204],
    ['206', '8a', 206],
    ['after the size of the table (RFC 7541 §4.2)', '2088', 200],
    ['with a header by its index', '88bd', 200],
    ['with a value for a name of the table', '885c0130', 200],
    ['with a name of two bytes', '880f0d0130', 200],
    ['with the first name of two bytes', '881f0000', 200],
    ['with the last name of the table', '880f2e00', 200],
    ['with a separate name, to be kept', '884001610162', 200],
    ['with one that is not', '880001610162', 200],
    ['with one that is never', '881001610162', 200],
    ['with an empty value', '885c00', 200],
    ['with a value of any bytes', '885c0100', 200],
    ['with a value of 127 bytes', `885c7f00${byte(127)}`, 200],
    ['with a value of 254 bytes', `885c7f7f${byte(254)}`, 200],
    ['with Huffman code', '885c8107', 200],
    ['with two headers', '885c01305c0131', 200],
    ['with 199 headers', byte(200, '88'), 200],
  ];
  test.each(rows)('finds the status without decoding a text: %s', (_what, hex, status) =>
    expect(findIn(hex)).toBe(status),
  );

  test.each<[string, string]>([
    ['nothing', ''],
    ['a size of the table alone', '20'],
    ['another status by its index', '8b'],
    ['a header by its index', '83'],
    ['a literal of the number of a status', '0800'],
    ['a status as a literal', '4803323030'],
    ['entry 0', '8880'],
    ['an entry beyond the table', '88be'],
    ['a size of the table in between', '8820'],
    ['a size of the table of any number', '883f00'],
    ['a name beyond the table', '880f2f00'],
    ['one that is kept', '887f0000'],
    ['a name of three bytes', '880f8000'],
    ['a name that breaks off', '880f'],
    ['a header without its value', '885c'],
    ['a header with a name and no value', '88400161'],
    ['a value that breaks off', '885c0261'],
    ['a length that breaks off', '885c7f'],
    ['a value of over 254 bytes', `885c7f8001${byte(255)}`],
    ['Huffman code that is padded wrongly', '885c8100'],
    ['200 headers', byte(201, '88')],
  ])('finds nothing in %s', (_what, hex) => expect(findIn(hex)).toBe(0));

  /** In the midst of other bytes, which are no part of it. */
  function findIn(hex: string): number {
    const block = Buffer.from(hex, 'hex');
    return findSuccess(Buffer.concat([Buffer.alloc(2, 0x88), block, Buffer.alloc(300, 0x00)]), 2, 2 + block.length);
  }
});

test('reads lengths of several bytes (RFC 7541 §5.1), up to the maximum of a text', () => {
  const literal = (bytes: number[], length: number): Buffer =>
    Buffer.concat([Buffer.from([0, 1, 0x61, 0x7f, ...bytes]), Buffer.alloc(length, 'x')]);
  // 300 is 127 and 45 and 128; 16,384 is 127 and 1 and 127 times 128.
  expect(decodeHeaders(literal([0x80 + 45, 1], 300))).toEqual([['a', 'x'.repeat(300)]]);
  expect(decodeHeaders(literal([0x81, 0x7f], 16_384))[0]![1]).toHaveLength(16_384);
  expect(() => decodeHeaders(literal([0x82, 0x7f], 16_385))).toThrow(HpackError);
  expect(() => decodeHeaders(literal([0x80 + 45, 1], 299))).toThrow(HpackError);
  expect(decodeHeaders(Buffer.alloc(200, 0x88))).toHaveLength(200);
  expect(() => decodeHeaders(Buffer.from([0x0f]))).toThrow('a block that breaks off');
});

test('never exceeds the predicted length of a block, whatever the lengths of its texts', () => {
  const pseudo = [['x'.repeat(200), 'y'.repeat(300)]] as const;
  const encoder = new HpackEncoder(pseudo);
  const head = new RequestHead([['a'.repeat(130), 'b'.repeat(20_000)]], ['c'.repeat(127)]);
  const request = { head, path: `/${'d'.repeat(16_500)}`, values: ['\u00ff'.repeat(300)] };
  const into = Buffer.alloc(50_000);
  const end = encoder.encode(request, into, 0);
  const texts = 200 + 300 + 130 + 20_000 + 127 + 16_501 + 300;
  expect(end).toBeGreaterThan(texts);
  expect(encoder.maxBytes(request)).toBe(texts + 5 * 12);
  expect(end).toBeLessThanOrEqual(texts + 5 * 12);
});
