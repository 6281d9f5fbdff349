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

test('what was asked is answered before the server is closed', async () => {
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
])('%s holds the close no longer than its limit', async (_what, words) => {
  const { server, closeServer, port } = await listen();
  const connected = once(server.server, 'connection') as Promise<[Socket]>;
  const { heard } = await say(port, words);
  const [socket] = await connected;
  while (socket.bytesRead < words.length) await setImmediate();
  await closeServer.close({ maxMilliseconds: 50 });
  expect(await heard).toBe('');
});

test('a connection on which nothing was said does not hold the close', async () => {
  const { server, closeServer, port } = await listen();
  const silent = connect(port, '127.0.0.1').resume();
  silent.on('error', () => {});
  await once(server.server, 'connection');
  await closeServer.close({ maxMilliseconds: 3_600_000 });
});

test.each(['keep-alive', 'close'])(
  'nor does one whose request was answered during it (Connection: %s)',
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

test('two requests that were sent one behind the other are both answered during it', async () => {
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

test('whoever had connected when the stop began is answered, also those that were not accepted yet', async () => {
  const { closeServer, port, answer } = await listen();
  answer.resolve('in time');
  const callers = Array.from({ length: 20 }, () => say(port, 'GET /slow HTTP/1.1\r\nHost: a\r\n\r\n'));
  // Now the kernel has let them in, and this process has not looked for them.
  await new Promise((resolve) => process.nextTick(resolve));
  await closeServer.close({ maxMilliseconds: 3_600_000 });
  for (const { heard } of await Promise.all(callers)) expect(await heard).toMatch(/Connection: close.*in time/is);
});

test('one that connected before the stop and asks a moment after the port was given up is answered', async () => {
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

test('before it stops it can tell whoever keeps connections to open them elsewhere, and goes on answering', async () => {
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
