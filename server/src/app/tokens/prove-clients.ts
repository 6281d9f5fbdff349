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
import { touchApiKeys } from '../../storage/keys/api-keys.ts';
import type { ClientKey, IssuingKey } from '../../storage/keys/api-keys.ts';
import { countClients } from '../../storage/keys/presented-clients.ts';
import { countEvents, countEventsAtOnce, findLimitWindows, keyOf } from '../../storage/limits/sliding-windows.ts';
import type { CountedEvent, LimitSubject } from '../../storage/limits/sliding-windows.ts';
import { lookUpBatches, makeGroupCommit, requestBatches } from '../group-commit.ts';
import type { GroupCommitOptions } from '../group-commit.ts';
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
  | { outcome: 'ok'; key: IssuingKey };

/** A client with the subject of the limit of its credential pair. */
type Asked = { client: PresentedClient; pair: LimitSubject; name: string };
type Counted = Asked & { isNewPair: boolean };

/**
 * Authenticates client credentials that arrive at the same time. The limits of guesses and of pairs decide before the keys, so
 * that a reached limit reveals nothing about them (decision D10, D19). A request beyond its limit is not counted (decision D11).
 *
 * Usually this is one message to the database. More are sent for callers that have guessed, for a pair that several of the
 * requests present, and for requests beyond their limit.
 *
 * Nothing here waits for the disk: a database that is killed loses the counts of the last second at most (decision 0072).
 */
async function proveClients(
  { database, clock, noteUses }: { database: Database; clock: Clock; noteUses: (uses: KeyUses) => void },
  { operation, clients }: { operation: ClientOperation; clients: PresentedClient[] },
): Promise<ProvenClient[]> {
  const at = clock.now();
  const outcomes = new Map<PresentedClient, ProvenClient>();
  const asked = clients.map((client): Asked => {
    const pair = { operation, subject: limitSubject([client.caller.clientId, client.clientSecret]) };
    return { client, pair, name: keyOf(pair) };
  });
  const first = await countFirst(database, { operation, asked, at });
  const counted = [...first.counted];
  await afterCount(async () => {
    await refuseBeyondLimit(database, { refused: first.refused, outcomes, at, operation });
    if (first.left.length === 0) return;
    const passed = await passGuesses(database, { asked: first.left, outcomes, at });
    counted.push(...(await countPairs(database, { operation, asked: passed, outcomes, at })));
  });
  const used = verifyKeys(first.keys, { counted, outcomes, at });
  if (used.length > 0) noteUses({ ids: used, at });
  return clients.map((client) => outcomes.get(client)!);
}

/** The first requests are counted by now, so whatever fails must not make the batch be worked again. */
async function afterCount(work: () => Promise<void>): Promise<void> {
  return work().catch((cause: unknown) => {
    const message = 'requests were counted, and the others of their batch cannot be';
    throw new LostTransactionError('COMMIT_OUTCOME_UNKNOWN', { message, cause });
  });
}

type Batch = { outcomes: Map<PresentedClient, ProvenClient>; at: Date };

/** Returns the clients by caller, except those that have waited: guesses do not concern them any more. */
function groupByCaller(asked: readonly Asked[]): Asked[][] {
  const callers = new Map<string, Asked[]>();
  for (const one of asked) {
    const { caller, hasWaited } = one.client;
    if (hasWaited) continue;
    const name = `${caller.address} ${caller.clientId}`;
    const asking = callers.get(name);
    if (asking) asking.push(one);
    else callers.set(name, [one]);
  }
  return [...callers.values()];
}

type FirstCount = CountedTurn & {
  /** Not counted yet: the pair is also that of an earlier client, or the caller has guesses. */
  left: Asked[];
  /** By the name of the pair. */
  keys: Map<string, SearchedKey>;
};

/** Counts one request of each pair, unless its caller has guesses, and looks up all keys. */
async function countFirst(
  database: Database,
  { operation, asked, at }: { operation: ClientOperation; asked: Asked[]; at: Date },
): Promise<FirstCount> {
  const firsts = [...new Map(asked.toReversed().map((one) => [one.name, one])).values()].toReversed();
  const callers = groupByCaller(firsts);
  const callerOf = new Map(callers.flatMap((asking, place) => asking.map((one) => [one, place] as const)));
  const searched = firsts.map((one) => {
    const { caller, clientSecret } = one.client;
    const search = searchedKey({ workspaceId: caller.clientId, secret: clientSecret });
    return { pair: one.pair.subject, ...search, caller: callerOf.get(one) };
  });
  const found = await countClients(database, {
    ...{ operation, at, windows: tokenRequestWindows[operation], clients: searched },
    callers: callers.map(([one]) => guessCounters(one!.client.caller)),
  });
  const result: FirstCount = { counted: [], refused: [], left: [], keys: new Map() };
  for (const [index, one] of firsts.entries()) {
    const { count, key } = found[index]!;
    result.keys.set(one.name, { secretHash: searched[index]!.secretHash, key });
    if (count === 'undecided') result.left.push(one);
    else if (count.counted) result.counted.push({ ...one, isNewPair: count.isFirst });
    else result.refused.push(one);
  }
  if (firsts.length < asked.length) {
    const taken = new Set([...result.counted, ...result.refused].map(({ client }) => client));
    result.left = asked.filter(({ client }) => !taken.has(client));
  }
  return result;
}

/**
 * Requests that arrive together often come from one caller: its guesses are read and judged once.
 *
 * @returns the clients that may continue now
 */
