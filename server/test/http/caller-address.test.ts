import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../src/start/config.ts';
import { callerAddress } from '../../src/http/server/call-origin.ts';
import type { TrustedProxies } from '../../src/http/server/call-origin.ts';
import { buildServer } from '../../src/http/server/build-server.ts';
import { makeManualClock } from '../../src/clock.ts';
import { makeLog } from '../../src/log.ts';
import { makeTokenBundle } from '../tokens/token-bundle.ts';
import type { TokenBundle } from '../tokens/token-bundle.ts';

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
