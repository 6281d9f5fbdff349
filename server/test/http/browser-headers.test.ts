import { expect, test } from 'vitest';
import { makeManualClock } from '../../src/clock.ts';
import { buildServer } from '../../src/http/server/build-server.ts';
import { makeLog } from '../../src/log.ts';

const log = makeLog({ level: 'silent', pretty: false });
const clock = makeManualClock(new Date('2026-03-01T12:00:00Z'));

/** A server with an answer of each kind. */
function build(isSecure: boolean) {
  return buildServer({ log, clock, trustProxy: false, isSecure }, [
    async (server) => {
      server.get('/json', async () => ({ a: 1 }));
      server.get('/fault', async () => {
        throw new Error('inside');
      });
      server.get('/page', async (_request, reply) =>
        reply.type('text/html').header('content-security-policy', "script-src 'self'").send('<p>'),
      );
      server.get('/worker', async (_request, reply) => reply.type('text/javascript').send('1'));
    },
  ]);
}

test('every answer over https keeps browsers to https for a year, and data can be neither guessed, run nor framed (ASVS 3.4)', async () => {
  const server = await build(true);
  for (const [url, status] of Object.entries({ '/json': 200, '/fault': 500, '/nothing': 404, '/%zz': 400 })) {
    const answer = await server.inject({ url });
    expect([url, answer.statusCode]).toEqual([url, status]);
    expect(answer.headers, url).toMatchObject({
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'strict-transport-security': 'max-age=31536000; includeSubDomains',
    });
  }
  await server.close();
});

test('a page keeps its own policy, a script gets none, and plain http promises no https', async () => {
  const server = await build(false);
  const [page, worker] = await Promise.all(['/page', '/worker'].map((url) => server.inject({ url })));
  expect(page!.headers).toMatchObject({
    'content-security-policy': "script-src 'self'",
    'x-content-type-options': 'nosniff',
  });
  expect(worker!.headers).not.toHaveProperty('content-security-policy');
  expect(worker!.headers).not.toHaveProperty('strict-transport-security');
  await server.close();
});
