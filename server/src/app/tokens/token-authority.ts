import { randomBytes } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import type { Random } from '../../domain/access/keys.ts';
import { drawGrant, drawTokenId, makeTokenSigner, readToken } from '../../domain/access/tokens.ts';
import type { TokenClaims, TokenKey, TokenKind, TokenSecretDates, TokenSigner } from '../../domain/access/tokens.ts';
import { encryptionContext, makeTokenSecret } from '../../domain/crypto/encryption.ts';
import type { Encryption } from '../../domain/crypto/encryption.ts';
import { refreshTokenSeconds } from '../../domain/limits/access.ts';
import { retentionTime } from '../../domain/operations/retention.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { touchApiKeys } from '../../storage/keys/api-keys.ts';
import type { ApiKey, IssuingKey } from '../../storage/keys/api-keys.ts';
import { findKeysOfTokens } from '../../storage/keys/token-revocations.ts';
import type { KeyOfTokens } from '../../storage/keys/token-revocations.ts';
import { listTokenSecrets, readTokenEpoch, turnTokenSecrets } from '../../storage/keys/token-secrets.ts';
import { makeFreshCache } from '../fresh-cache.ts';
import { lookUpBatches, makeGroupCommit } from '../group-commit.ts';
import { isUseNoted } from '../keys/authenticate-key.ts';

/** What this node signs and checks tokens with. */
export type SigningState = {
  epoch: number;
  secrets: ReadonlyMap<number, SigningSecret>;
  /** Undefined in a new installation, and when every secret was retired. */
  issuing: SigningSecret | undefined;
};
type SigningSecret = TokenSecretDates & { signer: TokenSigner };

/** A key as the tokens of the last second see it. */
export type CachedKey = { key: ApiKey; dataCenter: string; token: TokenKey };

export type IssueDetails = { at: Date; random?: Random | undefined };

/** Issues and verifies tokens. Each node has one, shared by all its routes. */
export type TokenAuthority = {
  /** Issues a refresh token and an access token of one grant, with the current lifetime of the key (decision D15). */
  issue(key: IssuingKey, details: IssueDetails): Promise<{ accessToken: string; refreshToken: string }>;
  issueAccessToken(key: IssuingKey, details: IssueDetails & { grant: Buffer }): Promise<string>;
  /**
   * Returns the claims of a token with the signature of this installation, whatever its age. Without a database it still
   * recognises forged tokens.
   */
  verify(text: string, kind: TokenKind): Promise<TokenClaims | undefined>;
  /** Returns the epoch and the secrets that were in force within the last second. */
  currentState(): Promise<SigningState>;
  /** Returns a key as it was within the last second. */
  findKey(keyNumber: number): Promise<CachedKey | undefined>;
  /** Makes a revocation or a change to a key that this node has committed take effect on it at once. */
  forgetKey(keyNumber: number): void;
  /** As `forgetKey`, of all keys: for changes that are rare. */
  forgetKeys(): void;
  /** Writes `last_used_at` if the stored one is a minute old, together with that of other keys. */
  noteUse(key: ApiKey, at: Date): Promise<void>;
};

export type TokenAuthorityDependencies = { database: Database; clock: Clock; encryption: Encryption };

// About 1 KB each.
const maxCachedKeys = 20_000;

/**
 * A token may name a secret that this node does not know yet, and anyone can write a token that does. So secrets are read at
 * most 20 times a second, and such tokens wait for the next read.
 */
const secretBatches = { ...lookUpBatches, pause: { milliseconds: 50, items: Infinity } };
const onlyState = 0;

