import { hashSecret, makeSecret, stateOfToken, isSecret } from '../../domain/access/keys.ts';
import type { Random, Scope } from '../../domain/access/keys.ts';
import { ServiceError } from '../../domain/errors.ts';
import { refreshTokenSeconds } from '../../domain/limits/access.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Queryable, Transaction } from '../../storage/database.ts';
import type { ApiKey } from '../../storage/keys/api-keys.ts';
import {
  insertTokens,
  findRefreshToken,
  revokeAccessToken,
  revokeAccessTokensOfRefresh,
  revokeRefreshToken,
  findAccessToken,
  insertAccessToken,
} from '../../storage/keys/tokens.ts';
import type { NewTokens, StoredRefreshToken } from '../../storage/keys/tokens.ts';
import { answerOnce } from '../idempotency.ts';
import { authenticateKey, noteUse } from '../keys/authenticate-key.ts';
import { authenticateClient, limitGuesses, limitRequests, noteGuess } from './authenticate-client.ts';
import type { TokenCaller, Repeatable, TokenDependencies } from './prove-clients.ts';

export type GenerateTokenCommand = Repeatable & { caller: TokenCaller; clientSecret: string };

/**
 * Issues an access token and its refresh token (interface 4.1). Older tokens of the key stay as they are (decision
 * D14).
 *
 * @throws ServiceError TOKEN_RATE_LIMITED, TOKEN_CREDENTIALS_INVALID, TOKEN_KEY_NOT_OAUTH, IDEMPOTENCY_KEY_INVALID,
 *   IDEMPOTENCY_CONFLICT
 */
export async function generateToken(deps: TokenDependencies, command: GenerateTokenCommand): Promise<IssuedTokens> {
  const { caller, clientSecret, idempotencyKey } = command;
  const client = { operation: 'token', caller, clientSecret } as const;
  if (idempotencyKey !== undefined) {
    const { key } = await authenticateClient(deps, client);
    return generateOnce(deps, command, { key, idempotencyKey });
  }
  let issued: IssuedTokens | undefined;
  const makeTokensOf = (key: ApiKey, at: Date): NewTokens => {
    const made = makeTokens(key, { at, random: deps.random });
    ({ issued } = made);
    return made.stored;
  };
  const { isStored } = await authenticateClient(deps, { ...client, makeTokens: makeTokensOf });
  return issuedOr(isStored, issued!);
}

function generateOnce(
  deps: TokenDependencies,
  { rawBody }: GenerateTokenCommand,
  { key, idempotencyKey }: { key: ApiKey; idempotencyKey: string },
): Promise<IssuedTokens> {
  const at = deps.clock.now();
  const made = makeTokens(key, { at, random: deps.random });
  // The key's id is part of the operation: two keys of a workspace never get each other's stored response.
  const once = { workspaceId: key.workspaceId, operation: `token:${key.id}`, key: idempotencyKey };
  return answerOnce(deps, { ...once, rawBody, at }, async (tx) => {
    const [isStored] = await insertTokens(tx, [made.stored]);
    return issuedOr(isStored!, made.issued);
  });
}

function issuedOr(isStored: boolean, issued: IssuedTokens): IssuedTokens {
  if (isStored) return issued;
  throw new ServiceError('TOKEN_CREDENTIALS_INVALID', { detail: 'the key was removed meanwhile' });
}

/** Makes a refresh token and its first access token, with the current lifetime of the key (decision D15). */
function makeTokens(
  key: ApiKey,
  { at, random }: { at: Date; random: Random | undefined },
): { stored: NewTokens; issued: IssuedTokens } {
  const [refreshToken, accessToken] = [makeSecret('refresh-token', random), makeSecret('access-token', random)];
  const { workspaceId, id: keyId, generation: keyGeneration } = key;
  const expiresInSeconds = key.accessTokenMinutes * 60;
  const stored = {
    ...{ refreshTokenHash: hashSecret(refreshToken), accessTokenHash: hashSecret(accessToken) },
    ...{ workspaceId, keyId, keyGeneration, issuedAt: at },
    refreshExpiresAt: new Date(at.getTime() + refreshTokenSeconds * 1000),
    accessExpiresAt: new Date(at.getTime() + expiresInSeconds * 1000),
  };
  return { stored, issued: { workspaceId, keyId, accessToken, refreshToken, expiresInSeconds } };
}

