import { hashSecret, isSecret, stateOfToken } from '../../domain/access/keys.ts';
import type { TokenState } from '../../domain/access/keys.ts';
import { expiryOf, grantOfStoredToken, namesKey, stateOfClaims } from '../../domain/access/tokens.ts';
import type { TokenClaims } from '../../domain/access/tokens.ts';
import { ServiceError } from '../../domain/errors.ts';
import { maxAccessTokenMinutes } from '../../domain/limits/access.ts';
import { inTransaction } from '../../storage/database.ts';
import type { IssuingKey, NumberedKey } from '../../storage/keys/api-keys.ts';
import { findKeyOfTokens, insertTokenRevocation, isTokenRevoked } from '../../storage/keys/token-revocations.ts';
import {
  findRefreshToken,
  revokeAccessToken,
  revokeAccessTokensOfRefresh,
  revokeRefreshToken,
} from '../../storage/keys/tokens.ts';
import { answerOnce } from '../idempotency.ts';
import type { OnceRequest } from '../idempotency.ts';
import { authenticateKey, noteUse } from '../keys/authenticate-key.ts';
import { authenticateClient, limitGuesses, limitRequests, noteGuess } from './authenticate-client.ts';
import type { TokenCaller, Repeatable, TokenDependencies } from './prove-clients.ts';

export type GenerateTokenCommand = Repeatable & { caller: TokenCaller; clientSecret: string };

/**
 * Issues an access token and its refresh token (interface 4.1). Nothing is stored (decision 0072). Older tokens of the key stay
 * as they are (decision D14).
 *
 * @throws ServiceError TOKEN_RATE_LIMITED, TOKEN_CREDENTIALS_INVALID, TOKEN_KEY_NOT_OAUTH, IDEMPOTENCY_KEY_INVALID,
 *   IDEMPOTENCY_CONFLICT
 */
export async function generateToken(deps: TokenDependencies, command: GenerateTokenCommand): Promise<IssuedTokens> {
  const { caller, clientSecret, idempotencyKey, rawBody } = command;
  const { key } = await authenticateClient(deps, { operation: 'token', caller, clientSecret });
  const at = deps.clock.now();
  const issued = { ...presentKey(key), ...(await deps.tokens.issue(key, { at, random: deps.random })) };
  // The key's id is part of the operation: two keys of a workspace never get each other's stored response.
  const once = { workspaceId: key.workspaceId, operation: `token:${key.id}`, key: idempotencyKey };
  return rememberAnswer(deps, { once: { ...once, rawBody, at }, issued });
}

/** Stores the response of a request with an Idempotency-Key, or returns the first one. Other requests store nothing. */
async function rememberAnswer(
  deps: TokenDependencies,
  { once, issued }: { once: OnceRequest; issued: IssuedTokens },
): Promise<IssuedTokens> {
  return once.key === undefined ? issued : answerOnce(deps, once, async () => issued);
}

function presentKey({ workspaceId, id: keyId, accessTokenMinutes }: IssuingKey) {
  return { workspaceId, keyId, expiresInSeconds: accessTokenMinutes * 60 };
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
  const presented = { text: command.refreshToken, at };
  const found = isSecret('refresh-token', presented.text)
    ? await findStoredRefreshToken(deps, presented)
    : await findSignedRefreshToken(deps, presented);
  const { token } = found;
  // The pair of a known token is that of its key, so two tokens of one key share a limit (decision D11).
  const pair = token ? ['key', token.key.id] : ['token', caller.clientId, command.refreshToken];
  const { isNewPair } = await limitRequests(deps, { operation: 'refresh', pair, at });
  if (!token || token.state !== 'live' || isElsewhere(token, caller)) {
    // A token that was issued here is not a guess, whatever became of its key.
    if (!found.isGenuine && isNewPair) await noteGuess(deps, caller, at);
    throw new ServiceError('TOKEN_REFRESH_INVALID', {
      detail: found.isGenuine ? 'expired, revoked or of a dead key' : 'unknown',
    });
  }
  const { key, grant } = token;
  if (caller.clientId !== key.workspaceId) throw new ServiceError('TOKEN_CLIENT_MISMATCH');
  await checkSecret(deps, command, { token, at });
  // If the grant is revoked meanwhile, the access token is not valid: it names the grant.
  const accessToken = await deps.tokens.issueAccessToken(key, { grant, at, random: deps.random });
  const once = { workspaceId: key.workspaceId, operation: `refresh:${key.id}`, key: command.idempotencyKey };
  const issued = await rememberAnswer(deps, {
    once: { ...once, rawBody: command.rawBody, at },
    issued: { ...presentKey(key), accessToken },
  });
  await noteUse(deps.database, key, at);
  return issued;
}

