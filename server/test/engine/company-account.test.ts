import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { makeBoundedFetch, makeCompanyProvider } from '../../src/engine/company-account.ts';
import type { OutgoingAnswer, OutgoingRequest } from '../../src/outgoing/client.ts';
import { startOpenidIssuer } from '../console/openid-issuer.ts';
import type { OpenidIssuer } from '../console/openid-issuer.ts';

type Given = { status?: number; headers?: OutgoingAnswer['headers']; parts?: Buffer[] };

describe('responses of an issuer', () => {
  const megabyte = 1024 * 1024;

  test('have the status, headers and body that fetch would return', async () => {
    const { ask, asked } = openFetch({
      status: 201,
      headers: { 'x-list': ['b', 'c'], 'x-one': 'd', 'x-none': undefined },
    });
    const answer = await ask();
    expect([answer.status, await answer.json(), Object.fromEntries(answer.headers)]).toEqual([
      201,
      { a: 1 },
      { 'x-list': 'b, c', 'x-one': 'd' },
    ]);
    expect(asked).toEqual([
      { url: 'https://issuer.example/x', method: 'GET', headers: { a: 'b' }, totalMilliseconds: 10_000 },
    ]);
  });

  test.each([
    ['POST', new URLSearchParams({ a: 'b c' }), 'POST', 'a=b+c'],
    ['POST', 'text', 'POST', 'text'],
    ['DELETE', null, 'GET', undefined],
  ])('follow a %s request with the body %s that is sent as %s', async (...[method, body, sent, text]) => {
    const { ask, asked } = openFetch();
    const { signal } = new AbortController();
    await ask({ method, body: body as never, signal });
    expect([asked[0]!.method, asked[0]!.body, 'body' in asked[0]!, asked[0]!.signal]).toEqual([
      sent,
      text,
      text !== undefined,
      signal,
    ]);
  });

  test.each([204, 304])('have no body with status %d', async (status) => {
    const answer = await openFetch({ status, parts: [] }).ask();
    expect([answer.status, answer.body]).toEqual([status, null]);
  });

  test('are read up to one megabyte, and rejected one byte above', async () => {
    const whole = await openFetch({ parts: [Buffer.alloc(megabyte - 1), Buffer.alloc(1)] }).ask();
    expect((await whole.arrayBuffer()).byteLength).toBe(megabyte);
    await expect(openFetch({ parts: [Buffer.alloc(megabyte), Buffer.alloc(1)] }).ask()).rejects.toThrow('too long');
  });
});

