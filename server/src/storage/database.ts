import { isWorkspaceId } from '../domain/ids.ts';
import { ConnectionPool } from './postgres/connection-pool.ts';
import type { ConnectionPoolOptions, Receipt, PoolUse } from './postgres/connection-pool.ts';
import { isForgottenStatement } from './postgres/connection.ts';
import type { Connection } from './postgres/connection.ts';
import { commitWithReceipt, readOutcome } from './postgres/receipts.ts';
import { makeTag, plainQuery, writeStatement } from './postgres/statement.ts';
import type { Query, Row, Rows, Statement, Tag } from './postgres/statement.ts';
import { LostTransactionError, sendReceipted, throwUnknown, transact, transactQuery } from './postgres/transaction.ts';
import type { Transaction, Work } from './postgres/transaction.ts';

export { LostTransactionError } from './postgres/transaction.ts';
export { deleteReceiptsBefore, readOldestTransaction } from './postgres/receipts.ts';
export { keepsSessions } from './postgres/connection-pool.ts';
export type { Transaction } from './postgres/transaction.ts';
export type { Fragment, Statement } from './postgres/statement.ts';
export type { Value } from './postgres/values.ts';

/** Sends statements: a database, a transaction or a session. */
export type Queryable = Tag;

/** Start and end of a lease that begins now, in the database's time. The sandbox's clock moves due times, not leases. */
export type Lease = { leasedAt: Date; leaseUntil: Date };

/**
 * A connection pool. Each statement sent by it alone is a separate transaction, on any of its connections. A new one is
 * bound to no workspace and can access no workspace's rows.
 */
export interface Database extends Tag {
  readonly kind: 'database';
  /** For the functions of this file. */
  readonly reach: Reach;
  /** Returns a handle for one workspace that can access no other. A function is called when a transaction begins. */
  forWorkspace(workspace: string | (() => string | undefined)): Database;
  /**
   * Returns a handle for work that concerns several workspaces: the engine, looking up the owner of a credential, group
   * commits.
   */
  acrossWorkspaces(): Database;
  /** Closes the pool when the work in progress is done, at the latest after `timeoutSeconds`. */
  end(options?: { timeoutSeconds: number }): Promise<void>;
}

type Pools = {
  pool: ConnectionPool;
  /** The same pool; behind a pooler, one that connects to the database directly. */
  sessions: ConnectionPool;
};
type Reach = Pools & { workspaceOf: (() => string | undefined) | undefined; acrossRole: string | undefined };

/** One connection, held for a while. Its settings, locks and temporary tables end with it. */
export interface Session extends Tag {
  readonly kind: 'session';
  /** For the functions of this file. */
  readonly connection: Connection;
  /** Used to look up the outcome of its transactions when it is lost. */
  readonly pool: ConnectionPool;
  /** Sent in the message that begins each of its transactions. */
  readonly binding: string;
}

export type DatabaseOptions = Omit<ConnectionPoolOptions, 'pooler' | 'role'> & {
  pooler?: ConnectionPoolOptions['pooler'];
  /** Behind a pooler: the address of the database itself. */
  directUrl?: string | undefined;
  /**
   * The role that works across workspaces; the login is a member of it. Without one, workspaces are not separated: the
   * login owns the tables, every handle can access all rows, and nothing is bound.
   */
  acrossRole?: string | undefined;
};

