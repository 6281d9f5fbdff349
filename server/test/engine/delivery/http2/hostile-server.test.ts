import { describe, expect, test } from 'vitest';
import {
  codes,
  flags,
  frame,
  frameHead,
  literal,
  settings,
  statusField,
  types,
  uint32,
  windowUpdate,
} from './hostile-http2-server.ts';
import type { Peer } from './hostile-http2-server.ts';
import { settleRequests, settleRequestsOfAll, ways } from './settle-requests.ts';
import type { Answer, Given, Way } from './settle-requests.ts';

/**
 * `answered`: 200 for every request. `failed`: none has an answer. `noticed`: none has, and no time-out was needed to
 * see it. `settled`: either, because a lax reading does no harm.
 */
type Expected = 'answered' | 'failed' | 'noticed' | 'settled';
type Row = [what: string, expected: Expected, behave: Given['behave'], given?: Omit<Given, 'behave'>];

// Rows that wait for a limit have a short one; the others would notice a limit that they need not reach.
const short = { requestMilliseconds: 150, connectMilliseconds: 150 };
const bodyOf = 'the answer';
const head = (stream: number, fields: Buffer[], more = 0): Buffer =>
  frame(types.headers, { stream, flags: flags.endHeaders | more, payload: Buffer.concat(fields) });
const data = (stream: number, payload: string | Buffer, more = 0): Buffer =>
  frame(types.data, { stream, flags: more, payload: Buffer.from(payload) });
const padded = (payload: Buffer, padding: number, said = padding): Buffer =>
  Buffer.concat([Buffer.from([said]), payload, Buffer.alloc(padding)]);
const ok = [statusField(200)];

/** These frames first, SETTINGS being the first of all, then `each` for every request. */
const greet =
  (greeting: Buffer[], each: (peer: Peer, stream: number) => void = (peer, stream) => peer.answer(stream)) =>
  (peer: Peer): void => {
    peer.onRequest = (stream) => each(peer, stream);
    peer.write(...greeting);
  };
const perRequest = (each: (peer: Peer, stream: number) => void): Given['behave'] => greet([settings()], each);
/** These frames for every request, in place of an answer. */
const reply = (make: (stream: number) => Buffer[]): Given['behave'] =>
  perRequest((peer, stream) => peer.write(...make(stream)));
/** These frames, then a proper answer. */
const replyAfter = (make: (stream: number) => Buffer[]): Given['behave'] =>
  perRequest((peer, stream) => {
    peer.write(...make(stream));
    peer.answer(stream, { body: bodyOf });
  });
const onConnect =
  (...pieces: Buffer[]): Given['behave'] =>
  (peer) =>
    peer.write(...pieces);
const repeat = (count: number, piece: Buffer): Buffer[] => Array.from({ length: count }, () => piece);
const setting = (id: number, value: number): Buffer => {
  const payload = Buffer.alloc(6);
  payload.writeUInt16BE(id);
  payload.writeUInt32BE(value, 2);
  return frame(types.settings, { payload });
};
/** One HEADERS frame without END_HEADERS, to be continued. */
const opening = (stream: number, payload: Buffer): Buffer => frame(types.headers, { stream, payload });
const continuation = (stream: number, payload: Buffer, more = 0): Buffer =>
  frame(types.continuation, { stream, flags: more, payload });