export type RefreshTokenCommand = Repeatable & {
  caller: TokenCaller;
  refreshToken: string;
  /** Optional unless the workspace requires it (decision D19). */
  clientSecret?: string | undefined;
};

/**
 * Issues another access token from a refresh token, which stays as it is (interface 4.2).
 *
 * @throws ServiceError TOKEN_RATE_LIMITED, TOKEN_REFRESH_INVALID, TOKEN_CLIENT_MISMATCH, TOKEN_CLIENT_SECRET_MISSING,
 * TOKEN_CREDENTIALS_INVALID, IDEMPOTENCY_KEY_INVALID, IDEMPOTENCY_CONFLICT
 */
export async function refreshToken(deps: TokenDependencies, command: RefreshTokenCommand): Promise<IssuedTokens> {
  const { caller } = command;
  await limitGuesses(deps, caller);
  const at = deps.clock.now();
  const canExist = isSecret('refresh-token', command.refreshToken);
  const token = canExist ? await findRefreshToken(deps.database, hashSecret(command.refreshToken)) : undefined;
  // The pair of a known token is that of its key, so two tokens of one key share a limit (decision D11).
  const pair = token ? ['key', token.id] : ['token', caller.clientId, command.refreshToken];
  const { isNewPair } = await limitRequests(deps, { operation: 'refresh', pair, at });
  if (!token || stateOfToken(token, token, at) !== 'live' || isElsewhere(token, caller)) {
    if (!token && isNewPair) await noteGuess(deps, caller, at);
    throw new ServiceError('TOKEN_REFRESH_INVALID', {
      detail: token ? 'expired, revoked or of a dead key' : 'unknown',
    });
  }
  if (caller.clientId !== token.workspaceId) throw new ServiceError('TOKEN_CLIENT_MISMATCH');
  await checkSecret(deps, command, { token, at });
  const once = { workspaceId: token.workspaceId, operation: `refresh:${token.id}`, key: command.idempotencyKey };
  const issued = await answerOnce(deps, { ...once, rawBody: command.rawBody, at }, (tx) =>
    issueAccessToken(tx, { key: token, refreshTokenHash: token.tokenHash, at, random: deps.random }),
  );
  await noteUse(deps.database, token, at);
  return issued;
}

/** Treats a workspace of another data center as not found (decision D1). */
function isElsewhere(token: StoredRefreshToken, caller: TokenCaller): boolean {
  return caller.dataCenter !== undefined && caller.dataCenter !== token.dataCenter;
}

/** Discloses only to the holder of a valid refresh token whether the workspace requires the secret, and whether it is right. */
async function checkSecret(
  deps: TokenDependencies,
  { caller, clientSecret }: RefreshTokenCommand,
  { token, at }: { token: StoredRefreshToken; at: Date },
): Promise<void> {
  if (clientSecret === undefined) {
    if (token.secretRequiredAtRefresh) throw new ServiceError('TOKEN_CLIENT_SECRET_MISSING');
    return;
  }
  const authentication = await authenticateKey(deps, { workspaceId: token.workspaceId, secret: clientSecret, at });
  if (authentication.outcome === 'ok' && authentication.key.id === token.id) return;
  await noteGuess(deps, caller, at);
  throw new ServiceError('TOKEN_CREDENTIALS_INVALID', { detail: 'not the secret of the key behind the refresh token' });
}

export type RevokeTokenCommand = { caller: TokenCaller; clientSecret: string; token: string };

