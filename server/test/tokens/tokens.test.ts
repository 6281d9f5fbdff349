import swagger from '@fastify/swagger';
import fc from 'fast-check';
import Fastify from 'fastify';
import * as openid from 'openid-client';
import { ClientCredentials } from 'simple-oauth2';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { errorRegistry } from '../../src/domain/errors.ts';
import { gatewayErrors } from '../../src/http/route/gateway-errors.ts';
import { tokenErrors, tokenRoutes } from '../../src/http/tokens.ts';
import type { TokenRouteDependencies } from '../../src/http/tokens.ts';
import { anyText } from '../any-text.ts';
import { propertyRuns } from '../property-runs.ts';
import { generation, makeTokenBundle, postTo, refreshing } from './token-bundle.ts';
import type { TokenBundle } from './token-bundle.ts';

describe('OAuth clients', () => {
  // Unmodified OAuth libraries over real HTTP: the documented envelope alone breaks them, decision D18 mends it.
  let bundle: TokenBundle;
  let origin: string;
  beforeAll(async () => {
    bundle = await makeTokenBundle();
    origin = await bundle.server.listen({ host: '127.0.0.1', port: 0 });
  });
  afterAll(() => bundle.end());

  test.each([
    ['client_secret_post', openid.ClientSecretPost],
    ['client_secret_basic', openid.ClientSecretBasic],
  ] as const)('openid-client with %s obtains and refreshes a token', async (_name, method) => {
    const { workspaceId, secret } = await client();
    const configure = (path: string) => {
      const server = { issuer: origin, token_endpoint: `${origin}${path}` };
      const configuration = new openid.Configuration(server, workspaceId, undefined, method(secret));
      openid.allowInsecureRequests(configuration);
      return configuration;
    };
    const tokens = await openid.clientCredentialsGrant(configure('/v1/oauth/token'));
    expect(tokens.expires_in).toBe(900);
    await expectAccepted(tokens.access_token);
    // Refreshing has a path of its own, so a configuration of its own.
    const refreshed = await openid.refreshTokenGrant(configure('/v1/oauth/refresh'), tokens.refresh_token!);
    expect(refreshed.access_token).not.toBe(tokens.access_token);
    await expectAccepted(refreshed.access_token);
  });

  test('openid-client reads the error of a wrong secret', async () => {
    const { workspaceId } = await client();
    const server = { issuer: origin, token_endpoint: `${origin}/v1/oauth/token` };
    const configuration = new openid.Configuration(server, workspaceId, undefined, openid.ClientSecretPost('wrong'));
    openid.allowInsecureRequests(configuration);
    await expect(openid.clientCredentialsGrant(configuration)).rejects.toMatchObject({ status: 401 });
  });

  test('openid-client revokes a token', async () => {
    const { workspaceId, secret } = await client();
    const server = {
      issuer: origin,
      token_endpoint: `${origin}/v1/oauth/token`,
      revocation_endpoint: `${origin}/v1/oauth/revoke`,
    };
    const configuration = new openid.Configuration(server, workspaceId, secret);
    openid.allowInsecureRequests(configuration);
    const { access_token } = await openid.clientCredentialsGrant(configuration);
    await openid.tokenRevocation(configuration, access_token);
    expect((await bundle.guarded(access_token)).statusCode).toBe(401);
  });

  test.each(['body', 'header'] as const)(
    'simple-oauth2 with credentials in the %s obtains and refreshes',
    async (where) => {
      const { workspaceId, secret } = await client();
      const oauth = new ClientCredentials({
        client: { id: workspaceId, secret },
        auth: { tokenHost: origin, tokenPath: '/v1/oauth/token', refreshPath: '/v1/oauth/refresh' },
        options: { authorizationMethod: where },
      });
      const token = await oauth.getToken({});
      expect(token.expired()).toBe(false);
      await expectAccepted(token.token.access_token as string);
      const refreshed = await token.refresh();
      expect(refreshed.token.access_token).not.toBe(token.token.access_token);
      await expectAccepted(refreshed.token.access_token as string);
    },
  );

  async function client() {
    const workspaceId = await bundle.makeWorkspace();
    const { secret } = await bundle.makeKey({ workspaceId });
    return { workspaceId, secret };
  }

  async function expectAccepted(token: string): Promise<void> {
    const answer = await fetch(`${origin}/guarded/data`, { headers: { authorization: `Bearer ${token}` } });
    expect(answer.status).toBe(200);
  }
});