const legalRows: Row[] = [
  ['an ordinary answer', 'answered', replyAfter(() => [])],
  [
    'frames of unknown types are ignored, on any stream (§4.1)',
    'answered',
    replyAfter((stream) => [
      frame(0x20, { stream, payload: Buffer.from('x') }),
      frame(0xfa, { payload: Buffer.alloc(100) }),
      frame(0x0a, { stream: 99, flags: 0xff, payload: Buffer.alloc(7) }),
    ]),
  ],
  ['unknown settings are ignored (§6.5.2)', 'answered', greet([settings(), setting(0x99, 15), setting(0xa0a, 0)])],
  [
    'unknown flags are ignored (§4.1)',
    'answered',
    reply((stream) => [head(stream, ok, 0xd2 & ~0x28), data(stream, 'x', 0xf3 & ~0x08)]),
  ],
  [
    'the reserved bit is ignored (§4.1)',
    'answered',
    reply((stream) => [head((stream | 0x80000000) >>> 0, ok, flags.endStream)]),
  ],
  [
    'PRIORITY is ignored, on idle streams as well (§5.3.2)',
    'answered',
    replyAfter((stream) =>
      [1, 2, 77, stream].map((any) => frame(types.priority, { stream: any, payload: Buffer.alloc(5, 1) })),
    ),
  ],
  [
    'HEADERS with a priority in it (§6.2)',
    'answered',
    reply((stream) => [
      frame(types.headers, {
        stream,
        flags: flags.endHeaders | flags.endStream | flags.priority,
        payload: Buffer.concat([uint32(0), Buffer.from([15]), ...ok]),
      }),
    ]),
  ],
  [
    'padded HEADERS and DATA (§6.1, §6.2)',
    'answered',
    reply((stream) => [
      frame(types.headers, { stream, flags: flags.endHeaders | flags.padded, payload: padded(statusField(200), 255) }),
      frame(types.data, { stream, flags: flags.padded, payload: padded(Buffer.from('the '), 200) }),
      frame(types.data, { stream, flags: flags.padded | flags.endStream, payload: padded(Buffer.from('answer'), 0) }),
    ]),
  ],
  [
    'a header block in seven pieces (§6.10)',
    'answered',
    reply((stream) => {
      const block = Buffer.concat([statusField(200), literal('apns-id', 'x'.repeat(200))]);
      const pieces = Array.from({ length: 7 }, (_, at) =>
        block.subarray(at * 30, at === 6 ? undefined : (at + 1) * 30),
      );
      return [
        opening(stream, pieces[0]!),
        ...pieces.slice(1).map((piece) => continuation(stream, piece)),
        continuation(stream, Buffer.alloc(0), flags.endHeaders),
        data(stream, bodyOf, flags.endStream),
      ];
    }),
  ],
  [
    'a body in pieces of one byte, with empty DATA between',
    'answered',
    reply((stream) => [
      head(stream, ok),
      ...[...bodyOf].flatMap((letter) => [data(stream, letter), data(stream, '')]),
      data(stream, '', flags.endStream),
    ]),
  ],
  [
    'interim answers come before the real one (§8.1)',
    'answered',
    replyAfter((stream) => [
      head(stream, [statusField(100)]),
      head(stream, [statusField(103), literal('link', '<x>')]),
    ]),
  ],
  [
    'trailers after the body (§8.1)',
    'answered',
    reply((stream) => [
      head(stream, ok),
      data(stream, bodyOf),
      head(stream, [literal('grpc-status', '0')], flags.endStream),
    ]),
  ],
  [
    'RST_STREAM with NO_ERROR after a whole answer (§8.1)',
    'answered',
    perRequest((peer, stream) => {
      peer.answer(stream, { body: bodyOf });
      peer.reset(stream, codes.noError);
    }),
  ],
  [
    'frames for a stream that ended a moment ago (§5.1)',
    'answered',
    perRequest((peer, stream) => {
      peer.answer(stream);
      peer.write(windowUpdate(stream, 10));
      peer.reset(stream, codes.cancel);
    }),
  ],
  [
    'a hundred SETTINGS and PINGs',
    'answered',
    greet([
      settings(),
      ...repeat(100, settings({ maxFrameSize: 20_000 })),
      ...repeat(100, frame(types.ping, { payload: Buffer.alloc(8, 7) })),
    ]),
  ],
  [
    'every frame in one write with what follows',
    'answered',
    perRequest((peer, stream) =>
      peer.write(
        head(stream, ok),
        data(stream, bodyOf),
        data(stream, '', flags.endStream),
        frame(types.ping, { payload: Buffer.alloc(8) }),
        settings({ headerTableSize: 0 }),
        settings({ headerTableSize: 4096 }),
      ),
    ),
  ],
  [
    'a header table of no size (RFC 7541 §4.2)',
    'answered',
    greet([settings({ headerTableSize: 0 })]),
    { requests: 10 },
  ],
  [
    'a header table that grows in flight',
    'answered',
    perRequest((peer, stream) => {
      peer.answer(stream);
      peer.write(settings({ headerTableSize: 65_536 }));
    }),
    { requests: 10 },
  ],
  [
    'a window that a body of 200 KB must wait for',
    'answered',
    (peer) => {
      peer.onFrame = ({ type, stream, payload }) => {
        if (type === types.data && payload.length > 0) peer.write(windowUpdate(stream, payload.length));
      };
      greet([settings()])(peer);
    },
    { requests: 2, bodyBytes: 200_000 },
  ],
];

