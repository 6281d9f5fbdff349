import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SignJWT, exportJWK, generateKeyPair } from 'jose';

export type IssuerUser = { sub: string; email?: string; email_verified?: boolean; name?: string };
export type OpenidIssuer = Awaited<ReturnType<typeof startOpenidIssuer>>;

type Grant = { user: IssuerUser; nonce: string; challenge: string; redirectUri: string };

/**
 * A small OpenID provider over real HTTP: discovery, keys, the authorization code flow with PKCE. It signs in whoever
 * `person` is, without asking, and can be told to lie.
 */
export async function startOpenidIssuer({ clientId, clientSecret }: { clientId: string; clientSecret: string }) {
  const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' };
  const other = await generateKeyPair('RS256');
  const grants = new Map<string, Grant>();
  const state = {
    user: { sub: 'sub-1' } as IssuerUser,
    /** What the next tokens say in the place of the truth. */
    lies: {} as Record<string, unknown>,
    /** The next tokens are signed by a key that is not in the set. */
    isForged: false,
    redeemed: 0,
  };

  const server = createServer((request, response) => {
    const url = new URL(request.url!, issuer);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      void answer(url, Buffer.concat(chunks).toString('utf8')).then(({ status, body, location }) => {
        response.writeHead(status, location ? { location } : { 'content-type': 'application/json' });
        response.end(body === undefined ? '' : JSON.stringify(body));
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function answer(url: URL, text: string): Promise<{ status: number; body?: unknown; location?: string }> {
    switch (url.pathname) {
      case '/.well-known/openid-configuration':
        return {
          status: 200,
          body: {
            issuer,
            authorization_endpoint: `${issuer}/authorize`,
            token_endpoint: `${issuer}/token`,
            jwks_uri: `${issuer}/keys`,
            response_types_supported: ['code'],
            subject_types_supported: ['public'],
            id_token_signing_alg_values_supported: ['RS256'],
            token_endpoint_auth_methods_supported: ['client_secret_post'],
          },
        };
      case '/keys':
        return { status: 200, body: { keys: [jwk] } };
      case '/authorize': {
        const asked = url.searchParams;
        const code = randomBytes(16).toString('hex');
        grants.set(code, {
          user: state.user,
          nonce: asked.get('nonce')!,
          challenge: asked.get('code_challenge')!,
          redirectUri: asked.get('redirect_uri')!,
        });
        const back = new URL(asked.get('redirect_uri')!);
        back.search = String(new URLSearchParams({ code, state: asked.get('state')! }));
        return { status: 302, location: back.href };
      }
      case '/token':
        return redeem(new URLSearchParams(text));
      default:
        return { status: 404, body: {} };
    }
  }

  async function redeem(form: URLSearchParams): Promise<{ status: number; body: unknown }> {
    const code = form.get('code') ?? '';
    const grant = grants.get(code);
    grants.delete(code);
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const isRight =
      grant?.challenge === challenge &&
      grant.redirectUri === form.get('redirect_uri') &&
      form.get('client_id') === clientId &&
      form.get('client_secret') === clientSecret;
    if (!isRight) return { status: 400, body: { error: 'invalid_grant' } };
    state.redeemed += 1;
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: issuer, aud: clientId, iat: now, exp: now + 300, nonce: grant.nonce, ...grant.user };
    const idToken = await new SignJWT({ ...claims, ...state.lies })
      .setProtectedHeader({ alg: 'RS256', kid: 'one' })
      .sign(state.isForged ? other.privateKey : privateKey);
    return { status: 200, body: { access_token: 'opaque', token_type: 'Bearer', id_token: idToken } };
  }

  return {
    issuer,
    state,
    stop: () => new Promise((resolve) => server.close(resolve)),
  };
}