describe('the description of tokens', () => {
  test('the OpenAPI description names the three operations, their forms and the shape of every answer', async () => {
    const server = Fastify();
    await server.register(swagger, { openapi: { openapi: '3.1.0', info: { title: 'test', version: '1' } } });
    // Describing calls no use case.
    await server.register(tokenRoutes({} as TokenRouteDependencies));
    await server.ready();
    const paths = JSON.parse(JSON.stringify(server.swagger())).paths;
    expect(Object.keys(paths)).toEqual(['/v1/oauth/token', '/v1/oauth/refresh', '/v1/oauth/revoke']);
    for (const path of Object.values(paths) as Record<string, unknown>[]) expect(Object.keys(path)).toEqual(['post']);
    const { post } = paths['/v1/oauth/token'];
    const form = post.requestBody.content['application/x-www-form-urlencoded'].schema;
    expect(form.required).toEqual(['grant_type', 'client_id', 'client_secret']);
    expect(Object.keys(post.responses)).toEqual(['200', '400', '401', '409', '413', '415', '421', '429', '500', '503']);
    const answer = post.responses['200'].content['application/json'].schema;
    expect(answer.required).toEqual(['status', 'data', 'access_token', 'token_type', 'expires_in', 'refresh_token']);
    const refreshed = paths['/v1/oauth/refresh'].post.responses['200'].content['application/json'].schema;
    expect(Object.keys(refreshed.properties)).not.toContain('refresh_token');
    await server.close();
  });

  test('every token error and gateway error of the registry has a code and a status', () => {
    const isToken = (name: string) => name.startsWith('TOKEN_');
    expect(Object.keys(tokenErrors).filter(isToken).sort()).toEqual(Object.keys(errorRegistry).filter(isToken).sort());
    expect(Object.keys(errorRegistry)).toEqual(expect.arrayContaining(Object.keys(gatewayErrors)));
  });
});

