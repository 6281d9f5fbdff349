import { createServer } from 'node:http2';
import type { ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { makeHttp2Transport } from '../../../../src/providers/http2/transport.ts';
import { makeLog } from '../../../../src/log.ts';
import { flags, frame, settings, statusField, types, windowUpdate } from './hostile-http2-server.ts';
import { settleRequests } from './settle-requests.ts';

const codes = { protocol: 1, flowControl: 3, frameSize: 6, compression: 9 } as const;
const maxWindow = 2 ** 31 - 1;
type Broken = [what: string, code: number, frames: (stream: number) => Buffer[]];

describe('a peer that breaks the connection is told the code of the RFC', () => {
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
    ['PING on a stream (§6.7)', codes.protocol, (stream) => [frame(types.ping, { stream, payload: Buffer.alloc(8) })]],
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
  test.each(rows)('%s', async (_what, code, frames) => {
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

describe('a peer that breaks a stream is told the code of the RFC, and the connection goes on', () => {
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
  test.each(rows)('%s', async (_what, code, frames) => {
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
  });
});

test('a table that is emptied and grows again between two requests is announced with both sizes (RFC 7541 §4.2)', async () => {
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
