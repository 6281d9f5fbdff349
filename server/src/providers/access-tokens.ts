import type { Clock } from '../clock.ts';
import { readJsonAnswer } from './answer-rules.ts';
import type { Http2Target } from './http2/open-socket.ts';
import type { Http2Transport } from './http2/transport.ts';
import type { Answer, Access, Plan, Route } from './provider.ts';

export type AccessTokens<C> = {
  /** A valid token, or the answer that refused one. */
  get(credential: C, target: Http2Target): Promise<{ token: string } | { refusal: Answer }>;
  /** Forgets a token the service no longer takes, unless another has taken its place. */
  forget(credential: C, refused: string): void;
};

export type AccessTokensOptions<C> = {
  clock: Clock;
  /** One account; a replaced secret has tokens of its own. */
  keyOf(credential: C): string;
  /** Asks the token service at the address. */
  ask(credential: C, target: Http2Target): Promise<Answer>;
  /** How long a token is used that lives so long. */
  lifeMillisecondsOf(expiresInSeconds: number): number;
};

const usualSeconds = 3600;
const maxTokens = 1_000;

type Stored = {
  issuedAtMilliseconds: number;
  /** Without end while it is being fetched. */
  lifeMilliseconds: number;
  result: Promise<{ token: string } | { refusal: Answer }>;
  /** Once it has come. */
  token?: string;
};

/** OAuth access tokens, one per account, fetched once however many requests wait for it. */
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

/** A service whose messages are let in by a token that another address of it gives. */
export type TokenEndpoints = { messagesOrigin: string; tokenOrigin: string };

export type TokenAccessOptions<Credential> = {
  name: 'fcm' | 'hms';
  /** Who has connections of its own. */
  accountOf(credential: Credential): string;
  endpoints: TokenEndpoints;
  /** Where simulated credentials lead: the same origins, connected to loopback. */
  simulator: TokenEndpoints | undefined;
  tokens: AccessTokens<Credential>;
  /** Whether it is the token that the provider does not take, and not the message. */
  isRefused(answer: Answer): boolean;
  /** The body of a refused message, in the provider's form, that says what the token service said. */
  tellRefusal(said: string): object;
};

/** Access by an OAuth token as bearer: fetched when there is none, and once more when a message was refused for it. */
export function makeTokenAccess<Credential extends { simulated: boolean }>({
  name,
  accountOf,
  endpoints,
  simulator,
  tokens,
  isRefused,
  tellRefusal,
}: TokenAccessOptions<Credential>): Access<Credential> {
  function targetOf(service: keyof TokenEndpoints, credential: Credential): Http2Target {
    const key = `${name}:${service}:${credential.simulated}:${accountOf(credential)}`;
    const target = { key, origin: endpoints[service], isGuarded: false };
    if (!credential.simulated) return target;
    if (!simulator) throw new Error('a simulated credential without simulators');
    return { ...target, connectTo: simulator[service] };
  }

  /** The token service refused the account: the same as a refused message, in the service's own words. */
  function refusedToken(refusal: Answer): Answer {
    if (refusal.kind === 'failure' || refusal.status >= 500 || refusal.status === 429) return refusal;
    return { kind: 'answer', status: 403, headers: {}, body: JSON.stringify(tellRefusal(refusal.body.slice(0, 300))) };
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

/** A token of a device that JSON writes as it is; undefined for another, whose request is planned by itself. */
export function plainAddress(pushId: string): string | undefined {
  return isPlain.test(pushId) ? pushId : undefined;
}

const isPlain = /^[ !#-[\]-~]*$/;

type Sending<C> = { transport: Http2Transport; access: Access<C>; credential: C };

/** Sends one request, and once more when its token was refused and there is another. Never rejects but for the credential. */
export async function sendByRoute<C>(sending: Sending<C>, plan: Plan): Promise<Answer> {
  const route = await sending.access.find(sending.credential);
  if ('refusal' in route) return route.refusal;
  const answer = await request(sending.transport, { route, plan });
  return sending.access.isRefused(answer) ? sendWithNextToken(sending, { plan, route, answer }) : answer;
}

/** A token may end before its time; one fresh one decides whether it is the credential. */
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

// Nodes take their time from the database, each with the delay of its own question.
const maxAheadMilliseconds = 10_000;

export type TokenAge = { issuedAtMilliseconds: number; nowMilliseconds: number; lifeMilliseconds: number };

/**
 * Whether a token of ours may still be sent to a provider. One from the future was issued while the clock was ahead: the
 * provider refuses it for as long as that, or keeps it too long.
 */
export function isYoungToken({ issuedAtMilliseconds, nowMilliseconds, lifeMilliseconds }: TokenAge): boolean {
  const age = nowMilliseconds - issuedAtMilliseconds;
  return age < lifeMilliseconds && age >= -maxAheadMilliseconds;
}
