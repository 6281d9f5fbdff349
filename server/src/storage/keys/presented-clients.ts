import { sendWithReceipt } from '../database.ts';
import type { Database, Fragment, Statement } from '../database.ts';
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
type Row = { [Column in keyof ClientKey]: ClientKey[Column] | null } & {
  place: number | null;
  pair: Buffer | null;
  events: number | null;
  guesser: number | null;
};
type KeyRow = ClientKey & { place: number };

/**
 * Counts the requests of clients whose callers have no guesses, as `countEventsAtOnce`, and finds the keys of all, archived or
 * not. One message does what else takes three, one of them after the others. Indexes: primary key of limit_windows, unique
 * secret_hash of api_keys, primary key of workspaces, each by one look-up per row.
 *
 * The result is a union, because a join of the counts and the keys would compare each with each.
 *
 * @returns one result per client, in the order of `clients`
 * @throws LostTransactionError
 */
export async function countClients(database: Database, asked: ClientCount): Promise<CountedClient[]> {
  const rows = await sendWithReceipt<Row[]>(database, {
    statement: ({ poolId, number }) => database<Row[]>`
      with receipt as (
        insert into transaction_receipts (pool_id, number, is_stored) values (${poolId}, ${number}, true)
      ), guessed as materialized (
        ${guessedCallers(database, asked)}
      ), counted as (
        ${countingInsert(database, { ...asked, asked: countedPairs(database, asked) })}
      )
      select keys.*, null::bytea as pair, null::integer as events, null::integer as guesser
      from (${foundKeys(database, asked)}) as keys
      union all
      select null, null, null, null, null, null, null, null, null, null, null, null, subject, events, null from counted
      union all
      select null, null, null, null, null, null, null, null, null, null, null, null, null, null, caller from guessed`,
    readBack: () => readBack(database, asked),
  });
  return presentRows(asked, rows);
}

/** Reads the rows of a statement whose response was lost; see `countEventsAtOnce`. */
async function readBack(database: Database, asked: ClientCount): Promise<Row[]> {
  const { operation, clients } = asked;
  const [keys, guessed, counts] = await Promise.all([
    foundKeys(database, asked),
    guessedCallers(database, asked),
    database<{ subject: Buffer; events: number }[]>`
      select subject, cardinality(events) as events
      from limit_windows
      join unnest(${clients.map(({ pair }) => pair)}::bytea[]) as pairs (subject) using (subject)
      where operation = ${operation} and not ${isFull(database, asked)}`,
  ]);
  return [
    ...keys.map((key) => ({ ...key, pair: null, events: null, guesser: null })),
    ...counts.map(({ subject, events }) => ({ ...noKey, pair: subject, events, guesser: null })),
    ...guessed.map(({ caller }) => ({ ...noKey, pair: null, events: null, guesser: caller })),
  ];
}

const noKey = {
  ...{
    place: null,
    id: null,
    workspaceId: null,
    kind: null,
    generation: null,
    accessTokenMinutes: null,
    lastUsedAt: null,
  },
  ...{ archivedAt: null, number: null, workspaceNumber: null, secretHash: null, dataCenter: null },
};

/** Returns the callers that have a row of guesses, however old. */
function guessedCallers(database: Database, { callers }: ClientCount): Statement<{ caller: number }[]> {
  const guesses = callers.flatMap((counters, caller) => counters.map((counter) => ({ ...counter, caller })));
  return database<{ caller: number }[]>`
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

/** The source of the counting insert: the pairs of clients that have waited, or whose caller has no guesses. */
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

function foundKeys(database: Database, { clients }: ClientCount): Statement<KeyRow[]> {
  return database<KeyRow[]>`
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

function presentRows({ clients }: ClientCount, rows: readonly Row[]): CountedClient[] {
  const keys = Array.from<ClientKey | undefined>({ length: clients.length });
  const counts = new Map<string, number>();
  const guessers = new Set<number>();
  for (const { place, pair, events, guesser, ...key } of rows) {
    if (place !== null) keys[place - 1] = key as ClientKey;
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
