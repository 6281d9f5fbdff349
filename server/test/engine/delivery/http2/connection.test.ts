import { describe, expect, test } from 'vitest';
import { decodeHeaders } from '../../../../src/providers/http2/hpack-decoder.ts';
import { flags, frame, literal, settings, statusField, types, uint32, windowUpdate } from './hostile-http2-server.ts';
import { dataFrame, goawayOf, headersFrame, openConnection, statusFrame } from './open-connection.ts';
import type { SentFrame } from './open-connection.ts';

const unsent = (detail: string) => ({ kind: 'failure', certainty: 'unsent', reason: 'refused', detail });
const lost = (detail: string) => ({ kind: 'failure', certainty: 'unknown', reason: 'reset', detail });

describe('client connection', () => {
  const codes = {
    protocol: 1,
    internal: 2,
    flowControl: 3,
    frameSize: 6,
    refused: 7,
    cancel: 8,
    compression: 9,
    calm: 11,
  };
  const noStatus = 'an answer without a status';

  describe('a greeting', () => {
    test('consists of the preface, the settings and a larger window of the connection (RFC 9113 §3.4)', async () => {
      const opened = openConnection({ greeting: Buffer.alloc(0) });
      const bytes = await opened.bytes();
      expect(bytes.toString('latin1', 0, 24)).toBe('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
      const [own, window, ...others] = await opened.sent();
      // No table, no push, 128 KiB a stream, 64 KiB of headers (RFC 9113 §6.5.2).
      expect(own).toEqual({
        ...{ type: types.settings, flags: 0, stream: 0 },
        payload: Buffer.from('000100000000 000200000000 000400020000 000600010000'.replaceAll(' ', ''), 'hex'),
      });
      expect(window).toEqual({ type: types.window, flags: 0, stream: 0, payload: uint32(4 * 1024 * 1024 - 65_535) });
      expect(others).toEqual([]);
    });

    test('makes the connection ready once if it is of the peer, whose SETTINGS frames are each acknowledged (RFC 9113 §6.5.3)', async () => {
      const opened = openConnection({ greeting: Buffer.alloc(0) });
      const { connection, events } = opened;
      await opened.sent();
      expect([connection.streamLimit(), connection.isLeaving()]).toEqual([0, false]);
      opened.receive(settings());
      expect([connection.streamLimit(), events.ready, events.space]).toEqual([1_000, 1, 1]);
      opened.receive(settings({ maxConcurrentStreams: 3 }));
      expect([connection.streamLimit(), events.ready, events.space]).toEqual([3, 1, 2]);
      opened.receive(settings({ maxConcurrentStreams: 5_000 }), frame(types.settings, { flags: flags.ack }));
      expect([connection.streamLimit(), events.ready, events.space]).toEqual([1_000, 1, 3]);
      const acknowledged = { type: types.settings, flags: flags.ack, stream: 0, payload: Buffer.alloc(0) };
      expect(await opened.sent()).toEqual([acknowledged, acknowledged, acknowledged]);
    });

    test.each([
      ['PING', frame(types.ping, { payload: Buffer.alloc(8) })],
      ['an acknowledgement', frame(types.settings, { flags: flags.ack })],
    ])('breaks the connection if that of the peer begins with %s (RFC 9113 §3.4)', async (_what, bytes) => {
      const opened = openConnection({ greeting: bytes });
      expect(opened.events).toMatchObject({ ready: 0, broken: [{ code: codes.protocol }] });
      expect(goawayOf(await opened.sent())).toBe(codes.protocol);
      opened.receive(settings());
      expect(opened.events.ready).toBe(0);
    });
  });

  describe('a request', () => {
    test('is sent as HEADERS and DATA on the next odd stream (RFC 9113 §8.1)', async () => {
      const opened = openConnection();
      await opened.sent();
      expect(opened.request({ bodyBytes: 3 })).toBe(true);
      expect(opened.request({ bodyBytes: 0 })).toBe(true);
      expect(opened.connection.openStreams()).toBe(2);
      const frames = await opened.sent();
      expect(frames.map(({ type, flags: given, stream }) => [type, given, stream])).toEqual([
        [types.headers, flags.endHeaders, 1],
        [types.data, flags.endStream, 1],
        [types.headers, flags.endHeaders, 3],
        [types.data, flags.endStream, 3],
      ]);
      expect(decodeHeaders(frames[0]!.payload)).toEqual([
        [':method', 'POST'],
        [':scheme', 'https'],
        [':authority', 'push.example'],
        [':path', '/3/device/x'],
        ['apns-topic', 'com.shop'],
        ['apns-id', 'a'],
      ]);
      expect([frames[1]!.payload.toString(), frames[3]!.payload.length]).toEqual(['xxx', 0]);
      expect(opened.connection.sendWindowBytes()).toBe(65_532);
    });

    test.each([
      ['a line break in a value', { id: 'a\nb' }, 'not a value of header apns-id'],
      ['more headers than a frame holds', { id: 'a'.repeat(17_000) }, 'headers of'],
    ])(
      'with %s is reported as unsent after the call returned, and nothing of it is written',
      async (_what, given, detail) => {
        const opened = openConnection();
        await opened.sent();
        expect(opened.request(given)).toBe(false);
        expect(opened.told).toEqual([]);
        expect(await opened.sent()).toEqual([]);
        expect(opened.told).toEqual([[1, unsent(expect.stringContaining(detail) as unknown as string)]]);
        opened.request();
        expect((await opened.sent()).map(({ stream }) => stream)).toEqual([1, 1]);
      },
    );

    test('is sent with headers that fill a frame, and not with one byte more', async () => {
      const opened = openConnection();
      await opened.sent();
      opened.request({ id: 'a'.repeat(17_000) });
      await opened.sent();
      const failure = opened.told[0]![1] as { detail: string };
      const others = Number(/\d+/.exec(failure.detail)![0]) - 17_000;
      expect(opened.request({ id: 'a'.repeat(16_384 - others) })).toBe(true);
      expect(opened.request({ id: 'a'.repeat(16_385 - others) })).toBe(false);
    });

    test('is reported as unsent after the end was announced', async () => {
      const opened = openConnection();
      opened.connection.leave();
      expect(opened.connection.isLeaving()).toBe(true);
      expect(opened.request()).toBe(false);
      await opened.sent();
      expect(opened.told).toEqual([[1, unsent('the connection is ending')]]);
    });
  });

  describe('a response', () => {
    const fields = [statusField(200), Buffer.from('\0\x03x-a\x01b', 'latin1'), Buffer.from('\0\x03x-a\x01c', 'latin1')];
    const headers = { 'x-a': 'b, c' };

    test.each([
      ['all', [1, { kind: 'answer', status: 200, headers, body: 'done' }]],
      ['bodies', [1, { kind: 'answer', status: 200, headers: {}, body: 'done' }]],
      ['failures', [1, 200]],
    ] as const)('is reported for a success as requested by a listener that reads %s', (reads, expected) => {
      const opened = openConnection();
      opened.request({ reads });
      opened.receive(headersFrame(1, fields), dataFrame(1, 'done', flags.endStream));
      expect(opened.told).toEqual([expected]);
      expect(opened.connection.openStreams()).toBe(0);
    });

    test.each(['all', 'bodies', 'failures'] as const)(
      'is read whole for a failure by a listener that reads %s',
      (reads) => {
        const opened = openConnection();
        opened.request({ reads });
        opened.receive(
          headersFrame(1, [statusField(404), ...fields.slice(1)]),
          dataFrame(1, 'un'),
          dataFrame(1, 'known', flags.endStream),
        );
        expect(opened.told).toEqual([[1, { kind: 'answer', status: 404, headers, body: 'unknown' }]]);
      },
    );

    test.each([
      ['all', { kind: 'answer', status: 204, headers: {}, body: '' }],
      ['bodies', { kind: 'answer', status: 204, headers: {}, body: '' }],
      ['failures', 204],
    ] as const)('ends with its headers if it has no body, for a listener that reads %s', (reads, expected) => {
      const opened = openConnection();
      opened.request({ reads });
      opened.receive(headersFrame(1, [Buffer.from([0x89])], flags.endStream));
      expect(opened.told).toEqual([[1, expected]]);
    });

    test('has no headers for a listener that reads bodies, even for an unusual success status', () => {
      const opened = openConnection();
      opened.request({ reads: 'bodies' });
      opened.receive(headersFrame(1, [statusField(201), literal('x-a', 'b')]), dataFrame(1, 'done', flags.endStream));
      expect(opened.told).toEqual([[1, { kind: 'answer', status: 201, headers: {}, body: 'done' }]]);
    });

    test('is a success with status 299, and not with 300 or 199', () => {
      const opened = openConnection();
      for (const _ of [1, 2]) opened.request({ reads: 'failures' });
      opened.receive(statusFrame(1, 299, flags.endStream), statusFrame(3, 300, flags.endStream));
      expect(opened.told).toEqual([
        [1, 299],
        [2, { kind: 'answer', status: 300, headers: {}, body: '' }],
      ]);
    });

    test('follows any number of interim responses (RFC 9113 §8.1), and is not changed by trailers', () => {
      const opened = openConnection();
      opened.request();
      opened.receive(
        ...[statusFrame(1, 103), statusFrame(1, 199), statusFrame(1, 201)],
        dataFrame(1, 'x'),
        headersFrame(1, [Buffer.from('\0\x01t\x01u', 'latin1')], flags.endStream),
      );
      expect(opened.told).toEqual([[1, { kind: 'answer', status: 201, headers: {}, body: 'x' }]]);
    });

    test('omits pseudo headers and names that would change an object', () => {
      const opened = openConnection();
      opened.request();
      opened.receive(
        headersFrame(
          1,
          [statusField(200), Buffer.from('\0\x09__proto__\x01a\0\x02:x\x01b\0\x01y\x01c', 'latin1')],
          flags.endStream,
        ),
      );
      expect(opened.told[0]![1]).toEqual({ kind: 'answer', status: 200, headers: { y: 'c' }, body: '' });
    });

    test.each(['failures', 'bodies'] as const)(
      'is read from padded frames, with a priority, and in pieces (%s)',
      (reads) => {
        const opened = openConnection();
        for (const _ of [1, 2]) opened.request({ reads });
        const padded = Buffer.concat([Buffer.from([3]), Buffer.alloc(5), statusField(410), Buffer.alloc(3)]);
        opened.receive(
          frame(types.headers, { stream: 1, flags: flags.endHeaders | flags.padded | flags.priority, payload: padded }),
          dataFrame(1, '\x02gone\0\0', flags.padded | flags.endStream),
        );
        const block = Buffer.concat([statusField(400), Buffer.from('\0\x01y\x01c', 'latin1')]);
        opened.receive(
          frame(types.headers, { stream: 3, flags: flags.endStream, payload: block.subarray(0, 1) }),
          frame(types.continuation, { stream: 3, payload: block.subarray(1, 4) }),
          frame(types.continuation, { stream: 3, flags: flags.endHeaders, payload: block.subarray(4) }),
        );
        expect(opened.told).toEqual([
          [1, { kind: 'answer', status: 410, headers: {}, body: 'gone' }],
          [2, { kind: 'answer', status: 400, headers: { y: 'c' }, body: '' }],
        ]);
      },
    );

    test('is limited to 64 KiB, in many frames and in one for a listener that reads bodies', () => {
      const opened = openConnection();
      opened.request();
      opened.request({ reads: 'bodies' });
      for (const stream of [1, 3]) {
        opened.receive(statusFrame(stream, 200));
        for (let piece = 0; piece < 4; piece += 1)
          opened.receive(dataFrame(stream, Buffer.alloc(16_380, 'abcd'[piece])));
        opened.receive(dataFrame(stream, 'e'.repeat(17)), dataFrame(stream, 'f', flags.endStream));
      }
      const body = `${[...'abcd'].map((each) => each.repeat(16_380)).join('')}${'e'.repeat(16)}`;
      expect(opened.told.map(([, answer]) => (answer as { body: string }).body)).toEqual([body, body]);
    });

    test('ignores late frames for its stream after its end, but not frames for future streams', async () => {
      const opened = openConnection();
      opened.request();
      opened.receive(statusFrame(1, 200, flags.endStream));
      opened.receive(statusFrame(1, 404, flags.endStream), dataFrame(1, 'late'), windowUpdate(1, 1));
      opened.receive(
        frame(types.reset, { stream: 1, payload: uint32(codes.cancel) }),
        frame(types.priority, { stream: 9 }),
      );
      expect([opened.told.length, opened.events.broken]).toEqual([1, []]);
      opened.receive(statusFrame(3, 200));
      expect(goawayOf(await opened.sent())).toBe(codes.protocol);
    });
  });

  describe('a violation by the peer that breaks the connection', () => {
    const headersOf = (payload: Buffer, more: number) => frame(types.headers, { stream: 1, flags: more, payload });
    test.each<[string, number, Buffer[]]>([
      ['DATA on stream 0 (§6.1)', codes.protocol, [dataFrame(0, 'x')]],
      ['HEADERS on stream 0 (§6.2)', codes.protocol, [statusFrame(0, 200)]],
      ['HEADERS on a stream of the peer (§5.1.1)', codes.protocol, [statusFrame(2, 200)]],
      ['RST_STREAM on an idle stream (§6.4)', codes.protocol, [frame(types.reset, { stream: 3, payload: uint32(0) })]],
      [
        'RST_STREAM of five bytes (§6.4)',
        codes.frameSize,
        [frame(types.reset, { stream: 1, payload: Buffer.alloc(5) })],
      ],
      ['WINDOW_UPDATE on an idle stream (§6.9)', codes.protocol, [windowUpdate(3, 1)]],
      ['WINDOW_UPDATE of three bytes (§6.9)', codes.frameSize, [frame(types.window, { payload: Buffer.alloc(3) })]],
      ['a window that grows by 0 (§6.9)', codes.protocol, [windowUpdate(0, 0)]],
      ['a window beyond 2³¹ − 1 (§6.9.1)', codes.flowControl, [windowUpdate(0, 2 ** 31 - 1)]],
      ['a push (§8.4)', codes.protocol, [frame(types.push, { stream: 1, payload: Buffer.alloc(4) })]],
      ['CONTINUATION of nothing (§6.10)', codes.protocol, [frame(types.continuation, { stream: 1, flags: 4 })]],
      ['a block that another frame interrupts (§6.10)', codes.protocol, [headersOf(statusField(200), 0), settings()]],
      [
        'a block that goes on on another stream (§6.10)',
        codes.protocol,
        [headersOf(statusField(200), 0), frame(types.continuation, { stream: 3, flags: 4 })],
      ],
      ['more padding than frame (§6.1)', codes.protocol, [dataFrame(1, '\x04abc', flags.padded)]],
      ['padding in a frame of no bytes (§6.1)', codes.protocol, [dataFrame(1, '', flags.padded)]],
      ['a priority of four bytes (§6.2)', codes.frameSize, [headersOf(Buffer.alloc(4), flags.priority | 4)]],
      ['a block that cannot be read (§4.3)', codes.compression, [headersOf(Buffer.from([0x80]), 4)]],
      [
        'a block of over a hundred pieces',
        codes.calm,
        [headersOf(Buffer.alloc(1), 0), ...Array.from({ length: 100 }, () => frame(types.continuation, { stream: 1 }))],
      ],
      [
        'a block of over 64 KiB',
        codes.calm,
        [
          headersOf(Buffer.alloc(16_384), 0),
          ...Array.from({ length: 3 }, () => frame(types.continuation, { stream: 1, payload: Buffer.alloc(16_384) })),
          frame(types.continuation, { stream: 1, payload: Buffer.alloc(1) }),
        ],
      ],
      ['PING on a stream (§6.7)', codes.protocol, [frame(types.ping, { stream: 1, payload: Buffer.alloc(8) })]],
      ['PING of nine bytes (§6.7)', codes.frameSize, [frame(types.ping, { payload: Buffer.alloc(9) })]],
      ['GOAWAY on a stream (§6.8)', codes.protocol, [frame(types.goaway, { stream: 1, payload: Buffer.alloc(8) })]],
      ['GOAWAY of seven bytes (§6.8)', codes.frameSize, [frame(types.goaway, { payload: Buffer.alloc(7) })]],
      ['SETTINGS on a stream (§6.5)', codes.protocol, [frame(types.settings, { stream: 1 })]],
      ['SETTINGS of seven bytes (§6.5)', codes.frameSize, [frame(types.settings, { payload: Buffer.alloc(7) })]],
      [
        'an acknowledgement with a setting (§6.5)',
        codes.frameSize,
        [frame(types.settings, { flags: flags.ack, payload: Buffer.alloc(6) })],
      ],
      ['a server that enables push (§6.5.2)', codes.protocol, [settings({ enablePush: 1 })]],
      ['a frame size of 16,383 (§6.5.2)', codes.protocol, [settings({ maxFrameSize: 16_383 })]],
      ['a frame size of 2²⁴ (§6.5.2)', codes.protocol, [settings({ maxFrameSize: 2 ** 24 })]],
      ['a window in SETTINGS of 2³¹ (§6.5.2)', codes.flowControl, [settings({ initialWindowSize: 2 ** 31 })]],
      [
        'SETTINGS that lift the window of a stream too high (§6.9.2)',
        codes.flowControl,
        [windowUpdate(1, 2 ** 31 - 1 - 65_533), settings({ initialWindowSize: 65_536 })],
      ],
      ['a frame of 16,385 bytes (§4.2)', codes.frameSize, [frame(0xee, { payload: Buffer.alloc(16_385) })]],
    ])('is reported to the peer with its code, and ends every open stream: %s', async (_what, code, frames) => {
      const opened = openConnection();
      opened.request();
      await opened.sent();
      opened.receive(...frames);
      const last = (await opened.sent()).at(-1);
      expect(last).toEqual({
        type: types.goaway,
        flags: 0,
        stream: 0,
        payload: Buffer.concat([uint32(0), uint32(code)]),
      });
      const [fault, ...others] = opened.events.broken;
      expect([others, opened.connection.isLeaving(), opened.connection.openStreams()]).toEqual([[], true, 0]);
      expect(opened.told).toEqual([[1, lost(fault!.message)]]);
      opened.receive(settings(), statusFrame(1, 200));
      expect([opened.told.length, await opened.sent()]).toEqual([1, []]);
    });

    test.each<[string, Buffer[]]>([
      [
        'settings at their bounds',
        [settings({ maxFrameSize: 16_384 }), settings({ maxFrameSize: 2 ** 24 - 1, enablePush: 0 })],
      ],
      ['the largest windows', [windowUpdate(0, 2 ** 31 - 1 - 65_533), windowUpdate(1, 2 ** 31 - 1 - 65_533)]],
      ['the largest window in SETTINGS', [settings({ initialWindowSize: 2 ** 31 - 1 })]],
      ['a frame of an unknown type (§5.5)', [frame(0xee, { stream: 77, payload: Buffer.alloc(16_384) })]],
      ['as much padding as frame', [statusFrame(1, 200), dataFrame(1, '\x02ab', flags.padded)]],
      [
        'a block of a hundred pieces, and of 64 KiB',
        [
          frame(types.headers, { stream: 1, payload: statusField(200) }),
          ...Array.from({ length: 98 }, () => frame(types.continuation, { stream: 1 })),
          frame(types.continuation, { stream: 1, flags: flags.endHeaders }),
        ],
      ],
      ['GOAWAY of eight bytes', [frame(types.goaway, { payload: Buffer.concat([uint32(1), uint32(0)]) })]],
    ])('is not %s', (_what, frames) => {
      const opened = openConnection();
      opened.request();
      opened.receive(...frames);
      expect([opened.events.broken, opened.told]).toEqual([[], []]);
    });
  });

  test('accepts a window that SETTINGS raise to the maximum of 2³¹ − 1 (§6.9.2)', () => {
    const opened = openConnection();
    opened.request({ bodyBytes: 0 });
    opened.receive(settings({ initialWindowSize: 2 ** 31 - 1 }));
    expect(opened.events.broken).toEqual([]);
  });

  describe('a violation by the peer that breaks a stream', () => {
    test.each<[string, number, [frames: Buffer[], detail: string]]>([
      ['a body without headers (§8.1)', codes.protocol, [[dataFrame(1, 'x')], 'a body without headers']],
      ['a window that grows by 0 (§6.9)', codes.protocol, [[windowUpdate(1, 0)], 'a wrong window']],
      ['a window beyond 2³¹ − 1 (§6.9.1)', codes.flowControl, [[windowUpdate(1, 2 ** 31 - 1)], 'a wrong window']],
      ['an interim answer that ends it (§8.1)', codes.protocol, [[statusFrame(1, 103, flags.endStream)], noStatus]],
      ['an answer without a status (§8.3.2)', codes.protocol, [[headersFrame(1, [])], noStatus]],
      [
        'a priority and nothing behind it (§8.3.2)',
        codes.protocol,
        [
          [frame(types.headers, { stream: 1, flags: flags.endHeaders | flags.priority, payload: Buffer.alloc(5) })],
          noStatus,
        ],
      ],
      ['a number of another header (§8.3.2)', codes.protocol, [[headersFrame(1, [literal('x', '200')])], noStatus]],
      ['a status of two digits (§8.3.2)', codes.protocol, [[statusFrame(1, 99)], noStatus]],
    ])(
      'is reported to the peer with its code, and does not affect other streams: %s',
      async (_what, code, [frames, detail]) => {
        const opened = openConnection();
        for (const _ of [1, 2]) opened.request();
        await opened.sent();
        opened.receive(...frames, statusFrame(3, 200, flags.endStream));
        expect(await opened.sent()).toEqual([{ type: types.reset, flags: 0, stream: 1, payload: uint32(code) }]);
        expect(opened.told).toEqual([
          [1, lost(detail)],
          [2, { kind: 'answer', status: 200, headers: {}, body: '' }],
        ]);
        expect(opened.events.broken).toEqual([]);
      },
    );
  });

  describe('a stream that the peer resets', () => {
    test.each<[string, number, [before: Buffer[], expected: object]]>([
      ['refused: nothing was done (RFC 9113 §8.7)', codes.refused, [[], unsent('the stream was refused')]],
      ['cancelled', codes.cancel, [[], lost('the stream ended with code 8')]],
      [
        'after a status that decides',
        codes.cancel,
        [[statusFrame(1, 200)], { kind: 'answer', status: 200, headers: {}, body: '' }],
      ],
      ['after one that does not', codes.internal, [[statusFrame(1, 500)], lost('the stream ended with code 2')]],
    ])('%s', (_what, code, [before, expected]) => {
      const opened = openConnection();
      opened.request();
      opened.receive(...before, frame(types.reset, { stream: 1, payload: uint32(code) }));
      expect(opened.told).toEqual([[1, expected]]);
    });
  });
});

describe('connection flow', () => {
  const ok = { kind: 'answer', status: 200, headers: {}, body: '' };

  /** The DATA frames: stream, bytes, and whether it is the last. */
  const bodiesOf = (frames: SentFrame[]): [number, number, boolean][] =>
    frames
      .filter(({ type }) => type === types.data)
      .map(({ stream, payload, flags: given }) => [stream, payload.length, given === flags.endStream]);
  const updatesOf = (frames: SentFrame[]): [number, number][] =>
    frames.filter(({ type }) => type === types.window).map(({ stream, payload }) => [stream, payload.readUInt32BE(0)]);

  describe('a body', () => {
    test('is sent in frames of 16,384 bytes, or of the size that the SETTINGS of the peer allow (RFC 9113 §4.2)', async () => {
      const opened = openConnection();
      opened.request({ bodyBytes: 16_384 });
      opened.request({ bodyBytes: 16_385 });
      opened.receive(settings({ maxFrameSize: 20_000 }));
      opened.request({ bodyBytes: 20_000 });
      expect(bodiesOf(await opened.sent())).toEqual([
        [1, 16_384, true],
        [3, 16_384, false],
        [3, 1, true],
        [5, 20_000, true],
      ]);
    });

    test('waits for the window of its stream (RFC 9113 §6.9)', async () => {
      const opened = openConnection({ greeting: settings({ initialWindowSize: 10 }) });
      opened.request({ bodyBytes: 25 });
      opened.request({ bodyBytes: 10 });
      expect(bodiesOf(await opened.sent())).toEqual([
        [1, 10, false],
        [3, 10, true],
      ]);
      opened.receive(windowUpdate(1, 10));
      expect(bodiesOf(await opened.sent())).toEqual([[1, 10, false]]);
      opened.receive(windowUpdate(0, 1_000));
      expect(bodiesOf(await opened.sent())).toEqual([]);
      opened.receive(windowUpdate(1, 10));
      expect(bodiesOf(await opened.sent())).toEqual([[1, 5, true]]);
      expect(opened.connection.sendWindowBytes()).toBe(65_535 + 1_000 - 35);
    });

    test('needs no window if it is empty', async () => {
      const opened = openConnection({ greeting: settings({ initialWindowSize: 0 }) });
      opened.request({ bodyBytes: 0 });
      opened.request({ bodyBytes: 1 });
      expect(bodiesOf(await opened.sent())).toEqual([[1, 0, true]]);
    });

    test('waits for the window of the connection, in the order of waiting', async () => {
      const opened = openConnection({ greeting: settings({ initialWindowSize: 1_000_000 }) });
      opened.request({ bodyBytes: 65_000 });
      for (const _ of [1, 2]) opened.request({ bodyBytes: 1_000 });
      const first = bodiesOf(await opened.sent());
      expect(first.at(-1)).toEqual([3, 535, false]);
      expect(opened.connection.sendWindowBytes()).toBe(0);
      opened.receive(windowUpdate(0, 400));
      expect(bodiesOf(await opened.sent())).toEqual([[3, 400, false]]);
      opened.receive(windowUpdate(3, 400));
      expect(bodiesOf(await opened.sent())).toEqual([]);
      opened.receive(windowUpdate(0, 5_000));
      expect(bodiesOf(await opened.sent())).toEqual([
        [3, 65, true],
        [5, 1_000, true],
      ]);
      expect(opened.connection.sendWindowBytes()).toBe(3_935);
    });

    test('follows changes of SETTINGS to the windows of open streams, even below zero (RFC 9113 §6.9.2)', async () => {
      const opened = openConnection({ greeting: settings({ initialWindowSize: 100 }) });
      for (const _ of [1, 2]) opened.request({ bodyBytes: 150 });
      expect(bodiesOf(await opened.sent())).toEqual([
        [1, 100, false],
        [3, 100, false],
      ]);
      opened.receive(settings({ initialWindowSize: 40 }));
      opened.receive(windowUpdate(1, 60));
      expect(bodiesOf(await opened.sent())).toEqual([]);
      opened.receive(windowUpdate(1, 10));
      expect(bodiesOf(await opened.sent())).toEqual([[1, 10, false]]);
      opened.receive(settings({ initialWindowSize: 120 }));
      expect(bodiesOf(await opened.sent())).toEqual([
        [1, 40, true],
        [3, 20, false],
      ]);
    });

    test('is not sent after its stream has ended', async () => {
      const opened = openConnection({ greeting: settings({ initialWindowSize: 0 }) });
      for (const _ of [1, 2]) opened.request();
      opened.receive(statusFrame(1, 413, flags.endStream));
      await opened.sent();
      opened.receive(settings({ initialWindowSize: 100 }));
      expect(bodiesOf(await opened.sent())).toEqual([[3, 2, true]]);
      expect(opened.told).toEqual([[1, { kind: 'answer', status: 413, headers: {}, body: '' }]]);
    });
  });

  describe('the windows of the peer', () => {
    test('are restored for a stream once 64 KiB of it are used, including padding', async () => {
      const opened = openConnection();
      opened.request();
      await opened.sent();
      opened.receive(statusFrame(1, 200));
      for (let piece = 0; piece < 4; piece += 1) opened.receive(dataFrame(1, Buffer.alloc(16_384)));
      expect(updatesOf(await opened.sent())).toEqual([]);
      opened.receive(dataFrame(1, ''), dataFrame(1, '\0', flags.padded));
      expect(updatesOf(await opened.sent())).toEqual([[1, 65_537]]);
      opened.receive(dataFrame(1, '12'));
      expect(updatesOf(await opened.sent())).toEqual([]);
    });

    test('are restored for the connection once 2 MiB of it are used, including by closed streams', async () => {
      const opened = openConnection();
      opened.request({ reads: 'failures' });
      opened.receive(statusFrame(1, 200, flags.endStream));
      await opened.sent();
      for (let piece = 0; piece < 128; piece += 1) opened.receive(dataFrame(1, Buffer.alloc(16_384)));
      expect(updatesOf(await opened.sent())).toEqual([]);
      opened.receive(dataFrame(1, 'x'));
      expect(updatesOf(await opened.sent())).toEqual([[0, 2 * 1024 * 1024 + 1]]);
      opened.receive(dataFrame(1, 'x'));
      expect(updatesOf(await opened.sent())).toEqual([]);
    });
  });

  describe('PING', () => {
    test('is returned unchanged to the peer (RFC 9113 §6.7)', async () => {
      const opened = openConnection();
      await opened.sent();
      const payload = Buffer.from('12345678');
      opened.receive(frame(types.ping, { payload }));
      expect(await opened.sent()).toEqual([{ type: types.ping, flags: flags.ack, stream: 0, payload }]);
    });

    test('marks the connection as silent until the answer if it was sent by the client', async () => {
      const opened = openConnection();
      await opened.sent();
      expect(opened.connection.isSilent()).toBe(false);
      opened.connection.ping();
      expect(await opened.sent()).toEqual([{ type: types.ping, flags: 0, stream: 0, payload: Buffer.alloc(8) }]);
      opened.receive(frame(types.ping, { payload: Buffer.alloc(8) }));
      expect(opened.connection.isSilent()).toBe(true);
      await opened.sent();
      opened.receive(frame(types.ping, { flags: flags.ack, payload: Buffer.alloc(8) }));
      expect(opened.connection.isSilent()).toBe(false);
      expect(await opened.sent()).toEqual([]);
    });
  });

  describe('GOAWAY', () => {
    test('reports streams above its number as unsent, and completes the streams below (RFC 9113 §6.8)', () => {
      const opened = openConnection();
      for (const _ of [1, 2, 3]) opened.request();
      const { space } = opened.events;
      // The first bit is reserved.
      opened.receive(
        frame(types.goaway, { payload: Buffer.concat([uint32(2 ** 31 + 3), uint32(0), Buffer.from('bye')]) }),
      );
      expect(opened.told).toEqual([[3, unsent('the peer goes away')]]);
      expect([opened.connection.isLeaving(), opened.connection.openStreams(), opened.events.space]).toEqual([
        true,
        2,
        space + 1,
      ]);
      opened.receive(statusFrame(1, 200, flags.endStream), statusFrame(3, 200, flags.endStream));
      expect(opened.told.slice(1)).toEqual([
        [1, ok],
        [2, ok],
      ]);
    });

    test('is sent immediately if the client leaves', async () => {
      const opened = openConnection();
      await opened.sent();
      opened.connection.leave();
      expect(goawayOf(await opened.sent())).toBe(0);
      expect(opened.events.broken).toEqual([]);
    });
  });

  describe('a request that takes too long', () => {
    test('is cancelled at its deadline, the oldest first, without affecting others', async () => {
      const opened = openConnection();
      for (const deadline of [10, 20, 30]) opened.request({ deadline });
      await opened.sent();
      const { space } = opened.events;
      opened.connection.expire(9);
      expect([opened.told, opened.events.space]).toEqual([[], space]);
      opened.connection.expire(20);
      const timeout = { kind: 'failure', certainty: 'unknown', reason: 'timeout', detail: 'no answer in time' };
      expect(opened.told).toEqual([
        [1, timeout],
        [2, timeout],
      ]);
      expect(opened.events).toMatchObject({ timedOut: 2, space: space + 1 });
      expect(await opened.sent()).toEqual(
        [1, 3].map((stream) => ({ type: types.reset, flags: 0, stream, payload: uint32(8) })),
      );
      opened.receive(statusFrame(5, 200, flags.endStream));
      opened.connection.expire(1_000);
      expect(opened.events.timedOut).toBe(2);
      opened.request({ deadline: 40 });
      opened.connection.expire(40);
      expect(opened.told.at(-1)).toEqual([4, timeout]);
    });
  });

  describe('the end of the socket', () => {
    test('reports written requests as lost and unwritten ones as unsent, and keeps a decisive status', async () => {
      const opened = openConnection();
      opened.request();
      opened.request();
      await opened.sent();
      opened.receive(statusFrame(3, 200));
      opened.request();
      const { space } = opened.events;
      opened.connection.end('it broke');
      expect(opened.told).toEqual([
        [1, lost('it broke')],
        [2, ok],
        [3, unsent('it broke')],
      ]);
      expect([opened.connection.openStreams(), opened.connection.isLeaving()]).toEqual([0, true]);
      expect(opened.events.space).toBe(space + 1);
    });
  });

  test('reports free space once for frames that arrived together', () => {
    const opened = openConnection();
    for (const _ of [1, 2, 3]) opened.request();
    const { space } = opened.events;
    opened.receive(...[1, 3, 5].map((stream) => statusFrame(stream, 200, flags.endStream)));
    expect(opened.events.space).toBe(space + 1);
    opened.receive(frame(types.ping, { payload: Buffer.alloc(8) }));
    expect(opened.events.space).toBe(space + 1);
    opened.receive(windowUpdate(0, 1));
    expect(opened.events.space).toBe(space + 2);
  });

  test('parses frames at any boundaries of the received pieces', () => {
    const bytes = Buffer.concat([
      settings({ maxConcurrentStreams: 7 }),
      frame(types.ping, { payload: Buffer.alloc(8) }),
      statusFrame(1, 404),
      dataFrame(1, 'x'.repeat(300)),
      dataFrame(1, 'y', flags.endStream),
    ]);
    for (let size = 1; size < bytes.length; size += 1) {
      const opened = openConnection();
      opened.request();
      for (let place = 0; place < bytes.length; place += size) opened.receive(bytes.subarray(place, place + size));
      expect(opened.told).toEqual([[1, { kind: 'answer', status: 404, headers: {}, body: `${'x'.repeat(300)}y` }]]);
      expect(opened.connection.streamLimit()).toBe(7);
    }
  });
});
