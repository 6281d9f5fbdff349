import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeManualClock } from '../../src/clock.ts';
import { ServiceError, errorRegistry } from '../../src/domain/errors.ts';
import type { ErrorName } from '../../src/domain/errors.ts';
import { maxJsonLevels, maxJsonMembers } from '../../src/domain/limits/access.ts';
import { pushRoutes } from '../../src/http/push/routes.ts';
import { declareErrors } from '../../src/http/route/dialect-errors.ts';
import { describeDefaultError } from '../../src/http/route/errors.ts';
import { parseJson } from '../../src/http/route/json-body.ts';
import { buildServer } from '../../src/http/server/build-server.ts';
import { makeLog } from '../../src/log.ts';
import { propertyRuns } from '../property-runs.ts';
import { makePushBundle, start } from '../push/push-bundle.ts';
import type { PushBundle } from '../push/push-bundle.ts';

describe('statuses of errors', () => {
  test('returns an error of any family with its status in the registry, on a route outside the contract', () => {
    for (const name of Object.keys(errorRegistry) as ErrorName[]) {
      const { status } = describeDefaultError(new ServiceError(name));
      expect(status, name).toBe(errorRegistry[name].status);
      expect(status === 500, name).toBe(name === 'INTERNAL');
    }
  });

  test('takes the status of a dialect’s error from the registry and the code from the status, unless a row differs', () => {
    const errors = declareErrors<{ code: string }>(
      { NOT_FOUND: {}, OVERLOADED: { code: 'BUSY' }, PUSH_NAME_MISSING: { status: 200 } },
      { shared: ['BODY_EMPTY', 'OVERLOADED'], wireOf: (status) => ({ code: `C${status}` }) },
    );
    expect(errors).toEqual({
      NOT_FOUND: { status: 404, code: 'C404' },
      OVERLOADED: { status: 503, code: 'BUSY' },
      PUSH_NAME_MISSING: { status: 200, code: 'C200' },
      BODY_EMPTY: { status: 400, code: 'C400' },
    });
  });
});

describe('JSON bodies', () => {
  test('parses harmless JSON like JSON.parse', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const text = JSON.stringify(value, null, 1);
        if (/\\u0000|"(__proto__|constructor)"\s*:/.test(text)) return;
        expect(parseJson(text)).toEqual(JSON.parse(text));
      }),
      { numRuns: propertyRuns(500) },
    );
  });

  const levels = (count: number): string => `${'['.repeat(count)}${']'.repeat(count)}`;
  /** In two objects. */
  const members = (count: number): string =>
    `[{"k":1},{${Array.from({ length: count - 1 }, (_, n) => `"k${n}":1`).join()}}]`;

  test.each([
    ['nothing', '', 'BODY_EMPTY'],
    ['blanks', ' \n ', 'BODY_EMPTY'],
    ['half an object', '{"a":', 'BODY_MALFORMED'],
    ['two values', '{} {}', 'BODY_MALFORMED'],
    ['a single quote', "{'a':1}", 'BODY_MALFORMED'],
    ['a comment', '{/**/}', 'BODY_MALFORMED'],
    ['NaN', '{"a":NaN}', 'BODY_MALFORMED'],
    ['a trailing comma', '[1,]', 'BODY_MALFORMED'],
    ['a member twice', '{"a":1,"a":2}', 'BODY_MALFORMED'],
    ['a member twice, written differently', '{"a":1,"\\u0061":2}', 'BODY_MALFORMED'],
    ['__proto__', '{"__proto__":{"x":1}}', 'BODY_MALFORMED'],
    ['__proto__ escaped', '{"__pr\\u006fto__":{"x":1}}', 'BODY_MALFORMED'],
    ['constructor, deep', '[[{"constructor":1}]]', 'BODY_MALFORMED'],
    ['NUL', '{"a":"\\u0000"}', 'BODY_MALFORMED'],
    ['a level too many', levels(maxJsonLevels + 1), 'BODY_MALFORMED'],
    ['100,000 levels', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, 'BODY_MALFORMED'],
    ['a member too many', members(maxJsonMembers + 1), 'BODY_MALFORMED'],
  ])('rejects %s (fault 3.5)', (_name, text, code) => {
    expect(() => parseJson(text)).toThrow(expect.objectContaining({ code }));
  });

  test.each([
    ['as many levels as the documented limit', levels(maxJsonLevels)],
    ['as many members as the documented limit', members(maxJsonMembers)],
    ['one name in two objects', '{"a":{"a":1},"b":[{"a":2},{"a":3}]}'],
    ['braces and colons in texts', '{"a":"{\\"b\\": [","c":"\\\\"}'],
  ])('accepts %s', (_name, text) => {
    expect(parseJson(text)).toEqual(JSON.parse(text));
  });

  test.each([
    '{"password":hunter2}',
    `{"note":"${'x'.repeat(200)}","password":"a" hunter2}`,
    'hunter2',
    '{"password":"hunter2',
  ])('reports a JSON error without quoting the text: %s', (text) => {
    const parse = () => parseJson(text);
    expect(parse).toThrow(ServiceError);
    try {
      parse();
    } catch (error) {
      const { detail } = (error as ServiceError).context;
      expect(detail).toMatch(/JSON|token|position/);
      expect(detail).not.toContain('unter');
    }
  });

  test('reports a duplicate member by the beginning of its name', () => {
    const name = 'n'.repeat(5_000);
    expect(() => parseJson(`{"${name}":1,"${name}":2}`)).toThrow(
      expect.objectContaining({
        context: expect.objectContaining({ reason: `member ${'n'.repeat(100)} appears twice` }),
      }),
    );
  });
});