describe('the provider of company accounts', () => {
  const client = { clientId: 'carillon', clientSecret: 'the secret of the client' };
  const redirectUri = 'https://push.example/back';
  const checks = { state: 's'.repeat(20), nonce: 'n'.repeat(20), codeVerifier: 'v'.repeat(43) };
  let issuer: OpenidIssuer;

  beforeAll(async () => {
    issuer = await startOpenidIssuer(client);
  });
  afterAll(() => issuer.stop());
  beforeEach(() => {
    issuer.state.lies = {};
    issuer.state.isForged = false;
    issuer.state.user = { sub: 'sub-1', email: 'ana@example.com', email_verified: true, name: 'Ana' };
  });

  test('redirects the browser with a challenge, and without the verifier or the secret', async () => {
    const provider = openProvider();
    const url = new URL(await provider.authorize({ redirectUri, ...checks }));
    expect([provider.name, `${url.origin}${url.pathname}`]).toEqual(['Example', `${issuer.issuer}/authorize`]);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      ...{ client_id: 'carillon', response_type: 'code', redirect_uri: redirectUri, scope: 'openid email profile' },
      ...{ state: checks.state, nonce: checks.nonce, code_challenge_method: 'S256' },
      code_challenge: createHash('sha256').update(checks.codeVerifier).digest('base64url'),
    });
  });

  describe('a returning user', () => {
    test('is identified by the claims of the token', async () => {
      expect(await signIn()).toEqual({
        ...{ issuer: issuer.issuer, subject: 'sub-1', email: 'ana@example.com' },
        ...{ emailVerification: 'verified', username: undefined, name: 'Ana' },
      });
    });

    test.each<[string, object, object]>([
      [
        'no address and no name',
        { email: undefined, name: undefined, email_verified: undefined },
        { email: undefined, name: undefined, emailVerification: 'unstated' },
      ],
      ['values that are not texts', { email: 1, name: 2 }, { email: undefined, name: undefined }],
      ['an address verified in words', { email_verified: 'true' }, { emailVerification: 'verified' }],
      ['one that is not', { email_verified: false }, { emailVerification: 'denied' }],
      [
        'an address without a statement about it, and a user name',
        { email_verified: undefined, preferred_username: 'a@b.c' },
        { emailVerification: 'unstated', username: 'a@b.c' },
      ],
      [
        'an address whose verification is stated in unknown words',
        { email_verified: 'yes' },
        { emailVerification: 'denied' },
      ],
      [
        'an owner of the domain that Entra has not verified',
        { email_verified: undefined, xms_edov: false },
        { emailVerification: 'denied' },
      ],
      ['the same as a number', { email_verified: undefined, xms_edov: '0' }, { emailVerification: 'denied' }],
      ['one that Entra has', { email_verified: undefined, xms_edov: true }, { emailVerification: 'unstated' }],
      ['one that is not, in words', { email_verified: 'false' }, { emailVerification: 'denied' }],
    ])('is identified with %s', async (_what, lies, claims) => {
      issuer.state.lies = lies as Record<string, unknown>;
      expect(await signIn()).toMatchObject(claims);
    });

    const now = () => Math.floor(Date.now() / 1_000);
    test.each<[string, () => Record<string, unknown>]>([
      ['of another issuer', () => ({ iss: 'https://x.example' })],
      ['for another client', () => ({ aud: 'other' })],
      ['that has ended', () => ({ exp: now() - 70 })],
      ['with another nonce', () => ({ nonce: 'x' })],
    ])('is rejected with a token %s', async (_what, lies) => {
      issuer.state.lies = lies();
      await expect(signIn()).rejects.toThrow();
    });

    test('is accepted with a token that expired less than a minute ago, because clocks differ', async () => {
      issuer.state.lies = { exp: now() - 30 };
      expect(await signIn()).toMatchObject({ subject: 'sub-1' });
    });

    test('is rejected with a token that was signed by another key', async () => {
      issuer.state.isForged = true;
      await expect(signIn()).rejects.toThrow();
    });

    test.each([
      ['state', { state: 'x' }],
      ['nonce', { nonce: 'x' }],
      ['verifier', { codeVerifier: 'x'.repeat(43) }],
    ])('is rejected with another %s', async (_what, given) => {
      await expect(signIn(given)).rejects.toThrow();
    });
  });

  describe('an issuer', () => {
    /** One that counts how often it is asked, and how a client names itself. */
    async function serve(metadata: object) {
      const asked: string[] = [];
      const seen = { authorization: undefined as string | undefined, isAway: false };
      const server = createServer((request, response) => {
        asked.push(request.url!);
        seen.authorization = request.headers.authorization ?? seen.authorization;
        if (seen.isAway) return void response.destroy();
        const address = `http://${request.headers.host}`;
        const body = {
          ...{ issuer: address, authorization_endpoint: `${address}/authorize`, token_endpoint: `${address}/token` },
          ...metadata,
        };
        return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      onTestFinished(() => void server.close());
      return { asked, seen, issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
    }
    const authorize = (provider: ReturnType<typeof openProvider>) => provider.authorize({ redirectUri, ...checks });

    test('is asked for its endpoints once an hour, and again immediately after a failure', async () => {
      const peer = await serve({});
      const provider = openProvider(peer.issuer);
      peer.seen.isAway = true;
      await expect(authorize(provider)).rejects.toThrow();
      peer.seen.isAway = false;
      await Promise.all([authorize(provider), authorize(provider)]);
      expect(peer.asked).toHaveLength(2);
      vi.useFakeTimers({ toFake: ['performance'] });
      onTestFinished(() => void vi.useRealTimers());
      const later = openProvider(peer.issuer);
      await authorize(later);
      vi.advanceTimersByTime(3_599_999);
      await authorize(later);
      expect(peer.asked).toHaveLength(3);
      vi.advanceTimersByTime(1);
      await authorize(later);
      expect(peer.asked).toHaveLength(4);
    });

    test.each([
      [['client_secret_basic', 'client_secret_post'], false],
      [['client_secret_basic'], true],
      [undefined, true],
    ])('receives the secret in the header if it accepts %j: %s', async (methods, isBasic) => {
      const peer = await serve({ token_endpoint_auth_methods_supported: methods });
      const provider = openProvider(peer.issuer);
      await authorize(provider);
      const callbackUrl = new URL(`${redirectUri}?code=c&state=${checks.state}`);
      await expect(provider.redeem({ callbackUrl, ...checks })).rejects.toThrow();
      expect(peer.asked.at(-1)).toBe('/token');
      expect(peer.seen.authorization?.startsWith('Basic ') ?? false).toBe(isBasic);
    });

    test('gets no requests after the provider is closed', async () => {
      const peer = await serve({});
      const provider = openProvider(peer.issuer);
      await provider.close();
      await expect(authorize(provider)).rejects.toThrow();
      expect(peer.asked).toEqual([]);
    });
  });

  function openProvider(address = issuer.issuer) {
    const provider = makeCompanyProvider({ groupsClaim: 'groups', issuer: address, ...client, name: 'Example' });
    onTestFinished(() => provider.close());
    return provider;
  }

  /** To the issuer, which sends back at once. */
  async function signIn(given: Partial<typeof checks> = {}, provider = openProvider()) {
    const location = await provider.authorize({ redirectUri, ...checks });
    const answer = await fetch(location, { redirect: 'manual' });
    const callbackUrl = new URL(answer.headers.get('location')!);
    return provider.redeem({ callbackUrl, ...checks, ...given });
  }
});

function openFetch({ status = 200, headers = {}, parts = [Buffer.from('{"a":'), Buffer.from('1}')] }: Given = {}) {
  const asked: OutgoingRequest[] = [];
  const fetchBounded = makeBoundedFetch({
    async open(request) {
      asked.push(request);
      return { status, headers, body: Readable.from(parts), url: new URL(request.url) };
    },
    close: async () => {},
  });
  const ask = (more: Partial<Parameters<typeof fetchBounded>[1]> = {}) =>
    fetchBounded('https://issuer.example/x', {
      method: 'GET',
      headers: { a: 'b' },
      body: undefined,
      redirect: 'manual',
      ...more,
    });
  return { asked, ask };
}
