import { once } from 'node:events';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect, connect as connectTcp } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import { parseYaml } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import fastify from 'fastify';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { listConsoleRoutes } from '../../../scripts/list-console-routes.ts';
import { listRoutes } from '../../../scripts/list-routes.ts';
import { makeClock, makeManualClock } from '../../src/clock.ts';
import { makeJobBook } from '../../src/engine/jobs/job.ts';
import type { JobBook } from '../../src/engine/jobs/job.ts';
import { docsRoutes } from '../../src/http/docs.ts';
import { healthRoutes } from '../../src/http/health.ts';
import { buildServer, makeLazyValidators } from '../../src/http/server/build-server.ts';
import { makeCloseServer } from '../../src/http/server/close-server.ts';
import type { TlsPair } from '../../src/http/server/listener.ts';
import { makeLog } from '../../src/log.ts';
import { findJobTroubles, makeReadiness } from '../../src/start/node/readiness.ts';
import type { Readiness } from '../../src/start/node/readiness.ts';
import { openDatabase } from '../../src/storage/database.ts';
import { startCarillonBundle } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { makeCertificate } from '../engine/delivery/make-certificate.ts';
import { refuseInserts } from '../refuse-inserts.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';

describe('server', () => {
  let bundle: CarillonBundle;
  beforeAll(async () => {
    bundle = await startCarillonBundle({ CARILLON_SERVICE_DOMAIN: 'svc.test' });
  });
  afterAll(() => bundle.stop());

  describe('the service', () => {
    test('returns 200 for /livez and /readyz while the database responds', async () => {
      expect((await bundle.call('GET', '/livez')).status).toBe(200);
      expect((await bundle.call('GET', '/readyz')).status).toBe(200);
    });

    test('returns a retryable 503 for a write that fails for lack of disk space, and is not ready', async () => {
      const accept = await refuseInserts(bundle.database, 'users');
      const customer = { type: 'customer', customer_id: 'new', attributes: { u_fn: 'New' } };
      const path = `/v1/customer/${bundle.workspaceId}`;
      const refused = await bundle.call('POST', path, { headers: bundle.basic(), body: customer });
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '30']);
      expect(refused.text).toContain('cannot store anything');
      expect((await bundle.call('GET', '/readyz')).json().troubles).toEqual(['writes']);
      await accept();
    });

    test('serves /openapi.json as valid OpenAPI 3.1 with every public route, and the right families on each host', async () => {
      const document = (await bundle.call('GET', '/openapi.json')).json();
      const result = await new Validator().validate(document);
      expect(result.errors ?? []).toEqual([]);
      expect(result.valid).toBe(true);
      expect(document.openapi).toBe('3.1.0');
      const names = Object.entries(document.paths as Record<string, object>).flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
      );
      expect(names.sort()).toEqual((await listRoutes()).map(({ method, path }) => `${method} ${path}`).sort());
      const hostOf = (path: string) => document.paths[path].post.servers[0].url;
      expect(hostOf('/v1/oauth/token')).toBe('https://oauth2-{dc}.svc.test');
      expect(hostOf('/v2/custom-segments/file-segment')).toBe('https://api-{dc}.svc.test');
      expect(hostOf('/v2.1/transaction/sendpush')).toBe('https://pushapi-{dc}.svc.test');
      expect(document.servers).toEqual([{ url: '/', description: 'This installation' }]);
    });

    test('serves the same document at /openapi.yaml', async () => {
      const answer = await bundle.call('GET', '/openapi.yaml');
      expect(answer.headers.get('content-type')).toBe('application/yaml; charset=utf-8');
      expect(parseYaml(answer.text)).toEqual((await bundle.call('GET', '/openapi.json')).json());
    });

    test('returns 404 for an unknown path, without internal details', async () => {
      const answer = await bundle.call('GET', '/v9/nothing');
      expect(answer.status).toBe(404);
      expect(answer.text).not.toMatch(/node_modules|at \w+ \(|\.ts/);
    });
  });

  describe('a host of a data center (decision D1)', () => {
    const form = () =>
      `grant_type=client_credentials&client_id=${bundle.workspaceId}&client_secret=${encodeURIComponent(bundle.keys.oauth)}`;

    test.each(['oauth2-01.svc.test', 'OAUTH2-01.SVC.TEST:8080', 'other.example', 'localhost'])(
      'serves %s',
      async (host) => {
        expect((await callHost(host, '/v1/oauth/token', form())).status).toBe(200);
      },
    );

    test.each(['oauth2-07.svc.test', 'oauth2-1.svc.test', 'OAuth2-102.svc.test.:8080'])('rejects %s', async (host) => {
      const answer = await callHost(host, '/v1/oauth/token', form());
      expect(answer.status).toBe(421);
      expect(JSON.parse(answer.text)).toMatchObject({ status: 'FAILURE', error_type: 'HOST_NOT_SERVED' });
    });

    test('reports unknown credentials on the host of another data center', async () => {
      const answer = await callHost('oauth2-03.svc.test', '/v1/oauth/token', form());
      expect(answer.status).toBe(401);
      expect(JSON.parse(answer.text).error_type).toBe('ER011');
    });
  });

  describe('the API log', () => {
    test('contains no key that a caller sent, whether valid or not', async () => {
      // The four tokens above leave one within the minute's limit; time is moved to have more.
      await bundle.call('POST', '/sandbox/clock', { body: { advanceSeconds: 61 } });
      const { accessToken } = await bundle.token();
      await bundle.call('POST', `/v1/customer/${bundle.workspaceId}`, {
        headers: { authorization: `Bearer ${accessToken}` },
        body: { type: 'customer', customer_id: 'canary' },
      });
      await bundle.call('POST', `/v1/device/${bundle.workspaceId}`, {
        headers: bundle.basic('wrong-CANARY-secret'),
        body: {},
      });
      await bundle.carillon.stop();
      const rows = await bundle.database`select to_jsonb(api_log)::text as text from api_log`;
      const all = rows.map((row) => row.text).join('\n');
      expect(rows.length).toBeGreaterThan(3);
      for (const secret of [...Object.values(bundle.keys), accessToken, 'wrong-CANARY-secret'])
        expect(all).not.toContain(secret);
    });
  });

  /** fetch does not let the host be chosen. */
  function callHost(host: string, path: string, body: string): Promise<{ status: number; text: string }> {
    return new Promise((resolve, reject) => {
      const headers = { host, 'content-type': 'application/x-www-form-urlencoded', 'content-length': body.length };
      request(`${bundle.url}${path}`, { method: 'POST', headers }, (answer) => {
        let text = '';
        answer.on('data', (piece) => (text += piece)).on('end', () => resolve({ status: answer.statusCode!, text }));
      })
        .on('error', reject)
        .end(body);
    });
  }
});

