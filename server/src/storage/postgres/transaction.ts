import pg from 'pg';
import type { Connection } from './connection.ts';
import { mayChangeRows } from './receipts.ts';
import type { TransactionOutcome } from './receipts.ts';
import { makeTag, plainQuery } from './statement.ts';
import type { Pieces, Query, ReadBytes, Row, Rows, Sender, Tag } from './statement.ts';

/** A transaction that is open until the function given to `inTransaction` ends. Transactions do not nest. */
export interface Transaction extends Tag {
  readonly kind: 'transaction';
  /** In a transaction that is bound to one workspace: the role that is not. For the functions of `database.ts`. */
  readonly acrossRole: string | undefined;
  /** Sent one by one when this has committed. A failure has no effect. For `notifications.ts`. */
  readonly afterwards: Map<string, Query>;
}

export type Begin = {
  /** `begin` with its settings. */
  begin: string;
  /** Returns `commit` with what is sent with it, depending on whether a statement may have changed something. */
  commit(sent: 'changes' | 'questions'): string;
  /** Called when the response to the commit was lost. */
  readOutcome(): Promise<TransactionOutcome>;
  acrossRole?: string | undefined;
};

export type Work<Result> = Begin & { work: (tx: Transaction) => Promise<Result> };

/**
 * Runs the work in one transaction of a connection that no other caller uses. If the work throws, everything is rolled
 * back; when this resolves, everything is stored. If the response to the commit is lost, the outcome is looked up.
 *
 * @throws LostTransactionError
 */
export async function transact<Result>(
  connection: Connection,
  transaction: Begin & Pick<Work<Result>, 'work'>,
): Promise<Result> {
  const { acrossRole } = transaction;
  const afterwards = new Map<string, Query>();
  const result = await inScope(connection, transaction, (scope) =>
    transaction.work(Object.assign(makeTag(scope), { kind: 'transaction' as const, acrossRole, afterwards })),
  );
  for (const query of afterwards.values()) await connection.run(query).catch(() => {});
  return result;
}

/** Sends one statement in a separate transaction, for the settings in `begin`. @throws LostTransactionError */
export async function transactQuery(
  connection: Connection,
  { query, ...transaction }: Begin & { query: Query },
): Promise<Rows<Row[]>> {
  return inScope(connection, transaction, (scope) => scope.send(query));
}

/**
 * Sends one statement that stores its own receipt, without an explicit transaction: one message. If its response is
 * lost, the outcome is looked up.
 *
 * @returns its rows; undefined when it is stored and its rows are lost
 * @throws LostTransactionError
 */
export async function sendReceipted(
  connection: Connection,
  { query, readOutcome }: Pick<Begin, 'readOutcome'> & { query: Query },
): Promise<Rows<Row[]> | undefined> {
  try {
    return (await connection.run(query)).rows;
  } catch (error) {
    if (isRefusal(connection, error)) throw error;
    settle(await readOutcome(), error);
    return undefined;
  }
}

async function inScope<Result>(
  connection: Connection,
  transaction: Begin,
  work: (scope: TransactionScope) => Promise<Result>,
): Promise<Result> {
  connection.enterTransaction();
  try {
    await connection.run(plainQuery(transaction.begin));
    const scope = new TransactionScope(connection);
    let result: Result;
    try {
      result = await work(scope);
    } catch (error) {
      await scope.rollBack();
      throw error;
    }
    await scope.commit(transaction);
    return result;
  } finally {
    connection.leaveTransaction();
  }
}

/** The work of a transaction had ended, but the transaction is not stored, or may not be. */
export class LostTransactionError extends Error {
  override readonly name = 'LostTransactionError';
  /**
   * The first two are certain: the transaction was rolled back, or the connection was lost at the commit, which was
   * looked up and is not stored. The third: the connection was lost, and the database could not be asked. Carillon
   * never repeats what may be stored.
   */
  readonly code: 'TRANSACTION_ROLLED_BACK' | 'CONNECTION_CLOSED' | 'COMMIT_OUTCOME_UNKNOWN';

  constructor(code: LostTransactionError['code'], { message, cause }: { message: string; cause?: unknown }) {
    super(message, { cause });
    this.code = code;
  }
}

// SQLSTATE in_failed_sql_transaction.
const inFailedTransaction = '25P02';

