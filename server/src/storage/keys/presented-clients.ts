import { sendWithReceipt } from '../database.ts';
import type { Database, Fragment } from '../database.ts';
import { countingInsert, isFull, unflushed } from '../limits/sliding-windows.ts';
import type { CountedEvent, CountedEvents, LimitSubject } from '../limits/sliding-windows.ts';
import type { ClientKey } from './api-keys.ts';

/** Client credentials to count and to look up. */
export type SearchedClient = {
  /** The subject of the limit of its credentials. */
  pair: Buffer;
  workspaceId: string;
  secretHash: Buffer;
  /** Position of its caller in `callers`; undefined for a client that is counted whatever its caller has guessed. */
  caller: number | undefined;
};

export type ClientCount = Pick<CountedEvents, 'at' | 'windows'> & {
  /** The limited operation of the pairs, which all differ. */
  operation: string;
  clients: readonly SearchedClient[];
  /** The counters of the guesses of each caller. */
  callers: readonly (readonly LimitSubject[])[];
};

/** `undecided`: the caller has guesses, which must be judged first; nothing is counted. */
export type CountedClient = { count: CountedEvent | 'undecided'; key: ClientKey | undefined };

/** A row is of a key, of a count or of a caller with guesses; the columns of the others are null. */
type Row = ClientKey & { place: number | null; pair: Buffer | null; events: number | null; guesser: number | null };

/**
 * Counts the requests of clients whose callers have no guesses, as `countEventsAtOnce`, and finds the keys of all, archived or
 * not. One message does what else takes three, two of them one after the other. Indexes: primary key of limit_windows, unique
 * secret_hash of api_keys, primary key of workspaces, each by one look-up per row.
 *
 * @returns one result per client, in the order of `clients`
 * @throws LostTransactionError
 */
export async function countClients(database: Database, asked: ClientCount): Promise<CountedClient[]> {
  const found = { guesses: guessedCallers(database, asked), keys: foundKeys(database, asked) };
  const rows = await sendWithReceipt<Row[]>(database, {
    statement: ({ poolId, number }) => {
      const counted = countingInsert(database, { ...asked, asked: countedPairs(database, asked) });
      return database<Row[]>`
        with receipt as (
          insert into transaction_receipts (pool_id, number, is_stored) values (${poolId}, ${number}, true)
        ), guessed as materialized (${found.guesses}), counted as (${counted})
        ${resultRows(database, found.keys)}`;
    },
    readBack: () => database<Row[]>`
      with guessed as materialized (${found.guesses}), counted as (
        select subject, cardinality(events) as events
        from limit_windows join (select operation, subject from ${countedPairs(database, asked)}) as pairs
          using (operation, subject)
        where not ${isFull(database, asked)}
      )
      ${resultRows(database, found.keys)}`,
  });
  return presentRows(asked, rows);
}

/** Returns the callers that have a row of guesses, however old. */
function guessedCallers(database: Database, { callers }: ClientCount): Fragment {
  const guesses = callers.flatMap((counters, caller) => counters.map((counter) => ({ ...counter, caller })));
  return database`
    select distinct asked.caller
    from unnest(
      ${guesses.map(({ caller }) => caller)}::integer[], ${guesses.map(({ operation }) => operation)}::text[],
      ${guesses.map(({ subject }) => subject)}::bytea[]
    ) as asked (caller, operation, subject)
    cross join lateral (
      select from limit_windows
      where limit_windows.operation = asked.operation and limit_windows.subject = asked.subject limit 1
    ) as found`;
}

function countedPairs(database: Database, { operation, clients }: ClientCount): Fragment {
  return database`
    (
      select ${operation}::text as operation, subject
      from unnest(
        ${clients.map(({ pair }) => pair)}::bytea[], ${clients.map(({ caller }) => caller ?? null)}::integer[]
      ) as asked (subject, caller)
      where not exists (select from guessed where guessed.caller = asked.caller)
    ) as pairs ${unflushed(database)}`;
}

function foundKeys(database: Database, { clients }: ClientCount): Fragment {
  return database`
    select asked.place::int as place, api_keys.id, api_keys.workspace_id as "workspaceId", api_keys.kind,
      api_keys.generation, api_keys.access_token_minutes as "accessTokenMinutes",
      api_keys.last_used_at as "lastUsedAt", api_keys.archived_at as "archivedAt", api_keys.number,
      workspaces.number as "workspaceNumber", api_keys.secret_hash as "secretHash",
      workspaces.data_center as "dataCenter"
    from unnest(
      ${clients.map(({ workspaceId }) => workspaceId)}::text[], ${clients.map(({ secretHash }) => secretHash)}::bytea[]
    ) with ordinality as asked (workspace_id, secret_hash, place)
    cross join lateral (
      select * from api_keys
      where api_keys.secret_hash = asked.secret_hash and api_keys.workspace_id = asked.workspace_id collate "C" limit 1
    ) as api_keys
    join workspaces on workspaces.id = api_keys.workspace_id`;
}

/** A union, because a join of the counts and the keys would compare each with each. */
function resultRows(database: Database, keys: Fragment): Fragment {
  return database`
    select keys.*, null::bytea as pair, null::int as events, null::int as guesser from (${keys}) as keys
    union all
    select null, null, null, null, null, null, null, null, null, null, null, null, subject, events, null from counted
    union all
    select null, null, null, null, null, null, null, null, null, null, null, null, null, null, caller from guessed`;
}

function presentRows({ clients }: ClientCount, rows: readonly Row[]): CountedClient[] {
  const keys = Array.from<ClientKey | undefined>({ length: clients.length });
  const counts = new Map<string, number>();
  const guessers = new Set<number>();
  for (const { place, pair, events, guesser, ...key } of rows) {
    if (place !== null) keys[place - 1] = key;
    else if (pair !== null) counts.set(pair.toString('latin1'), events!);
    else guessers.add(guesser!);
  }
  return clients.map(({ pair, caller }, index) => {
    const key = keys[index];
    if (caller !== undefined && guessers.has(caller)) return { count: 'undecided', key };
    const events = counts.get(pair.toString('latin1'));
    return { count: { counted: events !== undefined, isFirst: events === 1 }, key };
  });
}
