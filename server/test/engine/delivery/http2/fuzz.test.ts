import { createServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeLog } from '../../../../src/log.ts';
import { makeHttp2Transport } from '../../../../src/providers/http2/transport.ts';
import { propertyRuns } from '../../../property-runs.ts';
import { listen } from '../../outgoing-http/proxy-bundle.ts';
import { makeCertificate } from '../make-certificate.ts';
import {
  codes,
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
import { settleRequestsOfAll, ways } from './settle-requests.ts';

/** One thing that the server does; the stream is the one of the request at hand. */
type Act = { what: string; act: (peer: Peer, stream: number) => void };
type Script = { isGreeting: boolean; onConnect: Act[]; onHeaders: Act[][]; onRequest: Act[][] };

describe('hostile HTTP/2', () => {
  // A seed takes all its servers: fewer would not end in every way a request can.
  const seeds = process.env.FULL === '1' ? [1, 7540, 9113, 20_261_121] : [1];
  const serversPerSeed = 150;
  const serversAtOnce = 25;

  const named = (what: string, act: Act['act']): Act => ({ what, act });
  const bytes = (most: number) => fc.uint8Array({ maxLength: most }).map((array) => Buffer.from(array));
  const number31 = fc.oneof(fc.nat(20), fc.nat(70_000), fc.nat(2 ** 31 - 1));
  /** Which stream a frame names: mostly that of the request, else one beside it, none, or any. */
  const streamShift = fc.oneof(
    { weight: 5, arbitrary: fc.constant((own: number) => own) },
    { weight: 2, arbitrary: fc.constantFrom(-2, -1, 1, 2, 100).map((by) => (own: number) => Math.max(0, own + by)) },
    { weight: 1, arbitrary: fc.constant(() => 0) },
    { weight: 1, arbitrary: fc.nat(2 ** 31 - 1).map((any) => () => any) },
  );

  const fields = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(200, 201, 400, 410, 429, 503).map(statusField) },
    {
      weight: 3,
      arbitrary: fc
        .tuple(fc.string({ maxLength: 12 }), fc.string({ maxLength: 60 }))
        .map(([name, value]) => literal(name, value)),
    },
    { weight: 1, arbitrary: fc.constantFrom(100, 103, 101, 0, 99999).map(statusField) },
    { weight: 2, arbitrary: bytes(30) },
  );

  const goodAct: fc.Arbitrary<Act> = fc.oneof(
    fc
      .record({ status: fc.constantFrom(200, 410, 503), body: fc.string({ maxLength: 200 }) })
      .map((answer) => named(`answer ${answer.status}`, (peer, stream) => peer.answer(stream, answer))),
    fc
      .constantFrom(...Object.values(codes))
      .map((code) => named(`reset ${code}`, (peer, stream) => peer.reset(stream, code))),
    fc
      .tuple(fc.integer({ min: -4, max: 4 }), fc.constantFrom(codes.noError, codes.noError, codes.calm))
      .map(([by, code]) =>
        named(`goaway ${by} ${code}`, (peer, stream) => peer.goaway(Math.max(0, stream + by), code)),
      ),
    fc
      .record(
        {
          maxConcurrentStreams: fc.constantFrom(0, 1, 2, 100),
          initialWindowSize: fc.constantFrom(0, 1, 5, 65_535, 2 ** 31 - 1),
          headerTableSize: fc.constantFrom(0, 100, 4096, 65_536),
        },
        { requiredKeys: [] },
      )
      .map((values) => named(`settings ${JSON.stringify(values)}`, (peer) => peer.write(settings(values)))),
    fc
      .tuple(streamShift, number31)
      .map(([shift, more]) => named(`window ${more}`, (peer, stream) => peer.write(windowUpdate(shift(stream), more)))),
    fc.constant(named('ping', (peer) => peer.write(frame(types.ping, { payload: Buffer.alloc(8, 3) })))),
  );

  const badAct: fc.Arbitrary<Act> = fc.oneof(
    fc
      .record({ type: fc.nat(12), flags: fc.nat(255), shift: streamShift, payload: bytes(60) })
      .map(({ type, flags, shift, payload }) =>
        named(`frame ${type} ${flags} ${payload.toString('hex')}`, (peer, stream) =>
          peer.write(frame(type, { flags, stream: shift(stream), payload })),
        ),
      ),
    fc
      .record({ type: fc.nat(9), flags: fc.nat(255), length: fc.nat(2 ** 24 - 1), payload: bytes(40) })
      .map(({ type, flags, length, payload }) =>
        named(`lying frame ${type} ${flags} ${length}`, (peer, stream) =>
          peer.write(frameHead({ type, flags, length, stream }), payload),
        ),
      ),
    fc
      .record({
        flags: fc.constantFrom(0, 1, 4, 5, 8, 12, 13, 44),
        shift: streamShift,
        block: fc.array(fields, { maxLength: 5 }),
      })
      .map(({ flags, shift, block }) =>
        named(`headers ${flags} ${Buffer.concat(block).toString('hex')}`, (peer, stream) =>
          peer.write(frame(types.headers, { flags, stream: shift(stream), payload: Buffer.concat(block) })),
        ),
      ),
    fc
      .record({ flags: fc.constantFrom(0, 1, 8, 9), shift: streamShift, payload: bytes(100) })
      .map(({ flags, shift, payload }) =>
        named(`data ${flags} ${payload.length}`, (peer, stream) =>
          peer.write(frame(types.data, { flags, stream: shift(stream), payload })),
        ),
      ),
    fc
      .tuple(streamShift, number31)
      .map(([shift, code]) =>
        named(`stray reset ${code}`, (peer, stream) =>
          peer.write(frame(types.reset, { stream: shift(stream) || 1, payload: uint32(code) })),
        ),
      ),
    bytes(100).map((noise) => named(`noise ${noise.toString('hex')}`, (peer) => peer.write(noise))),
    fc.constant(named('end', (peer) => peer.socket.end())),
    fc.constant(named('destroy', (peer) => peer.socket.destroy())),
    fc.constant(named('nothing', () => {})),
  );

  const acts = fc.array(fc.oneof({ weight: 3, arbitrary: goodAct }, { weight: 1, arbitrary: badAct }), {
    maxLength: 4,
  });

  /** What a server does when it is connected to, at the headers of a request, and at its end, in turn. */
  const script = fc.record({
    isGreeting: fc.nat(9).map((number) => number > 0),
    onConnect: acts,
    onHeaders: fc.array(acts, { maxLength: 3 }),
    onRequest: fc.array(acts, { minLength: 1, maxLength: 4 }),
  });

  test.each(seeds)(
    'settles every request and delivers none twice, whatever the server sends, and leaves nothing behind (seed %d)',
    async (seed) => {
      const scripts = fc.sample(script, { seed, numRuns: serversPerSeed });
      const kinds: Record<string, number> = {};
      for (let at = 0; at < scripts.length; at += serversAtOnce) {
        const some = scripts.slice(at, at + serversAtOnce);
        const all = await settleRequestsOfAll(
          some.map((one, number) => ({
            behave: follow(one),
            way: ways[number % ways.length]!,
            name: JSON.stringify(one, undefined, 1),
            requests: 4,
            connectMilliseconds: 400,
            requestMilliseconds: 400,
          })),
        );
        for (const { answers } of all) {
          for (const answer of answers) {
            const kind = answer.kind === 'answer' ? 'answer' : answer.reason;
            kinds[kind] = (kinds[kind] ?? 0) + 1;
          }
        }
      }
      // The scripts reach every way a request can end, or they would prove little.
      expect(Object.keys(kinds).sort()).toEqual(['answer', 'refused', 'reset', 'timeout', 'unreachable']);
    },
    120_000,
  );
});

