import { createPrivateKey } from 'node:crypto';
import type { Clock } from '../../../clock.ts';
import type { FcmCredential } from '../../../domain/provider-credential.ts';
import { readJsonAnswer } from '../classify-fault.ts';
import { isYoungToken } from '../is-young-token.ts';
import type { Http2Transport } from '../http2/http2-transport.ts';
import type { Http2Target } from '../http2/open-socket.ts';
import type { Answer } from '../provider.ts';

export type FcmAccessTokens = {
  /** A valid token, or the answer that refused one. */
  get(credential: FcmCredential, target: Http2Target): Promise<{ token: string } | { refusal: Answer }>;
  /** Forgets a token the service no longer takes, unless another has taken its place. */
  forget(credential: FcmCredential, refused: string): void;
};

const scope = 'https://www.googleapis.com/auth/firebase.messaging';
// Google's tokens live an hour; five minutes before that a new one is fetched.
const renewBeforeMilliseconds = 5 * 60_000;
const maxTokens = 1_000;

type Stored = {
  issuedAtMilliseconds: number;
  /** Without end while it is being fetched. */
  lifeMilliseconds: number;
  result: Promise<{ token: string } | { refusal: Answer }>;
  /** Once it has come. */
  token?: string;
};

/**
 * OAuth tokens of service accounts (JWT bearer grant, RFC 7523), one per account, fetched once however many requests
 * wait for it. The token address is this deployment's, never the one in an uploaded key file (fault 3.9).
 */
export function makeFcmAccessTokens({
  clock,
  transport,
}: {
  clock: Clock;
  transport: Http2Transport;
}): FcmAccessTokens {
  const tokens = new Map<string, Stored>();
  const keyOf = (credential: FcmCredential): string => `${credential.clientEmail}:${credential.privateKeyId}`;

  async function fetchToken(credential: FcmCredential, target: Http2Target, stored: Stored) {
    const answer = await transport.request(target, {
      path: '/token',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: Buffer.from(
        new URLSearchParams({
          grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
          assertion: await signAssertion(credential, { audience: `${target.origin}/token`, now: clock.realNow() }),
        }).toString(),
      ),
    });
    const body =
      answer.kind === 'answer'
        ? (readJsonAnswer(answer.body) as { access_token?: unknown; expires_in?: unknown } | undefined)
        : undefined;
    if (answer.kind === 'answer' && answer.status === 200 && typeof body?.access_token === 'string') {
      const seconds = typeof body.expires_in === 'number' ? body.expires_in : 3600;
      stored.token = body.access_token;
      stored.issuedAtMilliseconds = clock.realNow().getTime();
      stored.lifeMilliseconds = seconds * 1000 - renewBeforeMilliseconds;
      return { token: body.access_token };
    }
    return { refusal: answer };
  }

  return {
    async get(credential, target) {
      const key = keyOf(credential);
      const known = tokens.get(key);
      const now = clock.realNow().getTime();
      if (known && isYoungToken({ ...known, nowMilliseconds: now })) return known.result;
      const begun = { issuedAtMilliseconds: now, lifeMilliseconds: Number.POSITIVE_INFINITY };
      const stored: Stored = { ...begun, result: undefined as never };
      stored.result = fetchToken(credential, target, stored);
      tokens.set(key, stored);
      if (tokens.size > maxTokens) tokens.delete(tokens.keys().next().value!);
      try {
        return await stored.result;
      } finally {
        // Refused, or of a key that cannot sign: the next message asks again.
        if (stored.token === undefined && tokens.get(key) === stored) tokens.delete(key);
      }
    },
    forget(credential, refused) {
      const key = keyOf(credential);
      if (tokens.get(key)?.token === refused) tokens.delete(key);
    },
  };
}

async function signAssertion(
  credential: FcmCredential,
  { audience, now }: { audience: string; now: Date },
): Promise<string> {
  // With the first key of Google's: a start need not wait for these modules.
  const { SignJWT } = await import('jose');
  const issuedAt = Math.floor(now.getTime() / 1000);
  return new SignJWT({ scope })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: credential.privateKeyId })
    .setIssuer(credential.clientEmail)
    .setAudience(audience)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + 3600)
    .sign(createPrivateKey(credential.privateKey));
}
