import type { Clock } from '../../clock.ts';
import { limitSubject } from '../../domain/access/keys.ts';
import type { Random } from '../../domain/access/keys.ts';
import { secondsUntilPass, sourceOfAddress } from '../../domain/access/rate-limits.ts';
import type { LimitWindow } from '../../domain/access/rate-limits.ts';
import type { Encryption } from '../../domain/crypto/encryption.ts';
import { tokenRequestWindows, guessWindows } from '../../domain/limits/access.ts';
import type { TokenOperation } from '../../domain/limits/access.ts';
import { inTransaction, LostTransactionError } from '../../storage/database.ts';
import type { Database, Queryable } from '../../storage/database.ts';
import { findApiKeysBySecretHashes, touchApiKeys } from '../../storage/keys/api-keys.ts';
import type { NumberedKey, PresentedKey } from '../../storage/keys/api-keys.ts';
import { countEvents, countEventsAtOnce, findLimitWindows, keyOf } from '../../storage/limits/sliding-windows.ts';
import type { CountedEvent, LimitSubject } from '../../storage/limits/sliding-windows.ts';
import { lookUpBatches, makeGroupCommit, requestBatches } from '../group-commit.ts';
import { isUseNoted, verifyKey, searchedKey } from '../keys/authenticate-key.ts';
import type { TokenAuthority } from './token-authority.ts';

/** A refresh authenticates a token instead of the client. */
export type ClientOperation = Exclude<TokenOperation, 'refresh'>;

/** Client credentials as they were presented, not verified. */
export type PresentedClient = {
  caller: TokenCaller;
  clientSecret: string;
  /** The caller was already delayed because many callers guess at this id, and is not delayed again. */
  hasWaited: boolean;
};

export type ProvenClient =
  | { outcome: 'limited'; by: 'guesses' | 'credential pair'; retryAfterSeconds: number }
  | { outcome: 'to wait' }
  /** `isNewPair`: the pair was not seen in the last ten minutes; only then it is a new guess. */
  | { outcome: 'unknown'; isNewPair: boolean; at: Date }
  | { outcome: 'wrong kind'; kind: string }
  | { outcome: 'ok'; key: NumberedKey };

type Counted = { client: PresentedClient; pair: LimitSubject; isNewPair: boolean };

/**
 * Authenticates client credentials that arrive at the same time. The limits of guesses and of pairs decide before the keys, so
 * that a reached limit reveals nothing about them (decision D10, D19). A request beyond its limit is not counted (decision D11).
 *
 * Nothing here waits for the disk: a database that is killed loses the counts of the last second at most (decision 0072).
 */
async function proveClients(
  { database, clock, noteUse }: { database: Database; clock: Clock; noteUse: (use: KeyUse) => void },
  { operation, clients }: { operation: ClientOperation; clients: PresentedClient[] },
): Promise<ProvenClient[]> {
  const at = clock.now();
  const outcomes = new Map<PresentedClient, ProvenClient>();
  // Looked up together, for one round trip less. The results of clients beyond a limit are not used.
  const [passed, found] = await Promise.all([
    passGuesses(database, { clients, outcomes, at }),
    findKeys(database, clients),
  ]);
  const counted = await countPairs(database, { operation, clients: passed, outcomes, at });
  for (const id of verifyKeys(found, { counted, outcomes, at })) noteUse({ id, at });
  return clients.map((client) => outcomes.get(client)!);
}

type Batch = { outcomes: Map<PresentedClient, ProvenClient>; at: Date };