describe('hostile HTTP/1.1', () => {
  const certificate = makeCertificate();
  const before = getCACertificates('default');
  beforeAll(() => setDefaultCACertificates([...before, certificate.cert]));
  afterAll(() => setDefaultCACertificates(before));

  const piece = fc.oneof(
    fc.constantFrom(
      ...['HTTP/1.1 201 Created\r\n', 'HTTP/1.0 200 OK\r\n', 'HTTP/1.1 500 No\r\n', 'HTTP/1.1 204 None\r\n'],
      ...['HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 103 Hints\r\n\r\n', 'HTTP/1.1 101 Switch\r\nUpgrade: x\r\n\r\n'],
      ...['Content-Length: 0\r\n', 'Content-Length: 5\r\n', 'Content-Length: 70000\r\n', 'Content-Length: -1\r\n'],
      ...['Transfer-Encoding: chunked\r\n', 'Connection: close\r\n', 'Connection: keep-alive\r\n'],
      ...['Keep-Alive: timeout=0\r\n', 'Keep-Alive: timeout=5\r\n', '__proto__: x\r\n', 'X-A: b\r\n X: folded\r\n'],
      ...['\r\n', '\r\n', '\r\n', '5\r\nhello\r\n', '0\r\n\r\n', 'ffffffffff\r\n', 'hello', 'y'.repeat(70_000)],
    ),
    fc.string({ maxLength: 20 }),
  );
  const conversation = fc.record({
    pieces: fc.array(piece, { maxLength: 8 }),
    end: fc.constantFrom('stay', 'end', 'destroy'),
  });

  test('settles every request once, whatever the server responds, and gives no later request a piece of the response', async () => {
    let hostile: { pieces: string[]; end: string };
    const sockets = new Set<TLSSocket>();
    const server = createServer(certificate, (socket) => {
      sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)));
      socket.on('data', (bytes) => {
        const id = /^POST \/fine\/(\d+)/.exec(bytes.toString('latin1'))?.[1];
        if (id !== undefined) {
          socket.write(`HTTP/1.1 201 Created\r\nX-Id: ${id}\r\nContent-Length: 0\r\n\r\n`);
          return;
        }
        for (const each of hostile.pieces) socket.write(each);
        if (hostile.end === 'end') socket.end();
        if (hostile.end === 'destroy') socket.destroy();
      });
    });
    const origin = `https://localhost:${await listen(server)}`;
    const transport = makeHttp2Transport({
      log: makeLog({ level: 'silent', pretty: false }),
      allowedNetworks: ['127.0.0.0/8', '::1/128'],
      requestMilliseconds: 150,
    });
    const send = (path: string) =>
      transport.request(
        { key: 'k', origin, isGuarded: true, fallback: 'http/1.1' },
        { path, headers: {}, body: Buffer.from('x') },
      );
    let number = 0;
    try {
      await fc.assert(
        fc.asyncProperty(conversation, async (given) => {
          hostile = given;
          const answer = await send('/hostile');
          if (answer.kind === 'failure') expect(answer).toMatchObject({ certainty: 'unknown' });
          else expect(answer.headers['x-id']).toBeUndefined();
          number += 1;
          // The first may still wait for an answer of its connection that does not come.
          const later = await send(`/fine/${number}`);
          if (later.kind === 'answer') expect(later.headers['x-id']).toBe(`${number}`);
          expect(await send(`/fine/${number}`)).toMatchObject({ status: 201, headers: { 'x-id': `${number}` } });
        }),
        { numRuns: propertyRuns(200) },
      );
    } finally {
      await transport.close();
      for (const socket of sockets) socket.destroy();
      server.close();
    }
  });
});

function follow({ isGreeting, onConnect, onHeaders, onRequest }: Script): (peer: Peer) => void {
  const perform = (list: Act[], peer: Peer, stream: number): void => {
    for (const { act } of list) act(peer, stream);
  };
  return (peer) => {
    let headers = 0;
    let requests = 0;
    peer.onHeaders = (stream) => {
      if (onHeaders.length > 0) perform(onHeaders[(headers += 1) % onHeaders.length]!, peer, stream);
    };
    peer.onRequest = (stream) => perform(onRequest[(requests += 1) % onRequest.length]!, peer, stream);
    if (isGreeting) peer.write(settings());
    perform(onConnect, peer, 1);
  };
}