/** Opens the pool. Connections are made on first use, so an unreachable database is reported there. */
export function openDatabase({ acrossRole, connections, ...options }: DatabaseOptions): Database {
  // Each role has its own connections: a statement prepared for another role is planned again.
  const bound = acrossRole === undefined ? connections : Math.max(1, Math.floor(connections * boundShare));
  const own = openPools({ ...options, connections: bound });
  const across =
    acrossRole === undefined
      ? own
      : openPools({ ...options, connections: Math.max(1, connections - bound), role: acrossRole });
  const end: Database['end'] = async ({ timeoutSeconds } = { timeoutSeconds: 10 }) => {
    const pools = new Set([own, across].flatMap(({ pool, sessions }) => [pool, sessions]));
    await Promise.all([...pools].map((pool) => pool.end(timeoutSeconds)));
  };
  const acrossWorkspaces = (): Database => makeHandle({ ...across, workspaceOf: undefined, acrossRole: undefined });
  function forWorkspace(workspace: string | (() => string | undefined)): Database {
    const workspaceOf = typeof workspace === 'string' ? () => workspace : workspace;
    return makeHandle({ ...own, workspaceOf: acrossRole === undefined ? undefined : workspaceOf, acrossRole });
  }
  function makeHandle(reach: Reach): Database {
    const tag = makeTag({ ...refusals, send: (query) => sendAlone(reach, query) });
    return Object.assign(tag, { kind: 'database' as const, reach, forWorkspace, acrossWorkspaces, end });
  }
  return makeHandle({ ...own, workspaceOf: undefined, acrossRole: undefined });
}

// The rest is for work across workspaces: the engine, and requests that are committed in groups.
const boundShare = 0.4;

function openPools({
  pooler = 'none',
  directUrl,
  ...options
}: Omit<DatabaseOptions, 'acrossRole'> & { role?: string }): Pools {
  const pool = new ConnectionPool({ ...options, pooler });
  const sessions = directUrl === undefined ? pool : new ConnectionPool({ ...options, url: directUrl, pooler: 'none' });
  return { pool, sessions };
}

function refuse(): never {
  throw new TypeError('pages are read in a transaction, and COPY needs one or a session');
}
const refusals = { readPages: refuse, copyFrom: refuse, copyTo: refuse };

/** Settings for a single statement need a separate transaction: three round trips. */
async function sendAlone(reach: Reach, query: Query): Promise<Rows<Row[]>> {
  const { pool } = reach;
  const binding = bindingOf(reach);
  if (binding === '' && !pool.needsTransaction()) return pool.send(query);
  for (let tries = 1; ; tries += 1) {
    try {
      return await sendInTransaction(pool, { begin: `begin${pool.transactionSettings()}${binding}`, query });
    } catch (error) {
      if (!isLookedUpAndNotStored(error) || tries === maxTries) throw error;
    }
  }
}

// A read leaves no receipt, so if the connection is lost at its commit it counts as not stored. It is read again.
const maxTries = 10;

function isLookedUpAndNotStored(error: unknown): boolean {
  return error instanceof LostTransactionError && error.code === 'CONNECTION_CLOSED';
}

async function sendInTransaction(
  pool: ConnectionPool,
  { begin, query }: { begin: string; query: Query },
): Promise<Rows<Row[]>> {
  const connection = await pool.take();
  try {
    return await sendRemembered(query, (sent) => transactQuery(connection, { begin, ...receiptOf(pool), query: sent }));
  } finally {
    pool.giveBack(connection);
  }
}

/** A statement that its session no longer has prepared has done nothing yet: it is sent again, to be parsed again. */
async function sendRemembered<Result>(query: Query, send: (query: Query) => Promise<Result>): Promise<Result> {
  try {
    return await send(query);
  } catch (error) {
    if (query.name === undefined || !isForgottenStatement(error)) throw error;
    return send({ ...query, name: undefined });
  }
}

/**
 * Returns the binding that is sent in the same message as `begin`. It belongs to one transaction, never to a session,
 * which a pooler reuses. The function runs `set local`, which a cluster repeats to its workers; a `set local` here
 * would repeat this whole message.
 */
function bindingOf({ workspaceOf }: Reach): string {
  const workspaceId = workspaceOf?.();
  return workspaceId === undefined ? '' : `; select bind_workspace('${checkedId(workspaceId)}')`;
}

/** A value that is not a valid id is bound as an empty one, which accesses no rows. */
function checkedId(workspaceId: string): string {
  return isWorkspaceId(workspaceId) ? workspaceId : '';
}

/**
 * Runs the work in one transaction. If it throws, everything is rolled back; when this resolves, everything is stored.
 * On a session the transaction runs on that session. If the response to the commit is lost, the outcome is looked up.
 *
 * @throws LostTransactionError also when a statement failed and the work continued as if it had not
 */
