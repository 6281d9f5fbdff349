import { once } from 'node:events';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { makeManualClock } from '../../src/clock.ts';
import { buildServer } from '../../src/http/server/build-server.ts';
import { makeCloseServer } from '../../src/http/server/close-server.ts';
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
  const closeServer = makeCloseServer(server);
  await server.listen({ port: 0, host: '127.0.0.1' });
  const { port } = server.server.address() as AddressInfo;
  return { server, closeServer, port, answer, asked: asked.promise };
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

test('completes open requests before the server closes', async () => {
  const { closeServer, port, answer, asked } = await listen();
  const { heard } = await say(port, 'GET /slow HTTP/1.1\r\nHost: a\r\n\r\n');
  await asked;
  const closed = closeServer.close({ maxMilliseconds: 60_000 });
  answer.resolve('at last');
  await closed;
  expect(await heard).toContain('at last');
});

test.each([
  ['half a head', 'GET /slow HTTP/1.1\r\nHost: a\r\n'],
  ['half a body', 'POST /slow HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{'],
  ['a request that is never answered', 'GET /slow HTTP/1.1\r\nHost: a\r\n\r\n'],
])('closes after the limit despite %s', async (_what, words) => {
  const { server, closeServer, port } = await listen();
  const connected = once(server.server, 'connection') as Promise<[Socket]>;
  const { heard } = await say(port, words);
  const [socket] = await connected;
  while (socket.bytesRead < words.length) await setImmediate();
  await closeServer.close({ maxMilliseconds: 50 });
  expect(await heard).toBe('');
});

test('does not wait for a connection without a request', async () => {
  const { server, closeServer, port } = await listen();
  const silent = connect(port, '127.0.0.1').resume();
  silent.on('error', () => {});
  await once(server.server, 'connection');
  await closeServer.close({ maxMilliseconds: 3_600_000 });
});

test.each(['keep-alive', 'close'])(
  'does not wait for a connection whose request was completed during the close (Connection: %s)',
  async (kept) => {
    const { closeServer, port, answer, asked } = await listen();
    const { heard } = await say(port, `GET /slow HTTP/1.1\r\nHost: a\r\nConnection: ${kept}\r\n\r\n`);
    await asked;
    const closed = closeServer.close({ maxMilliseconds: 3_600_000 });
    for (let turn = 0; turn < 100; turn += 1) await setImmediate();
    answer.resolve('at last');
    await closed;
    expect(await heard).toMatch(/Connection: close.*at last/is);
  },
);

test('completes two pipelined requests during the close', async () => {
  const { closeServer, port, answer, asked } = await listen();
  const request = 'GET /slow HTTP/1.1\r\nHost: a\r\n\r\n';
  const { heard } = await say(port, request + request);
  await asked;
  const closed = closeServer.close({ maxMilliseconds: 3_600_000 });
  for (let turn = 0; turn < 100; turn += 1) await setImmediate();
  answer.resolve('at last');
  await closed;
  expect((await heard).match(/at last/g)).toHaveLength(2);
});

test('serves clients that had connected when the stop began, including unaccepted connections', async () => {
  const { closeServer, port, answer } = await listen();
  answer.resolve('in time');
  const callers = Array.from({ length: 20 }, () => say(port, 'GET /slow HTTP/1.1\r\nHost: a\r\n\r\n'));
  // Now the kernel has let them in, and this process has not looked for them.
  await new Promise((resolve) => process.nextTick(resolve));
  await closeServer.close({ maxMilliseconds: 3_600_000 });
  for (const { heard } of await Promise.all(callers)) expect(await heard).toMatch(/Connection: close.*in time/is);
});

test('serves a client that connected before the stop and sends shortly after the port was closed', async () => {
  const { server, closeServer, port, answer } = await listen();
  answer.resolve('in time');
  const caller = connect(port, '127.0.0.1').setEncoding('latin1');
  await once(server.server, 'connection');
  const closed = closeServer.close({ maxMilliseconds: 3_600_000 });
  while (server.server.listening) await setImmediate();
  caller.write('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n');
  const [heard] = (await once(caller, 'data')) as [string];
  expect(heard).toMatch(/^HTTP\/1.1 200 .*Connection: close.*in time/is);
  await closed;
});

test('can end keep-alive connections before it stops, and keeps serving', async () => {
  const { server, closeServer, port, answer, asked } = await listen();
  const request = 'GET /slow HTTP/1.1\r\nHost: a\r\n\r\n';
  const { heard } = await say(port, request);
  await asked;
  closeServer.endConnections();
  answer.resolve('in time');
  expect(await heard).toMatch(/Connection: close.*in time/is);
  expect(await (await say(port, request)).heard).toMatch(/Connection: close.*in time/is);
  expect(server.server.listening).toBe(true);
  await closeServer.close({ maxMilliseconds: 3_600_000 });
});
