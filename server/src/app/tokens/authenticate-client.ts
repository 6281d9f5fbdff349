import { ServiceError } from '../../domain/errors.ts';
import { slowAnswerMilliseconds } from '../../domain/tokens/limits.ts';
import type { ApiKey } from '../../storage/keys/api-keys.ts';
import { limited, noteGuess } from './limit-requests.ts';
import type { ClientOperation, PresentedClient, ProvenClient } from './prove-clients.ts';
import type { TokenDependencies } from './token-dependencies.ts';
import { unknownCase } from '../../domain/unknown-case.ts';

type Client = Omit<PresentedClient, 'hasWaited'> & { operation: ClientOperation };

/**
 * Proves client credentials: limits first, then the secret, then the kind of the key (decision D10), so that ER012 is
 * disclosed only to a caller who knows the secret. What it asks to store is durable when this resolves.
 *
 * @returns the OAuth key of the credentials, and whether it was still there when its tokens were stored
 * @throws ServiceError TOKEN_RATE_LIMITED, TOKEN_CREDENTIALS_INVALID, TOKEN_KEY_NOT_OAUTH
 */
export async function authenticateClient(
  deps: TokenDependencies,
  { operation, ...client }: Client,
): Promise<{ key: ApiKey; isStored: boolean }> {
  const prove = deps.batches.proveClient[operation];
  let proven: ProvenClient = await prove({ ...client, hasWaited: false });
  if (proven.outcome === 'to wait') {
    await deps.wait(slowAnswerMilliseconds);
    proven = await prove({ ...client, hasWaited: true });
  }
  switch (proven.outcome) {
    case 'ok':
      return proven;
    case 'limited':
      throw limited(proven.by, proven.retryAfterSeconds);
    case 'unknown':
      // The same wrong secret again is no further guess: a forgotten client of the owner must not use up the limit.
      if (proven.isNewPair) await noteGuess(deps, client.caller, proven.at);
      throw new ServiceError('TOKEN_CREDENTIALS_INVALID', {
        detail: 'unknown workspace, wrong secret or archived key',
      });
    case 'wrong kind':
      throw new ServiceError('TOKEN_KEY_NOT_OAUTH', { detail: `the key is of kind ${proven.kind}` });
    case 'to wait':
      throw new Error('who has waited is not made to wait');
    default:
      return unknownCase(proven);
  }
}
