import { once } from 'node:events';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { makeManualClock } from '../../src/clock.ts';
import { buildServer } from '../../src/http/build-server.ts';
import { closeServer } from '../../src/http/close-server.ts';
import { makeLog } from '../../src/log.ts';

async function listen() {
  const answer = Promise.withResolvers<string>();
  const asked = Promise.withResolvers<void>();
  const options = { log: makeLog({ level: 'silent', pretty: false }), clock: makeManualClock(new Date(0)) };
  const server = await buildServer({ ...options, trustProxy: false }, [
    async (scope) => {
      scope.get('/slow', async () => {
        asked.resolve();
        return answer.promise;
      });
    },
  ]);
  await server.listen({ port: 0, host: '127.0.0.1' });
  const { port } = server.server.address() as AddressInfo;
  return { server, port, answer, asked: asked.promise };
}

/** Says something, and reads until the connection ends. */
async function say(port: number, words: string): Promise<{ heard: Promise<string> }> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.setEncoding('latin1').on('data', (piece) => (text += piece));
  socket.on('error', () => {});
  await once(socket, 'connect');
  const heard = once(socket, 'close').then(() => text);
  await new Promise<void>((resolve) => socket.write(words, () => resolve()));
  return { heard };
}

test('what was asked is answered before the server is closed', async () => {
  const { server, port, answer, asked } = await listen();
  const { heard } = await say(port, 'GET /slow HTTP/1.1\r\nHost: a\r\n\r\n');
  await asked;
  const closed = closeServer(server, { maxMilliseconds: 60_000 });
  answer.resolve('at last');
  await closed;
  expect(await heard).toContain('at last');
});

test.each([
  ['half a head', 'GET /slow HTTP/1.1\r\nHost: a\r\n'],
  ['half a body', 'POST /slow HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{'],
  ['a request that is never answered', 'GET /slow HTTP/1.1\r\nHost: a\r\n\r\n'],
])('%s holds the close no longer than its limit', async (_what, words) => {
  const { server, port } = await listen();
  const connected = once(server.server, 'connection') as Promise<[Socket]>;
  const { heard } = await say(port, words);
  const [socket] = await connected;
  while (socket.bytesRead < words.length) await setImmediate();
  await closeServer(server, { maxMilliseconds: 50 });
  expect(await heard).toBe('');
});
