import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { FastifyInstance } from 'fastify';
import { makeManualClock } from '../../src/clock.ts';
import { buildServer } from '../../src/http/server/build-server.ts';
import { docsRoutes } from '../../src/http/docs.ts';
import { makeLog } from '../../src/log.ts';

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
