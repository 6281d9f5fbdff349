import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import type { Pieces, Query, ReadBytes, Row, Rows } from './statement.ts';

/** A connection was lost or could not be made; `code` says why, like the codes of the operating system. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly code: 'CONNECTION_CLOSED' | 'CONNECTION_ENDED' | 'CONNECT_TIMEOUT' | 'CONNECTION_WAIT_TIMEOUT';

  constructor(code: ConnectionError['code'], { message, cause }: { message: string; cause?: unknown }) {
    super(message, { cause });
    this.code = code;
  }
}

export type Answer = { rows: Rows<Row[]>; command: string };

/**
 * One connection of the pool, held by one caller until it is given back. Its statements are sent one after another.
 * When it is lost, its slot in the pool is free at once, and further statements of the holder are rejected.
 */
export class Connection {
  readonly #client: pg.PoolClient;
  readonly #isNaming: boolean;
  readonly #plans: PlanAge;
  #last: Promise<void> | undefined;
  #fault: unknown;
  #isLost = false;
  #isGivenBack = false;
  #isToBeClosed = false;
  #isInTransaction = false;

  constructor(client: pg.PoolClient, { isNaming }: { isNaming: boolean }) {
    this.#client = client;
    this.#isNaming = isNaming;
    const known = planAges.get(client);
    this.#plans = known ?? { uses: 0, limit: firstPlanUses };
    if (!known) planAges.set(client, this.#plans);
    holders.set(client, this);
  }

  /** Discards the plans of the session if it is time. A failure concerns the next statement, which fails too. */
  async refreshPlans(): Promise<void> {
    if (this.#plans.uses < this.#plans.limit) return;
    this.#plans.uses = 0;
    this.#plans.limit = Math.min(this.#plans.limit * 2, maxPlanUses);
    await this.run({ text: 'discard plans', parameters: [], name: undefined }).catch(() => {});
  }

  /** Sends one statement when the earlier ones have their responses. */
  run(query: Query): Promise<Answer> {
    return this.#inTurn(() => this.#send(query));
  }

  /** Sends the pieces of a `copy … from stdin`; if one fails, the COPY ends and nothing of it is stored. */
  copyFrom(text: string, pieces: Pieces): Promise<number> {
    return this.#inTurn(async () => {
      this.#refuseWhenOver();
      const stream = this.#client.query(copyFrom(text));
      // The pipeline reports the first error; a connection that ends emits another.
      stream.on('error', () => {});
      try {
        await pipeline(Readable.from(pieces, { objectMode: true }), stream);
      } catch (error) {
        throw this.#faultOf(error);
      }
      return stream.rowCount;
    });
  }

  /**
   * Passes the bytes of a `copy … to stdout` to `read`, at its speed. If `read` fails before they end, the connection
   * is closed: the bytes that the server still sends would block all that follows.
   */
  copyTo<Result>(text: string, read: ReadBytes<Result>): Promise<Result> {
    return this.#inTurn(async () => {
      this.#refuseWhenOver();
      const stream = this.#client.query(copyTo(text));
      stream.on('error', () => {});
      try {
        return await read(stream);
      } catch (error) {
        const told = this.#faultOf(error);
        if (!(told instanceof pg.DatabaseError)) this.lose(told);
        throw told;
      }
    });
  }

  isLost(): boolean {
    return this.#isLost;
  }

  /** Call it when this holder leaves something in the session: the next caller gets another connection. */
  closeAfterwards(): void {
    this.#isToBeClosed = true;
  }

  /** @throws TypeError when a transaction is open: the inner `commit` would end the outer one */
  enterTransaction(): void {
    if (this.#isInTransaction) throw new TypeError('this session is in a transaction already');
    this.#isInTransaction = true;
  }

  leaveTransaction(): void {
    this.#isInTransaction = false;
  }

  giveBack(): void {
    if (this.#isGivenBack) return;
    this.#isGivenBack = true;
    holders.delete(this.#client);
    // `I`: in no transaction. In any other state the next caller's statements would run in it.
    this.#client.release(this.#isToBeClosed || this.#isLost || this.#client.getTransactionStatus() !== 'I');
  }

  /** Called by the pool. */
  lose(fault: unknown): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#fault = fault;
    this.giveBack();
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last ? this.#last.then(work) : work();
    const last: Promise<void> = result.then(
      () => this.#forget(last),
      () => this.#forget(last),
    );
    this.#last = last;
    return result;
  }

  #forget(last: Promise<void>): void {
    if (this.#last === last) this.#last = undefined;
  }

  #refuseWhenOver(): void {
    if (this.#isLost) throw connectionLost(this.#fault);
    if (this.#isGivenBack)
      throw new ConnectionError('CONNECTION_ENDED', {
        message: 'the transaction or session of this statement is over',
      });
  }

  async #send({ text, parameters, name }: Query): Promise<Answer> {
    this.#refuseWhenOver();
    if (name !== undefined && this.#isNaming) this.#plans.uses += 1;
    return new Promise((resolve, reject) => {
      const config =
        name === undefined || !this.#isNaming ? { text, values: parameters } : { text, values: parameters, name };
      this.#client.query(config, (error, result) => {
        if (error) reject(this.#faultOf(error));
        else resolve(answerOf(result));
      });
    });
  }

  #faultOf(error: unknown): unknown {
    if (error instanceof pg.DatabaseError) {
      // The library names all of them `error`.
      Object.assign(error, { name: 'DatabaseError' });
      if (isForgottenStatement(error)) this.#isToBeClosed = true;
      return error;
    }
    return this.#isLost ? connectionLost(error) : error;
  }
}

type PlanAge = { uses: number; limit: number };

/**
 * PostgreSQL keeps the plan of a prepared statement until the statistics of its tables change. A plan from the first seconds of
 * an installation reads tables of a few rows from end to end; a minute later they have 100,000, and autovacuum has not been
 * there yet. Plans are therefore made again after this many statements of a session, then after twice as many, up to a maximum.
 */
const firstPlanUses = 50;
const maxPlanUses = 5_000;
const planAges = new WeakMap<pg.PoolClient, PlanAge>();

/** The current holder of each client: the pool notifies it when the client is lost. */
export const holders = new WeakMap<pg.PoolClient, Connection>();

function connectionLost(cause: unknown): ConnectionError {
  return new ConnectionError('CONNECTION_CLOSED', { message: 'the connection to the database was lost', cause });
}

/**
 * True if a prepared statement is gone from its session (`deallocate`, `discard`, a pooler), or its plan no longer fits
 * the tables. Both errors come before anything is done; on the same connection they would recur.
 */
export function isForgottenStatement(error: unknown): boolean {
  return (
    error instanceof pg.DatabaseError &&
    (error.code === '26000' || (error.code === '0A000' && error.routine === 'RevalidateCachedQuery'))
  );
}

function answerOf(result: pg.QueryResult<Row> | pg.QueryResult<Row>[]): Answer {
  // Several statements in one text: the result of the last one.
  const { rows, rowCount, command } = Array.isArray(result) ? result.at(-1)! : result;
  Object.defineProperty(rows, 'count', { value: rowCount ?? 0 });
  return { rows: rows as Rows<Row[]>, command };
}