describe('closing the server', () => {
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
});

describe('the routes of the documentation', () => {
  let folder: string;
  let server: FastifyInstance;
  const get = (url: string) => server.inject({ url, headers: { host: 'carillon.test' } });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'carillon-docs-'));
    await writeFile(join(folder, 'secret.txt'), 'beside the site');
    const log = makeLog({ level: 'silent', pretty: false });
    const options = { log, clock: makeManualClock(new Date(0)), trustProxy: false };
    server = await buildServer(options as never, [docsRoutes(join(folder, 'dist'))]);
    await server.ready();
  });
  afterAll(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  test('explains at /docs how to build the site, and serves it after the build without a restart', async () => {
    const before = await get('/docs/');
    expect([before.statusCode, before.headers['retry-after']]).toEqual([503, '5']);
    expect(before.body).toContain('npm run docs');

    await mkdir(join(folder, 'making', 'errors'), { recursive: true });
    await mkdir(join(folder, 'making', 'assets'));
    await writeFile(join(folder, 'making', 'index.html'), 'first page');
    await writeFile(join(folder, 'making', 'errors', 'index.html'), 'errors');
    await writeFile(join(folder, 'making', 'assets', 'site.css'), 'plain');
    await writeFile(join(folder, 'making', 'assets', 'site.css.br'), 'compressed');
    await rename(join(folder, 'making'), join(folder, 'dist'));
    expect((await get('/docs/')).body).toBe('first page');
  });

  test('redirects a page without its trailing slash, and serves its compressed styles', async () => {
    expect((await get('/docs')).headers.location).toBe('/docs/');
    expect((await get('/docs/errors')).headers.location).toBe('/docs/errors/');
    expect((await get('/docs/errors/')).body).toBe('errors');
    const headers = { host: 'carillon.test', 'accept-encoding': 'br' };
    const styles = await server.inject({ url: '/docs/assets/site.css', headers });
    expect([styles.headers['content-encoding'], styles.body]).toEqual(['br', 'compressed']);
  });

  test('decompresses a text that exists only compressed for a client without Brotli', async () => {
    const { 'content-security-policy': policy } = (await get('/docs/')).headers;
    await mkdir(join(folder, 'dist', 'limits'));
    await writeFile(join(folder, 'dist', 'limits', 'index.html.br'), brotliCompressSync('<p>limits</p>'));
    const plain = await get('/docs/limits/');
    expect([plain.statusCode, plain.body, plain.headers.vary]).toEqual([200, '<p>limits</p>', 'accept-encoding']);
    expect(plain.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
    });
    const headers = { host: 'carillon.test', 'accept-encoding': 'gzip, br' };
    const packed = await server.inject({ url: '/docs/limits/', headers });
    expect([packed.statusCode, packed.headers['content-encoding']]).toEqual([200, 'br']);
    expect(packed.headers['content-type']).toBe(plain.headers['content-type']);
    expect(brotliDecompressSync(packed.rawPayload).toString()).toBe('<p>limits</p>');
  });

  test('serves Markdown and a list of the pages for programs as text', async () => {
    await writeFile(join(folder, 'dist', 'limits.md.br'), brotliCompressSync('# Limits'));
    await writeFile(join(folder, 'dist', 'llms.txt'), '# Carillon');
    const page = await get('/docs/limits.md');
    expect([page.statusCode, page.body, page.headers['content-type']]).toEqual([
      200,
      '# Limits',
      'text/markdown; charset=utf-8',
    ]);
    const list = await get('/docs/llms.txt');
    expect([list.statusCode, list.body]).toEqual([200, '# Carillon']);
  });

  test('returns 404 with a page of the site to a browser, and with an error to other clients', async () => {
    const asBrowser = { host: 'carillon.test', accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    const openAsBrowser = (url: string) => server.inject({ url, headers: asBrowser });
    expect((await openAsBrowser('/docs/no-such-page/')).json()).toMatchObject({ code: 404 });
    await writeFile(join(folder, 'dist', '404.html'), 'no such page');
    const shown = await openAsBrowser('/docs/no-such-page/');
    expect([shown.statusCode, shown.body]).toEqual([404, 'no such page']);
    expect(shown.headers['content-security-policy']).toContain("default-src 'none'");
    await rename(join(folder, 'dist', '404.html'), join(folder, 'dist', '404-plain.html'));
    await writeFile(join(folder, 'dist', '404.html.br'), brotliCompressSync('no such page'));
    const unpacked = await openAsBrowser('/docs/no-such-page/');
    expect([unpacked.statusCode, unpacked.body]).toEqual([404, 'no such page']);
    const other = await get('/docs/no-such-page/');
    expect([other.statusCode, other.headers['content-type']]).toEqual([404, 'application/json; charset=utf-8']);
  });

  test('lets a page load only files of its own origin, and no inline code', async () => {
    const policy = String((await get('/docs/')).headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|upgrade-insecure-requests/);
  });

  test.each([
    '/docs/../secret.txt',
    '/docs/%2e%2e/secret.txt',
    '/docs/..%2fsecret.txt',
    '/docs/%0d%0ax',
    '/docs/.git/',
    '/docs/none/',
  ])('returns 404 for %s', async (path) => {
    const answer = await get(path);
    expect(answer.statusCode).toBe(404);
    expect(answer.body).not.toContain('beside the site');
  });
});