// What breaks the whole connection must be noticed when it happens: RFC 9113 §5.4.1.
const brokenConnectionRows: Row[] = [
  ['HTTP/1.1', 'noticed', onConnect(Buffer.from('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n'))],
  ['noise', 'noticed', onConnect(Buffer.alloc(500, 0xff))],
  ['a TLS alert', 'noticed', onConnect(Buffer.from('15030100020250', 'hex'), Buffer.alloc(30, 0x15))],
  ['SETTINGS of five bytes (§6.5)', 'noticed', onConnect(frame(types.settings, { payload: Buffer.alloc(5) }))],
  ['SETTINGS on a stream (§6.5)', 'noticed', onConnect(frame(types.settings, { stream: 1 }))],
  [
    'an acknowledgement with a payload (§6.5)',
    'noticed',
    greet([settings()], (peer) => peer.write(frame(types.settings, { flags: flags.ack, payload: Buffer.alloc(6) }))),
  ],
  ['a window of 2^31 (§6.5.2)', 'noticed', greet([settings()], (peer) => peer.write(setting(4, 2 ** 31)))],
  ['frames of 100 bytes at most (§6.5.2)', 'noticed', greet([settings()], (peer) => peer.write(setting(5, 100)))],
  [
    'a frame that is longer than announced (§4.2)',
    'noticed',
    reply((stream) => [frameHead({ type: types.data, length: 2 ** 24 - 1, stream }), Buffer.alloc(20_000)]),
  ],
  ['PING of seven bytes (§6.7)', 'noticed', reply(() => [frame(types.ping, { payload: Buffer.alloc(7) })])],
  ['PING on a stream (§6.7)', 'noticed', reply((stream) => [frame(types.ping, { stream, payload: Buffer.alloc(8) })])],
  [
    'RST_STREAM of three bytes (§6.4)',
    'noticed',
    reply((stream) => [frame(types.reset, { stream, payload: Buffer.alloc(3) })]),
  ],
  ['RST_STREAM on stream 0 (§6.4)', 'noticed', reply(() => [frame(types.reset, { payload: uint32(2) })])],
  [
    'WINDOW_UPDATE of three bytes (§6.9)',
    'noticed',
    reply((stream) => [frame(types.window, { stream, payload: Buffer.alloc(3) })]),
  ],
  ['WINDOW_UPDATE of nothing for the connection (§6.9)', 'noticed', reply(() => [windowUpdate(0, 0)])],
  [
    'a window of the connection beyond 2^31 (§6.9.1)',
    'noticed',
    reply(() => [windowUpdate(0, 2 ** 31 - 1), windowUpdate(0, 2 ** 31 - 1)]),
  ],
  ['GOAWAY of four bytes (§6.8)', 'noticed', reply(() => [frame(types.goaway, { payload: Buffer.alloc(4) })])],
  [
    'GOAWAY on a stream (§6.8)',
    'noticed',
    reply((stream) => [frame(types.goaway, { stream, payload: Buffer.alloc(8) })]),
  ],
  ['DATA on stream 0 (§6.1)', 'noticed', reply(() => [data(0, 'x')])],
  ['DATA on an idle stream (§5.1)', 'noticed', reply((stream) => [data(stream + 100, 'x')])],
  ['HEADERS on stream 0 (§6.2)', 'noticed', reply(() => [head(0, ok)])],
  ['HEADERS on an idle stream (§5.1)', 'noticed', reply((stream) => [head(stream + 100, ok)])],
  ['HEADERS on a stream of even number (§5.1.1)', 'noticed', reply(() => [head(2, ok)])],
  [
    'RST_STREAM on an idle stream (§6.4)',
    'noticed',
    reply((stream) => [frame(types.reset, { stream: stream + 100, payload: uint32(2) })]),
  ],
  ['WINDOW_UPDATE on an idle stream (§5.1)', 'noticed', reply((stream) => [windowUpdate(stream + 100, 10)])],
  [
    'PUSH_PROMISE though push is off (§8.4)',
    'noticed',
    reply((stream) => [
      frame(types.push, { stream, flags: flags.endHeaders, payload: Buffer.concat([uint32(2), ...ok]) }),
    ]),
  ],
  [
    'CONTINUATION of nothing (§6.10)',
    'noticed',
    reply((stream) => [continuation(stream, statusField(200), flags.endHeaders)]),
  ],
  [
    'CONTINUATION of another stream (§6.10)',
    'noticed',
    reply((stream) => [opening(stream, statusField(200)), continuation(stream + 2, Buffer.alloc(0), flags.endHeaders)]),
  ],
  [
    'DATA within a header block (§6.10)',
    'noticed',
    reply((stream) => [opening(stream, statusField(200)), data(stream, 'x')]),
  ],
  [
    'PING within a header block (§6.10)',
    'noticed',
    reply((stream) => [opening(stream, statusField(200)), frame(types.ping, { payload: Buffer.alloc(8) })]),
  ],
  [
    'an unknown frame within a header block (§5.5)',
    'noticed',
    reply((stream) => [opening(stream, statusField(200)), frame(0x20, { stream })]),
  ],
  [
    'DATA with more padding than payload (§6.1)',
    'settled',
    reply((stream) => [
      head(stream, ok),
      frame(types.data, { stream, flags: flags.padded, payload: padded(Buffer.from('x'), 3, 9) }),
    ]),
  ],
  [
    'padded DATA of no bytes (§6.1)',
    'settled',
    reply((stream) => [head(stream, ok), frame(types.data, { stream, flags: flags.padded })]),
  ],
  [
    'HEADERS with more padding than payload (§6.2)',
    'noticed',
    reply((stream) => [
      frame(types.headers, {
        stream,
        flags: flags.endHeaders | flags.padded,
        payload: padded(statusField(200), 3, 200),
      }),
    ]),
  ],
  [
    'HEADERS with a priority cut short (§6.2)',
    'noticed',
    reply((stream) => [
      frame(types.headers, { stream, flags: flags.endHeaders | flags.priority, payload: Buffer.alloc(3) }),
    ]),
  ],
  ['a field of index 0 (RFC 7541 §6.1)', 'noticed', reply((stream) => [head(stream, [...ok, Buffer.from([0x80])])])],
  [
    'a field beyond both tables (RFC 7541 §2.3.3)',
    'noticed',
    reply((stream) => [head(stream, [...ok, Buffer.from([0xff, 0x80, 0x01])])]),
  ],
  [
    'a header table above the allowed size (RFC 7541 §6.3)',
    'noticed',
    reply((stream) => [head(stream, [Buffer.from([0x3f, 0xe1, 0xff, 0xff, 0x03]), ...ok])]),
  ],
  [
    'an integer without end (RFC 7541 §5.1)',
    'noticed',
    reply((stream) => [head(stream, [...ok, Buffer.concat([Buffer.from([0xff]), Buffer.alloc(40, 0xff)])])]),
  ],
  [
    'a field that is longer than its block (RFC 7541 §5.2)',
    'noticed',
    reply((stream) => [head(stream, [...ok, Buffer.from([0, 100, 120])])]),
  ],
  [
    'Huffman code that ends with EOS (RFC 7541 §5.2)',
    'noticed',
    reply((stream) => [head(stream, [...ok, Buffer.from([0, 1, 0x78, 0x84, 0xff, 0xff, 0xff, 0xff])])]),
  ],
  ['the connection closed at once', 'noticed', (peer) => peer.socket.destroy()],
  ['the connection reset at once', 'noticed', (peer) => peer.socket.resetAndDestroy()],
  ['the connection closed at the first request', 'noticed', perRequest((peer) => peer.socket.destroy())],
  ['the connection reset at the first request', 'noticed', perRequest((peer) => peer.socket.resetAndDestroy())],
  [
    'the connection ended at the first headers',
    'noticed',
    (peer) => {
      peer.onHeaders = () => peer.socket.end();
      peer.write(settings());
    },
  ],
  [
    'the connection closed within a frame',
    'noticed',
    perRequest((peer, stream) => {
      peer.write(head(stream, ok).subarray(0, 7));
      peer.socket.end();
    }),
  ],
];