describe('limits of tokens', () => {
  // Every test moves the clock, so each has a bundle of its own.
  let bundle: TokenBundle;
  let workspaceId: string;
  let secret: string;
  beforeEach(async () => {
    bundle = await makeTokenBundle();
    workspaceId = await bundle.makeWorkspace();
    ({ secret } = await bundle.makeKey({ workspaceId }));
  });
  afterEach(() => bundle.end());

  const token = '/v1/oauth/token';
  const renewal = '/v1/oauth/refresh';

  describe('5 in a minute and 30 in ten minutes per pair (interface 8, decision D11)', () => {
    test('the sixth call in a minute is refused until exactly 60 s after the first', async () => {
      const form = generation(workspaceId, secret);
      for (let call = 0; call < 5; call += 1) {
        expect(await send(form)).toBe(200);
        bundle.clock.advance(1000);
      }
      expect(await send(form)).toBe('429 55');
      bundle.clock.advance(54_999);
      expect(await send(form)).toBe('429 1');
      bundle.clock.advance(1);
      expect(await send(form)).toBe(200);
      // The second call leaves a second later: refused calls were not counted.
      expect(await send(form)).toBe('429 1');
      bundle.clock.advance(1000);
      expect(await send(form)).toBe(200);
    });

    test('waiting the seconds of Retry-After is enough, one less is not', async () => {
      const form = generation(workspaceId, secret);
      bundle.clock.advance(123);
      for (let call = 0; call < 5; call += 1) await send(form);
      bundle.clock.advance(20_500);
      expect(await send(form)).toBe('429 40');
      bundle.clock.advance(39_000);
      expect(await send(form)).toBe('429 1');
      bundle.clock.advance(1000);
      expect(await send(form)).toBe(200);
    });

    test('the thirty-first call in ten minutes is refused until exactly 600 s after the first', async () => {
      const form = generation(workspaceId, secret);
      for (let call = 0; call < 30; call += 1) {
        expect(await send(form)).toBe(200);
        bundle.clock.advance(15_000);
      }
      // 450 s have passed; the first leaves at 600 s.
      expect(await send(form)).toBe('429 150');
      bundle.clock.advance(149_999);
      expect(await send(form)).toBe('429 1');
      bundle.clock.advance(1);
      expect(await send(form)).toBe(200);
    });

    test('wrong credentials count in the same windows: 30 answers, then the limit, as documented', async () => {
      const form = generation(workspaceId, 'a-forgotten-secret');
      for (let call = 0; call < 30; call += 1) {
        expect(await send(form)).toBe(401);
        bundle.clock.advance(15_000);
      }
      expect(await send(form)).toBe('429 150');
    });

    test('pairs and operations have limits of their own', async () => {
      const second = await bundle.makeKey({ workspaceId, name: 'Second' });
      const { refresh_token } = (await bundle.post(token, generation(workspaceId, secret))).json();
      for (let call = 0; call < 4; call += 1) await send(generation(workspaceId, secret));
      expect(await send(generation(workspaceId, secret))).toBe('429 60');
      expect(await send(generation(workspaceId, second.secret))).toBe(200);
      expect(await send(refreshing(workspaceId, refresh_token), { path: renewal })).toBe(200);
    });

    test('two refresh tokens of one key share the limit; a mismatched client_id counts in it', async () => {
      const tokens: string[] = [];
      for (let call = 0; call < 2; call += 1) {
        tokens.push((await bundle.post(token, generation(workspaceId, secret))).json().refresh_token);
      }
      for (let call = 0; call < 4; call += 1) {
        expect(await send(refreshing(workspaceId, tokens[call % 2]!), { path: renewal })).toBe(200);
      }
      expect(await send(refreshing('ANOTHER', tokens[0]!), { path: renewal })).toBe(401);
      expect(await send(refreshing(workspaceId, tokens[1]!), { path: renewal })).toBe('429 60');
    });

    test('an unknown refresh token is limited as (client_id, token)', async () => {
      for (let call = 0; call < 5; call += 1) {
        expect(await send(refreshing(workspaceId, 'unknown-1'), { path: renewal })).toBe(401);
      }
      expect(await send(refreshing(workspaceId, 'unknown-1'), { path: renewal })).toBe('429 60');
      expect(await send(refreshing(workspaceId, 'unknown-2'), { path: renewal })).toBe(401);
    });

    test('two nodes on one database share the limit, also for concurrent calls', async () => {
      const other = await bundle.makeServer();
      const form = generation(workspaceId, secret);
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, call) => postTo(call % 2 ? other : bundle.server, { path: token, form })),
      );
      const statuses = answers.map((answer) => answer.statusCode);
      expect(statuses.filter((status) => status === 200)).toHaveLength(5);
      expect(statuses.filter((status) => status === 429)).toHaveLength(15);
      await other.close();
      // A restart forgets nothing.
      const restarted = await bundle.makeServer();
      expect((await postTo(restarted, { path: token, form })).statusCode).toBe(429);
      await restarted.close();
    });

    test('a clock that was moved back does not lock the caller out', async () => {
      const form = generation(workspaceId, secret);
      bundle.clock.setOffset(30 * 24 * 60 * 60 * 1000);
      for (let call = 0; call < 5; call += 1) await send(form);
      bundle.clock.setOffset(0);
      expect(await send(form)).toBe(200);
    });
  });

  describe('guesses (decision D19, fault 3.12)', () => {
    const wrong = (number: number) => generation(workspaceId, `wrong-${number}`);

    test('of 1,000 wrong secrets from one address 20 are answered; the owner elsewhere is served, slowly', async () => {
      const statuses: number[] = [];
      for (let first = 0; first < 1000; first += 50) {
        const calls = Array.from({ length: 50 }, (_, index) =>
          bundle.post(token, wrong(first + index), { address: '203.0.113.7' }),
        );
        statuses.push(...(await Promise.all(calls)).map((answer) => answer.statusCode));
      }
      expect(statuses.filter((status) => status === 401)).toHaveLength(20);
      expect(statuses.filter((status) => status === 429)).toHaveLength(980);
      bundle.waits.length = 0;
      expect(await send(generation(workspaceId, secret), { address: '203.0.113.7' })).toBe('429 600');
      expect(bundle.waits).toEqual([]);
      expect(await send(generation(workspaceId, secret), { address: '198.51.100.1' })).toBe(200);
      expect(bundle.waits).toEqual([1000]);
      bundle.clock.advance(600_000);
      expect(await send(generation(workspaceId, secret), { address: '203.0.113.7' })).toBe(200);
      expect(bundle.waits).toEqual([1000]);
    });

    test('an address that guesses at many workspaces is refused after 100, another address is not', async () => {
      for (let guess = 0; guess < 100; guess += 1) {
        expect(await send(generation(`WS${guess}`, 'x'), { address: '203.0.113.8' })).toBe(401);
      }
      expect(await send(generation('WS100', 'x'), { address: '203.0.113.8' })).toBe('429 600');
      expect(await send(generation('WS100', 'x'), { address: '203.0.113.9' })).toBe(401);
    });

    test('addresses of one IPv6 /64 are one source', async () => {
      for (let guess = 0; guess < 20; guess += 1) {
        expect(await send(wrong(guess), { address: `2001:db8:1:2::${guess}` })).toBe(401);
      }
      expect(await send(wrong(20), { address: '2001:db8:1:2:ffff::1' })).toBe('429 600');
      expect(await send(wrong(20), { address: '2001:db8:1:3::1' })).toBe(401);
    });

    test('a forged X-Forwarded-For changes nothing', async () => {
      const statuses: number[] = [];
      for (let guess = 0; guess < 25; guess += 1) {
        const headers = { 'x-forwarded-for': `192.0.2.${guess}` };
        statuses.push((await bundle.post(token, wrong(guess), { headers })).statusCode);
      }
      expect(statuses.filter((status) => status === 429)).toHaveLength(5);
    });

    test('the same wrong secret again is one guess', async () => {
      for (let minute = 0; minute < 5; minute += 1) {
        for (let call = 0; call < 5; call += 1) expect(await send(wrong(0))).toBe(401);
        bundle.clock.advance(60_000);
      }
      const rows = await bundle.database<{ events: number }[]>`
        select cardinality(events) as events from limit_windows where operation = 'guess-client'`;
      expect(rows).toEqual([{ events: 1 }]);
    });

    test('guessed refresh tokens and secrets at refresh count as well', async () => {
      const { refresh_token } = (await bundle.post(token, generation(workspaceId, secret))).json();
      const guess = { ...refreshing(workspaceId, refresh_token), client_secret: 'wrong' };
      expect(await send(guess, { path: renewal })).toBe(401);
      for (let number = 0; number < 19; number += 1) {
        expect(await send(refreshing(workspaceId, `guess-${number}`), { path: renewal })).toBe(401);
      }
      expect(await send(refreshing(workspaceId, 'guess-19'), { path: renewal })).toBe('429 600');
    });

    test('an expired token or an archived key of the owner is no guess', async () => {
      const { refresh_token } = (await bundle.post(token, generation(workspaceId, secret))).json();
      bundle.clock.advance(31 * 24 * 60 * 60 * 1000);
      expect(await send(refreshing(workspaceId, refresh_token), { path: renewal })).toBe(401);
      const [row] = await bundle.database<{ rows: number }[]>`
        select count(*)::integer as rows from limit_windows where operation like 'guess%'`;
      expect(row).toEqual({ rows: 0 });
    });
  });

  /** Status, and Retry-After when there is one. */
  async function send(form: Record<string, string>, { path = token, address = '127.0.0.1' } = {}) {
    const answer = await bundle.post(path, form, { address });
    const retryAfter = answer.headers['retry-after'];
    if (answer.statusCode === 429) {
      expect(answer.json()).toMatchObject({ status: 'FAILURE', error_type: 'RATE_LIMIT_EXCEEDED' });
      expect(retryAfter).toMatch(/^[1-9]\d*$/);
    }
    return retryAfter === undefined ? answer.statusCode : `${answer.statusCode} ${retryAfter}`;
  }
});