/**
 * Ends a token of the caller's workspace immediately: an access token alone, a refresh token with all access tokens
 * issued from it (RFC 7009, decision D18). An unknown or expired token, or one of another workspace, is not an error.
 *
 * @throws ServiceError TOKEN_RATE_LIMITED, TOKEN_CREDENTIALS_INVALID, TOKEN_KEY_NOT_OAUTH
 */
export async function revokeToken(deps: TokenDependencies, command: RevokeTokenCommand): Promise<void> {
  const { caller, clientSecret } = command;
  const { key } = await authenticateClient(deps, { operation: 'revoke', caller, clientSecret });
  const at = deps.clock.now();
  const token = { tokenHash: hashSecret(command.token), workspaceId: key.workspaceId, at };
  // The hint is not needed: a hash is in at most one of the two tables.
  await inTransaction(deps.database, async (tx) => {
    if (await revokeRefreshToken(tx, token)) {
      await revokeAccessTokensOfRefresh(tx, { refreshTokenHash: token.tokenHash, at });
    } else await revokeAccessToken(tx, token);
  });
}

export type PresentedToken = {
  token: string;
  /** The scope that the route requires; undefined for a route that any token may call. */
  scope?: Scope | undefined;
  at: Date;
  /** Data center of the called host, if it names one (decision D1). */
  dataCenter?: string | undefined;
};

export type BearerAuthentication =
  | { outcome: 'ok'; key: ApiKey }
  | { outcome: 'invalid' }
  | { outcome: 'expired' }
  | { outcome: 'scope-missing'; key: ApiKey };

/**
 * Checks an access token. Every check reads the database, so a revoked token, an archived key or a new secret takes effect from
 * its commit on, on every node (decision D13, D14).
 */
export async function authenticateToken(
  { database }: { database: Queryable },
  { token, scope, at, dataCenter }: PresentedToken,
): Promise<BearerAuthentication> {
  if (!isSecret('access-token', token)) return { outcome: 'invalid' };
  const found = await findAccessToken(database, hashSecret(token));
  if (!found || (dataCenter !== undefined && found.dataCenter !== dataCenter)) return { outcome: 'invalid' };
  const state = stateOfToken(found, found, at);
  if (state !== 'live') return { outcome: state };
  const { tokenHash: _hash, keyGeneration: _generation, expiresAt: _expiry, revokedAt: _end, ...rest } = found;
  const { dataCenter: _dataCenter, ...key } = rest;
  if (scope !== undefined && !key.scopes.includes(scope)) return { outcome: 'scope-missing', key };
  await noteUse(database, key, at);
  return { outcome: 'ok', key };
}

export type IssuedTokens = {
  workspaceId: string;
  keyId: string;
  accessToken: string;
  /** Generation only: a refresh keeps the existing one (interface 4.2). */
  refreshToken?: string;
  /** Seconds, 300 to 3600, from the issue. */
  expiresInSeconds: number;
};

/**
 * Issues one access token with the current lifetime of the key (decision D15).
 *
 * @throws ServiceError TOKEN_REFRESH_INVALID if the refresh token was revoked at the same time
 */
async function issueAccessToken(
  tx: Transaction,
  issue: {
    key: Pick<ApiKey, 'id' | 'workspaceId' | 'generation' | 'accessTokenMinutes'>;
    refreshTokenHash: Buffer;
    at: Date;
    random: Random | undefined;
  },
): Promise<IssuedTokens> {
  const { key, at } = issue;
  const accessToken = makeSecret('access-token', issue.random);
  const expiresInSeconds = key.accessTokenMinutes * 60;
  const stored = await insertAccessToken(tx, {
    tokenHash: hashSecret(accessToken),
    refreshTokenHash: issue.refreshTokenHash,
    workspaceId: key.workspaceId,
    keyId: key.id,
    keyGeneration: key.generation,
    issuedAt: at,
    expiresAt: new Date(at.getTime() + expiresInSeconds * 1000),
  });
  if (!stored) throw new ServiceError('TOKEN_REFRESH_INVALID', { detail: 'revoked while it was used' });
  return { workspaceId: key.workspaceId, keyId: key.id, accessToken, expiresInSeconds };
}
