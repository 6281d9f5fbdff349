import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { makeCallRecorder } from '../../src/app/api-log.ts';
import type { RecordedCall } from '../../src/app/api-log.ts';
import { makeManualClock } from '../../src/clock.ts';
import { toStorable } from '../../src/domain/storable-text.ts';
import { buildServer, selectHeaders } from '../../src/http/server/build-server.ts';
import { callerAddress } from '../../src/http/server/call-origin.ts';
import type { TrustedProxies } from '../../src/http/server/call-origin.ts';
import { makeLog } from '../../src/log.ts';
import { readConfig } from '../../src/start/config.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { makeTokenBundle } from '../tokens/token-bundle.ts';
import type { TokenBundle } from '../tokens/token-bundle.ts';

describe('the recorder of calls', () => {
  let bundle: TestDatabase;
  beforeAll(async () => {
    bundle = await createTestDatabase();
  });
  afterAll(() => bundle.drop());

  const now = new Date('2026-01-01T00:00:00Z');
  const aCall = (path: string, more: Partial<RecordedCall> = {}): RecordedCall => ({
    ...{ workspaceId: null, receivedAt: now, method: 'POST', path, route: path, status: 400, durationMilliseconds: 1 },
    ...{ keyId: null, errorName: 'BODY_MALFORMED', errorDetail: null, warnings: [], requestBody: null },
    ...{ responseBody: null, headers: null },
    ...more,
  });

  const here = { address: '192.0.2.1' };

  test('stores a call with NUL and lone surrogates, and the other calls of its batch', async () => {
    const stored = await store([
      aCall('/1'),
      aCall('/2', { errorDetail: `Unexpected token '\0'`, requestBody: '\0{"a"\ud800', warnings: ['\0', '\udc00 a'] }),
      aCall('/3'),
    ]);
    expect(stored.map(({ path }) => path)).toEqual(['/1', '/2', '/3', '0 lines in the log']);
    expect(stored[1]).toEqual({
      path: '/2',
      errorDetail: `Unexpected token '\u{FFFD}'`,
      requestBody: '\u{FFFD}{"a"\u{FFFD}',
      warnings: ['\u{FFFD}', '\u{FFFD} a'],
    });
  });

  test('leaves out only a call that the database rejects, and logs it', async () => {
    const calls = Array.from({ length: 20 }, (_, index) =>
      aCall(`/${index + 10}`, { status: index === 7 ? 99_999 : 200 }),
    );
    const stored = await store(calls);
    expect(stored).toHaveLength(19 + 1);
    expect(stored.at(-1)!.path).toBe('1 lines in the log');
    expect(stored.map(({ path }) => path)).not.toContain('/17');
  });

  test('keeps 600 unauthenticated calls a minute per address, and all calls with a key', async () => {
    const flood = Array.from({ length: 700 }, (_, index) => aCall(`/flood/${index}`));
    const proven = Array.from({ length: 700 }, (_, index) => aCall(`/proven/${index}`, { keyId: 'a'.repeat(24) }));
    const stored = await store([...flood, ...proven]);
    const count = (prefix: string) => stored.filter(({ path }) => path?.startsWith(prefix)).length;
    expect([count('/flood/'), count('/proven/')]).toEqual([600, 700]);
    expect(stored.at(-1)!.path).toBe('1 lines in the log');
    const ofTwo = await store(flood, ['192.0.2.1', '192.0.2.2']);
    expect(ofTwo).toHaveLength(700 + 1);
  });

  test('makes names and texts storable at any depth, and changes nothing else', () => {
    const date = new Date(0);
    expect(toStorable({ 'a\0': ['\ud800', { b: '\0' }], n: 1, none: null, date })).toEqual({
      'a\u{FFFD}': ['\u{FFFD}', { b: '\u{FFFD}' }],
      n: 1,
      none: null,
      date,
    });
  });

  test('returns every call recorded before the wait, without the half second of the batch', async () => {
    const { database } = bundle;
    const log = makeLog({ level: 'silent', pretty: false });
    const recorder = makeCallRecorder({ database, clock: makeManualClock(now), log });
    recorder.record(aCall('/before'), here);
    const firstWait = recorder.settle();
    recorder.record(aCall('/later'), here);
    await Promise.all([firstWait, recorder.settle()]);
    const rows = await database`delete from api_log returning path`;
    expect(rows.map(({ path }) => String(path)).toSorted()).toEqual(['/before', '/later']);
    await recorder.stop();
  });

  test('stores a hundred calls at once, and later calls with the next hundred or half second', async () => {
    const { database } = bundle;
    // Its half second never comes.
    vi.useFakeTimers({ toFake: ['setInterval'] });
    const recorder = makeCallRecorder({
      ...{ database, clock: makeManualClock(now), log: makeLog({ level: 'silent', pretty: false }) },
    });
    try {
      const countStored = async () => Number((await database`select count(*) as calls from api_log`)[0]!.calls);
      for (let call = 0; call < 250; call += 1) {
        recorder.record(aCall(`/${call}`), here);
        if (call === 98) expect(await countStored()).toBe(0);
        if (call === 99) while ((await countStored()) < 100);
      }
      while ((await countStored()) < 250);
      for (let call = 0; call < 20; call += 1) recorder.record(aCall(`/few-${call}`), here);
      expect(await countStored()).toBe(250);
      vi.advanceTimersByTime(500);
      while ((await countStored()) < 270);
    } finally {
      vi.useRealTimers();
      await recorder.stop();
      await database`delete from api_log`;
    }
  });

  /** Records calls, and says which are in the log afterwards. */
  async function store(calls: RecordedCall[], from = ['192.0.2.1']): Promise<Record<string, string | null>[]> {
    const { database } = bundle;
    const lines: string[] = [];
    const log = makeLog({ level: 'warn', pretty: false }, { write: (line: string) => void lines.push(line) });
    const recorder = makeCallRecorder({ database, clock: makeManualClock(now), log });
    for (const [index, call] of calls.entries()) recorder.record(call, { address: from[index % from.length]! });
    await recorder.stop();
    const rows = await database`
      with taken as (delete from api_log returning *)
      select path, error_detail as "errorDetail", request_body as "requestBody", warnings from taken order by path`;
    return [...rows, { path: `${lines.length} lines in the log`, errorDetail: null, requestBody: null }] as never;
  }
});