describe('secrecy of tokens', () => {
  let bundle: TokenBundle;
  beforeAll(async () => {
    bundle = await makeTokenBundle();
  });
  afterAll(() => bundle.end());

  test('no issued key or token is in the database, the log or the API log, wherever it was sent', async () => {
    const workspaceId = await bundle.makeWorkspace();
    const { secret } = await bundle.makeKey({ workspaceId });
    const push = await bundle.makeKey({ workspaceId, kind: 'push' });
    const headers = { 'idempotency-key': 'once' };
    const issued = (await bundle.post('/v1/oauth/token', generation(workspaceId, secret), { headers })).json();
    const refreshed = (await bundle.post('/v1/oauth/refresh', refreshing(workspaceId, issued.refresh_token))).json();
    const secrets = [secret, push.secret, issued.access_token, issued.refresh_token, refreshed.access_token];
    for (const canary of secrets) {
      await bundle.guarded(canary);
      await bundle.post(`/v1/oauth/token?client_secret=${canary}`, generation(workspaceId, canary));
      await bundle.post('/v1/oauth/token', `${canary}&${canary}=${canary}`);
      await bundle.post('/v1/oauth/token', { ...generation(canary, canary), [canary]: canary });
      await bundle.post('/v1/oauth/refresh', { ...refreshing(workspaceId, canary), client_secret: canary });
      await bundle.post('/v1/oauth/token', canary, { headers: { 'content-type': 'text/plain' } });
      await bundle.server.inject({ url: `/guarded/data?access_token=${canary}` });
      await bundle.server.inject({ url: `/v1/oauth/token?client_secret=${canary}` });
    }
    const kept = [await dump(), bundle.logLines.join(''), JSON.stringify(bundle.calls)];
    expect(bundle.logLines.length).toBeGreaterThan(40);
    expect(kept[0]).toContain(workspaceId);
    for (const canary of secrets) {
      const spellings = [
        canary,
        canary.slice(4),
        Buffer.from(canary).toString('hex'),
        Buffer.from(canary).toString('base64'),
      ];
      for (const spelling of spellings) for (const text of kept) expect(text.includes(spelling)).toBe(false);
    }
  });

  const fields = ['grant_type', 'client_id', 'client_secret', 'refresh_token', 'token', '__proto__', 'constructor', ''];
  const naughty = [
    '\0',
    '%00',
    '%',
    '%zz',
    '\ud800',
    "'; drop table users; --",
    '../..',
    'null',
    '=',
    '&',
    '{{7*7}}',
    '\r\n',
  ];

  test('whatever a form holds, the answer is a refusal in the token error shape, never a fault of ours', async () => {
    const value = fc.oneof(
      anyText({ maxLength: 60 }),
      fc.constantFrom(...naughty),
      fc.constantFrom('client_credentials', 'refresh_token'),
    );
    const pair = fc.tuple(fc.oneof(fc.constantFrom(...fields), fc.string({ maxLength: 8 })), value, fc.boolean());
    const body = fc.oneof(
      fc
        .array(pair, { maxLength: 8 })
        .map((pairs) =>
          pairs
            .map(([name, text, escaped]) => `${name}=${escaped ? encodeURIComponent(text.toWellFormed()) : text}`)
            .join('&'),
        ),
      anyText({ maxLength: 200 }),
    );
    const request = fc.record({
      path: fc.constantFrom('/v1/oauth/token', '/v1/oauth/refresh', '/v1/oauth/revoke'),
      body,
      authorization: fc.option(
        fc.oneof(
          fc.base64String({ maxLength: 40 }).map((text) => `Basic ${text}`),
          fc.string({ maxLength: 20 }).map((text) => `Basic ${Buffer.from(text).toString('base64')}`),
        ),
        { nil: undefined },
      ),
      // Addresses vary, or the guess limit would answer most of them.
      address: fc.ipV4(),
    });
    await fc.assert(
      fc.asyncProperty(request, async ({ path, body: text, authorization, address }) => {
        const headers = authorization === undefined ? {} : { authorization };
        const answer = await bundle.post(path, text, { headers, address });
        expect([400, 401, 429]).toContain(answer.statusCode);
        expect(answer.json()).toMatchObject({ status: 'FAILURE', error_type: expect.any(String) });
      }),
      { numRuns: propertyRuns(400) },
    );
  });

  test('a form of raw bytes that are not UTF-8 is refused, not a fault', async () => {
    const payload = Buffer.concat([
      Buffer.from('grant_type=client_credentials&client_id='),
      Buffer.from([0xff, 0xfe, 0x00]),
    ]);
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await bundle.server.inject({ method: 'POST', url: '/v1/oauth/token', headers, payload });
    expect([answer.statusCode, answer.json().error_type]).toEqual([400, 'ER020']);
  });

  /** Every row of every table as text; bytes as hexadecimal. */
  async function dump(): Promise<string> {
    const tables = await bundle.database<{ name: string }[]>`
      select table_name as name from information_schema.tables
      where table_schema = 'public' and table_type = 'BASE TABLE'`;
    const texts: string[] = [];
    for (const { name } of tables) {
      texts.push(JSON.stringify(await bundle.database`select t::text as row from ${bundle.database(name)} as t`));
    }
    return texts.join('\n');
  }
});
