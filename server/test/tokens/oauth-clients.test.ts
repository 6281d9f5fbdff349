import * as openid from 'openid-client';
import { ClientCredentials } from 'simple-oauth2';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeTokenBundle } from './token-bundle.ts';
import type { TokenBundle } from './token-bundle.ts';

// Unmodified OAuth libraries over real HTTP: the documented envelope alone breaks them, decision D18 mends it.

let bundle: TokenBundle;
let origin: string;
beforeAll(async () => {
  bundle = await makeTokenBundle();
  origin = await bundle.server.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(() => bundle.end());

async function client() {
  const workspaceId = await bundle.makeWorkspace();
  const { secret } = await bundle.makeKey({ workspaceId });
  return { workspaceId, secret };
}

async function expectAccepted(token: string): Promise<void> {
  const answer = await fetch(`${origin}/guarded/data`, { headers: { authorization: `Bearer ${token}` } });
  expect(answer.status).toBe(200);
}

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