export function makeTokenAuthority(deps: TokenAuthorityDependencies): TokenAuthority {
  const { database, clock } = deps;
  const readState = makeReadState(deps);
  const drawn = makeRandomPool();
  /** The newest state that was read, however old: a secret never changes, so it always recognises forged tokens. */
  let known: SigningState = { epoch: 0, secrets: new Map(), issuing: undefined };
  const states = makeFreshCache<typeof onlyState, SigningState>({
    ...{ clock, batches: secretBatches, maxValues: 1 },
    async read(asks) {
      known = await readState(known);
      return asks.map(() => known);
    },
  });
  const keys = makeFreshCache<number, CachedKey | undefined>({
    ...{ clock, batches: lookUpBatches, maxValues: maxCachedKeys },
    async read(numbers) {
      const found = await findKeysOfTokens(database, { numbers: [...new Set(numbers)], at: clock.now() });
      const byNumber = new Map(found.map((key) => [key?.number, key]));
      return numbers.map((number) => cachedKeyOf(byNumber.get(number)));
    },
  });
  const touch = makeGroupCommit(async (uses: { id: string; at: Date }[]) => {
    await touchApiKeys(database, { ids: [...new Set(uses.map(({ id }) => id))], at: uses.at(-1)!.at });
    return uses;
  }, lookUpBatches);

  const issuingState = async (): Promise<SigningState> => {
    const state = await states.find(onlyState);
    if (state.issuing) return state;
    await startFirstSecret(deps);
    return states.reread(onlyState);
  };

  return {
    async issue(key, { at, random = drawn }) {
      const state = await issuingState();
      const { grant, ids } = drawGrant(random);
      return {
        accessToken: sign(state, { kind: 'access-token', key, grant, at, id: ids[0] }),
        refreshToken: sign(state, { kind: 'refresh-token', key, grant, at, id: ids[1] }),
      };
    },
    async issueAccessToken(key, { grant, at, random = drawn }) {
      return sign(await issuingState(), { kind: 'access-token', key, grant, at, id: drawTokenId(random) });
    },
    async verify(text, kind) {
      const token = readToken(text);
      if (token?.claims.kind !== kind) return undefined;
      const { secretNumber } = token.claims;
      const secret = known.secrets.get(secretNumber) ?? (await states.reread(onlyState)).secrets.get(secretNumber);
      return secret?.signer.verifies(token) ? token.claims : undefined;
    },
    currentState: () => states.find(onlyState),
    findKey: keys.find,
    forgetKey: keys.forget,
    forgetKeys: keys.forgetAll,
    async noteUse(key, at) {
      if (isUseNoted(key, at)) return;
      // The cached key is updated first, so that a burst writes once.
      key.lastUsedAt = at;
      await touch({ id: key.id, at });
    },
  };
}

/** Draws random bytes in pages: a draw costs 2 µs, whatever its length. No byte is given twice. */
function makeRandomPool(): Random {
  let page = Buffer.alloc(0);
  return (bytes) => {
    if (page.length < bytes) page = randomBytes(4_096);
    const taken = page.subarray(0, bytes);
    page = page.subarray(bytes);
    return taken;
  };
}

/** Decrypts only secrets that are new: a rotation of the master key changes how a secret is stored, not the secret. */
function makeReadState({ database, encryption }: TokenAuthorityDependencies) {
  return async (known: SigningState): Promise<SigningState> => {
    const [epoch, stored] = await Promise.all([readTokenEpoch(database), listTokenSecrets(database)]);
    const secrets = stored.map(({ encryptedSecret, ...dates }): SigningSecret => {
      const { number } = dates;
      const signer =
        known.secrets.get(number)?.signer ??
        makeTokenSigner(encryption.decrypt(encryptedSecret, encryptionContext.tokenSecret({ number })));
      return { ...dates, signer };
    });
    const issuing = secrets.find(({ succeededAt, retiredAt }) => succeededAt === null && retiredAt === null);
    return { epoch, secrets: new Map(secrets.map((secret) => [secret.number, secret])), issuing };
  };
}

/** Adds the secret of a new installation, or of one whose secrets were all retired. Two nodes add one. */
async function startFirstSecret({ database, clock, encryption }: TokenAuthorityDependencies): Promise<void> {
  const at = clock.realNow();
  const planAt = retentionTime({ now: clock.now(), realNow: at });
  await inTransaction(database, (tx) =>
    turnTokenSecrets(tx, { planAt, at, encryptNew: (number) => makeTokenSecret(encryption, number) }),
  );
}

type Signed = { kind: TokenKind; key: IssuingKey; grant: Buffer; id: Buffer; at: Date };

function sign(state: SigningState, { kind, key, grant, id, at }: Signed): string {
  const { number: secretNumber, signer } = state.issuing!;
  return signer.write({
    ...{ kind, secretNumber, epoch: state.epoch, grant, issuedAt: at, id },
    ...{ workspaceNumber: key.workspaceNumber, keyNumber: key.number, keyGeneration: key.generation },
    lifetimeSeconds: kind === 'refresh-token' ? refreshTokenSeconds : key.accessTokenMinutes * 60,
  });
}

function cachedKeyOf(found: KeyOfTokens | undefined): CachedKey | undefined {
  if (!found) return undefined;
  const { number: _number, workspaceNumber, dataCenter, secretRequiredAtRefresh: _required, revoked, ...key } = found;
  const { generation, archivedAt } = key;
  const subjects = new Set(revoked.map((subject) => subject.toString('latin1')));
  const isRevoked = (subject: Buffer): boolean => subjects.size > 0 && subjects.has(subject.toString('latin1'));
  return { key, dataCenter, token: { workspaceNumber, generation, archivedAt, isRevoked } };
}
