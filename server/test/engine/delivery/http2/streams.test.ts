import { createServer } from 'node:http2';
import type { IncomingHttpHeaders, ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { makeLog } from '../../../../src/log.ts';
import { StreamTable } from '../../../../src/providers/http2/connection-state.ts';
import { OutgoingBytes } from '../../../../src/providers/http2/frames.ts';
import { HpackEncoder } from '../../../../src/providers/http2/hpack-encoder.ts';
import { RequestHead, RequestHeads } from '../../../../src/providers/http2/requests.ts';
import { makeHttp2Transport } from '../../../../src/providers/http2/transport.ts';
import { flags, frame, settings, statusField, types, windowUpdate } from './hostile-http2-server.ts';
import { settleRequests } from './settle-requests.ts';

describe('the stream table', () => {
  test('assigns odd numbers in order, and keeps the data of each stream while it grows', () => {
    const table = new StreamTable();
    const listener = { reads: 'all' as const, onAccepted: () => {}, onAnswer: () => {} };
    const ids = Array.from({ length: 200 }, (_, number) => {
      const slot = table.open();
      Object.assign(table.listeners, { [slot]: listener });
      table.tickets[slot] = number;
      table.deadlines[slot] = number + 0.5;
      table.sendWindows[slot] = 1 - number;
      table.statuses[slot] = 200 + number;
      if (number % 2 === 0) table.detailOf(slot).bodyBytes = number;
      return table.ids[slot]!;
    });
    expect(ids).toEqual(Array.from({ length: 200 }, (_, number) => 2 * number + 1));
    expect([table.size, table.openIds()]).toEqual([200, ids]);
    for (const [number, id] of ids.entries()) {
      const slot = table.slotOf(id);
      expect([table.tickets[slot], table.deadlines[slot], table.sendWindows[slot]]).toEqual([
        number,
        number + 0.5,
        1 - number,
      ]);
      expect([table.statuses[slot], table.listeners[slot]]).toEqual([200 + number, listener]);
      expect(table.details[slot]?.bodyBytes).toBe(number % 2 === 0 ? number : undefined);
    }
  });

  test('skips a number if its slot is taken by a long-running stream (RFC 9113 §5.1.1)', () => {
    const table = new StreamTable();
    const [slow] = openMany(table, 1);
    let last = 0;
    for (let count = 0; count < 64; count += 1) {
      const slot = table.open();
      last = table.ids[slot]!;
      table.close(slot);
    }
    expect([slow, last, table.size]).toEqual([1, 131, 1]);
    expect([table.slotOf(129), table.slotOf(131), table.slotOf(1)]).toEqual([-1, -1, 0]);
  });

  test('finds the oldest open stream, and clears a slot for a new one', () => {
    const table = new StreamTable();
    expect(table.oldest()).toBe(-1);
    const ids = openMany(table, 3);
    const slots = ids.map((id) => table.slotOf(id));
    expect(table.oldest()).toBe(slots[0]);
    table.statuses[slots[1]!] = 200;
    table.detailOf(slots[1]!).bodyBytes = 9;
    table.close(slots[0]!);
    table.close(slots[1]!);
    expect([table.oldest(), table.size, table.openIds()]).toEqual([slots[2], 1, [5]]);
    expect([table.listeners[slots[1]!], table.details[slots[1]!]]).toEqual([undefined, undefined]);
    table.close(slots[2]!);
    expect(table.oldest()).toBe(-1);
    openMany(table, 62);
    const slot = table.open();
    expect([table.statuses[slot], table.detailOf(slot).bodyBytes]).toEqual([0, 0]);
    expect(table.ids[table.oldest()]).toBe(7);
  });

  test('runs out of numbers before the last one (RFC 9113 §5.1.1)', () => {
    const table = new StreamTable();
    expect(table.hasNumbers()).toBe(true);
    table.nextId = 2 ** 31 - 1 - 2 * table.ids.length - 2;
    expect(table.hasNumbers()).toBe(true);
    table.nextId += 2;
    expect(table.hasNumbers()).toBe(false);
  });

  const turn = () => new Promise((resolve) => setImmediate(resolve));

  test('writes everything from one turn together and in order, and does not overwrite bytes in flight', async () => {
    const pieces: Buffer[] = [];
    const done: (() => void)[] = [];
    const out = new OutgoingBytes((bytes, onWritten) => {
      pieces.push(bytes);
      done.push(onWritten);
    });
    out.flush();
    out.add(Buffer.from('one'));
    out.add(Buffer.from('two'));
    expect(pieces).toEqual([]);
    await turn();
    expect(pieces.map(String)).toEqual(['onetwo']);
    out.add(Buffer.from('three'));
    await turn();
    expect(pieces.map(String)).toEqual(['onetwo', 'three']);
    for (const each of done.splice(0)) each();
    out.add(Buffer.from('four'));
    out.flush();
    expect(pieces.at(-1)!.toString()).toBe('four');
    // Both were done with, so the piece is written anew from its beginning.
    expect(pieces.at(-1)!.byteOffset).toBe(0);
    await turn();
    expect(pieces).toHaveLength(3);
  });

  test('keeps bytes that are added while the socket completes a write', () => {
    const pieces: string[] = [];
    const done: (() => void)[] = [];
    const out = new OutgoingBytes((bytes, onWritten) => {
      pieces.push(bytes.toString());
      done.push(onWritten);
    });
    out.add(Buffer.from('one'));
    out.flush();
    out.add(Buffer.from('two'));
    done[0]!();
    out.flush();
    expect(pieces).toEqual(['one', 'two']);
  });

  test('continues in the next piece when one is full, and passes each unchanged to the socket', async () => {
    const written: Buffer[] = [];
    const waiting: (() => void)[] = [];
    const out = new OutgoingBytes((bytes, onWritten) => {
      written.push(bytes);
      waiting.push(onWritten);
    });
    const expected: Buffer[] = [];
    for (let round = 0; round < 80; round += 1) {
      const bytes = Buffer.alloc(50_000, round + 1);
      expected.push(bytes);
      out.add(bytes);
      if (round % 16 !== 15) continue;
      out.flush();
      expect(Buffer.concat(written).equals(Buffer.concat(expected))).toBe(true);
      written.length = 0;
      expected.length = 0;
      for (const done of waiting.splice(0)) done();
    }
    out.add(Buffer.alloc(300_000, 7));
    await turn();
    expect(written.map(({ length }) => length)).toEqual([300_000]);
  });

  test('reuses pieces that the socket has written, so that a busy connection allocates none', () => {
    const buffers = new Set<ArrayBufferLike>();
    const waiting: (() => void)[] = [];
    const out = new OutgoingBytes((bytes, onWritten) => {
      buffers.add(bytes.buffer);
      waiting.push(onWritten);
    });
    for (let round = 0; round < 100; round += 1) {
      out.add(Buffer.alloc(200 * 1024));
      out.flush();
      if (waiting.length > 1) waiting.shift()!();
    }
    // The first small one, those that grew to the largest, and three in turn.
    expect(buffers.size).toBeLessThanOrEqual(8);
  });

  test('writes a frame header of nine bytes: length, type, flags, stream (RFC 9113 §4.1)', () => {
    const written: Buffer[] = [];
    const out = new OutgoingBytes((bytes) => written.push(Buffer.from(bytes)));
    out.reserve(70_000);
    out.bytes.fill(0xff, out.to, out.to + 9 + 0x010203);
    out.head(0x010203, 0x0405, 0x06070809);
    out.flush();
    expect(written[0]!.subarray(0, 9).toString('hex')).toBe('010203040506070809');
    expect(written[0]).toHaveLength(9 + 0x010203);
  });

  const head = new RequestHead([], []);

  test.each([
    ['10 in five bits, RFC 7541 C.1.1', [10], '2a'],
    ['1337 in five bits, RFC 7541 C.1.2', [1_337], '3f9a0a'],
    ['30, the largest of one byte', [30], '3e'],
    ['31, the smallest of two', [31], '3f00'],
    ['158, the largest of two', [158], '3f7f'],
    ['159, the smallest of three', [159], '3f8001'],
    ['no more than its own 4096', [100_000], '3fe11f'],
    ['the smallest and the last (RFC 7541 §4.2)', [100, 20, 50], '343f13'],
    ['the smallest alone when it is the last', [100, 50, 20], '34'],
  ])('announces a table size as an integer: %s', (_what, sizes, expected) => {
    // The path follows: a literal without indexing, with the name of entry 4.
    expect(encodeAfter(...sizes)).toBe(`${expected}04012f`);
  });

  test('announces a size once, and sends entries that no longer fit again in full', () => {
    const encoder = new HpackEncoder([]);
    const own = new RequestHead([['apns-topic', 'com.shop']], []);
    const into = Buffer.alloc(200);
    const encode = (): string =>
      into.toString('latin1', 0, encoder.encode({ head: own, path: '/', values: [] }, into, 0));
    const full = '\x04\x01/\x40\x0aapns-topic\x08com.shop';
    const indexed = '\x04\x01/\xbe';
    expect([encode(), encode(), encode()]).toEqual([full, indexed, indexed]);
    // Name, value and 32 bytes (RFC 7541 §4.1).
    encoder.limitTable(50);
    expect([encode(), encode()]).toEqual([`\x3f\x13${indexed}`, indexed]);
    encoder.limitTable(49);
    const literal = '\x04\x01/\x00\x0aapns-topic\x08com.shop';
    expect([encode(), encode()]).toEqual([`\x3f\x12${literal}`, literal]);
    encoder.limitTable(50);
    expect([encode(), encode(), encode()]).toEqual([`\x3f\x13${full}`, indexed, indexed]);
  });

  test('gives the newest entry the lowest index, and evicts the oldest (RFC 7541 §2.3.3, §4.4)', () => {
    const encoder = new HpackEncoder([[':authority', 'www.example.com']]);
    const into = Buffer.alloc(200);
    const encode = (header: [string, string]): string =>
      into.toString('hex', 0, encoder.encode({ head: new RequestHead([header]), path: '/', values: [] }, into, 0));
    const path = '04012f';
    // RFC 7541 C.3.1 to C.3.3 without their GET: `:authority` gets 62, then moves behind what is newer.
    expect(encode(['cache-control', 'no-cache'])).toBe(`410f7777772e6578616d706c652e636f6d${path}58086e6f2d6361636865`);
    expect(encode(['cache-control', 'no-cache'])).toBe(`bf${path}be`);
    expect(encode(['custom-key', 'custom-value'])).toBe(`bf${path}400a637573746f6d2d6b65790c637573746f6d2d76616c7565`);
    expect(encode(['cache-control', 'no-cache'])).toBe(`c0${path}bf`);
  });

  test('reuses a head for headers with the same names and shared values, and creates one for others', () => {
    const heads = new RequestHeads();
    const ask = (headers: Record<string, string>) => {
      const values: string[] = [];
      return { head: heads.headOf(headers, values), values };
    };
    const first = ask({ 'apns-topic': 'com.shop', 'apns-id': '1', authorization: 'bearer a', 'x-y': '2' });
    expect(first.head.headers).toEqual([
      ['apns-topic', 'com.shop'],
      ['authorization', 'bearer a'],
    ]);
    expect([first.head.names, first.values]).toEqual([
      ['apns-id', 'x-y'],
      ['1', '2'],
    ]);
    const second = ask({ 'apns-id': '3', 'x-y': '4', 'apns-topic': 'com.shop', authorization: 'bearer a' });
    expect(second.head).toBe(first.head);
    expect(second.values).toEqual(['3', '4']);
    for (const other of [
      { 'apns-topic': 'com.other', 'apns-id': '1', authorization: 'bearer a', 'x-y': '2' },
      { 'apns-topic': 'com.shop', 'apns-id': '1', 'x-y': '2' },
      { 'apns-topic': 'com.shop', 'apns-id': '1', authorization: 'bearer a' },
      { 'apns-topic': 'com.shop', 'apns-id': '1', authorization: 'bearer a', 'x-z': '2' },
      { authorization: 'bearer a', 'apns-topic': 'com.shop', 'apns-id': '1', 'x-y': '2' },
    ]) {
      const known = ask({ 'apns-topic': 'com.shop', 'apns-id': '1', authorization: 'bearer a', 'x-y': '2' });
      const found = ask(other);
      expect(found.head).not.toBe(known.head);
      expect(
        Object.fromEntries([...found.head.headers, ...found.head.names.map((name, at) => [name, found.values[at]])]),
      ).toEqual(other);
    }
  });

  function encodeAfter(...sizes: number[]): string {
    const encoder = new HpackEncoder([]);
    for (const bytes of sizes) encoder.limitTable(bytes);
    const into = Buffer.alloc(100);
    return into.toString('hex', 0, encoder.encode({ head, path: '/', values: [] }, into, 0));
  }
});

type Broken = [what: string, code: number, frames: (stream: number) => Buffer[]];

describe('error codes of the RFC', () => {
  const codes = { protocol: 1, flowControl: 3, frameSize: 6, compression: 9 } as const;
  const maxWindow = 2 ** 31 - 1;

  describe('a violation that breaks the connection', () => {
    const rows: Broken[] = [
      ['SETTINGS on a stream (§6.5)', codes.protocol, (stream) => [frame(types.settings, { stream })]],
      ['SETTINGS of five bytes (§6.5)', codes.frameSize, () => [frame(types.settings, { payload: Buffer.alloc(5) })]],
      [
        'an acknowledgement with a setting in it (§6.5)',
        codes.frameSize,
        () => [frame(types.settings, { flags: flags.ack, payload: Buffer.alloc(6) })],
      ],
      [
        'GOAWAY on a stream (§6.8)',
        codes.protocol,
        (stream) => [frame(types.goaway, { stream, payload: Buffer.alloc(8) })],
      ],
      ['GOAWAY of four bytes (§4.2)', codes.frameSize, () => [frame(types.goaway, { payload: Buffer.alloc(4) })]],
      ['a window of the connection that grows by 0 (§6.9)', codes.protocol, () => [windowUpdate(0, 0)]],
      ['a window of the connection beyond 2³¹ − 1 (§6.9.1)', codes.flowControl, () => [windowUpdate(0, maxWindow)]],
      [
        'SETTINGS that lift the window of a stream beyond 2³¹ − 1 (§6.9.2)',
        codes.flowControl,
        (stream) => [windowUpdate(stream, maxWindow - 65_535), settings({ initialWindowSize: 70_000 })],
      ],
      [
        'a window in SETTINGS beyond 2³¹ − 1 (§6.5.2)',
        codes.flowControl,
        () => [settings({ initialWindowSize: 2 ** 31 })],
      ],
      [
        'PING on a stream (§6.7)',
        codes.protocol,
        (stream) => [frame(types.ping, { stream, payload: Buffer.alloc(8) })],
      ],
      ['PING of seven bytes (§6.7)', codes.frameSize, () => [frame(types.ping, { payload: Buffer.alloc(7) })]],
      [
        'RST_STREAM of three bytes (§6.4)',
        codes.frameSize,
        (stream) => [frame(types.reset, { stream, payload: Buffer.alloc(3) })],
      ],
      [
        'a header block that cannot be read (§4.3)',
        codes.compression,
        (stream) => [frame(types.headers, { stream, flags: flags.endHeaders, payload: Buffer.from([0x80]) })],
      ],
    ];
    test.each(rows)('is reported to the peer with the code of the RFC: %s', async (_what, code, frames) => {
      const { server } = await settleRequests({
        behave(peer) {
          peer.onRequest = (stream) => peer.write(...frames(stream));
          peer.write(settings());
        },
        requests: 1,
      });
      const told = server.peers[0]!.frames.find(({ type }) => type === types.goaway);
      expect(told?.payload.readUInt32BE(4)).toBe(code);
    });
  });

  describe('a violation that breaks a stream', () => {
    const rows: Broken[] = [
      ['a window that grows by 0 (§6.9)', codes.protocol, (stream) => [windowUpdate(stream, 0)]],
      ['a window beyond 2³¹ − 1 (§6.9.1)', codes.flowControl, (stream) => [windowUpdate(stream, maxWindow)]],
      [
        'a body without headers (§8.1)',
        codes.protocol,
        (stream) => [frame(types.data, { stream, payload: Buffer.from('x') })],
      ],
      ...['2e2', ' 200', '0200', '20', '', '0xc8'].map((status): Broken => [
        `the status ${JSON.stringify(status)} (§8.3.2)`,
        codes.protocol,
        (stream) => [
          frame(types.headers, {
            stream,
            flags: flags.endHeaders | flags.endStream,
            // `:status` by the name of the static table (RFC 7541 §6.2.2).
            payload: Buffer.concat([Buffer.from([8, status.length]), Buffer.from(status)]),
          }),
        ],
      ]),
      [
        'an interim answer that ends the stream (§8.1)',
        codes.protocol,
        (stream) => [
          frame(types.headers, { stream, flags: flags.endHeaders | flags.endStream, payload: statusField(103) }),
        ],
      ],
    ];
    test.each(rows)(
      'is reported to the peer with the code of the RFC, and keeps the connection: %s',
      async (_what, code, frames) => {
        const { answers, server } = await settleRequests({
          behave(peer) {
            peer.onRequest = (stream) => (stream === 1 ? peer.write(...frames(stream)) : peer.answer(stream));
            peer.write(settings());
          },
          requests: 2,
          inTurn: true,
        });
        expect(answers).toMatchObject([
          { kind: 'failure', certainty: 'unknown' },
          { kind: 'answer', status: 200 },
        ]);
        const told = server.peers[0]!.frames.find(({ type }) => type === types.reset);
        expect([told?.stream, told?.payload.readUInt32BE(0)]).toEqual([1, code]);
        expect(server.peers).toHaveLength(1);
      },
    );
  });

  test('announces both sizes if the table is emptied and grows again between two requests (RFC 7541 §4.2)', async () => {
    const sessions: ServerHttp2Session[] = [];
    const server = createServer();
    server.on('session', (session) => sessions.push(session));
    server.on('sessionError', () => {});
    server.on('stream', (stream) => {
      stream.session!.settings({ headerTableSize: 0 });
      stream.session!.settings({ headerTableSize: 4_096 });
      stream.respond({ ':status': 200 });
      stream.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const log = makeLog({ level: 'silent', pretty: false });
    const transport = makeHttp2Transport({ log, allowedNetworks: [], sessionsPerTarget: 1 });
    try {
      for (let number = 0; number < 3; number += 1) {
        const headers = { 'apns-topic': 'com.shop', 'content-type': 'application/json' };
        const request = { path: '/x', headers, body: Buffer.from('{}') };
        const answer = await transport.request({ key: 'one', origin, isGuarded: false }, request);
        expect(answer).toMatchObject({ kind: 'answer', status: 200 });
      }
      expect(sessions).toHaveLength(1);
    } finally {
      await transport.close();
      await new Promise((resolve) => server.close(resolve));
    }
  });
});

describe('the headers on arrival', () => {
  // Node's own server decodes them, with its table as large as it allows.
  test.each([0, 64, 300, 4_096, 65_536])(
    'are unchanged with a table of %d bytes, over evictions',
    async (headerTableSize) => {
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
    },
  );
});

function openMany(table: StreamTable, count: number): number[] {
  return Array.from({ length: count }, () => table.ids[table.open()]!);
}
