import type { Clock } from '../clock.ts';
import type { ProviderName } from '../domain/delivery/providers.ts';
import { readJsonAnswer } from './answer-rules.ts';
import type { Http2Target } from './http2/open-socket.ts';
import type { Http2Transport } from './http2/transport.ts';
import type { Answer, Access, Plan, Route } from './provider.ts';

export type AccessTokens<C> = {
  /** Returns a valid token, or the response that refused one. */
  get(credential: C, target: Http2Target): Promise<{ token: string } | { refusal: Answer }>;
  /** Forgets a token that the service no longer accepts, unless another has replaced it. */
  forget(credential: C, refused: string): void;
};

export type AccessTokensOptions<C> = {
  clock: Clock;
  /** Returns the key of one account; a replaced secret has its own tokens. */
  keyOf(credential: C): string;
  /** Requests a token from the service at the address. */
  ask(credential: C, target: Http2Target): Promise<Answer>;
  /** Returns how long to use a token with this lifetime. */
  lifeMillisecondsOf(expiresInSeconds: number): number;
};

const usualSeconds = 3600;
const maxTokens = 1_000;

type Stored = {
  issuedAtMilliseconds: number;
  /** Infinite while the token is being fetched. */
  lifeMilliseconds: number;
  result: Promise<{ token: string } | { refusal: Answer }>;
  /** Set once it was received. */
  token?: string;
};

/** Caches OAuth access tokens, one per account. A token is fetched once, however many requests wait for it. */
export function makeAccessTokens<C>(options: AccessTokensOptions<C>): AccessTokens<C> {
  const { clock, keyOf } = options;
  const tokens = new Map<string, Stored>();

  async function fetchToken(credential: C, target: Http2Target, stored: Stored) {
    const answer = await options.ask(credential, target);
    const body =
      answer.kind === 'answer'
        ? (readJsonAnswer(answer.body) as { access_token?: unknown; expires_in?: unknown } | undefined)
        : undefined;
    if (answer.kind === 'answer' && answer.status === 200 && typeof body?.access_token === 'string') {
      const seconds = typeof body.expires_in === 'number' ? body.expires_in : usualSeconds;
      stored.token = body.access_token;
      stored.issuedAtMilliseconds = clock.realNow().getTime();
      stored.lifeMilliseconds = options.lifeMillisecondsOf(seconds);
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
        // Refused, or the key cannot sign: the next message asks again.
        if (stored.token === undefined && tokens.get(key) === stored) tokens.delete(key);
      }
    },
    forget(credential, refused) {
      const key = keyOf(credential);
      if (tokens.get(key)?.token === refused) tokens.delete(key);
    },
  };
}

// Tokens are renewed in time for messages that wait behind others.
const usedShareOfLife = 0.8;

export type OauthClient = { clientId: string; clientSecret: string; simulated: boolean };

/** Where and how an OAuth client asks for tokens. */
type ClientCredentials = { clock: Clock; transport: Http2Transport; path: string; scope?: string };

/** Makes the cache for tokens that an OAuth client gets for its secret (RFC 6749 §4.4). */
export function makeClientTokens<C extends OauthClient>({
  clock,
  transport,
  path,
  scope,
}: ClientCredentials): AccessTokens<C> {
  return makeAccessTokens<C>({
    clock,
    keyOf: ({ clientId, clientSecret }) => `${clientId}:${clientSecret}`,
    lifeMillisecondsOf: (expiresInSeconds) => expiresInSeconds * 1000 * usedShareOfLife,
    ask({ clientId, clientSecret }, target) {
      const form = new URLSearchParams({
        grant_type: 'client_credentials',
        ...(scope === undefined ? {} : { scope }),
        client_id: clientId,
        client_secret: clientSecret,
      });
      return transport.request(target, {
        path,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: Buffer.from(form.toString()),
      });
    },
  });
}

/** A service that accepts messages at one address, with a token that its other address issues. */
export type TokenEndpoints = { messagesOrigin: string; tokenOrigin: string };

