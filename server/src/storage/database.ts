import { ConnectionPool } from './postgres/connection-pool.ts';
import type { ConnectionPoolOptions } from './postgres/connection-pool.ts';
import type { Connection } from './postgres/connection.ts';
import { commitWithReceipt, readOutcome } from './postgres/receipts.ts';
import { makeTag } from './postgres/statement.ts';
import type { Tag } from './postgres/statement.ts';
import { transact } from './postgres/transaction.ts';
import type { Transaction, Work } from './postgres/transaction.ts';

export { LostTransactionError } from './postgres/transaction.ts';
export { deleteOldReceipts } from './postgres/receipts.ts';
export { keepsSessions } from './postgres/connection-pool.ts';
export type { Transaction } from './postgres/transaction.ts';
export type { Fragment, Statement } from './postgres/statement.ts';
export type { Value } from './postgres/values.ts';

/** What statements are sent by: a database, a transaction or a session. */
export type Queryable = Tag;

/** A pool. Each statement sent by it alone is a transaction of its own, on any of its connections. */
export interface Database extends Tag {
  readonly kind: 'database';
  /** For the functions of this file. */
  readonly pool: ConnectionPool;
  /** The same, or behind a pooler the database itself. */
  readonly sessions: ConnectionPool;
  /** Ends when the work under way is done, at the latest after `timeoutSeconds`. */
  end(options?: { timeoutSeconds: number }): Promise<void>;
}

/** One connection for a while. What it sets, locks and makes temporarily ends with it. */
export interface Session extends Tag {
  readonly kind: 'session';
  /** For the functions of this file. */
  readonly connection: Connection;
  /** Where the outcome of its transactions is asked for when it is lost. */
  readonly pool: ConnectionPool;
}

export type DatabaseOptions = Omit<ConnectionPoolOptions, 'pooler'> & {
  pooler?: ConnectionPoolOptions['pooler'];
  /** Behind a pooler: the database itself. */
  directUrl?: string | undefined;
};

/** Opens the pool. Connections are made on first use, so an unreachable database shows there. */
export function openDatabase({ pooler = 'none', directUrl, ...options }: DatabaseOptions): Database {
  const pool = new ConnectionPool({ ...options, pooler });
  const sessions = directUrl === undefined ? pool : new ConnectionPool({ ...options, url: directUrl, pooler: 'none' });
  const tag = makeTag({ send: (query) => pool.send(query), readPages: refuse, copyFrom: refuse });
  return Object.assign(tag, {
    ...{ kind: 'database' as const, pool, sessions },
    async end({ timeoutSeconds } = { timeoutSeconds: 10 }) {
      await Promise.all([pool.end(timeoutSeconds), sessions.end(timeoutSeconds)]);
    },
  });
}

function refuse(): never {
  throw new TypeError('pages are read in a transaction, and COPY needs one or a session');
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
  const receipt = on.pool.nextReceipt();
  const readBack = () => readOutcome(on.pool, receipt);
  return begin(on, { begin: 'begin', commit: commitWithReceipt(receipt), readOutcome: readBack, work });
}

/** Changes the schema, before there is a table of receipts. A change whose outcome is lost is looked up by its caller. */
export function inSchemaTransaction<Result>(
  session: Session,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return begin(session, { begin: 'begin', commit: 'commit', readOutcome: async () => 'unknown', work });
}

/** Reads one state of the database, whatever is stored meanwhile. */
export function inSnapshot<Result>(
  on: Database | Session,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  const how = 'begin isolation level repeatable read read only';
  // There is nothing to store, so nothing is missing.
  return begin(on, { begin: how, commit: 'commit', readOutcome: async () => 'stored', work });
}

/**
 * Holds one connection for work that needs its session: advisory locks, temporary tables, settings. It is closed
 * afterwards, so nothing of that reaches another caller.
 */
export async function withSession<Result>(
  database: Database,
  work: (session: Session) => Promise<Result>,
): Promise<Result> {
  const connection = await database.sessions.take();
  connection.closeAfterwards();
  try {
    const tag = makeTag({
      send: async (query) => (await connection.run(query)).rows,
      copyFrom: (text, pieces) => connection.copyFrom(text, pieces),
      readPages: refuse,
    });
    return await work(Object.assign(tag, { kind: 'session' as const, connection, pool: database.pool }));
  } finally {
    database.sessions.giveBack(connection);
  }
}

async function begin<Result>(on: Database | Session, transaction: Work<Result>): Promise<Result> {
  if (on.kind === 'session') return transact(on.connection, transaction);
  const connection = await on.pool.take();
  try {
    return await transact(connection, { ...transaction, begin: transaction.begin + on.pool.transactionSettings() });
  } finally {
    on.pool.giveBack(connection);
  }
}

/**
 * Every statement of the transaction has its own plan, for its own values and the tables as they are now. A plan that is
 * kept for all values does not see what is rare, and one that was made while a table was small reads all of it when it
 * has grown. Compiling a plan takes longer than what these statements read. A table that all workspaces share is read
 * as a whole only where no index serves, and nothing takes a core from those that wait for another answer.
 */
export async function planByValues(tx: Transaction): Promise<void> {
  await tx`select set_config('plan_cache_mode', 'force_custom_plan', true), set_config('jit', 'off', true),
    set_config('enable_seqscan', 'off', true), set_config('max_parallel_workers_per_gather', '0', true)`;
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