describe('the address of a call behind proxies', () => {
  test.each([
    // No proxy: the header is anybody's word.
    { setting: 'false', from: '198.51.100.1', header: '192.0.2.1', is: '198.51.100.1' },
    // One proxy: it wrote the last entry, the caller all others.
    { setting: '1', from: '10.0.0.1', header: '198.51.100.1', is: '198.51.100.1' },
    { setting: '1', from: '10.0.0.1', header: '192.0.2.1, 198.51.100.1', is: '198.51.100.1' },
    { setting: '1', from: '10.0.0.1', is: '10.0.0.1' },
    { setting: '2', from: '10.0.0.1', header: '192.0.2.1, 198.51.100.1, 10.0.0.2', is: '198.51.100.1' },
    // Networks: the right-most entry that is in none.
    { setting: '10.0.0.0/8', from: '10.0.0.1', header: '192.0.2.1, 198.51.100.1, 10.9.9.9', is: '198.51.100.1' },
    { setting: '10.0.0.0/8', from: '198.51.100.1', header: '192.0.2.1', is: '198.51.100.1' },
    { setting: '10.0.0.0/8', from: '10.0.0.1', header: '10.1.1.1', is: '10.1.1.1' },
    { setting: '10.0.0.0/8, 2001:db8::/32', from: '2001:db8::5', header: '192.0.2.1, 2001:db9::1', is: '2001:db9::1' },
    { setting: '127.0.0.1', from: '::ffff:127.0.0.1', header: '198.51.100.1', is: '198.51.100.1' },
    // With a port, which a proxy in front of a proxy may write, and with what is no address.
    { setting: '1', from: '10.0.0.1', header: '198.51.100.1:4711', is: '198.51.100.1' },
    { setting: '1', from: '10.0.0.1', header: '[2001:db8::1]:443', is: '2001:db8::1' },
    {
      setting: '10.0.0.0/8',
      from: '10.0.0.1',
      header: '192.0.2.1, 198.51.100.1:4711, 10.0.0.2:80',
      is: '198.51.100.1',
    },
    { setting: '1', from: '10.0.0.1', header: 'nonsense', is: 'unknown' },
  ] as { setting: string; from: string; header?: string; is: string }[])(
    'is $is with setting $setting, from $from with $header',
    async ({ setting, is, ...call }) => {
      expect(await addressOf(setting, call)).toBe(is);
    },
  );

  test.each(['true', 'TRUE', 'yes', '11', '-1', '0.0.0.0/0', '::/0', '10.0.0.0/33', 'nginx', '10.0.0.0/8,'])(
    'refuses to start with %s, and names a valid setting',
    (setting) => {
      expect(() => readConfig({ environment: { CARILLON_TRUST_PROXY: setting }, arguments: [] })).toThrow(
        /^CARILLON_TRUST_PROXY takes the number of proxies .* or their networks .* is written by the caller, not "/,
      );
    },
  );
});

