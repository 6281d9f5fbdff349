import { join } from 'node:path';
import type { InjectOptions } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeManualClock } from '../../src/clock.ts';
import { buildServer } from '../../src/http/server/build-server.ts';
import { sandboxBrowserRoutes } from '../../src/http/sandbox/browser-page.ts';
import type { SandboxGuard } from '../../src/http/sandbox/routes.ts';
import { sandboxRoutes } from '../../src/http/sandbox/routes.ts';
import { makeLog } from '../../src/log.ts';
import { readConfig } from '../../src/start/config.ts';

type Server = Awaited<ReturnType<typeof buildServer>>;
let server: Server;
/** The same with the setting that opens it. */
let openServer: Server;
const routes: { method: string; url: string }[] = [];
beforeAll(async () => {
  const clock = makeManualClock(new Date('2026-01-01T00:00:00Z'));
  const clientFolder = join(import.meta.dirname, '..', '..', '..', 'client');
  // No use case is called: what passes the guard is the clock alone, or is refused for its body.
  const clockAdvance = { progress: () => undefined };
  const shared = { clock, clockAdvance, allowedHosts: ['Sandbox.example.com', '*.svc.example'], clientFolder };
  const options = { log: makeLog({ level: 'silent', pretty: false }), clock, trustProxy: 1 } as const;
  const build = (access: SandboxGuard['access'], onRoute: (route: { method: unknown; url: string }) => void) =>
    buildServer(options, [
      async (scope) => {
        scope.addHook('onRoute', onRoute);
        await scope.register(sandboxRoutes({ ...shared, access } as never));
        await scope.register(sandboxBrowserRoutes({ ...shared, access } as never));
      },
    ]);
  server = await build('local', ({ method, url }) => void routes.push({ method: String(method), url }));
  openServer = await build('network', () => undefined);
});
afterAll(() => Promise.all([server.close(), openServer.close()]));

const ask = async (headers: Record<string, string>, more: InjectOptions = {}): Promise<number> =>
  (await server.inject({ url: '/sandbox/clock', ...more, headers: { host: 'localhost:8080', ...headers } })).statusCode;
/** Refused for its body, so it passed the guard and changed nothing. */
const change = { method: 'POST', url: '/sandbox/faults', payload: [] } as const;

describe('the sandbox answers what runs on this machine and beside it', () => {
  test.each([
    ...['localhost', 'localhost:8080', '127.0.0.1:8080', '127.1.2.3', '[::1]:8080', '0.0.0.0:80', '192.168.1.7'],
    ...[
      'carillon',
      'carillon:8080',
      'carillon_api_1',
      'a.localhost',
      'host.docker.internal',
      'push.test',
      'LOCALHOST.',
    ],
    ...['sandbox.example.com', 'SANDBOX.example.com:443', 'oauth2-01.svc.example'],
  ])('Host: %s', async (host) => {
    expect(await ask({ host })).toBe(200);
    expect(await ask({ host, 'content-type': 'application/json' }, change)).toBe(400);
  });

  test.each([
    [{}],
    [{ origin: 'http://localhost:8080', 'sec-fetch-site': 'same-origin' }],
    [{ host: '[::1]:8080', origin: 'http://[::1]:8080' }],
    // A proxy on the way says which host the browser asked.
    [{ host: 'carillon:8080', 'x-forwarded-host': 'sandbox.example.com', origin: 'https://sandbox.example.com' }],
  ] as [Record<string, string>][])('a request with %j', async (headers) => {
    expect(await ask({ ...headers, 'content-type': 'application/json' }, change)).toBe(400);
  });

  test('a link from another page, and an address that was typed', async () => {
    const page = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
    expect(await ask({ ...page, 'sec-fetch-site': 'cross-site' }, { url: '/sandbox/browser' })).toBe(200);
    expect(await ask({ ...page, 'sec-fetch-site': 'none' }, { url: '/sandbox/browser' })).toBe(200);
  });
});

describe('every route of the sandbox is shut to a page of the web', () => {
  const strangers: Record<string, [status: number, headers: Record<string, string>]> = {
    'by its origin': [403, { origin: 'https://evil.example' }],
    'from an opaque origin': [403, { origin: 'null' }],
    'from another port of this machine': [403, { origin: 'http://localhost:3000', 'sec-fetch-site': 'same-site' }],
    'without an origin': [403, { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }],
    'in a frame': [403, { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }],
    'that points its name here': [421, { host: 'evil.example:8080', 'sec-fetch-site': 'same-origin' }],
    'that points its name here and names another': [421, { host: 'evil.example', 'x-forwarded-host': 'localhost' }],
    'with a name below ours': [421, { host: 'localhost.evil.example' }],
    'with an address in its name': [421, { host: '127.0.0.1.nip.example:8080' }],
    'with a name like a listed one': [421, { host: 'evilsvc.example' }],
  };
  test.each(Object.entries(strangers))('%s', async (_what, [status, headers]) => {
    expect(routes.length).toBeGreaterThan(15);
    for (const { method, url } of routes) {
      const answer = await server.inject({
        method: method as 'GET',
        url,
        headers: { host: 'localhost:8080', ...headers },
      });
      expect([method, url, answer.statusCode]).toEqual([method, url, status]);
      if (method !== 'HEAD') expect(answer.json()).toMatchObject({ status, title: expect.any(String) });
    }
  });
});