export function inTransaction<Result>(
  on: Database | Session,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return begin(on, { begin: 'begin', ...receiptOf(on.kind === 'session' ? on.pool : on.reach.pool), work });
}

export type ReceiptedStatement<Found extends readonly object[]> = {
  /** Must store this receipt together with its other rows. */
  statement: (receipt: Receipt) => Statement<Found>;
  /** Reads the statement's result again when it was stored and its response was lost. */
  readBack: () => Promise<Found>;
};

/**
 * Does in one message what takes `inTransaction` three. If its response is lost, the outcome is looked up. @throws
 * LostTransactionError
 */
export async function sendWithReceipt<Found extends readonly object[]>(
  { reach }: Database,
  { statement, readBack }: ReceiptedStatement<Found>,
): Promise<Found> {
  const { pool } = reach;
  const receipt = pool.nextReceipt();
  const query = writeStatement(statement(receipt));
  const begin = `begin${pool.transactionSettings()}${bindingOf(reach)}`;
  const asked = { commit: () => 'commit', readOutcome: () => readOutcome(pool, receipt) };
  const connection = await pool.take();
  try {
    const rows = await sendRemembered(query, (sent) =>
      begin === 'begin'
        ? sendReceipted(connection, { query: sent, ...asked })
        : transactQuery(connection, { begin, ...asked, query: sent }),
    );
    if (rows) return rows as object as Found;
  } finally {
    pool.giveBack(connection);
  }
  return readBack().catch((cause: unknown) => throwUnknown(cause));
}

/** Returns how a transaction that stores something is committed. */
function receiptOf(pool: ConnectionPool): Pick<Work<unknown>, 'commit' | 'readOutcome'> {
  const receipt = pool.nextReceipt();
  if (pool.isReadOnly()) return { commit: () => 'commit', readOutcome: async () => 'not stored' };
  return { commit: (sent) => commitWithReceipt(receipt, sent), readOutcome: () => readOutcome(pool, receipt) };
}

/**
 * Runs a schema change, which may come before the receipts table exists. The caller looks up a change whose outcome is
 * lost.
 */
export function inSchemaTransaction<Result>(
  session: Session,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return begin(session, { begin: 'begin', commit: () => 'commit', readOutcome: async () => 'unknown', work });
}

/** Runs the work in one snapshot of the database, read only, whatever is stored meanwhile. */
export function inSnapshot<Result>(
  on: Database | Session,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  const how = 'begin isolation level repeatable read read only';
  // There is nothing to store, so nothing can be lost.
  return begin(on, { begin: how, commit: () => 'commit', readOutcome: async () => 'stored', work });
}

/**
 * Holds one connection for work that needs its session: advisory locks, temporary tables, settings. The connection is
 * closed afterwards, so no later caller sees them. The workers of a cluster know its workspace only within
 * transactions; outside of them it can access no row on the workers.
 */
export async function withSession<Result>(
  database: Database,
  work: (session: Session) => Promise<Result>,
): Promise<Result> {
  const { sessions, workspaceOf } = database.reach;
  const workspaceId = workspaceOf?.();
  const connection = await sessions.take();
  connection.closeAfterwards();
  try {
    // No other caller uses this session before or after, and no pooler is in between.
    if (workspaceId !== undefined) {
      const id = checkedId(workspaceId);
      const binding = `select set_config('carillon.workspace_id', '${id}', false), set_config('carillon.workspace_number',
        coalesce((select number::text from workspaces where id = '${id}'), ''), false)`;
      await connection.run(plainQuery(binding));
    }
    const tag = makeTag({
      ...refusals,
      send: async (query) => (await connection.run(query)).rows,
      copyFrom: (text, pieces) => connection.copyFrom(text, pieces),
    });
    const session = { kind: 'session' as const, connection, pool: database.reach.pool };
    return await work(Object.assign(tag, { ...session, binding: bindingOf(database.reach) }));
  } finally {
    sessions.giveBack(connection);
  }
}

