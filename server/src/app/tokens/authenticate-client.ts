import { limitSubject } from '../../domain/access/keys.ts';
import { secondsUntilPass } from '../../domain/access/rate-limits.ts';
import { ServiceError } from '../../domain/errors.ts';
import { slowAnswerMilliseconds, tokenRequestWindows } from '../../domain/limits/access.ts';
import type { TokenOperation } from '../../domain/limits/access.ts';
import { unknownCase } from '../../domain/unknown-case.ts';
import type { IssuingKey } from '../../storage/keys/api-keys.ts';
import { countEvent, countEventsAtOnce, findLimitWindows } from '../../storage/limits/sliding-windows.ts';
import { guessCounters, readGuesses } from './prove-clients.ts';
import type {
  ClientOperation,
  PresentedClient,
  ProvenClient,
  TokenDependencies,
  TokenCaller,
} from './prove-clients.ts';

type Client = Omit<PresentedClient, 'hasWaited'> & { operation: ClientOperation };

/**
 * Authenticates client credentials: limits first, then the secret, then the kind of the key (decision D10), so that ER012 is
 * disclosed only to a caller who knows the secret.
 *
 * @returns the OAuth key of the credentials
 * @throws ServiceError TOKEN_RATE_LIMITED, TOKEN_CREDENTIALS_INVALID, TOKEN_KEY_NOT_OAUTH
 */
export async function authenticateClient(
  deps: TokenDependencies,
  { operation, ...client }: Client,
): Promise<{ key: IssuingKey }> {
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
      // The same wrong secret again is not a new guess: a forgotten client of the owner must not use up the limit.
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

/**
 * Counts the request against the exact limit of its credential pair (decision D11). A rejected request is not counted.
 *
 * @returns whether the pair was not seen in the last ten minutes: only then a failure is a new guess
 * @throws ServiceError TOKEN_RATE_LIMITED
 */
export async function limitRequests(
  { database }: Pick<TokenDependencies, 'database'>,
  request: { operation: TokenOperation; pair: readonly string[]; at: Date },
): Promise<{ isNewPair: boolean }> {
  const counter = { operation: request.operation, subject: limitSubject(request.pair) };
  const windows = tokenRequestWindows[request.operation];
  const [count] = await countEventsAtOnce(database, { subjects: [counter], at: request.at, windows });
  const { counted, isFirst } = count!;
  if (counted) return { isNewPair: isFirst };
  const [events] = await findLimitWindows(database, [counter]);
  throw limited('credential pair', secondsUntilPass(windows, { events: events!, at: request.at }));
}

/**
 * Rejects a caller that guessed too often, and delays responses about a `client_id` that many callers guess at. It runs before
 * the credentials are checked, so that a reached limit reveals nothing about them.
 *
 * @throws ServiceError TOKEN_RATE_LIMITED
 */
export async function limitGuesses(
  { batches, clock, wait }: Pick<TokenDependencies, 'batches' | 'clock' | 'wait'>,
  caller: TokenCaller,
): Promise<void> {
  const counters = guessCounters(caller);
  const events = await batches.findWindows(counters);
  const { refusedForSeconds, isSlowed } = readGuesses(counters, { events, at: clock.now() });
  if (refusedForSeconds > 0) throw limited('guesses', refusedForSeconds);
  if (isSlowed) await wait(slowAnswerMilliseconds);
}

/**
 * Counts wrong credentials. Concurrent requests all passed limitGuesses; those beyond the limit are rejected here, so no more
 * responses than the limit say "wrong".
 *
 * @throws ServiceError TOKEN_RATE_LIMITED
 */
export async function noteGuess(
  { database }: Pick<TokenDependencies, 'database'>,
  caller: TokenCaller,
  at: Date,
): Promise<void> {
  let refused = false;
  for (const { operation, subject, windows, refuses } of guessCounters(caller)) {
    const { counted } = await countEvent(database, { operation, subject, at, windows, commit: 'unflushed' });
    if (!counted && refuses) refused = true;
  }
  if (!refused) return;
  const counters = guessCounters(caller).filter(({ refuses }) => refuses);
  const found = await findLimitWindows(database, counters);
  const waits = counters.map(({ windows }, index) => secondsUntilPass(windows, { events: found[index]!, at }));
  throw limited('guesses', Math.max(...waits));
}

/** Returns the error of a limit. */
function limited(which: string, seconds: number): ServiceError {
  // A limit that cleared between the two statements still requires a second, so that no caller retries in a tight loop.
  return new ServiceError('TOKEN_RATE_LIMITED', {
    retryAfterSeconds: Math.max(1, seconds),
    detail: `limit of ${which}`,
  });
}
