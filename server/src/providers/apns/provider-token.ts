import { createPrivateKey, hash, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import type { ApnsCredential } from '../../domain/providers/apns.ts';
import { isYoungToken } from '../access-tokens.ts';

export type ProviderToken = { token: string; issuedAt: Date };

/**
 * Returns one token for all nodes: the stored one, if `isUsable`; otherwise one that `make` creates, which is then stored.
 * Rejects only if `make` throws.
 */
export type ShareProviderToken = (share: {
  key: string;
  isUsable: (stored: ProviderToken) => boolean;
  make: () => ProviderToken;
}) => Promise<ProviderToken>;

export type ApnsProviderTokens = {
  get(credential: ApnsCredential): Promise<string>;
  /**
   * Returns the replacement, on all nodes, of a token that Apple refused. Undefined if the refused token is itself a young
   * replacement: then its age is not the reason, and Apple does not allow another yet.
   */
  replace(credential: ApnsCredential, refused: string): Promise<string | undefined>;
};

// Apple rejects tokens over an hour old, and counts renewals within 20 minutes against the whole team.
const lifeMilliseconds = 50 * 60_000;
const minLifeMilliseconds = 20 * 60_000;
const maxTokens = 1_000;

export type ApnsProviderTokensOptions = { clock: Clock; share: ShareProviderToken };

/** The state that a process keeps for the token of one key. */
type Kept = {
  token?: ProviderToken;
  /** The one pending request for the next token, however many messages wait for it. */
  asking?: Promise<ProviderToken>;
  /** When a refused token was last replaced. */
  replacedAt?: number;
};

/** Makes provider tokens (JWT, ES256), one per team and key for all nodes, each used for close to an hour. */
export function makeApnsProviderTokens({ clock, share }: ApnsProviderTokensOptions): ApnsProviderTokens {
  const known = new Map<string, Kept>();

  function keptOf(key: string): Kept {
    const kept = known.get(key) ?? {};
    known.delete(key);
    known.set(key, kept);
    if (known.size > maxTokens) known.delete(known.keys().next().value!);
    return kept;
  }

  const isFresh = ({ issuedAt }: ProviderToken): boolean =>
    isYoungToken({
      issuedAtMilliseconds: issuedAt.getTime(),
      nowMilliseconds: clock.realNow().getTime(),
      lifeMilliseconds,
    });

  function ask(credential: ApnsCredential, isUsable: (stored: ProviderToken) => boolean): Promise<ProviderToken> {
    const key = keyOf(credential);
    const kept = keptOf(key);
    kept.asking ??= share({
      key,
      isUsable,
      make() {
        const issuedAt = clock.realNow();
        return { token: signProviderToken(credential, issuedAt.getTime()), issuedAt };
      },
    })
      .then((token) => (kept.token = token))
      // A key that cannot sign throws every time.
      .finally(() => delete kept.asking);
    return kept.asking;
  }

  return {
    async get(credential) {
      const { token } = keptOf(keyOf(credential));
      return token && isFresh(token) ? token.token : (await ask(credential, isFresh)).token;
    },
    async replace(credential, refused) {
      const kept = keptOf(keyOf(credential));
      // Other requests were refused with the same token, and the first of them already asks for a new one.
      if (kept.asking) await kept.asking;
      if (kept.token && kept.token.token !== refused && isFresh(kept.token)) return kept.token.token;
      const now = clock.realNow().getTime();
      if (kept.replacedAt !== undefined && now - kept.replacedAt < minLifeMilliseconds) return undefined;
      kept.replacedAt = now;
      const next = await ask(credential, (stored) => stored.token !== refused && isFresh(stored));
      return next.token;
    },
  };
}

const keys = new WeakMap<ApnsCredential, string>();

/** Returns the key of a credential's tokens. A replaced private key has its own tokens, even under the same name. */
function keyOf(credential: ApnsCredential): string {
  let key = keys.get(credential);
  if (key === undefined) {
    const { teamId, keyId, environment, privateKey } = credential;
    key = `apns:${environment}:${teamId}:${keyId}:${hash('sha256', privateKey, 'base64url').slice(0, 16)}`;
    keys.set(credential, key);
  }
  return key;
}

function signProviderToken(credential: ApnsCredential, now: number): string {
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
  const key: KeyObject = createPrivateKey(credential.privateKey);
  const head = `${encode({ alg: 'ES256', kid: credential.keyId })}.${encode({ iss: credential.teamId, iat: Math.floor(now / 1000) })}`;
  // JWS requires the two numbers concatenated, not OpenSSL's DER (RFC 7518 §3.4).
  const signature = sign('sha256', Buffer.from(head), { key, dsaEncoding: 'ieee-p1363' });
  return `${head}.${signature.toString('base64url')}`;
}