describe('validators', () => {
  test('compiles the shape of every request of the console', async () => {
    const compile = makeLazyValidators();
    const taken = (await listConsoleRoutes()).flatMap((route) => route.taken.map((schema) => ({ ...route, schema })));
    expect(taken.length).toBeGreaterThan(60);
    for (const { method, path, schema } of taken)
      expect(() => compile({ schema, method, url: path })('not an object'), `${method} ${path}`).not.toThrow();
  });

  test('names the invalid member each time; a shape that does not compile fails only its own request', async () => {
    const server = fastify({ logger: false });
    server.setValidatorCompiler(makeLazyValidators());
    const body = Type.Object({ count: Type.Integer({ minimum: 1 }) });
    server.post('/right', { schema: { body } }, async () => 'taken');
    server.post('/wrong', { schema: { body: { type: 'no such type' } } }, async () => 'taken');
    const post = async (url: string, payload: object): Promise<unknown> =>
      (await server.inject({ method: 'POST', url, payload })).body;
    for (let time = 0; time < 2; time += 1) {
      expect(await post('/right', { count: 0 })).toContain('body/count must be >= 1');
      expect(await post('/right', { count: '1' })).toContain('body/count must be integer');
      expect(await post('/right', { count: 1 })).toBe('taken');
      expect(await post('/wrong', {})).toContain('FST_ERR_VALIDATION');
    }
    await server.close();
  });
});