async function begin<Result>(on: Database | Session, transaction: Work<Result>): Promise<Result> {
  if (on.kind === 'session')
    return transact(on.connection, { ...transaction, begin: `${transaction.begin}${on.binding}` });
  const { pool, acrossRole } = on.reach;
  // Read before the wait for a connection, while it is still clear which workspace the call is for.
  const begin = `${transaction.begin}${pool.transactionSettings()}${bindingOf(on.reach)}`;
  const connection = await pool.take();
  try {
    return await transact(connection, { ...transaction, begin, acrossRole });
  } finally {
    pool.giveBack(connection);
  }
}

/**
 * Runs statements in a bound transaction without the policies. Behind a policy PostgreSQL uses an index only for
 * operators that are known to leak nothing about a row; the searches for parts of names and for tags use none of these.
 * `find` may only look up ids: the rows that are shown are read under the policies.
 */
export async function beyondPolicies<Result>(tx: Transaction, find: () => Promise<Result>): Promise<Result> {
  const { acrossRole } = tx;
  if (acrossRole === undefined) return find();
  await tx`set local role ${tx(acrossRole)}`;
  try {
    return await find();
  } finally {
    // In a failed transaction PostgreSQL rejects this statement like any other.
    await tx`set local role none`.catch(() => {});
  }
}

/**
 * Makes every statement of the transaction get its own plan, for its values and the tables as they are now. A generic
 * plan misses rare values, and one made while a table was small reads all of it when it has grown. Compiling a plan
 * takes longer than these statements take to read. A table that all workspaces share is scanned only if no index
 * serves, and no parallel worker takes a core from other requests. Uses `set local`: of all ways to set something, a
 * cluster repeats only this one to its workers, which plan their own parts.
 */
export async function planByValues(tx: Transaction): Promise<void> {
  await tx`do $$ begin
    set local plan_cache_mode = force_custom_plan;
    set local jit = off;
    set local enable_seqscan = off;
    set local max_parallel_workers_per_gather = 0;
  end $$`;
}

/**
 * Like planByValues, but a connection keeps its plans. For a long statement that recurs, has no rare values, and takes longer to plan than
 * to run.
 */
async function planOnce(tx: Transaction): Promise<void> {
  await tx`do $$ begin
    set local jit = off;
    set local enable_seqscan = off;
    set local max_parallel_workers_per_gather = 0;
  end $$`;
}

type TimedReading<Result> = {
  milliseconds: number;
  work: (tx: Transaction) => Promise<Result>;
  /** Whether each statement is planned for its values, which is the default, or once a connection. */
  plans?: 'by values' | 'once';
};

// SQLSTATE query_canceled.
const canceled = '57014';

/**
 * Runs a read-only query of unpredictable size in one snapshot, with a time limit for each statement. For queries that
 * a user waits for.
 */
export async function withinTime<Result>(
  database: Database,
  { milliseconds, work, plans = 'by values' }: TimedReading<Result>,
): Promise<{ result: Result } | 'too slow'> {
  try {
    return await inSnapshot(database, async (tx) => {
      await tx`select set_config('statement_timeout', ${String(milliseconds)}, true)`;
      await (plans === 'once' ? planOnce(tx) : planByValues(tx));
      return { result: await work(tx) };
    });
  } catch (error) {
    if ((error as { code?: string }).code === canceled) return 'too slow';
    throw error;
  }
}

/**
 * True if a statement was rejected because of its values, so that retrying is useless: SQLSTATE classes 22 (a value no
 * column accepts), 23 (a constraint) and 54 (a limit of the database). Other errors may not recur.
 */
export function isRefusedValue(error: unknown): boolean {
  return /^(?:22|23|54)/.test(String((error as { code?: unknown }).code));
}

/** True if a row could not be deleted because another row began to reference it meanwhile: SQLSTATE foreign_key_violation. */
export function isStillReferenced(error: unknown): boolean {
  return (error as { code?: unknown }).code === '23503';
}

/** Returns how the connections are used that this database's statements run on. */
export function readPoolUse({ reach }: Database): PoolUse {
  return reach.pool.countUse();
}
