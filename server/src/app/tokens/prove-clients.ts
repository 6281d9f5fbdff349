import type { Clock } from '../../clock.ts';
import { limitSubject } from '../../domain/access/keys.ts';
import type { Random } from '../../domain/access/keys.ts';
import { secondsUntilPass, sourceOfAddress } from '../../domain/access/rate-limits.ts';
import type { LimitWindow } from '../../domain/access/rate-limits.ts';
import type { Encryption } from '../../domain/crypto/encryption.ts';
import { tokenRequestWindows, guessWindows } from '../../domain/limits/access.ts';
import type { TokenOperation } from '../../domain/limits/access.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database, Transaction, Queryable } from '../../storage/database.ts';
import { findApiKeysBySecretHashes, touchApiKeys } from '../../storage/keys/api-keys.ts';
import type { ApiKey } from '../../storage/keys/api-keys.ts';
import { insertTokens } from '../../storage/keys/tokens.ts';
import type { NewTokens } from '../../storage/keys/tokens.ts';
import { countEvents, findLimitWindows, keyOf } from '../../storage/limits/sliding-windows.ts';
import type { LimitSubject } from '../../storage/limits/sliding-windows.ts';
import { lookUpBatches, makeGroupCommit, requestBatches } from '../group-commit.ts';
import { isUseNoted, verifyKey, searchedKey } from '../keys/authenticate-key.ts';

/** A refresh authenticates a token instead of the client. */
export type ClientOperation = Exclude<TokenOperation, 'refresh'>;

/** Client credentials as they were presented, not verified. */
export type PresentedClient = {
  caller: TokenCaller;
  clientSecret: string;
  /** The caller was already delayed because many callers guess at this id, and is not delayed again. */
  hasWaited: boolean;
  /** Makes the tokens of an authenticated OAuth key, which are stored with others. */
  makeTokens?: ((key: ApiKey, at: Date) => NewTokens) | undefined;
};

export type ProvenClient =
  | { outcome: 'limited'; by: 'guesses' | 'credential pair'; retryAfterSeconds: number }
  | { outcome: 'to wait' }
  /** `isNewPair`: the pair was not seen in the last ten minutes; only then it is a new guess. */
  | { outcome: 'unknown'; isNewPair: boolean; at: Date }
  | { outcome: 'wrong kind'; kind: string }
  | { outcome: 'ok'; key: ApiKey; isStored: boolean };

type Counted = { client: PresentedClient; pair: LimitSubject; isNewPair: boolean };

/**
 * Authenticates client credentials that arrive at the same time, and stores their tokens, in one transaction. The limits of
 * guesses and of pairs are checked before the keys, so that a reached limit reveals nothing about them (decision D10, D19). A
 * request beyond its limit is not counted (decision D11).
 */
function proveClients(
  { database, clock }: { database: Database; clock: Clock },
  { operation, clients }: { operation: ClientOperation; clients: PresentedClient[] },
): Promise<ProvenClient[]> {
  return inTransaction(database, async (tx) => {
    const at = clock.now();
    const outcomes = new Map<PresentedClient, ProvenClient>();
    const passed = await passGuesses(tx, { clients, outcomes, at });
    const counted = await countPairs(tx, { operation, clients: passed, outcomes, at });
    await proveKeys(tx, { counted, outcomes, at });
    return clients.map((client) => outcomes.get(client)!);
  });
}

type Batch = { outcomes: Map<PresentedClient, ProvenClient>; at: Date };

/** @returns the clients that may continue now */
async function passGuesses(
  tx: Transaction,
  { clients, outcomes, at }: Batch & { clients: PresentedClient[] },
): Promise<PresentedClient[]> {
  const asking = clients.filter(({ hasWaited }) => !hasWaited);
  const counters = asking.map(({ caller }) => guessCounters(caller));
  const found = counters.length === 0 ? [] : await findLimitWindows(tx, counters.flat());
  let place = 0;
  for (const [index, client] of asking.entries()) {
    const asked = counters[index]!;
    const events = found.slice(place, (place += asked.length));
    const { refusedForSeconds, isSlowed } = readGuesses(asked, { events, at });
    if (refusedForSeconds > 0)
      outcomes.set(client, { outcome: 'limited', by: 'guesses', retryAfterSeconds: refusedForSeconds });
    else if (isSlowed) outcomes.set(client, { outcome: 'to wait' });
  }
  return clients.filter((client) => !outcomes.has(client));
}

/** Counts repeated pairs one after the other, until one is rejected. */
async function countPairs(
  tx: Transaction,
  { operation, clients, outcomes, at }: Batch & { operation: ClientOperation; clients: PresentedClient[] },
): Promise<Counted[]> {
  const windows = tokenRequestWindows[operation];
  const counted: Counted[] = [];
  const refused: Omit<Counted, 'isNewPair'>[] = [];
  let left = clients.map((client) => ({
    client,
    pair: { operation, subject: limitSubject([client.caller.clientId, client.clientSecret]) },
  }));
  const full = new Set<string>();
  while (left.length > 0) {
    const turn = new Map(left.toReversed().map((one) => [keyOf(one.pair), one]));
    const asked = [...turn.values()];
    const events = await countEvents(tx, { subjects: asked.map(({ pair }) => pair), at, windows });
    for (const [index, one] of asked.entries()) {
      const { counted: isCounted, isFirst } = events[index]!;
      if (isCounted) counted.push({ ...one, isNewPair: isFirst });
      else full.add(keyOf(one.pair));
    }
    const done = new Set(asked);
    const rest = left.filter((one) => !done.has(one) || full.has(keyOf(one.pair)));
    refused.push(...rest.filter(({ pair }) => full.has(keyOf(pair))));
    left = rest.filter(({ pair }) => !full.has(keyOf(pair)));
  }
  if (refused.length === 0) return counted;
  const found = await findLimitWindows(
    tx,
    refused.map(({ pair }) => pair),
  );
  for (const [index, { client }] of refused.entries()) {
    const retryAfterSeconds = secondsUntilPass(windows, { events: found[index]!, at });
    outcomes.set(client, { outcome: 'limited', by: 'credential pair', retryAfterSeconds });
  }
  return counted;
}

