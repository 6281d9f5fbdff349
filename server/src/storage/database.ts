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

/** What statements are sent by: a database, a transaction or a session. */
export type Queryable = Tag;

/**
 * A pool. Each statement sent by it alone is a transaction of its own, on any of its connections. As it is opened it is
 * bound to no workspace, and no row of any is in its reach.
 */
export interface Database extends Tag {
  readonly kind: 'database';
  /** For the functions of this file. */
  readonly reach: Reach;
  /** For one workspace: all else is out of reach. A function is asked when a transaction begins. */
  forWorkspace(workspace: string | (() => string | undefined)): Database;
  /** For work that is not one workspace's: the engine, who a credential belongs to, commits of many together. */
  acrossWorkspaces(): Database;
  /** Ends when the work under way is done, at the latest after `timeoutSeconds`. */
  end(options?: { timeoutSeconds: number }): Promise<void>;
}

type Pools = {
  pool: ConnectionPool;
  /** The same, or behind a pooler the database itself. */
  sessions: ConnectionPool;
};
type Reach = Pools & { workspaceOf: (() => string | undefined) | undefined; acrossRole: string | undefined };

/** One connection for a while. What it sets, locks and makes temporarily ends with it. */
export interface Session extends Tag {
  readonly kind: 'session';
  /** For the functions of this file. */
  readonly connection: Connection;
  /** Where the outcome of its transactions is asked for when it is lost. */
  readonly pool: ConnectionPool;
  /** Sent in the message that begins each of its transactions. */
  readonly binding: string;
}

export type DatabaseOptions = Omit<ConnectionPoolOptions, 'pooler' | 'role'> & {
  pooler?: ConnectionPoolOptions['pooler'];
  /** Behind a pooler: the database itself. */
  directUrl?: string | undefined;
  /**
   * The role that works across workspaces, of which the login is a member. Without one there is no wall (the login owns
   * the tables), every handle reaches all rows, and nothing is bound.
   */
  acrossRole?: string | undefined;
};