describe('every route of the sandbox is shut to callers on other machines', () => {
  type Caller = { from: string; headers?: Record<string, string> };
  const local: Record<string, Caller> = {
    'the loopback': { from: '127.0.0.1' },
    'another address of the loopback': { from: '127.8.9.10' },
    'the loopback of IPv6': { from: '::1' },
    'the loopback by a socket of both families': { from: '::ffff:127.0.0.1' },
    'a local proxy for a local browser': { from: '::1', headers: { 'x-forwarded-for': '127.0.0.1, [::1]:4711' } },
    'a local proxy that says it by RFC 7239': {
      from: '127.0.0.1',
      headers: { forwarded: 'for=127.0.0.1;proto=http, for="[::1]:4711"' },
    },
  };
  const remote: Record<string, Caller> = {
    'a neighbour': { from: '192.168.1.7' },
    'the bridge of a container engine': { from: '172.17.0.1' },
    'a neighbour by IPv6': { from: '2001:db8::7' },
    'a neighbour by a socket of both families': { from: '::ffff:192.0.2.7' },
    'a neighbour that claims to be forwarded': { from: '192.168.1.7', headers: { 'x-forwarded-for': '127.0.0.1' } },
    'a local proxy': { from: '127.0.0.1', headers: { 'x-forwarded-for': '198.51.100.7' } },
    'a local proxy, and claims to be local': {
      from: '127.0.0.1',
      headers: { 'x-forwarded-for': '127.0.0.1, 198.51.100.7' },
    },
    'a local proxy behind another one': { from: '::1', headers: { 'x-forwarded-for': '198.51.100.7, 127.0.0.1' } },
    'a local proxy that hides it': { from: '127.0.0.1', headers: { 'x-forwarded-for': 'unknown' } },
    'a local proxy that leaves it empty': { from: '127.0.0.1', headers: { 'x-forwarded-for': '' } },
    'a local proxy that names it alone': { from: '127.0.0.1', headers: { 'x-real-ip': '198.51.100.7' } },
    'a local proxy that says it by RFC 7239': {
      from: '127.0.0.1',
      headers: { forwarded: 'for="[2001:db8::7]:4711";proto=https' },
    },
    'a local proxy that hides it by RFC 7239': {
      from: '127.0.0.1',
      headers: { forwarded: 'for=_hidden, for=127.0.0.1' },
    },
    'a local proxy that says only how': { from: '127.0.0.1', headers: { forwarded: 'proto=https' } },
  };
  const call = (on: Server, { from, headers }: Caller, route: { method: string; url: string }) =>
    on.inject({
      ...route,
      method: route.method as 'GET',
      remoteAddress: from,
      headers: { host: 'localhost:8080', ...headers },
    });

  test.each(Object.entries(local))('but not to %s', async (_what, caller) => {
    const clock = await call(server, caller, { method: 'GET', url: '/sandbox/clock' });
    expect(clock.statusCode).toBe(200);
  });

  test.each(Object.entries(remote))('%s, and says how to open it', async (_what, caller) => {
    expect(routes.length).toBeGreaterThan(15);
    for (const route of routes) {
      const answer = await call(server, caller, route);
      expect([route.method, route.url, answer.statusCode]).toEqual([route.method, route.url, 403]);
      if (route.method === 'HEAD') continue;
      expect(answer.json()).toMatchObject({ code: 'SANDBOX_NOT_LOCAL', status: 403 });
      expect(answer.json().detail).toMatch(/CARILLON_SANDBOX_ACCESS=network/);
    }
    const opened = await call(openServer, caller, { method: 'GET', url: '/sandbox/clock' });
    expect(opened.statusCode).toBe(200);
  });

  test('the setting opens nothing to pages of other sites', async () => {
    const stranger = { from: '192.168.1.7', headers: { origin: 'https://evil.example' } };
    expect((await call(openServer, stranger, { method: 'GET', url: '/sandbox/clock' })).statusCode).toBe(403);
  });
});

test('a list of hosts is refused in production, which has no sandbox', () => {
  expect(() =>
    readConfig({
      environment: { CARILLON_ALLOWED_HOSTS: 'a.example', CARILLON_MODE: 'production' },
      arguments: [],
    }),
  ).toThrow(/CARILLON_ALLOWED_HOSTS/);
});
