import { expect, test } from 'vitest';
import { makeHttp2Transport } from '../../../../src/providers/http2/transport.ts';
import { makeLog } from '../../../../src/log.ts';
import { settings, startHostileServer, windowUpdate } from './hostile-http2-server.ts';

// More than the system holds of one connection, less than what is given up as unread.
const bodyBytes = 14 * 1024 * 1024;
const unlimited = 2 ** 31 - 1;

test('a peer that ends its side and reads nothing more gets no further request: the open one is over, the next goes elsewhere', async () => {
  const server = await startHostileServer((peer) => {
    peer.onRequest = (stream) => peer.answer(stream);
    peer.write(settings({ initialWindowSize: unlimited }), windowUpdate(0, unlimited - 65_535));
    if (peer.number > 1) return;
    peer.onHeaders = () => {
      peer.socket.pause();
      peer.socket.end();
    };
  });
  const transport = makeHttp2Transport({
    log: makeLog({ level: 'silent', pretty: false }),
    allowedNetworks: [],
    requestMilliseconds: 2_000,
  });
  const target = { key: 'ended', origin: 'https://ended.test', connectTo: server.origin, isGuarded: false };
  const send = (bytes: number) =>
    transport.request(target, {
      path: '/3/device/x',
      headers: { 'content-type': 'text/plain' },
      body: Buffer.alloc(bytes, 'x'),
    });
  try {
    expect(await send(bodyBytes)).toMatchObject({ kind: 'failure', certainty: 'unknown', reason: 'reset' });
    expect(await send(10)).toMatchObject({ kind: 'answer', status: 200 });
    expect(server.peers.map(({ receipts }) => receipts.length)).toEqual([0, 1]);
  } finally {
    await transport.close();
    await server.stop();
  }
});