const brokenStreamRows: Row[] = [
  ['RST_STREAM instead of an answer', 'noticed', perRequest((peer, stream) => peer.reset(stream, codes.internal))],
  [
    'RST_STREAM with NO_ERROR instead of an answer',
    'noticed',
    perRequest((peer, stream) => peer.reset(stream, codes.noError)),
  ],
  ['RST_STREAM with an unknown code', 'noticed', perRequest((peer, stream) => peer.reset(stream, 0xfffffff))],
  [
    'RST_STREAM at the headers',
    'noticed',
    (peer) => {
      peer.onHeaders = (stream) => peer.reset(stream, codes.internal);
      peer.write(settings());
    },
  ],
  ['WINDOW_UPDATE of nothing for a stream (§6.9)', 'noticed', reply((stream) => [windowUpdate(stream, 0)])],
  [
    'a window of a stream beyond 2^31 (§6.9.1)',
    'noticed',
    reply((stream) => [windowUpdate(stream, 2 ** 31 - 1), windowUpdate(stream, 2 ** 31 - 1)]),
  ],
  ['DATA before HEADERS (§8.1)', 'noticed', reply((stream) => [data(stream, 'x')])],
  [
    'no status (§8.3.2)',
    'noticed',
    reply((stream) => [head(stream, [literal('content-type', 'text/plain')], flags.endStream)]),
  ],
  ['no fields at all', 'noticed', reply((stream) => [head(stream, [], flags.endStream)])],
  [
    'a status that is a word',
    'noticed',
    reply((stream) => [head(stream, [literal(':status', 'fine')], flags.endStream)]),
  ],
  [
    'a status of four digits',
    'settled',
    reply((stream) => [head(stream, [literal(':status', '2000')], flags.endStream)]),
  ],
  ['two statuses', 'settled', reply((stream) => [head(stream, [...ok, literal(':status', '500')], flags.endStream)])],
  [
    'a status after other fields (§8.3)',
    'settled',
    reply((stream) => [head(stream, [literal('a', 'b'), ...ok], flags.endStream)]),
  ],
  [
    'a pseudo-field of requests',
    'settled',
    reply((stream) => [head(stream, [...ok, literal(':path', '/')], flags.endStream)]),
  ],
  [
    'a name in capitals (§8.2.1)',
    'settled',
    reply((stream) => [head(stream, [...ok, literal('Retry-After', '5')], flags.endStream)]),
  ],
  ['an empty name', 'settled', reply((stream) => [head(stream, [...ok, literal('', 'x')], flags.endStream)])],
  [
    'a line break and NUL in a value (§8.2.1)',
    'settled',
    reply((stream) => [head(stream, [...ok, literal('x', 'a\r\nb\0c')], flags.endStream)]),
  ],
  [
    'names that objects have by themselves',
    'settled',
    reply((stream) => [head(stream, [...ok, literal('__proto__', 'x'), literal('constructor', 'y')], flags.endStream)]),
  ],
  [
    'the same name a hundred times',
    'settled',
    reply((stream) => [head(stream, [...ok, ...repeat(100, literal('x', 'y'))], flags.endStream)]),
  ],
  [
    'fields of HTTP/1.1 (§8.2.2)',
    'settled',
    reply((stream) => [
      head(stream, [...ok, literal('connection', 'close'), literal('transfer-encoding', 'chunked')], flags.endStream),
    ]),
  ],
  [
    'a body shorter than its length (§8.1.1)',
    'settled',
    reply((stream) => [head(stream, [...ok, literal('content-length', '100')]), data(stream, 'x', flags.endStream)]),
  ],
  [
    'a body longer than its length (§8.1.1)',
    'settled',
    reply((stream) => [head(stream, [...ok, literal('content-length', '1')]), data(stream, 'xyz', flags.endStream)]),
  ],
  ['a switch of protocols (§8.6)', 'settled', reply((stream) => [head(stream, [statusField(101)], flags.endStream)])],
  [
    'an interim answer that ends the stream (§8.1)',
    'settled',
    reply((stream) => [head(stream, [statusField(103)], flags.endStream)]),
  ],
  [
    'trailers with a status',
    'settled',
    reply((stream) => [head(stream, ok), data(stream, 'x'), head(stream, [statusField(500)], flags.endStream)]),
  ],
  [
    'trailers that do not end the stream (§8.1)',
    'settled',
    reply((stream) => [head(stream, ok), data(stream, 'x'), head(stream, [literal('a', 'b')])]),
    short,
  ],
  [
    'DATA after the end (§5.1)',
    'settled',
    perRequest((peer, stream) => {
      peer.answer(stream);
      peer.write(data(stream, 'more'));
    }),
  ],
  [
    'HEADERS after the end (§5.1)',
    'settled',
    perRequest((peer, stream) => {
      peer.answer(stream);
      peer.write(head(stream, ok));
    }),
  ],
  [
    'PRIORITY of four bytes (§6.3)',
    'settled',
    replyAfter((stream) => [frame(types.priority, { stream, payload: Buffer.alloc(4) })]),
  ],
  [
    'PRIORITY on itself (§5.3.1)',
    'settled',
    replyAfter((stream) => [
      frame(types.priority, { stream, payload: Buffer.concat([uint32(stream), Buffer.from([1])]) }),
    ]),
  ],
  [
    'a body that is not UTF-8',
    'answered',
    reply((stream) => [head(stream, ok), data(stream, Buffer.from([0xff, 0xfe, 0xc3]), flags.endStream)]),
  ],
  ['push switched on by the server (§6.5.2)', 'settled', greet([settings(), setting(2, 1)])],
  [
    'no SETTINGS first, but PING (§3.4)',
    'settled',
    greet([frame(types.ping, { payload: Buffer.alloc(8) }), settings()]),
  ],
];