export type TokenAccessOptions<Credential> = {
  name: ProviderName;
  /** Returns the account, which has its own connections. */
  accountOf(credential: Credential): string;
  endpoints: TokenEndpoints;
  /** Where simulated credentials connect: the same origins, on loopback. */
  simulator: TokenEndpoints | undefined;
  tokens: AccessTokens<Credential>;
  /** True if the provider rejects the token, not the message. */
  isRefused(answer: Answer): boolean;
  /** Returns the body of a refused message, in the provider's format, with the token service's response. */
  describeRefusal(said: string): object;
  /** The protocol of servers that do not negotiate HTTP/2; without it they are not reached. */
  fallback?: 'http/1.1';
};

/**
 * Makes access with an OAuth bearer token. It is fetched if there is none, and again if a message was refused because of it.
 */
export function makeTokenAccess<Credential extends { simulated: boolean }>({
  name,
  accountOf,
  endpoints,
  simulator,
  tokens,
  isRefused,
  describeRefusal,
  fallback,
}: TokenAccessOptions<Credential>): Access<Credential> {
  function targetOf(service: keyof TokenEndpoints, credential: Credential): Http2Target {
    const key = `${name}:${service}:${credential.simulated}:${accountOf(credential)}`;
    const target = { key, origin: endpoints[service], isGuarded: false, ...(fallback && { fallback }) };
    if (!credential.simulated) return target;
    if (!simulator) throw new Error('a simulated credential without simulators');
    return { ...target, connectTo: simulator[service] };
  }

  /** Converts the token service's refusal of an account into the response to a refused message, in the service's own words. */
  function refusedToken(refusal: Answer): Answer {
    if (refusal.kind === 'failure' || refusal.status >= 500 || refusal.status === 429) return refusal;
    return {
      kind: 'answer',
      status: 403,
      headers: {},
      body: JSON.stringify(describeRefusal(refusal.body.slice(0, 300))),
    };
  }

  const access: Access<Credential> = {
    async find(credential) {
      const found = await tokens.get(credential, targetOf('tokenOrigin', credential));
      if ('refusal' in found) return { refusal: refusedToken(found.refusal) };
      return { target: targetOf('messagesOrigin', credential), authorization: `${scheme}${found.token}` };
    },
    isRefused,
    renew(credential, { authorization }) {
      tokens.forget(credential, authorization.slice(scheme.length));
      return access.find(credential);
    },
  };
  return access;
}

const scheme = 'Bearer ';

/** Returns a device token that JSON writes unchanged; undefined for any other token, whose request is planned separately. */
export function plainAddress(pushId: string): string | undefined {
  return isPlain.test(pushId) ? pushId : undefined;
}

const isPlain = /^[ !#-[\]-~]*$/;

type Sending<C> = { transport: Http2Transport; access: Access<C>; credential: C };

/** Sends one request, and once more if its token was rejected and there is another. Rejects only because of the credential. */
export async function sendByRoute<C>(sending: Sending<C>, plan: Plan): Promise<Answer> {
  const route = await sending.access.find(sending.credential);
  if ('refusal' in route) return route.refusal;
  const answer = await request(sending.transport, { route, plan });
  return sending.access.isRefused(answer) ? sendWithNextToken(sending, { plan, route, answer }) : answer;
}

/** Sends the request again with a new token. A token may expire early; one new token shows if the credential is at fault. */
export async function sendWithNextToken<C>(
  { transport, access, credential }: Sending<C>,
  { plan, route, answer }: { plan: Plan; route: Route; answer: Answer },
): Promise<Answer> {
  const next = await access.renew(credential, route);
  if (next === undefined) return answer;
  return 'refusal' in next ? next.refusal : request(transport, { route: next, plan });
}

function request(
  transport: Http2Transport,
  { route: { target, authorization }, plan }: { route: Route; plan: Plan },
): Promise<Answer> {
  return transport.request(target, {
    path: plan.path,
    headers: { ...plan.headers, authorization },
    body: plan.body,
  });
}

// Nodes read the time from the database, each with the delay of its own query.
const maxAheadMilliseconds = 10_000;

export type TokenAge = { issuedAtMilliseconds: number; nowMilliseconds: number; lifeMilliseconds: number };

/**
 * True if one of our tokens may still be sent to a provider. A token from the future was issued while the clock was ahead: the
 * provider rejects it for that long, or accepts it for too long.
 */
export function isYoungToken({ issuedAtMilliseconds, nowMilliseconds, lifeMilliseconds }: TokenAge): boolean {
  const age = nowMilliseconds - issuedAtMilliseconds;
  return age < lifeMilliseconds && age >= -maxAheadMilliseconds;
}