/** Opens the pool. Connections are made on first use, so an unreachable database shows there. */
export function openDatabase({ acrossRole, connections, ...options }: DatabaseOptions): Database {
  // A role keeps its connections: a statement that was prepared for another is planned anew.
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

// The rest works across workspaces: the engine, and the requests that are accepted together.
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

/** What is set for one transaction is so for a single statement only in a transaction of its own: three round trips. */
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

// A reading leaves no receipt, so one whose commit is cut counts as not stored. It is read again.
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

/** A statement whose session has forgotten it has done nothing yet: it is sent again, to be parsed anew. */
async function sendRemembered<Result>(query: Query, send: (query: Query) => Promise<Result>): Promise<Result> {
  try {
    return await send(query);
  } catch (error) {
    if (query.name === undefined || !isForgottenStatement(error)) throw error;
    return send({ ...query, name: undefined });
  }
}

/**
 * Sent in the same message as `begin`. Of one transaction, never of a session, which a pooler gives to the next. The
 * function says `set local`, which a cluster repeats to its workers; said here, it would repeat this whole message.
 */
function bindingOf({ workspaceOf }: Reach): string {
  const workspaceId = workspaceOf?.();
  return workspaceId === undefined ? '' : `; select bind_workspace('${checkedId(workspaceId)}')`;
}

/** What cannot be an id reaches what no id reaches. */
function checkedId(workspaceId: string): string {
  return isWorkspaceId(workspaceId) ? workspaceId : '';
}

/**
 * Does the work in one transaction: what it throws undoes all of it, and when this resolves all of it is stored. On a
 * session the transaction is that session's own. If the answer to the commit is lost, the outcome is looked up.
 *
 * @throws LostTransactionError also when a statement failed and the work went on as if it had not
 */
export function inTransaction<Result>(
  on: Database | Session,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return begin(on, { begin: 'begin', ...receiptOf(on.kind === 'session' ? on.pool : on.reach.pool), work });
}

export type ReceiptedStatement<Found extends readonly object[]> = {
  /** Stores this receipt with the rest of what it stores. */
  statement: (receipt: Receipt) => Statement<Found>;
  /** What the statement would have answered, asked when it is stored and its answer was lost. */
  readBack: () => Promise<Found>;
};

/** What `inTransaction` takes three messages for, by one. If its answer is lost, the outcome is looked up. @throws LostTransactionError */
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

/** How a transaction that stores something is committed. */
function receiptOf(pool: ConnectionPool): Pick<Work<unknown>, 'commit' | 'readOutcome'> {
  const receipt = pool.nextReceipt();
  if (pool.isReadOnly()) return { commit: () => 'commit', readOutcome: async () => 'not stored' };
  return { commit: (sent) => commitWithReceipt(receipt, sent), readOutcome: () => readOutcome(pool, receipt) };
}

/** Changes the schema, before there is a table of receipts. A change whose outcome is lost is looked up by its caller. */
export function inSchemaTransaction<Result>(
  session: Session,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return begin(session, { begin: 'begin', commit: () => 'commit', readOutcome: async () => 'unknown', work });
}

/** Reads one state of the database, whatever is stored meanwhile. */
export function inSnapshot<Result>(
  on: Database | Session,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  const how = 'begin isolation level repeatable read read only';
  // There is nothing to store, so nothing is missing.
  return begin(on, { begin: how, commit: () => 'commit', readOutcome: async () => 'stored', work });
}

/**
 * Holds one connection for work that needs its session: advisory locks, temporary tables, settings. It is closed
 * afterwards, so nothing of that reaches another caller. The workers of a cluster know its workspace in its transactions
 * only; outside of them it reaches no row on them.
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
    // This session is nobody else's, before or after, and no pooler is in between.
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
  // Asked before the wait for a connection: whose call this is.
  const begin = `${transaction.begin}${pool.transactionSettings()}${bindingOf(on.reach)}`;
  const connection = await pool.take();
  try {
    return await transact(connection, { ...transaction, begin, acrossRole });
  } finally {
    pool.giveBack(connection);
  }
}

/**
 * In a transaction that is bound to a workspace: statements that the policies must not be added to. Behind a policy
 * PostgreSQL enters an index only by operators that are known to tell nothing of a row they are asked about, and the
 * searches for parts of names and for tags are none of these. They find ids; what is shown is read under the policies.
 */
export async function beyondPolicies<Result>(tx: Transaction, find: () => Promise<Result>): Promise<Result> {
  const { acrossRole } = tx;
  if (acrossRole === undefined) return find();
  await tx`set local role ${tx(acrossRole)}`;
  try {
    return await find();
  } finally {
    // After a statement that failed the transaction takes this one as little as any other.
    await tx`set local role none`.catch(() => {});
  }
}

/**
 * Every statement of the transaction has its own plan, for its own values and the tables as they are now. A plan that is
 * kept for all values does not see what is rare, and one that was made while a table was small reads all of it when it
 * has grown. Compiling a plan takes longer than what these statements read. A table that all workspaces share is read
 * as a whole only where no index serves, and nothing takes a core from those that wait for another answer. By `set local`:
 * of all ways to set something, a cluster repeats this one to its workers, who plan what is done there.
 */
export async function planByValues(tx: Transaction): Promise<void> {
  await tx`do $$ begin
    set local plan_cache_mode = force_custom_plan;
    set local jit = off;
    set local enable_seqscan = off;
    set local max_parallel_workers_per_gather = 0;
  end $$`;
}

// SQLSTATE query_canceled.
const canceled = '57014';

/**
 * Work that reads one state of the database and ends in time: a question that somebody waits for, of a size that nobody
 * knows beforehand. Each statement may take as long.
 */
export async function withinTime<Result>(
  database: Database,
  { milliseconds, work }: { milliseconds: number; work: (tx: Transaction) => Promise<Result> },
): Promise<{ result: Result } | 'too slow'> {
  try {
    return await inSnapshot(database, async (tx) => {
      await tx`select set_config('statement_timeout', ${String(milliseconds)}, true)`;
      await planByValues(tx);
      return { result: await work(tx) };
    });
  } catch (error) {
    if ((error as { code?: string }).code === canceled) return 'too slow';
    throw error;
  }
}

/**
 * Whether a statement was refused for what it was given, so that it will be again: SQLSTATE classes 22 (a value no column
 * takes), 23 (a constraint) and 54 (a limit of the database). Everything else may pass the next time.
 */
export function isRefusedValue(error: unknown): boolean {
  return /^(?:22|23|54)/.test(String((error as { code?: unknown }).code));
}

/** Whether a row could not be removed because another came to belong to it meanwhile: SQLSTATE foreign_key_violation. */
export function isStillReferenced(error: unknown): boolean {
  return (error as { code?: unknown }).code === '23503';
}

/** How the connections are used from which this database's statements take theirs. */
export function readPoolUse({ reach }: Database): PoolUse {
  return reach.pool.countUse();
}
