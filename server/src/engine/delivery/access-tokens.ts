import type { Clock } from '../../clock.ts';
import { readJsonAnswer } from './classify-fault.ts';
import { isYoungToken } from './is-young-token.ts';
import type { Http2Target } from './http2/open-socket.ts';
import type { Answer } from './provider.ts';

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