describe('readiness', () => {
  let own: TestDatabase;
  let readiness: Readiness;
  let book: JobBook;
  let clock: ReturnType<typeof makeManualClock>;
  const at = new Date('2026-01-01T00:00:00Z');
  beforeAll(async () => {
    own = await createTestDatabase();
  });
  afterAll(() => own.drop());
  beforeEach(() => {
    clock = makeManualClock(at);
    readiness = makeReadiness({ database: own.database, clock });
    book = makeJobBook();
    readiness.watch(() => findJobTroubles(book));
  });

  const full = Object.assign(new Error('could not extend file'), { code: '53100' });

  test('is not ready after a job failed three times in a row, names the job, and recovers when it succeeds', async () => {
    for (let time = 0; time < 2; time += 1) book.note('release-runs', { at, error: full });
    expect(await ask()).toEqual({ status: 200, body: { status: 'ok' } });
    book.note('release-runs', { at, error: full });
    book.note('end-runs', { at, done: 0 });
    const red = { status: 503, body: { status: 'not ready', troubles: ['jobs: release-runs (53100)'] } };
    expect(await ask()).toEqual(red);
    book.note('release-runs', { at, done: 0 });
    expect(await ask('?verbose')).toEqual({ status: 200, body: { status: 'ok', troubles: [] } });
  });

  test('shows the outgoing proxy with `verbose`, and stays ready despite its faults', async () => {
    const log = makeLog({ level: 'silent', pretty: false });
    const health = healthRoutes({ ...readiness, proxyState: () => 'PROXY_AUTH' });
    const server = await buildServer({ log, clock: makeClock(), trustProxy: false }, [health]);
    const answers = await Promise.all(['/readyz', '/readyz?verbose'].map((url) => server.inject({ url })));
    await server.close();
    expect(answers.map((answer) => [answer.statusCode, answer.json()])).toEqual([
      [200, { status: 'ok' }],
      [200, { status: 'ok', troubles: [], proxy: 'PROXY_AUTH' }],
    ]);
  });

  test('stays ready if a success separates the failures', async () => {
    for (let time = 0; time < 5; time += 1) {
      book.note('release-runs', { at, error: full });
      book.note('release-runs', { at, error: full });
      book.note('release-runs', { at, done: 1 });
    }
    expect((await ask()).status).toBe(200);
  });

  test('is not ready for 15 seconds after the database rejected a write', async () => {
    readiness.noteRefusedWrite();
    clock.advance(14_999);
    expect(await ask()).toEqual({ status: 503, body: { status: 'not ready', troubles: ['writes'] } });
    clock.advance(1);
    expect((await ask()).status).toBe(200);
  });

  test('reports a stopping node without ?verbose', async () => {
    readiness.noteStopping();
    expect(await ask()).toEqual({ status: 503, body: { status: 'not ready', troubles: ['stopping'] } });
  });

  test('is not ready with a read-only database, such as a replica that was not promoted', async () => {
    const name = new URL(own.url).pathname.slice(1);
    await own.database.unsafe(`alter database ${name} set default_transaction_read_only = on`);
    const copy = openDatabase({ url: own.url, connections: 1, name: 'copy' });
    readiness = makeReadiness({ database: copy, clock });
    const answer = await ask();
    await copy.end();
    expect(answer).toEqual({ status: 503, body: { status: 'not ready', troubles: ['read-only'] } });
  });

  async function ask(query = ''): Promise<{ status: number; body: unknown }> {
    const log = makeLog({ level: 'silent', pretty: false });
    const server = await buildServer({ log, clock: makeClock(), trustProxy: false }, [healthRoutes(readiness)]);
    const { statusCode, body } = await server.inject({ url: `/readyz${query}` });
    await server.close();
    return { status: statusCode, body: JSON.parse(body) as unknown };
  }
});

type Served = Awaited<ReturnType<typeof serve>>;

