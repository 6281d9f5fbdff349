import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { Connection, ConnectionError, holders, isForgottenStatement } from './connection.ts';
import { ConnectionWatch, WatchedClient, sessionWords } from './connection-watch.ts';
import type { WatchTimes } from './connection-watch.ts';
import { withKnownSslMode } from './ssl-mode.ts';
import { plainQuery, quoteName } from './statement.ts';
import type { Query, Row, Rows } from './statement.ts';
import { makeDecoder } from './values.ts';

export type ConnectionPoolOptions = {
  url: string;
  /** The maximum number of connections. */
  connections: number;
  /** Shown in pg_stat_activity. */
  name: string;
  /**
   * What is between this process and the database. `transaction`: a pooler that may use another session for each
   * transaction, so nothing is left in one: no prepared statement, no setting, no startup parameter.
   */
  pooler: 'none' | 'transaction';
  /** How long connecting may take. */
  connectMilliseconds?: number;
  /** The role whose rights the statements have; the login's own by default. */
  role?: string | undefined;
  /** `read only`: a standby, which stores no receipts. */
  access?: 'read and write' | 'read only';
  /** When statements without a response are given up. */
  watchTimes?: WatchTimes;
};

const usualConnectMilliseconds = 10_000;
// How long a caller waits for a connection that others hold. There was no limit once; a minute is as long as a
// transaction may be idle, and far longer than a request waits.
const waitMilliseconds = 60_000;
const idleMilliseconds = 60_000;
// A stuck transaction holds back VACUUM and with it every queue read (fault F20).
const stuckMilliseconds = 60_000;

/** Identifies a transaction of a pool: the key of the row it stores last, by which its outcome is looked up. */
export type Receipt = { poolId: string; number: number };

export type PoolUse = { held: number; idle: number; awaited: number; max: number };

/** The connections of one process to one database. */
export class ConnectionPool {
  readonly #pool: pg.Pool;
  readonly #options: ConnectionPoolOptions;
  readonly #held = new Set<Connection>();
  readonly #waiting = new Set<(error: unknown) => void>();
  readonly #id = randomUUID();
  #transactions = 0;