const withoutEnd = (peer: Peer, piece: () => Buffer): void => {
  const more = (): void => {
    while (peer.socket.writable) if (!peer.socket.write(piece())) return;
  };
  peer.socket.on('drain', more);
  more();
};
const floodRows: Row[] = [
  [
    'headers without end',
    'failed',
    perRequest((peer, stream) => {
      peer.write(opening(stream, statusField(200)));
      withoutEnd(peer, () => continuation(stream, literal('x', 'y'.repeat(16_000))));
    }),
    short,
  ],
  [
    'CONTINUATION without end and without content',
    'failed',
    perRequest((peer, stream) => {
      peer.write(opening(stream, statusField(200)));
      withoutEnd(peer, () => Buffer.concat(repeat(500, continuation(stream, Buffer.alloc(0)))));
    }),
    short,
  ],
  [
    'a field of 1 MB',
    'settled',
    reply((stream) => {
      const block = literal('x', 'y'.repeat(1_000_000));
      const pieces = Array.from({ length: Math.ceil(block.length / 16_384) }, (_, at) =>
        block.subarray(at * 16_384, (at + 1) * 16_384),
      );
      return [
        opening(stream, statusField(200)),
        ...pieces.map((piece) => continuation(stream, piece)),
        continuation(stream, Buffer.alloc(0), flags.endHeaders),
        data(stream, 'x', flags.endStream),
      ];
    }),
  ],
  [
    'a small block that unpacks to megabytes',
    'settled',
    reply((stream) => {
      // One entry in the dynamic table, named again and again (RFC 7541 §6.1): 4 KB each.
      const entry = Buffer.concat([Buffer.from([0x40]), literal('x', 'y'.repeat(3_900)).subarray(1)]);
      return [head(stream, [...ok, entry, Buffer.alloc(10_000, 0xbe)], flags.endStream)];
    }),
  ],
  [
    'a body without end within its window, byte by byte',
    'settled',
    perRequest((peer, stream) => {
      peer.write(head(stream, ok));
      withoutEnd(peer, () => data(stream, 'x'));
    }),
    short,
  ],
  [
    'a body of 8 MB that minds no window (§6.9)',
    'settled',
    reply((stream) => [
      head(stream, ok),
      ...repeat(512, data(stream, Buffer.alloc(16_384, 120))),
      data(stream, '', flags.endStream),
    ]),
  ],
  [
    'empty DATA without end',
    'settled',
    perRequest((peer, stream) => {
      peer.write(head(stream, ok));
      withoutEnd(peer, () => Buffer.concat(repeat(500, data(stream, ''))));
    }),
    short,
  ],
  [
    'PING without end',
    'settled',
    perRequest((peer) =>
      withoutEnd(peer, () => Buffer.concat(repeat(500, frame(types.ping, { payload: Buffer.alloc(8) })))),
    ),
    short,
  ],
  [
    'SETTINGS without end',
    'settled',
    perRequest((peer) => withoutEnd(peer, () => Buffer.concat(repeat(500, settings({ initialWindowSize: 1 }))))),
    short,
  ],
  [
    'unknown frames without end',
    'settled',
    perRequest((peer) => withoutEnd(peer, () => frame(0x77, { payload: Buffer.alloc(10_000) }))),
    short,
  ],
  [
    'interim answers without end',
    'settled',
    perRequest((peer, stream) => withoutEnd(peer, () => Buffer.concat(repeat(100, head(stream, [statusField(103)]))))),
    short,
  ],
  [
    'a storm of RST_STREAM',
    'settled',
    perRequest((peer, stream) => {
      for (let any = 1; any <= 2_000; any += 2)
        peer.write(frame(types.reset, { stream: any, payload: uint32(codes.internal) }));
      peer.reset(stream, codes.internal);
    }),
  ],
  [
    'a storm of REFUSED_STREAM',
    'failed',
    perRequest((peer, stream) => {
      for (let times = 0; times < 1_000; times += 1) peer.reset(stream, codes.refused);
    }),
  ],
];