/** @returns the clients that may continue now */
async function passGuesses(
  tx: Queryable,
  { clients, outcomes, at }: Batch & { clients: PresentedClient[] },
): Promise<PresentedClient[]> {
  const asking = clients.filter(({ hasWaited }) => !hasWaited);
  const counters = countersOf(asking);
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

/** Requests that arrive together often come from one caller: its counters are computed once. */
function countersOf(clients: PresentedClient[]): GuessCounter[][] {
  const known = new Map<string, GuessCounter[]>();
  return clients.map(({ caller }) => {
    const name = `${caller.address} ${caller.clientId}`;
    const counters = known.get(name) ?? guessCounters(caller);
    known.set(name, counters);
    return counters;
  });
}

/** Counts the requests of each pair, and rejects those beyond its limit. */
async function countPairs(
  database: Database,
  { operation, clients, outcomes, at }: Batch & { operation: ClientOperation; clients: PresentedClient[] },
): Promise<Counted[]> {
  if (clients.length === 0) return [];
  const windows = tokenRequestWindows[operation];
  const asked = clients.map((client) => ({
    client,
    pair: { operation, subject: limitSubject([client.caller.clientId, client.clientSecret]) },
  }));
  const isEachAlone = new Set(asked.map(({ pair }) => keyOf(pair))).size === asked.length;
  const counts = { at, windows };
  const { counted, refused } = isEachAlone
    ? await countTurns(asked, (subjects) => countEventsAtOnce(database, { ...counts, subjects }))
    : await inTransaction(database, (tx) =>
        countTurns(asked, (subjects) => countEvents(tx, { ...counts, subjects, commit: 'unflushed' })),
      );
  if (refused.length === 0) return counted;
  const found = await findLimitWindows(
    database,
    refused.map(({ pair }) => pair),
  ).catch((cause: unknown) => {
    const message = 'the requests were counted, and the time to wait cannot be read';
    throw new LostTransactionError('COMMIT_OUTCOME_UNKNOWN', { message, cause });
  });
  for (const [index, { client }] of refused.entries()) {
    const retryAfterSeconds = secondsUntilPass(windows, { events: found[index]!, at });
    outcomes.set(client, { outcome: 'limited', by: 'credential pair', retryAfterSeconds });
  }
  return counted;
}

type Asked = Omit<Counted, 'isNewPair'>;

/** Counts repeated pairs one after the other, until one is rejected. */
async function countTurns(
  all: Asked[],
  count: (subjects: LimitSubject[]) => Promise<CountedEvent[]>,
): Promise<{ counted: Counted[]; refused: Asked[] }> {
  const counted: Counted[] = [];
  const refused: Asked[] = [];
  let left = all;
  const full = new Set<string>();
  while (left.length > 0) {
    const turn = new Map(left.toReversed().map((one) => [keyOf(one.pair), one]));
    const asked = [...turn.values()];
    const events = await count(asked.map(({ pair }) => pair));
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
  return { counted, refused };
}

type SearchedKey = { secretHash: Buffer; key: PresentedKey | undefined };

async function findKeys(tx: Queryable, clients: PresentedClient[]): Promise<Map<PresentedClient, SearchedKey>> {
  const searched = clients.map(({ caller, clientSecret }) =>
    searchedKey({ workspaceId: caller.clientId, secret: clientSecret }),
  );
  const found = await findApiKeysBySecretHashes(tx, searched);
  return new Map(clients.map((client, index) => [client, { ...searched[index]!, key: found[index] }]));
}

/** @returns the ids of keys to note the use of */
function verifyKeys(
  found: Map<PresentedClient, SearchedKey>,
  { counted, outcomes, at }: Batch & { counted: Counted[] },
): string[] {
  const unused = new Set<string>();
  for (const { client, isNewPair } of counted) {
    const { secretHash, key: searched } = found.get(client)!;
    const judged = verifyKey(searched, { secretHash, dataCenter: client.caller.dataCenter });
    if (judged.outcome === 'unknown') {
      outcomes.set(client, { outcome: 'unknown', isNewPair, at });
      continue;
    }
    const { key } = judged;
    if (!isUseNoted(key, at)) unused.add(key.id);
    outcomes.set(client, key.kind === 'oauth' ? { outcome: 'ok', key } : { outcome: 'wrong kind', kind: key.kind });
  }
  return [...unused];
}

type KeyUse = { id: string; at: Date };

/** The last use of a key is exact to the minute, so it can wait for others. */
const useBatches = { ...lookUpBatches, batchItems: 2_000, pause: { milliseconds: 100, items: 1_000 } };

type TokenBatches = {
  proveClient: Record<ClientOperation, (client: PresentedClient) => Promise<ProvenClient>>;
  /** As `findLimitWindows`. */
  findWindows(subjects: readonly LimitSubject[]): Promise<Date[][]>;
};

/** Batches what token requests that arrive at the same time count and look up. */
export function makeTokenBatches(deps: { database: Database; clock: Clock }): TokenBatches {
  const { database } = deps;
  const touch = makeGroupCommit(async (uses: KeyUse[]) => {
    await touchApiKeys(database, { ids: [...new Set(uses.map(({ id }) => id))], at: uses.at(-1)!.at });
    return uses;
  }, useBatches);
  // No response waits for it, and a use that cannot be noted is noted with the next one.
  const noteUse = (use: KeyUse): void => void touch(use).catch(() => {});
  const makeProveClient = (operation: ClientOperation) =>
    makeGroupCommit(
      (clients: PresentedClient[]) => proveClients({ ...deps, noteUse }, { operation, clients }),
      requestBatches,
    );
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
export type AuthenticationDependencies = { database: Queryable; clock: Clock; tokens: TokenAuthority };

export type TokenDependencies = {
  database: Database;
  clock: Clock;
  encryption: Encryption;
  tokens: TokenAuthority;
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