describe('limits behind a proxy', () => {
  let bundle: TokenBundle;
  beforeAll(async () => {
    bundle = await makeTokenBundle();
  });
  afterAll(() => bundle.end());

  const proxies: [TrustedProxies, string][] = [
    [1, '203.0.113.1'],
    [['127.0.0.0/8'], '203.0.113.2'],
  ];
  test.each(proxies)('counts a forged X-Forwarded-For for its sender with %j', async (trustProxy, writer) => {
    const server = await bundle.makeServer({ trustProxy });
    const statuses: number[] = [];
    for (let guess = 0; guess < 110; guess += 1) {
      const answer = await server.inject({
        method: 'POST',
        url: '/v1/oauth/token',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          // The proxy added the last one.
          'x-forwarded-for': `192.0.2.${guess}, ${writer}`,
        },
        payload: `grant_type=client_credentials&client_id=WS${guess}${writer}&client_secret=x`,
      });
      statuses.push(answer.statusCode);
    }
    await server.close();
    expect(statuses.filter((status) => status === 401)).toHaveLength(100);
    expect(statuses.slice(100)).toEqual(Array.from({ length: 10 }, () => 429));
  });
});

describe('headers that describe a call', () => {
  test('returns the headers that describe a call, only the scheme of credentials, and no others', () => {
    const request = {
      'content-type': 'application/json',
      authorization: 'Basic d29ya3NwYWNlOnNlY3JldA==',
      'x-svc-appkey': 'W1',
      'x-acme-query-type': 'user',
      'x-svc-pushapi-signature': 'a1b2',
      'svc-dbname': 'shop',
      cookie: 'carillon_session=secret',
      'x-forwarded-for': '198.51.100.7',
      'user-agent': 'x'.repeat(300),
    };
    const response = {
      'content-type': 'application/json',
      'retry-after': 3,
      'set-cookie': 'a=b',
      'x-ratelimit-limit': '9',
    };
    expect(JSON.parse(selectHeaders({ request, response }))).toEqual({
      request: {
        'content-type': 'application/json',
        authorization: 'Basic [redacted]',
        'x-svc-appkey': 'W1',
        'x-acme-query-type': 'user',
        'x-svc-pushapi-signature': '[redacted]',
        'svc-dbname': 'shop',
        'user-agent': 'x'.repeat(200),
      },
      response: { 'content-type': 'application/json', 'retry-after': '3', 'x-ratelimit-limit': '9' },
    });
  });

  test.each([
    ['Bearer cat_secret', 'Bearer [redacted]'],
    ['bearer cat_secret', 'bearer [redacted]'],
    ['cat_secret', '[redacted]'],
    ['cat_secret more', '[redacted]'],
  ])('shortens %s to %s', (authorization, told) => {
    expect(JSON.parse(selectHeaders({ request: { authorization }, response: {} })).request).toEqual({
      authorization: told,
    });
  });
});

/** What a server with this setting takes for the address of a call. */
async function addressOf(setting: string, { from, header }: { from: string; header?: string }): Promise<string> {
  const { trustProxy } = readConfig({ environment: { CARILLON_TRUST_PROXY: setting }, arguments: [] });
  const clock = makeManualClock(new Date(0));
  const server = await buildServer({ log: makeLog({ level: 'silent', pretty: false }), clock, trustProxy }, [
    async (scope) => {
      scope.get('/address', async (request) => callerAddress(request));
    },
  ]);
  const headers = header === undefined ? {} : { 'x-forwarded-for': header };
  const answer = await server.inject({ url: '/address', remoteAddress: from, headers });
  await server.close();
  return answer.body;
}
