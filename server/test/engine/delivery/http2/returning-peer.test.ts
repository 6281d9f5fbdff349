import { once } from 'node:events';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { makeHttp2Transport } from '../../../../src/providers/http2/transport.ts';
import { makeLog } from '../../../../src/log.ts';
import { sendByLane } from './send-by-lane.ts';

const request = { path: '/', headers: { 'content-type': 'text/plain' }, body: Buffer.from('body') };

test.each(['promise', 'lane'])(
  'a peer that was away for three requests is connected to for the fourth (by a %s)',
  async (way) => {
    const server = createServer((_request, response) => response.end('here'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const target = { key: way, origin: `http://127.0.0.1:${port}`, isGuarded: false };
    const transport = makeHttp2Transport({ log: makeLog({ level: 'silent', pretty: false }), allowedNetworks: [] });
    const send = async () =>
      way === 'promise'
        ? transport.request(target, request)
        : (
            await sendByLane(transport, {
              target,
              reads: 'all',
              requests: [{ ...request, headers: { ...request.headers, 'x-number': '1' } }],
            })
          )[0];
    try {
      for (let time = 0; time < 3; time += 1)
        expect(await send()).toMatchObject({ reason: 'unreachable', detail: expect.stringContaining('ECONNREFUSED') });
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
      expect(await send()).toMatchObject({ kind: 'answer', status: 200 });
    } finally {
      await transport.close();
      await new Promise((resolve) => server.close(resolve));
    }
  },
);