function settle(outcome: TransactionOutcome, cause: unknown): void {
  if (outcome === 'stored') return;
  if (outcome === 'not stored')
    throw new LostTransactionError('CONNECTION_CLOSED', {
      message: 'the connection was lost at the commit, and the transaction is not stored',
      cause,
    });
  throwUnknown(cause);
}

export function throwUnknown(cause: unknown): never {
  throw new LostTransactionError('COMMIT_OUTCOME_UNKNOWN', {
    message: 'the connection was lost before the commit was answered, and the database cannot be asked',
    cause,
  });
}

/**
 * True if the database reports that it does not commit. A session that is ended while it commits reports an error too
 * (`FATAL`), and may have committed.
 */
function isRefusal(connection: Connection, error: unknown): boolean {
  return !connection.isLost() && error instanceof pg.DatabaseError && error.severity === 'ERROR';
}

class TransactionScope implements Sender {
  readonly #connection: Connection;
  /** The first statement that failed: after it the database rejects everything in this transaction. */
  #fault: unknown;
  #isOver = false;
  #sent: 'changes' | 'questions' = 'questions';
  #cursors = 0;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async send(query: Query): Promise<Rows<Row[]>> {
    this.#refuseWhenOver();
    if (mayChangeRows(query.text)) this.#sent = 'changes';
    try {
      return (await this.#connection.run(query)).rows;
    } catch (error) {
      this.#fault ??= error;
      throw error;
    }
  }

  async copyFrom(text: string, pieces: Pieces): Promise<number> {
    this.#refuseWhenOver();
    this.#sent = 'changes';
    try {
      return await this.#connection.copyFrom(text, pieces);
    } catch (error) {
      this.#fault ??= error;
      throw error;
    }
  }

  async copyTo<Result>(text: string, read: ReadBytes<Result>): Promise<Result> {
    this.#refuseWhenOver();
    try {
      return await this.#connection.copyTo(text, read);
    } catch (error) {
      this.#fault ??= error;
      throw error;
    }
  }

  /** Uses an SQL cursor: other statements may be sent between two pages. */
  async *readPages(query: Query, pageRows: number): AsyncGenerator<Row[]> {
    const name = `pages_${(this.#cursors += 1)}`;
    // All rows will be read: without this the planner picks the plan that returns the first tenth soonest.
    await this.send(plainQuery('set local cursor_tuple_fraction = 1'));
    await this.send({ ...query, text: `declare ${name} no scroll cursor for ${query.text}`, name: undefined });
    for (;;) {
      const page = await this.send(plainQuery(`fetch forward ${pageRows} from ${name}`));
      if (page.length > 0) yield page;
      if (page.length < pageRows) break;
    }
    await this.send(plainQuery(`close ${name}`));
  }

  async commit({ commit, readOutcome }: Pick<Work<unknown>, 'commit' | 'readOutcome'>): Promise<void> {
    if (!this.#connection.isLost() && this.#fault !== undefined) {
      await this.rollBack();
      throw this.#rolledBack();
    }
    this.#isOver = true;
    let command: string;
    try {
      // Never a prepared statement: one that is gone would fail the transaction it is to commit.
      ({ command } = await this.#connection.run(plainQuery(commit(this.#sent))));
    } catch (error) {
      if (!isRefusal(this.#connection, error)) return settle(await readOutcome(), error);
      await this.rollBack();
      this.#fault ??= error;
      throw (error as pg.DatabaseError).code === inFailedTransaction ? this.#rolledBack() : error;
    }
    // PostgreSQL responds to the commit of a failed transaction with `ROLLBACK`, without an error.
    if (command !== 'COMMIT') throw this.#rolledBack();
  }

  /** A connection that cannot even roll back is closed, which undoes the transaction as well. */
  async rollBack(): Promise<void> {
    this.#isOver = true;
    await this.#connection.run(plainQuery('rollback')).catch(() => this.#connection.closeAfterwards());
  }

  #rolledBack(): LostTransactionError {
    return new LostTransactionError('TRANSACTION_ROLLED_BACK', {
      message: 'a statement failed and the work went on, so the transaction was rolled back',
      cause: this.#fault,
    });
  }

  #refuseWhenOver(): void {
    if (this.#isOver) throw new TypeError('the transaction of this statement is over');
  }
}
