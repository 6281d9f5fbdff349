import { once } from 'node:events';
import { request } from 'node:https';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeManualClock } from '../../src/clock.ts';
import { buildServer } from '../../src/http/server/build-server.ts';
import { callerAddress } from '../../src/http/server/call-origin.ts';
import { makeLog } from '../../src/log.ts';
import { readConfig } from '../../src/start/config.ts';
import { findFreePort } from '../find-free-port.ts';
import { isProxyInstalled, proxiedHost, startReverseProxy } from './start-reverse-proxy.ts';
import type { ProxyName, ReverseProxy } from './start-reverse-proxy.ts';

const proxies: ProxyName[] = ['nginx', 'caddy'];
const missing = proxies.filter((name) => !isProxyInstalled(name));
if (missing.length > 0)
  process.stderr.write(`reverse-proxy.test.ts skips ${missing.join(', ')} (of Debian: the packages nginx, caddy)\n`);

/** The server of a node with what the page on proxies says, and routes that tell what reaches them. */
async function startServer(stream: PassThrough) {
  const { trustProxy } = readConfig({ environment: { CARILLON_TRUST_PROXY: '1' }, arguments: [] });
  const options = { log: makeLog({ level: 'silent', pretty: false }), clock: makeManualClock(new Date(0)) };
  const server = await buildServer({ ...options, trustProxy }, [
    async (scope) => {
      scope.get('/readyz', async () => ({ status: 'ok' }));
      scope.get('/caller', async (request) => ({ address: callerAddress(request), host: request.headers.host }));
      scope.post('/length', { bodyLimit: 3_000_000 }, async (request) => ({ length: request.rawBody.length }));
      scope.get('/events', (_request, reply) => reply.type('text/event-stream').send(stream));
    },
  ]);
  await server.listen({ port: 0, host: '127.0.0.1' });
  return server;
}

describe.each(proxies)('behind %s with the sample of deploy', (name) => {
  describe.skipIf(!isProxyInstalled(name))('of which it changes the ports and the certificate', () => {
    let server: Awaited<ReturnType<typeof startServer>>;
    let proxy: ReverseProxy;
    const stream = new PassThrough();
    beforeAll(async () => {
      server = await startServer(stream);
      const { port } = server.server.address() as AddressInfo;
      // Nobody listens on the second.
      proxy = await startReverseProxy(name, [port, await findFreePort()]);
    });
    afterAll(async () => {
      stream.destroy();
      await proxy?.stop();
      await server?.close();
    });

    function ask(path: string, { body, ...headers }: Record<string, string> = {}) {
      const to = { port: proxy.port, host: '127.0.0.1', servername: proxiedHost, ca: proxy.authority };
      // Another address of this machine than the proxy's own, so that the two are told apart.
      const from = { localAddress: '127.0.0.2', agent: false as const };
      const method = body === undefined ? 'GET' : 'POST';
      const asked = request({ ...to, ...from, path, method, headers: { host: proxiedHost, ...headers } });
      asked.end(body);
      return once(asked, 'response') as Promise<[IncomingMessage]>;
    }

    async function read(path: string, given?: Record<string, string>): Promise<unknown> {
      const [answer] = await ask(path, given);
      let text = '';
      for await (const piece of answer.setEncoding('utf8')) text += piece;
      return answer.statusCode === 200 ? JSON.parse(text) : { status: answer.statusCode, text };
    }

    test("the caller's address is the one that called, whatever it writes itself, and the host is the one it named", async () => {
      const expected = { address: '127.0.0.2', host: proxiedHost };
      expect(await read('/caller')).toEqual(expected);
      expect(await read('/caller', { 'x-forwarded-for': '192.0.2.1' })).toEqual(expected);
    });

    test('a node that does not listen is passed by: no request fails', async () => {
      for (let time = 0; time < 6; time += 1) expect(await read('/caller')).toMatchObject({ host: proxiedHost });
    });

    test('a body of 2 MB passes, as files of segments need', async () => {
      const body = JSON.stringify({ text: 'x'.repeat(2_000_000) });
      expect(await read('/length', { body, 'content-type': 'application/json' })).toEqual({ length: body.length });
    });

    test('each event is seen while its stream goes on', async () => {
      stream.write('data: 1\n\n');
      const [answer] = await ask('/events');
      expect(String(await once(answer, 'data'))).toBe('data: 1\n\n');
      stream.write('data: 2\n\n');
      expect(String(await once(answer, 'data'))).toBe('data: 2\n\n');
      answer.destroy();
    });
  });
});