  constructor(options: ConnectionPoolOptions) {
    this.#options = options;
    const connectionString = withKnownSslMode(options.url);
    const watch = new ConnectionWatch({ connectionString }, options.watchTimes);
    this.#pool = new pg.Pool({
      connectionString,
      Client: clientThatConnectsWithin(options.connectMilliseconds ?? usualConnectMilliseconds),
      max: options.connections,
      connectionTimeoutMillis: waitMilliseconds,
      idleTimeoutMillis: idleMilliseconds,
      types: { getTypeParser: makeDecoder as typeof pg.types.getTypeParser },
      ...(options.pooler === 'none' && { application_name: options.name, onConnect: makePrepareSession(options) }),
    });
    // The pool itself removes an idle connection that is lost.
    this.#pool.on('error', () => {});
    this.#pool.on('connect', (client) => {
      // A session may end at any time; without a listener the error would end the process.
      client.on('error', (error) => holders.get(client)?.lose(error));
      client.on('end', () => holders.get(client)?.lose(undefined));
      watch.add(client as pg.PoolClient & WatchedClient);
    });
    this.#pool.on('remove', (client) => watch.remove(client as pg.PoolClient & WatchedClient));
  }

  /** True if even a single statement needs a transaction: behind a pooler the role, too, lasts for one transaction only. */
  needsTransaction(): boolean {
    return this.#options.pooler === 'transaction' && this.#options.role !== undefined;
  }

  /** Sends one statement on any connection. */
  async send(query: Query): Promise<Rows<Row[]>> {
    try {
      return await this.#sendOnce(query);
    } catch (error) {
      if (query.name === undefined || !isForgottenStatement(error)) throw error;
      // It has done nothing yet; parsed again it cannot fail this way.
      return this.#sendOnce({ ...query, name: undefined });
    }
  }

  async #sendOnce(query: Query): Promise<Rows<Row[]>> {
    const connection = await this.take();
    try {
      return (await connection.run(query)).rows;
    } finally {
      this.giveBack(connection);
    }
  }

  /** Waits for a connection; the caller must give it back. @throws ConnectionError */
  take(): Promise<Connection> {
    return new Promise((resolve, reject) => {
      if (this.#pool.ending) return reject(poolEnded());
      this.#waiting.add(reject);
      this.#pool.connect((error, client) => {
        const isWanted = this.#waiting.delete(reject);
        if (error) reject(withCode(error));
        else if (!isWanted) client!.release();
        else {
          const connection = new Connection(client!, { isNaming: this.#options.pooler === 'none' });
          this.#held.add(connection);
          const fault = lostBefore.get(client!);
          if (fault) connection.lose(fault);
          void connection.refreshPlans().then(() => resolve(connection));
        }
      });
    });
  }

  giveBack(connection: Connection): void {
    this.#held.delete(connection);
    connection.giveBack();
  }

  countHeld(): number {
    return this.#held.size;
  }

  /** Returns how many connections are held and idle, how many callers wait for one, and the maximum. */
  countUse(): PoolUse {
    const { totalCount, idleCount, waitingCount } = this.#pool;
    return { held: totalCount - idleCount, idle: idleCount, awaited: waitingCount, max: this.#options.connections };
  }

  isReadOnly(): boolean {
    return this.#options.access === 'read only';
  }

  isEnding(): boolean {
    return this.#pool.ending;
  }

  /** Returns the receipt of the next transaction that stores something. */
  nextReceipt(): Receipt {
    return { poolId: this.#id, number: (this.#transactions += 1) };
  }

  /**
   * Returns the settings that are sent before a transaction's first statement, in the same message as `begin`. They are
   * in a separate block: a cluster repeats to its workers the statement that contains a `set local`, and in the message
   * that would be all of it.
   */
  transactionSettings(): string {
    if (this.#options.pooler === 'none') return '';
    const name = this.#options.name.replaceAll("'", "''");
    const role = roleSetting('; set local role', this.#options.role);
    return `; do $settings$ begin set local application_name = '${name}';
      set local idle_in_transaction_session_timeout = ${stuckMilliseconds}${role}; end $settings$`;
  }

  /** Resolves when the held connections are given back; those that are not in time are closed while still held. */
  async end(timeoutSeconds: number): Promise<void> {
    if (this.#pool.ending) return;
    const ended = this.#pool.end();
    for (const refuse of this.#waiting) refuse(poolEnded());
    this.#waiting.clear();
    const limit = setTimeout(() => {
      for (const connection of this.#held) connection.lose(poolEnded());
    }, timeoutSeconds * 1000);
    await ended.finally(() => clearTimeout(limit));
  }
}

/**
 * The pool has one time limit for both connecting and waiting; this client has its own for connecting. The pool also
 * hands out a new connection that was lost after it was prepared, if both arrived in one piece: the holder must be
 * notified.
 */
function clientThatConnectsWithin(milliseconds: number): new () => pg.Client {
  return class extends WatchedClient {
    constructor(config?: pg.ClientConfig) {
      super({ ...config, connectionTimeoutMillis: milliseconds });
      this.on('error', (error) => lostBefore.set(this, error));
    }
  };
}

/** Why a client cannot send anything any more. */
const lostBefore = new WeakMap<pg.ClientBase, Error>();

// Sent as statements, because poolers refuse startup parameters.
function makePrepareSession({ role }: ConnectionPoolOptions) {
  return (client: pg.ClientBase): Promise<void> => prepareSession(client, roleSetting('; set role', role));
}

/** Sends the first statements of a session. @param more further statements, each after a semicolon */
export async function prepareSession(client: pg.ClientBase, more: string): Promise<void> {
  const text = `set client_encoding = 'UTF8'; set idle_in_transaction_session_timeout = ${stuckMilliseconds}; ${sessionWords}${more};
    select pg_backend_pid() as pid`;
  // Several statements in one text have one result each.
  const results = (await client.query(text)) as unknown as pg.QueryResult<{ pid: number }>[];
  (client as WatchedClient).sessionId = results.at(-1)!.rows[0]!.pid;
}

function roleSetting(set: string, role: string | undefined): string {
  return role === undefined ? '' : `${set} ${quoteName(role)}`;
}

function poolEnded(): ConnectionError {
  return new ConnectionError('CONNECTION_ENDED', { message: 'the connections to the database were closed' });
}

/** The library's own errors have no code. */
function withCode(error: Error): Error {
  if ((error as NodeJS.ErrnoException).code !== undefined) return error;
  if (/timeout exceeded/.test(error.message))
    return new ConnectionError('CONNECTION_WAIT_TIMEOUT', {
      message: `no connection to the database was free within ${waitMilliseconds / 1000} seconds`,
    });
  if (/timeout/.test(error.message))
    return new ConnectionError('CONNECT_TIMEOUT', {
      message: 'the database did not answer in time',
      cause: error,
    });
  return new ConnectionError('CONNECTION_CLOSED', { message: error.message, cause: error });
}

// Behind a pooler in session mode with one session left, the second connection waits. Such a pooler is not in
// transaction mode, so a wait this long counts as keeping sessions.
const patienceMilliseconds = 5_000;

/**
 * True if a connection to this address keeps one session of the database, as without a pooler and behind one in session
 * mode. A pooler in transaction mode picks a session for each transaction. The check sends from two connections in
 * turn, each twice in a row. In transaction mode both then see the same session, if the pooler picks the one used last,
 * or one of them sees two, if it picks the next in turn.
 */
export async function keepsSessions(url: string): Promise<boolean> {
  const pool = new ConnectionPool({ url, connections: 2, name: 'carillon', pooler: 'transaction' });
  let limit: NodeJS.Timeout | undefined;
  const patience = new Promise<boolean>((resolve) => {
    limit = setTimeout(() => resolve(true), patienceMilliseconds);
  });
  try {
    return await Promise.race([look(pool), patience]);
  } finally {
    clearTimeout(limit);
    await pool.end(0);
  }
}

async function look(pool: ConnectionPool): Promise<boolean> {
  const connections = [await pool.take(), await pool.take()];
  const seen = connections.map(() => new Set<number>());
  try {
    for (let round = 0; round < 3; round += 1) {
      for (const [index, connection] of connections.entries()) {
        for (let time = 0; time < 2; time += 1) {
          const { rows } = await connection.run(plainQuery('select pg_backend_pid() as pid'));
          seen[index]!.add(rows[0]!.pid as number);
        }
      }
    }
  } finally {
    for (const connection of connections) pool.giveBack(connection);
  }
  const [first, second] = seen as [Set<number>, Set<number>];
  return first.size === 1 && second.size === 1 && [...first].every((pid) => !second.has(pid));
}
