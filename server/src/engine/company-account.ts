import * as openid from 'openid-client';
import type { CustomFetch } from 'openid-client';
import { readGroups } from '../domain/access/company-accounts.ts';
import type { CompanyClaims } from '../domain/access/company-accounts.ts';
import { makeOutgoingClient } from '../outgoing/client.ts';
import type { OutgoingClient } from '../outgoing/client.ts';
import type { OutgoingProxy } from '../outgoing/proxy.ts';

export type CompanyProviderSettings = {
  issuer: string;
  clientId: string;
  clientSecret: string;
  name: string;
  /** The claim with the user's groups. */
  groupsClaim: string;
  proxy?: OutgoingProxy | undefined;
};

type Checks = { state: string; nonce: string; codeVerifier: string };

// An issuer rarely changes its addresses. A change takes effect within an hour.
const freshMilliseconds = 3_600_000;
// Tolerance between the clocks of two companies (RFC 7519 §4.1.4: "usually no more than a few minutes").
const toleranceSeconds = 60;

/**
 * A company's OpenID provider through openid-client, which verifies signature, issuer, audience, times, nonce, state and the
 * response's `iss` (RFC 9207). The operator chooses its hosts, so they may be internal. Calls are still limited in time and
 * size.
 */
export function makeCompanyProvider({ name, proxy, groupsClaim, ...client }: CompanyProviderSettings) {
  const outgoing = makeOutgoingClient({ allowedNetworks: [], hosts: 'trusted', proxy });
  const fetchBounded = makeBoundedFetch(outgoing);
  let known: { readAt: number; configuration: Promise<openid.Configuration> } | undefined;

  function configure(): Promise<openid.Configuration> {
    const now = performance.now();
    if (known && now - known.readAt < freshMilliseconds) return known.configuration;
    const configuration = discover(client, fetchBounded);
    known = { readAt: now, configuration };
    // If the issuer is unreachable, the next attempt tries again.
    configuration.catch(() => (known = undefined));
    return configuration;
  }

  return {
    name,

    async authorize({ redirectUri, state, nonce, codeVerifier }: Checks & { redirectUri: string }): Promise<string> {
      const url = openid.buildAuthorizationUrl(await configure(), {
        redirect_uri: redirectUri,
        scope: 'openid email profile',
        state,
        nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
      });
      return url.href;
    },

    async redeem({ callbackUrl, state, nonce, codeVerifier }: Checks & { callbackUrl: URL }): Promise<CompanyClaims> {
      const tokens = await openid.authorizationCodeGrant(await configure(), callbackUrl, {
        pkceCodeVerifier: codeVerifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
      });
      const claims = tokens.claims()!;
      return {
        issuer: claims.iss,
        subject: claims.sub,
        email: typeof claims.email === 'string' ? claims.email : undefined,
        emailVerification: readVerification(claims),
        username: typeof claims.preferred_username === 'string' ? claims.preferred_username : undefined,
        name: typeof claims.name === 'string' ? claims.name : undefined,
        groups: readGroups(claims, groupsClaim),
      };
    },

    close: () => outgoing.close(),
  };
}

/** Reads the issuer's metadata and configures the client with a method of authentication that the issuer accepts. */
async function discover(
  { issuer, clientId, clientSecret }: Omit<CompanyProviderSettings, 'name' | 'proxy' | 'groupsClaim'>,
  fetchBounded: CustomFetch,
): Promise<openid.Configuration> {
  // Without TLS only on loopback; the setting rejects any other http address.
  const execute = issuer.startsWith('http:') ? [openid.allowInsecureRequests] : [];
  const options = { [openid.customFetch]: fetchBounded, execute, timeout: 10 };
  const found = await openid.discovery(new URL(issuer), clientId, clientSecret, undefined, options);
  const methods = found.serverMetadata().token_endpoint_auth_methods_supported;
  // If the metadata names no method, every issuer accepts Basic (OpenID Connect Discovery 1.0 section 3).
  const authentication = methods?.includes('client_secret_post') ? openid.ClientSecretPost : openid.ClientSecretBasic;
  const metadata = { client_secret: clientSecret, [openid.clockTolerance]: toleranceSeconds };
  const configuration = new openid.Configuration(
    found.serverMetadata(),
    clientId,
    metadata,
    authentication(clientSecret),
  );
  configuration[openid.customFetch] = fetchBounded;
  configuration.timeout = 10;
  for (const change of execute) change(configuration);
  // OpenID Connect Core 3.1.3.7 lets a client trust TLS instead of the signature. A proxy that intercepts TLS is not an
  // issuer.
  openid.enableNonRepudiationChecks(configuration);
  return configuration;
}

/**
 * Returns what the token claims about its address. Some issuers write the claim as a string. Entra's optional claim `xms_edov`
 * is about the owner of the domain: `false` is treated as a denial, but `true` only covers the domain.
 */
function readVerification(claims: Readonly<Record<string, unknown>>): CompanyClaims['emailVerification'] {
  const { email_verified: isVerified, xms_edov: isDomainVerified } = claims;
  if (isVerified !== undefined) return isVerified === true || isVerified === 'true' ? 'verified' : 'denied';
  return isDomainVerified !== undefined && /^(false|0)$/i.test(String(isDomainVerified)) ? 'denied' : 'unstated';
}

const maxMilliseconds = 10_000;
// Key sets and metadata have a few kilobytes.
const maxBytes = 1024 * 1024;

/** `fetch` for openid-client, implemented with our own client: no redirects, no cookies, limited in time and size. */
export function makeBoundedFetch(outgoing: OutgoingClient): CustomFetch {
  return async (url, { method, headers, body, signal }) => {
    const answer = await outgoing.open({
      url,
      method: method === 'POST' ? 'POST' : 'GET',
      headers,
      ...(body === undefined || body === null ? {} : { body: bodyText(body) }),
      totalMilliseconds: maxMilliseconds,
      ...(signal ? { signal } : {}),
    });
    const parts: Buffer[] = [];
    let bytes = 0;
    for await (const part of answer.body as AsyncIterable<Buffer>) {
      bytes += part.length;
      if (bytes > maxBytes) throw new Error('the answer of the issuer is too long');
      parts.push(part);
    }
    const known = Object.entries(answer.headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value] as [string, string]],
    );
    const isEmpty = answer.status === 204 || answer.status === 304;
    return new Response(isEmpty ? null : Buffer.concat(parts), { status: answer.status, headers: known });
  };
}

/** The library only sends forms. */
function bodyText(body: unknown): string {
  return typeof body === 'string' ? body : (body as URLSearchParams).toString();
}