async function passGuesses(
  tx: Queryable,
  { asked, outcomes, at }: Batch & { asked: readonly Asked[] },
): Promise<Asked[]> {
  const callers = groupByCaller(asked).map((asking) => ({
    asking,
    counters: guessCounters(asking[0]!.client.caller),
  }));
  const subjects = callers.flatMap(({ counters }) => counters);
  const found = subjects.length === 0 ? [] : await findLimitWindows(tx, subjects);
  let place = 0;
  for (const { asking, counters } of callers) {
    const events = found.slice(place, (place += counters.length));
    const { refusedForSeconds, isSlowed } = readGuesses(counters, { events, at });
    for (const { client } of asking) {
      if (refusedForSeconds > 0)
        outcomes.set(client, { outcome: 'limited', by: 'guesses', retryAfterSeconds: refusedForSeconds });
      else if (isSlowed) outcomes.set(client, { outcome: 'to wait' });
    }
  }
  return asked.filter(({ client }) => !outcomes.has(client));
}

/** Counts the requests of each pair, and rejects those beyond its limit. */
async function countPairs(
  database: Database,
  { operation, asked, outcomes, at }: Batch & { operation: ClientOperation; asked: Asked[] },
): Promise<Counted[]> {
  if (asked.length === 0) return [];
  const counts = { at, windows: tokenRequestWindows[operation] };
  const isEachAlone = new Set(asked.map(({ name }) => name)).size === asked.length;
  const { counted, refused } = isEachAlone
    ? await countTurn(asked, (subjects) => countEventsAtOnce(database, { ...counts, subjects }))
    : await inTransaction(database, (tx) =>
        countTurns(asked, (subjects) => countEvents(tx, { ...counts, subjects, commit: 'unflushed' })),
      );
  await refuseBeyondLimit(database, { refused, outcomes, at, operation });
  return counted;
}

/** Rejects the requests beyond the limit of their pair, with the time to wait. */
async function refuseBeyondLimit(
  database: Database,
  { refused, outcomes, at, operation }: Batch & { refused: readonly Asked[]; operation: ClientOperation },
): Promise<void> {
  if (refused.length === 0) return;
  const windows = tokenRequestWindows[operation];
  const found = await findLimitWindows(
    database,
    refused.map(({ pair }) => pair),
  );
  for (const [index, { client }] of refused.entries()) {
    const retryAfterSeconds = secondsUntilPass(windows, { events: found[index]!, at });
    outcomes.set(client, { outcome: 'limited', by: 'credential pair', retryAfterSeconds });
  }
}

type Count = (subjects: LimitSubject[]) => Promise<CountedEvent[]>;
type CountedTurn = { counted: Counted[]; refused: Asked[] };

/** Counts requests of different pairs. */
async function countTurn(asked: Asked[], count: Count): Promise<CountedTurn> {
  const events = await count(asked.map(({ pair }) => pair));
  const [counted, refused]: [Counted[], Asked[]] = [[], []];
  for (const [index, one] of asked.entries()) {
    const { counted: isCounted, isFirst } = events[index]!;
    if (isCounted) counted.push({ ...one, isNewPair: isFirst });
    else refused.push(one);
  }
  return { counted, refused };
}

/** Counts repeated pairs one after the other, until one is rejected. */
async function countTurns(all: Asked[], count: Count): Promise<CountedTurn> {
  const [counted, refused]: [Counted[], Asked[]] = [[], []];
  let left = all;
  while (left.length > 0) {
    const asked = [...new Map(left.toReversed().map((one) => [one.name, one])).values()];
    const turn = await countTurn(asked, count);
    counted.push(...turn.counted);
    const full = new Set(turn.refused.map(({ name }) => name));
    const done = new Set(asked);
    refused.push(...left.filter((one) => full.has(one.name)));
    left = left.filter((one) => !done.has(one) && !full.has(one.name));
  }
  return { counted, refused };
}

type SearchedKey = { secretHash: Buffer; key: ClientKey | undefined };

/** @returns the ids of keys to note the use of */
function verifyKeys(
  keys: ReadonlyMap<string, SearchedKey>,
  { counted, outcomes, at }: Batch & { counted: Counted[] },
): string[] {
  const unused = new Set<string>();
  for (const { client, name, isNewPair } of counted) {
    const { secretHash, key: searched } = keys.get(name)!;
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

type KeyUses = { ids: string[]; at: Date };

/**
 * A batch is one message, and usually has its response before 8 ms have passed: with the pause of pushes, which are several
 * messages, callers, process and database would wait for each other.
 */
const clientBatches: GroupCommitOptions = { ...requestBatches, pause: { milliseconds: 4, items: 8 } };

/** The last use of a key is exact to the minute, so it can wait for others. */
const useBatches = { ...lookUpBatches, batchItems: 200, pause: { milliseconds: 100, items: 200 } };

type TokenBatches = {
  proveClient: Record<ClientOperation, (client: PresentedClient) => Promise<ProvenClient>>;
  /** As `findLimitWindows`. */
  findWindows(subjects: readonly LimitSubject[]): Promise<Date[][]>;
};

/** Batches what token requests that arrive at the same time count and look up. */
export function makeTokenBatches(deps: { database: Database; clock: Clock }): TokenBatches {
  const { database } = deps;
  const touch = makeGroupCommit(async (uses: KeyUses[]) => {
    await touchApiKeys(database, { ids: [...new Set(uses.flatMap(({ ids }) => ids))], at: uses.at(-1)!.at });
    return uses;
  }, useBatches);
  // No response waits for it, and a use that cannot be noted is noted with the next one.
  const noteUses = (uses: KeyUses): void => void touch(uses).catch(() => {});
  const makeProveClient = (operation: ClientOperation) =>
    makeGroupCommit(
      (clients: PresentedClient[]) => proveClients({ ...deps, noteUses }, { operation, clients }),
      clientBatches,
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
