import { join } from 'node:path';
import type { InjectOptions } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeManualClock } from '../../src/clock.ts';
import { buildServer } from '../../src/http/build-server.ts';
import { sandboxBrowserRoutes } from '../../src/http/sandbox/browser-page.ts';
import { sandboxRoutes } from '../../src/http/sandbox/routes.ts';
import { makeLog } from '../../src/log.ts';
import { readConfig } from '../../src/start/config.ts';

let server: Awaited<ReturnType<typeof buildServer>>;
const routes: { method: string; url: string }[] = [];
beforeAll(async () => {
  const clock = makeManualClock(new Date('2026-01-01T00:00:00Z'));
  const clientFolder = join(import.meta.dirname, '..', '..', '..', 'client');
  // No use case is called: what passes the guard is the clock alone, or is refused for its body.
  const clockAdvance = { progress: () => undefined };
  const deps = { clock, clockAdvance, allowedHosts: ['Sandbox.example.com', '*.svc.example'], clientFolder } as never;
  const options = { log: makeLog({ level: 'silent', pretty: false }), clock, trustProxy: 1 } as const;
  server = await buildServer(options, [
    async (scope) => {
      scope.addHook('onRoute', ({ method, url }) => void routes.push({ method: String(method), url }));
      await scope.register(sandboxRoutes(deps));
      await scope.register(sandboxBrowserRoutes(deps));
    },
  ]);
});
afterAll(() => server.close());

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

test('a list of hosts is refused in production, which has no sandbox', () => {
  expect(() =>
    readConfig({
      environment: { CARILLON_ALLOWED_HOSTS: 'a.example', CARILLON_MODE: 'production' },
      arguments: [],
    }),
  ).toThrow(/CARILLON_ALLOWED_HOSTS/);
});
