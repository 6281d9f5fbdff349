import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeManualClock } from '../../src/clock.ts';
import { buildServer } from '../../src/http/server/build-server.ts';
import { pushRoutes } from '../../src/http/push/routes.ts';
import { makeLog } from '../../src/log.ts';

let server: Awaited<ReturnType<typeof buildServer>>;
let port: number;
let release: () => void;
const slow = new Promise<void>((resolve) => (release = resolve));
beforeAll(async () => {
  const clock = makeManualClock(new Date(0));
  const options = { log: makeLog({ level: 'silent', pretty: false }), clock, trustProxy: false } as const;
  server = await buildServer({ ...options, serviceDomain: 'svc.test' }, [
    pushRoutes({} as never),
    async (scope) => {
      scope.get('/things/:id', async () => ({ thing: true }));
      scope.post('/slow', async (_request, reply) => {
        await slow;
        return reply.send({ answer: 'of the first' });
      });
    },
  ]);
  await server.listen({ port: 0 });
  port = (server.server.address() as AddressInfo).port;
});
afterAll(() => server.close());

type Raw = { status: number; type: string; body: any };

/** Sends bytes as they are and reads every answer until the connection closes. */
function exchange(bytes: string): Promise<Raw[]> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes, 'latin1'));
    let text = '';
    socket.setEncoding('latin1').on('data', (piece) => (text += piece));
    socket.on('error', reject).on('close', () => resolve(readAnswers(text)));
  });
}

function readAnswers(text: string): Raw[] {
  const answers: Raw[] = [];
  for (let rest = text; rest !== '';) {
    const [head, after] = rest.split(/\r\n\r\n(.*)/s) as [string, string];
    const length = Number(/^content-length: (\d+)/im.exec(head)?.[1]);
    const body = JSON.parse(after.slice(0, length));
    answers.push({ status: Number(head.split(' ')[1]), type: /^content-type: (.*)/im.exec(head)![1]!, body });
    rest = after.slice(length);
  }
  return answers;
}

const get = (path: string, head = 'Host: a'): string => `GET ${path} HTTP/1.1\r\n${head}\r\nConnection: close\r\n\r\n`;
const problem = (status: number, code: string): object => ({
  status,
  type: 'application/problem+json; charset=utf-8',
  body: expect.objectContaining({ type: `urn:carillon:error:${code}`, status, code, title: expect.any(String) }),
});

describe('a request that is rejected before its route is called', () => {
  test.each([
    ['two Host headers', get('/things/1', 'Host: a\r\nhost: b'), 400, 'REQUEST_MALFORMED'],
    ['the same Host twice', get('/things/1', 'Host: a\r\nHost: a'), 400, 'REQUEST_MALFORMED'],
    ['no Host', get('/things/1', 'X: a'), 400, 'REQUEST_MALFORMED'],
    ['a Host that is not one', get('/things/1', 'Host: a, b'), 400, 'REQUEST_MALFORMED'],
    ['a Host with a user', get('/things/1', 'Host: a@b'), 400, 'REQUEST_MALFORMED'],
    ['a broken escape', get('/things/%zz'), 400, 'REQUEST_MALFORMED'],
    ['an escape that is not UTF-8', get('/things/%ff%fe'), 400, 'REQUEST_MALFORMED'],
    ['half an escape where there is no route', get('/nothing/%'), 400, 'REQUEST_MALFORMED'],
    ['NUL in the path', get('/things/%00'), 400, 'REQUEST_MALFORMED'],
    ['NUL in the query', get('/things/1?a=%00'), 400, 'REQUEST_MALFORMED'],
    ['an id longer than any', get(`/things/${'1'.repeat(300)}`), 414, 'ADDRESS_TOO_LONG'],
    ['an address of 20 KB', get(`/things/1?q=${'1'.repeat(20_000)}`), 431, 'HEADERS_TOO_LARGE'],
    ['headers of 20 KB', get('/things/1', `Host: a\r\nX: ${'1'.repeat(20_000)}`), 431, 'HEADERS_TOO_LARGE'],
    ['an unknown method', 'FETCH / HTTP/1.1\r\nHost: a\r\n\r\n', 400, 'REQUEST_MALFORMED'],
    ['another protocol', '\x16\x03\x01\x02\x00\x01', 400, 'REQUEST_MALFORMED'],
    ['a space before the colon', get('/things/1', 'Host : a'), 400, 'REQUEST_MALFORMED'],
    ['a length that is not one', get('/things/1', 'Host: a\r\nContent-Length: -1'), 400, 'REQUEST_MALFORMED'],
    ['an unknown expectation', get('/things/1', 'Host: a\r\nExpect: gold'), 417, 'EXPECTATION_UNKNOWN'],
    ['CONNECT', 'CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n', 405, 'METHOD_NOT_ALLOWED'],
    ['an unknown data center', get('/things/1', 'Host: oauth2-07.svc.test'), 421, 'HOST_NOT_SERVED'],
    ['data center 1', get('/things/1', 'Host: API-1.svc.test.:80'), 421, 'HOST_NOT_SERVED'],
  ] as [string, string, number, string][])('returns Problem Details for %s', async (...[, bytes, status, code]) => {
    expect(await exchange(bytes)).toEqual([problem(status, code)]);
  });

  test.each(['oauth2-01.svc.test', 'pushapi-101.svc.test:8080', 'console.svc.test', 'a_b', '[::1]:80', '10.0.0.1'])(
    'serves the host %s',
    async (host) => {
      expect(await exchange(get('/things/1', `Host: ${host}`))).toMatchObject([{ status: 200, body: { thing: true } }]);
    },
  );
});

test('reports a malformed request in the shape of its route', async () => {
  const bytes = `POST /v2/transaction/sendpush?a=%00 HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`;
  for (const sent of [bytes, bytes.replace('?a=%00', '').replace('Host: a', 'Host: a\r\nHost: b')])
    expect(await exchange(sent)).toMatchObject([{ status: 400, body: { status: 'Fail', requestId: '' } }]);
  const [misdirected] = await exchange(bytes.replace('?a=%00', '').replace('Host: a', 'Host: pushapi-08.svc.test'));
  expect(misdirected).toMatchObject({ status: 421, body: { status: 'Fail', requestId: '' } });
});

test('rejects an unsupported method before it reads the body, and lists the allowed methods', async () => {
  // QUERY is the one method that Fastify lets through with a media type and a body only.
  const bytes = 'QUERY /v2/transaction/sendpush HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
  for (const sent of [bytes, bytes.replace('Host', 'Content-Type: application/json\r\nHost')])
    expect(await exchange(sent)).toMatchObject([{ status: 405, body: { status: 'Fail' } }]);
});

test('rejects bytes after a pending request after its response, not in its place', async () => {
  const bytes = 'POST /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\nnonsense\r\n\r\n';
  server.server.once('clientError', release);
  expect(await exchange(bytes)).toEqual([
    expect.objectContaining({ status: 200, body: { answer: 'of the first' } }),
    problem(400, 'REQUEST_MALFORMED'),
  ]);
});
