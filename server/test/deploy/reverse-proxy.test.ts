import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeManualClock } from '../../src/clock.ts';
import { buildServer } from '../../src/http/server/build-server.ts';
import { callerAddress } from '../../src/http/server/call-origin.ts';
import { makeLog } from '../../src/log.ts';
import { readConfig } from '../../src/start/config.ts';
import { makeCertificate } from '../engine/delivery/make-certificate.ts';
import { findFreePort } from '../find-free-port.ts';

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

const proxiedHost = 'push.example.com';
type ProxyName = 'nginx' | 'caddy';
const samples: Record<ProxyName, string[]> = { nginx: ['nginx', 'carillon.conf'], caddy: ['caddy', 'Caddyfile'] };
const deployFolder = join(import.meta.dirname, '..', '..', '..', 'deploy');
const startMilliseconds = 10_000;

// One that lacks a library of this machine does not count as there.
function isProxyInstalled(name: ProxyName): boolean {
  return spawnSync(name, [name === 'nginx' ? '-v' : 'version']).status === 0;
}

type ReverseProxy = { port: number; authority: string; stop(): Promise<void> };

/** The proxy with the sample of deploy/, whose ports and certificate alone are other ones: every other word of it is as it is there. */
async function startReverseProxy(name: ProxyName, nodePorts: [number, number]): Promise<ReverseProxy> {
  const folder = await mkdtemp(join(tmpdir(), `carillon-${name}-`));
  const { cert, key } = makeCertificate([proxiedHost]);
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  await writeFile(files.cert, cert);
  await writeFile(files.key, key);
  const port = await findFreePort();
  const sample = await readFile(join(deployFolder, ...samples[name]), 'utf8');
  const placed = nodePorts.reduce(
    (text, own, index) => put(text, { from: `127.0.0.1:808${index + 1}`, to: `127.0.0.1:${own}` }),
    sample,
  );
  const settings = join(folder, 'settings');
  await writeFile(settings, write[name](placed, { ...files, port, folder }));
  const words = {
    nginx: ['-p', folder, '-c', settings, '-e', 'stderr'],
    caddy: ['run', '--adapter', 'caddyfile', '--config', settings],
  };
  const child = spawn(name, words[name], {
    stdio: ['ignore', 'ignore', 'pipe'],
    // Caddy keeps what it made below a home.
    env: { PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
  });
  let said = '';
  child.stderr!.setEncoding('utf8').on('data', (piece) => (said += piece));
  const exited = once(child, 'close');
  await untilListening(port, () => {
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}: ${said}`);
  });
  return {
    ...{ port, authority: cert },
    async stop() {
      child.kill('SIGTERM');
      await exited;
      await rm(folder, { recursive: true });
    },
  };
}

type Placed = { cert: string; key: string; port: number; folder: string };

const write: Record<ProxyName, (sample: string, placed: Placed) => string> = {
  nginx(sample, { cert, key, port, folder }) {
    const own = [
      ['listen 443 ssl', `listen 127.0.0.1:${port} ssl`],
      ['/etc/ssl/carillon/certificate.pem', cert],
      ['/etc/ssl/carillon/key.pem', key],
    ].reduce((text, [from, to]) => put(text, { from: from!, to: to! }), sample);
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (kind) => `${kind}_temp_path ${folder}/${kind};`,
    );
    return `daemon off; master_process off; pid ${folder}/pid; events {}\nhttp { access_log off; ${paths.join(' ')}\n${own}}`;
  },
  caddy(sample, { cert, key, port }) {
    const site = put(sample, {
      from: `${proxiedHost} {`,
      to: `${proxiedHost}:${port} {\nbind 127.0.0.1\ntls ${cert} ${key}`,
    });
    return `{\nadmin off\nauto_https disable_redirects\n}\n${site}`;
  },
};

/** What is not in the sample any more must not pass by unseen. */
function put(text: string, { from, to }: { from: string; to: string }): string {
  if (text.split(from).length !== 2) throw new Error(`the sample says "${from}" not once`);
  return text.replace(from, () => to);
}

async function untilListening(port: number, look: () => void): Promise<void> {
  const end = performance.now() + startMilliseconds;
  for (;;) {
    look();
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      return;
    } catch (error) {
      if (performance.now() > end) throw error;
      await wait(20);
    } finally {
      socket.destroy();
    }
  }
}
