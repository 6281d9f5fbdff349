import { readJson, toCarillonError, unreachable } from './carillon-error.ts';
import { readWhole } from './read-whole.ts';

export type AccessTokenOptions = {
  /** Origin of the token endpoints, without a trailing slash. */
  baseUrl: string;
  workspaceId: string;
  /** Secret of an OAuth key. */
  oauthKey: string;
  fetch?: typeof fetch;
  /** Maximum time for a response; default 60 s. */
  timeoutMilliseconds?: number;
  /** Milliseconds now; for tests. */
  now?: () => number;
};

export type AccessTokens = {
  /** Returns a valid access token: the same until shortly before its expiry, then a refreshed one. @throws CarillonError */
  get(): Promise<string>;
  /** Discards a token that was rejected before its expiry: the next caller gets a new one. */
  forget(accessToken: string): void;
};

type Grant = { accessToken: string; expiresAt: number; refreshToken: string; refreshUntil: number };

// A token is renewed this long before its expiry, or at four fifths of a shorter life.
const renewBeforeMilliseconds = 2 * 60_000;
const refreshLifeMilliseconds = 30 * 24 * 3_600_000;

/** Gets one access token, reuses it, and refreshes it before it expires; concurrent callers share one request. */
export function makeAccessTokens(options: AccessTokenOptions): AccessTokens {
  const { baseUrl, workspaceId, oauthKey, fetch: request = fetch, now = Date.now } = options;
  const { timeoutMilliseconds = 60_000 } = options;
  let grant: Grant | undefined;
  let pending: Promise<Grant> | undefined;

  async function ask(path: string, form: Record<string, string>): Promise<Grant> {
    const askedAt = now();
    const answer = await request(`${baseUrl}${path}`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: workspaceId, ...form }),
      // The key stays with this host.
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMilliseconds),
    })
      .then(readWhole)
      .catch((cause: unknown) => {
        throw unreachable(cause);
      });
    if (!answer.ok) throw await toCarillonError(answer);
    const { data } = (await readJson(answer)) as {
      data: { access_token: string; refresh_token?: string; expires_in: number };
    };
    const life = data.expires_in * 1000;
    return {
      accessToken: data.access_token,
      expiresAt: askedAt + Math.max(life - renewBeforeMilliseconds, life * 0.8),
      refreshToken: data.refresh_token ?? grant!.refreshToken,
      refreshUntil:
        data.refresh_token === undefined
          ? grant!.refreshUntil
          : askedAt + refreshLifeMilliseconds - renewBeforeMilliseconds,
    };
  }

  const generate = () => ask('/v1/oauth/token', { grant_type: 'client_credentials', client_secret: oauthKey });

  async function renew(): Promise<Grant> {
    if (!grant || grant.refreshUntil <= now()) return generate();
    try {
      return await ask('/v1/oauth/refresh', { grant_type: 'refresh_token', refresh_token: grant.refreshToken });
    } catch (error) {
      // ER010: the refresh token was revoked, or the key was rotated; the given key itself may still be valid.
      if ((error as { code?: string }).code === 'ER010') return generate();
      throw error;
    }
  }

  return {
    forget(accessToken) {
      if (grant?.accessToken === accessToken) grant = { ...grant, expiresAt: 0 };
    },
    async get() {
      if (grant && grant.expiresAt > now()) return grant.accessToken;
      pending ??= renew().finally(() => {
        pending = undefined;
      });
      grant = await pending;
      return grant.accessToken;
    },
  };
}
