import { expect, test } from 'vitest';
import { makeHttp2Transport } from '../../../../src/providers/http2/transport.ts';
import { makeLog } from '../../../../src/log.ts';
import { http2Clients } from '../delivery-bundle.ts';
import { settings, startHostileServer } from './hostile-http2-server.ts';
import { sendByLane } from './send-by-lane.ts';
import { ways } from './settle-requests.ts';

const count = 3_000;

test.each(ways.flatMap((way) => http2Clients.map((client) => ({ way, client }))))(
  'thousands that cannot be written are each called unsent, for what they are ($way, $client)',
  async ({ way, client }) => {
    const server = await startHostileServer((peer) => peer.write(settings()));
    const log = makeLog({ level: 'silent', pretty: false });
    const transport = makeHttp2Transport({ log, allowedNetworks: [], client });
    const target = { key: 'one', origin: server.origin, isGuarded: false };
    const request = { path: '/x', headers: { 'x-number': 'a\nb: c' }, body: Buffer.from('x') };
    const requests = Array.from({ length: count }, () => request);
    try {
      const answers = await (way === 'promises'
        ? Promise.all(requests.map((each) => transport.request(target, each)))
        : sendByLane(transport, { target, reads: 'all', requests }));
      expect(answers).toHaveLength(count);
      for (const answer of answers) {
        expect(answer).toMatchObject({ kind: 'failure', certainty: 'unsent', reason: 'refused' });
        if (answer.kind === 'failure') expect(answer.detail).toMatch(/header/i);
      }
      expect(server.receipts()).toEqual([]);
    } finally {
      await transport.close();
      await server.stop();
    }
  },
);