/** A refresh token that was issued here, with its key. */
type KnownRefreshToken = {
  key: NumberedKey;
  state: TokenState;
  grant: Buffer;
  dataCenter: string;
  secretRequiredAtRefresh: boolean;
};
/** `isGenuine`: it was issued here, even if its key is gone. */
type FoundRefreshToken = { isGenuine: boolean; token: KnownRefreshToken | undefined };

/** Finds the token of a refresh in the database, as the limit is counted there too: a revocation is in force at once. */
async function findSignedRefreshToken(
  { database, tokens }: TokenDependencies,
  { text, at }: { text: string; at: Date },
): Promise<FoundRefreshToken> {
  const claims = await tokens.verify(text, 'refresh-token');
  if (!claims) return { isGenuine: false, token: undefined };
  const { epoch, secrets } = await tokens.currentState();
  const number = claims.keyNumber;
  const found = namesKey(claims, { epoch }) ? await findKeyOfTokens(database, { number, at }) : undefined;
  if (!found) return { isGenuine: true, token: undefined };
  const { dataCenter, secretRequiredAtRefresh, revoked: _revoked, ...key } = found;
  const isRevoked = await isTokenRevoked(database, { keyId: key.id, subject: claims.grant });
  const isSecretRetired = secrets.get(claims.secretNumber)?.retiredAt !== null;
  const state = stateOfClaims(claims, { at, epoch, isSecretRetired, key: { ...key, isRevoked: () => isRevoked } });
  return { isGenuine: true, token: { key, state, grant: claims.grant, dataCenter, secretRequiredAtRefresh } };
}

/** Finds a token that was stored when it was issued (before decision 0072). */
async function findStoredRefreshToken(
  { database }: TokenDependencies,
  { text, at }: { text: string; at: Date },
): Promise<FoundRefreshToken> {
  const found = await findRefreshToken(database, hashSecret(text));
  if (!found) return { isGenuine: false, token: undefined };
  const { tokenHash, keyGeneration, expiresAt, revokedAt, dataCenter, secretRequiredAtRefresh, ...key } = found;
  const state = stateOfToken({ keyGeneration, expiresAt, revokedAt }, key, at);
  const grant = grantOfStoredToken(tokenHash);
  return { isGenuine: true, token: { key, state, grant, dataCenter, secretRequiredAtRefresh } };
}

/** Treats a workspace of another data center as not found (decision D1). */
function isElsewhere(token: KnownRefreshToken, caller: TokenCaller): boolean {
  return caller.dataCenter !== undefined && caller.dataCenter !== token.dataCenter;
}

/** Discloses only to the holder of a valid refresh token whether the workspace requires the secret, and whether it is right. */
async function checkSecret(
  deps: TokenDependencies,
  { caller, clientSecret }: RefreshTokenCommand,
  { token: { key, secretRequiredAtRefresh }, at }: { token: KnownRefreshToken; at: Date },
): Promise<void> {
  if (clientSecret === undefined) {
    if (secretRequiredAtRefresh) throw new ServiceError('TOKEN_CLIENT_SECRET_MISSING');
    return;
  }
  const authentication = await authenticateKey(deps, { workspaceId: key.workspaceId, secret: clientSecret, at });
  if (authentication.outcome === 'ok' && authentication.key.id === key.id) return;
  await noteGuess(deps, caller, at);
  throw new ServiceError('TOKEN_CREDENTIALS_INVALID', { detail: 'not the secret of the key behind the refresh token' });
}