async function proveKeys(tx: Transaction, { counted, outcomes, at }: Batch & { counted: Counted[] }): Promise<void> {
  if (counted.length === 0) return;
  const searched = counted.map(({ client }) =>
    searchedKey({ workspaceId: client.caller.clientId, secret: client.clientSecret }),
  );
  const found = await findApiKeysBySecretHashes(tx, searched);
  const unused = new Set<string>();
  const toStore: { client: PresentedClient; key: ApiKey; tokens: NewTokens }[] = [];
  for (const [index, { client, isNewPair }] of counted.entries()) {
    const { dataCenter } = client.caller;
    const judged = verifyKey(found[index], { secretHash: searched[index]!.secretHash, dataCenter });
    if (judged.outcome === 'unknown') {
      outcomes.set(client, { outcome: 'unknown', isNewPair, at });
      continue;
    }
    const { key } = judged;
    if (!isUseNoted(key, at)) unused.add(key.id);
    if (key.kind !== 'oauth') outcomes.set(client, { outcome: 'wrong kind', kind: key.kind });
    else if (client.makeTokens) toStore.push({ client, key, tokens: client.makeTokens(key, at) });
    else outcomes.set(client, { outcome: 'ok', key, isStored: false });
  }
  if (unused.size > 0) await touchApiKeys(tx, { ids: [...unused], at });
  if (toStore.length === 0) return;
  const stored = await insertTokens(
    tx,
    toStore.map(({ tokens }) => tokens),
  );
  for (const [index, { client, key }] of toStore.entries())
    outcomes.set(client, { outcome: 'ok', key, isStored: stored[index]! });
}

type TokenBatches = {
  /** Resolves when the requested tokens, if any, are durable. */
  proveClient: Record<ClientOperation, (client: PresentedClient) => Promise<ProvenClient>>;
  /** As `findLimitWindows`. */
  findWindows(subjects: readonly LimitSubject[]): Promise<Date[][]>;
};

/** Batches what token requests that arrive at the same time store and look up. */
export function makeTokenBatches(deps: { database: Database; clock: Clock }): TokenBatches {
  const { database } = deps;
  const makeProveClient = (operation: ClientOperation) =>
    makeGroupCommit((clients: PresentedClient[]) => proveClients(deps, { operation, clients }), requestBatches);
  return {
    proveClient: { token: makeProveClient('token'), revoke: makeProveClient('revoke') },
    findWindows: makeGroupCommit(async (asks: (readonly LimitSubject[])[]) => {
      const found = await findLimitWindows(database, asks.flat());
      let place = 0;
      return asks.map(({ length }) => found.slice(place, (place += length)));
    }, lookUpBatches),
  };
}

export type GuessCounter = LimitSubject & { windows: readonly LimitWindow[]; refuses: boolean };

/** Returns the counters for the guesses of a caller. */
export function guessCounters({ clientId, address }: TokenCaller): GuessCounter[] {
  const source = sourceOfAddress(address);
  return [
    {
      operation: 'guess-client-address',
      subject: limitSubject([clientId, source]),
      windows: guessWindows['guess-client-address'],
      refuses: true,
    },
    {
      operation: 'guess-address',
      subject: limitSubject([source]),
      windows: guessWindows['guess-address'],
      refuses: true,
    },
    {
      operation: 'guess-client',
      subject: limitSubject([clientId]),
      windows: guessWindows['guess-client'],
      refuses: false,
    },
  ];
}

/** Returns whether a caller guessed too often, or names a client that many guess at, which only delays its response. */
export function readGuesses(
  counters: readonly GuessCounter[],
  { events, at }: { events: readonly Date[][]; at: Date },
): { refusedForSeconds: number; isSlowed: boolean } {
  const waits = counters.map(({ windows }, index) => secondsUntilPass(windows, { events: events[index]!, at }));
  const refusedForSeconds = Math.max(...waits.filter((_, index) => counters[index]!.refuses));
  return { refusedForSeconds, isSlowed: Math.max(...waits) > 0 };
}

/** Dependencies for checking a key or an access token; every route family has them. */
export type AuthenticationDependencies = { database: Queryable; clock: Clock };

export type TokenDependencies = {
  database: Database;
  clock: Clock;
  encryption: Encryption;
  /** Waits for the given milliseconds; tests pass one that only records them. */
  wait(milliseconds: number): Promise<unknown>;
  batches: TokenBatches;
  random?: Random;
};

/** A request that may be sent again under the same Idempotency-Key (decision D4). */
export type Repeatable = { idempotencyKey: string | undefined; rawBody: string };

/** The caller of a token endpoint, before authentication. */
export type TokenCaller = {
  /** The client_id as it was sent. */
  clientId: string;
  /** Address of the caller, or of the trusted proxy's client. */
  address: string;
  /** Data center of the called host, if it names one (decision D1). */
  dataCenter?: string | undefined;
};
