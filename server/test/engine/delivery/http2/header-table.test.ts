import { createServer } from 'node:http2';
import type { IncomingHttpHeaders } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { makeHttp2Transport } from '../../../../src/providers/http2/transport.ts';
import { makeLog } from '../../../../src/log.ts';

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