export type RevokeTokenCommand = { caller: TokenCaller; clientSecret: string; token: string };

/**
 * Ends a token of the caller's workspace: an access token alone, a refresh token with all access tokens issued from it (RFC
 * 7009, decision D18). It takes effect on this node before the response, and on every other within a second (decision D13). An
 * unknown or expired token, or one of another workspace, is not an error.
 *
 * @throws ServiceError TOKEN_RATE_LIMITED, TOKEN_CREDENTIALS_INVALID, TOKEN_KEY_NOT_OAUTH
 */
export async function revokeToken(deps: TokenDependencies, command: RevokeTokenCommand): Promise<void> {
  const { caller, clientSecret, token } = command;
  const { key } = await authenticateClient(deps, { operation: 'revoke', caller, clientSecret });
  // The hint is not needed: the token says what it is.
  if (isSecret('access-token', token) || isSecret('refresh-token', token)) await revokeStored(deps, { key, token });
  else await revokeSigned(deps, { key, token });
}

/** A token of any key of the workspace, not only of the caller's. */
type Revoked = { key: IssuingKey; token: string };

// How long an access token of a grant can be valid after the grant was revoked: its lifetime, and an hour for a request that was
// under way on a node with another time.
const accessAfterGrantMilliseconds = (maxAccessTokenMinutes + 60) * 60_000;

async function revokeSigned(deps: TokenDependencies, { key, token }: Revoked): Promise<void> {
  const { tokens, database, clock } = deps;
  const claims = (await tokens.verify(token, 'access-token')) ?? (await tokens.verify(token, 'refresh-token'));
  if (!claims || !namesKey(claims, await tokens.currentState())) return;
  const at = clock.now();
  const expiresAt = expiryOf(claims);
  if (claims.workspaceNumber !== key.workspaceNumber || expiresAt <= at) return;
  const owner = await findKeyOfTokens(database, { number: claims.keyNumber, at });
  if (owner?.workspaceNumber !== key.workspaceNumber) return;
  await insertTokenRevocation(database, { keyId: owner.id, workspaceId: owner.workspaceId, at, ...endOf(claims, at) });
  tokens.forgetKey(owner.number);
}

/** Returns what ends with a token, and for how long nodes must know. */
function endOf(claims: TokenClaims, at: Date) {
  const expiresAt = expiryOf(claims);
  if (claims.kind === 'access-token') return { subject: claims.id, accessUntil: expiresAt, expiresAt };
  return { subject: claims.grant, ...endOfGrant({ expiresAt, at }) };
}

function endOfGrant({ expiresAt, at }: { expiresAt: Date; at: Date }) {
  const accessUntil = new Date(at.getTime() + accessAfterGrantMilliseconds);
  return { accessUntil, expiresAt: accessUntil > expiresAt ? accessUntil : expiresAt };
}

/** Revokes a token that was stored when it was issued, with the access tokens that were issued from it before and since. */
async function revokeStored({ database, clock, tokens }: TokenDependencies, { key, token }: Revoked): Promise<void> {
  const { workspaceId } = key;
  const at = clock.now();
  const tokenHash = hashSecret(token);
  await inTransaction(database, async (tx) => {
    const refresh = await revokeRefreshToken(tx, { tokenHash, workspaceId, at });
    if (!refresh) return void (await revokeAccessToken(tx, { tokenHash, workspaceId, at }));
    await revokeAccessTokensOfRefresh(tx, { refreshTokenHash: tokenHash, at });
    const { keyId, expiresAt } = refresh;
    const subject = grantOfStoredToken(tokenHash);
    await insertTokenRevocation(tx, { keyId, workspaceId, subject, at, ...endOfGrant({ expiresAt, at }) });
  });
  tokens.forgetKeys();
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