describe('TLS', () => {
  test('serves https, and rejects plain HTTP', async () => {
    const served = await serve();
    expect(await ask(served, served.authority())).toBe('hello');
    const plain = connectTcp(served.port, '127.0.0.1');
    let heard = '';
    plain.setEncoding('latin1').on('data', (piece) => (heard += piece));
    plain.on('error', () => {});
    plain.write('GET /said HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await once(plain, 'close');
    expect(heard).toBe('');
    await served.close();
  });

  test('rejects TLS 1.1 (RFC 8996)', async () => {
    const served = await serve();
    const options = { port: served.port, host: '127.0.0.1', ca: served.authority(), servername: 'localhost' };
    const old = connectTls({ ...options, maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' });
    const [error] = (await once(old, 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION');
    await served.close();
  });

  test('presents a renewed certificate to the next connection, and keeps open connections', async () => {
    const served = await serve();
    const first = served.authority();
    const kept = await open(served);
    served.renew();
    await expect(ask(served, first)).rejects.toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    expect(await ask(served, served.authority())).toBe('hello');
    kept.write('GET /said HTTP/1.1\r\nHost: localhost\r\n\r\n');
    expect(String(await once(kept, 'data'))).toContain('hello');
    kept.destroy();
    await served.close();
    expect(served.told.size).toBe(0);
  });

  test('does not wait for a connection that sends nothing after its handshake', async () => {
    const served = await serve();
    const silent = await open(served);
    const ended = once(silent.resume(), 'close');
    await served.close(3_600_000);
    await ended;
  });

  test('waits for an unfinished handshake no longer than the limit', async () => {
    const served = await serve();
    const connected = once(served.server.server, 'connection') as Promise<[Socket]>;
    const halfway = connectTcp(served.port, '127.0.0.1').resume();
    halfway.on('error', () => {});
    // The first six bytes of a ClientHello of 513 (RFC 8446 §5.1).
    halfway.write(Buffer.from([0x16, 3, 1, 2, 1, 1]));
    const [socket] = await connected;
    while (socket.bytesRead < 6) await setImmediate();
    await served.close(50);
  });

  test('completes open requests before the server closes', async () => {
    const answer = Promise.withResolvers<string>();
    const begun = Promise.withResolvers<void>();
    const served = await serve(() => {
      begun.resolve();
      return answer.promise;
    });
    const asked = ask(served, served.authority());
    await begun.promise;
    const closed = served.close();
    answer.resolve('at last');
    await closed;
    expect(await asked).toBe('at last');
  });

  /** Asks on a connection of its own whom only the present certificate convinces. */
  async function ask({ port }: Served, authority: string): Promise<string> {
    const options = { port, host: '127.0.0.1', path: '/said', ca: authority, agent: false as const };
    const asked = httpsRequest({ ...options, servername: 'localhost', headers: { host: 'localhost' } }).end();
    const [answer] = await once(asked, 'response');
    let text = '';
    for await (const piece of answer.setEncoding('utf8')) text += piece;
    return text;
  }
});

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

/** A server that asks `answer` what it says, and shows one certificate until it is given another. */
async function serve(answer: () => string | Promise<string> = () => 'hello') {
  const told = new Set<(pair: TlsPair) => void>();
  let pair: TlsPair = makeCertificate();
  const certificate = {
    pair: () => pair,
    onChange(tell: (pair: TlsPair) => void) {
      told.add(tell);
      return () => void told.delete(tell);
    },
  };
  const options = { log: makeLog({ level: 'silent', pretty: false }), clock: makeManualClock(new Date(0)) };
  const server = await buildServer({ ...options, trustProxy: false, certificate }, [
    async (scope) => {
      scope.get('/said', async () => answer());
    },
  ]);
  const closeServer = makeCloseServer(server);
  await server.listen({ port: 0, host: '127.0.0.1' });
  const { port } = server.server.address() as AddressInfo;
  return {
    ...{ server, port, told },
    authority: () => pair.cert,
    renew() {
      pair = makeCertificate();
      for (const tell of told) tell(pair);
    },
    close: (maxMilliseconds = 60_000) => closeServer.close({ maxMilliseconds }),
  };
}

async function open({ port, authority }: Served): Promise<TLSSocket> {
  const socket = connectTls({ port, host: '127.0.0.1', servername: 'localhost', ca: authority() });
  socket.on('error', () => {});
  await once(socket, 'secureConnect');
  return socket;
}
