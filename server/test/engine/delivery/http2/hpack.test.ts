import fc from 'fast-check';
import { createServer } from 'node:http2';
import type { IncomingHttpHeaders } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { decodeHeaders, findSuccess } from '../../../../src/engine/delivery/http2/hpack-decoder.ts';
import { HpackError } from '../../../../src/engine/delivery/http2/hpack-error.ts';
import { HpackEncoder } from '../../../../src/engine/delivery/http2/hpack-encoder.ts';
import { RequestHead } from '../../../../src/engine/delivery/http2/request-head.ts';
import { makeHttp2Transport } from '../../../../src/engine/delivery/http2/http2-transport.ts';
import { makeLog } from '../../../../src/log.ts';
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
  ])('RFC 7541 Appendix %s', (_name, hex, expected) => expect(decode(hex)).toEqual(expected));

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
  ])('is refused: %s', (_name, hex) => expect(() => decode(hex)).toThrow(HpackError));

  test('of any bytes is a list of texts or an HpackError, and nothing else (property)', () => {
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

  test('of a success is passed over exactly when it can be decoded (property)', () => {
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

  test('that is refused half-way leaves the next one readable', () => {
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
  test.each(faults)('with the value %j is never sent (RFC 9113 §8.2.1)', (value) => {
    const encoder = new HpackEncoder([]);
    const own = new RequestHead([], ['x']);
    expect(() => new RequestHead([['x', value]])).toThrow(TypeError);
    for (const path of ['/first', '/later']) {
      expect(() => encoder.encode({ head: own, path, values: [value] }, Buffer.alloc(100), 0)).toThrow(TypeError);
      expect(encoder.encode({ head: own, path, values: ['a'] }, Buffer.alloc(100), 0)).toBeGreaterThan(0);
    }
  });

  test.each(['', ':path', 'X-Upper', 'a b', 'a\r\nb', '\u00e9'])('with the name %j is never sent', (name) => {
    expect(() => new RequestHead([[name, 'a']])).toThrow(TypeError);
    expect(() => new RequestHead([], [name])).toThrow(TypeError);
  });
});

describe('headers arrive as they were sent', () => {
  // Node's own server decodes them, with its table as large as it allows.
  test.each([0, 64, 300, 4_096, 65_536])('with a table of %d bytes, over evictions', async (headerTableSize) => {
    const arrived: IncomingHttpHeaders[] = [];
    const server = createServer({ settings: { headerTableSize } });
    server.on('stream', (stream, headers) => {
      arrived[Number(headers['x-number'])] = headers;
      stream.respond({ ':status': 200 });
      stream.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const transport = makeHttp2Transport({
      log: makeLog({ level: 'silent', pretty: false }),
      allowedNetworks: [],
      sessionsPerTarget: 1,
    });
    try {
      const sent = Array.from({ length: 400 }, (_, number) => ({
        'x-number': String(number),
        authorization: `bearer ${String(number % 7).repeat(10 + 200 * (number % 5))}`,
        'apns-topic': `com.shop.${number % 40}`,
        'apns-priority': '10',
        'content-type': 'application/json',
        latin: '\u00e9\u00ff',
      }));
      const answers = await Promise.all(
        sent.map((headers) =>
          transport.request(
            { key: 'one', origin, isGuarded: false },
            { path: '/3/device/x', headers, body: Buffer.from('{}') },
          ),
        ),
      );
      expect(answers.every((answer) => answer.kind === 'answer' && answer.status === 200)).toBe(true);
      for (const [number, headers] of sent.entries())
        expect(arrived[number]).toMatchObject({ ...headers, ':path': '/3/device/x', ':method': 'POST' });
    } finally {
      await transport.close();
      await new Promise((resolve) => server.close(resolve));
    }
  });
});