type Raw = { status: number; type: string; body: any };

describe('protocol errors', () => {
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

  const get = (path: string, head = 'Host: a'): string =>
    `GET ${path} HTTP/1.1\r\n${head}\r\nConnection: close\r\n\r\n`;
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
      ['an id longer than any', get(`/things/${'1'.repeat(513)}`), 414, 'ADDRESS_TOO_LONG'],
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
        expect(await exchange(get('/things/1', `Host: ${host}`))).toMatchObject([
          { status: 200, body: { thing: true } },
        ]);
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

  test('forbids a browser to guess the type of an answer to bytes that no route gets (ASVS 3.4.4)', async () => {
    const head = 'GET /slow HTTP/1.1\r\nHost: a\r\n';
    for (const bytes of ['nonsense\r\n\r\n', 'CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n', `${head}Expect: x\r\n\r\n`])
      expect((await readBytes(bytes)).toLowerCase()).toContain('\r\nx-content-type-options: nosniff\r\n');
  });

  /** Sends bytes as they are and reads every answer until the connection closes. */
  async function exchange(bytes: string): Promise<Raw[]> {
    return readAnswers(await readBytes(bytes));
  }

  function readBytes(bytes: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(bytes, 'latin1'));
      let text = '';
      socket.setEncoding('latin1').on('data', (piece) => (text += piece));
      socket.on('error', reject).on('close', () => resolve(text));
    });
  }
});

describe('an unexpected fault', () => {
  let bundle: PushBundle;
  beforeAll(async () => {
    bundle = await makePushBundle();
  });
  afterAll(() => bundle.end());

  // What a reader must not learn: of which statement, table, file, library or line.
  const inside =
    /select|relation|campaign_names|node_modules|\.ts\b|\bat \w+ \(|\/(?:work|home|usr|root)\/|TypeError|SyntaxError|DatabaseError/i;

  test('returns 500 for an unexpected fault, without its message, stack, statement or path (fault 3.12 check 55)', async () => {
    const log = makeLog({ level: 'silent', pretty: false });
    const server = await buildServer({ log, clock: makeManualClock(start), trustProxy: false }, [
      async (scope) => {
        scope.get('/broken', async () => {
          throw new Error(`select secret from accounts failed in ${import.meta.filename}`);
        });
        scope.get('/broken-data', async () => JSON.parse('{"half":'));
      },
    ]);
    // A table that is missing: the database's own words, through the route of a family.
    await bundle.database`alter table campaign_names rename to campaign_names_elsewhere`;
    const push = await bundle.send({
      campaignName: 'A push that fails',
      targetPlatform: ['ANDROID'],
      targetAudience: 'All Users',
      payload: { ANDROID: { title: 'T', message: 'M' } },
      campaignDelivery: { type: 'soon' },
    });
    const answers = [await server.inject('/broken'), await server.inject('/broken-data'), push];
    for (const answer of answers) {
      expect(answer.statusCode).toBe(500);
      expect(answer.body).not.toMatch(inside);
      expect(JSON.stringify(answer.headers)).not.toMatch(inside);
    }
    await server.close();
  });

  test('asks the client to retry a request that the database ended because of a deadlock', async () => {
    const log = makeLog({ level: 'silent', pretty: false });
    const server = await buildServer({ log, clock: makeManualClock(start), trustProxy: false }, [
      async (scope) => {
        scope.get('/ended', async () => {
          throw Object.assign(new Error('deadlock detected'), { code: '40P01' });
        });
      },
    ]);
    const answer = await server.inject('/ended');
    expect([answer.statusCode, answer.json().code, answer.headers['retry-after']]).toEqual([503, 'OVERLOADED', '1']);
    await server.close();
  });
});

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