const silentRows: Row[] = [
  ['nothing at all', 'failed', () => {}, short],
  ['nothing after SETTINGS', 'failed', greet([settings()], () => {}), short],
  [
    'nothing after SETTINGS, not even an acknowledgement',
    'failed',
    (peer) => {
      peer.isPolite = false;
      peer.write(settings());
    },
    short,
  ],
  ['half of SETTINGS', 'failed', onConnect(settings({ maxFrameSize: 20_000 }).subarray(0, 11)), short],
  ['half of a frame', 'failed', reply((stream) => [head(stream, ok).subarray(0, 5)]), short],
  ['headers, and no body', 'failed', reply((stream) => [head(stream, ok)]), short],
  ['a body that does not end', 'failed', reply((stream) => [head(stream, ok), data(stream, 'x')]), short],
  ['interim answers only', 'failed', reply((stream) => [head(stream, [statusField(100)])]), short],
  ['a window of 0 that stays', 'failed', greet([settings({ initialWindowSize: 0 })], () => {}), short],
  ['no stream allowed, ever', 'failed', greet([settings({ maxConcurrentStreams: 0 })], () => {}), short],
  [
    'a half-closed connection',
    'failed',
    (peer) => {
      peer.write(settings());
      peer.onHeaders = () => peer.socket.end();
    },
    short,
  ],
];

async function check([, expected, behave, given]: Row, way: Way): Promise<void> {
  const { answers } = await settleRequests({ behave, ...given, way });
  expectAll(answers, expected);
}

/** The same for many rows, side by side: most of their time is waiting. */
async function checkAll(rows: Row[], way: Way): Promise<void> {
  const settled = await settleRequestsOfAll(rows.map(([name, , behave, given]) => ({ behave, ...given, way, name })));
  for (const [number, { answers }] of settled.entries()) expectAll(answers, rows[number]![1], rows[number]![0]);
}

function expectAll(answers: Answer[], expected: Expected, name?: string): void {
  for (const answer of answers) {
    if (expected === 'answered') expect(answer, name).toMatchObject({ kind: 'answer', status: 200 });
    if (expected === 'failed' || expected === 'noticed') expect(answer, name).toMatchObject({ kind: 'failure' });
    if (expected === 'noticed') expect(answer, name).not.toMatchObject({ reason: 'timeout' });
  }
}

describe.each(ways)('a hostile server, by %s', (way) => {
  describe('frames that HTTP/2 allows', () => {
    test.each(legalRows)('are understood: %s', (...row) => check(row, way));
  });
  describe('a broken connection', () => {
    test.each(brokenConnectionRows)('is detected without waiting: %s', (...row) => check(row, way));
  });
  describe('a broken response', () => {
    test.each(brokenStreamRows)('settles its request: %s', (...row) => check(row, way));
  });
});

describe('a hostile server, by promises', () => {
  describe('a flood', () => {
    test.each(floodRows)('is ended: %s', (...row) => check(row, 'promises'));
  });
  describe('silence', () => {
    test.each(silentRows)('is ended: %s', (...row) => check(row, 'promises'));
  });
});

// Here it makes little difference how a request came to its stream.
describe('a hostile server, by lanes', () => {
  test('is disconnected after every kind of flood', () => checkAll(floodRows, 'lanes'));
  test('is disconnected after every kind of silence', () => checkAll(silentRows, 'lanes'));
});
