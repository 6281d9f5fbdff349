import { Socket } from 'node:net';
import pg from 'pg';

export type WatchTimes = {
  /** How often it checks. */
  lookMilliseconds: number;
  /** How long the database may take to report what its sessions do. */
  askMilliseconds: number;
};

const usualTimes: WatchTimes = { lookMilliseconds: 5_000, askMilliseconds: 10_000 };
/** After this many checks in a row without a response to a statement, the database is asked about it. */
const looksToAsk = 4;
/** A single miss does not count: the response of a statement that has just ended may be on its way. */
const missesToLose = 2;

type Seen = { question: number; looks: number; misses: number };

/**
 * Watches for statements that never get a response. When a machine is cut off, neither side is notified, and the kernel
 * resends unacknowledged data for a quarter of an hour; the driver cannot shorten that. So the database is asked over a
 * new connection: if no session there is working on a statement, the statement will get no response, and its connection
 * is closed here. A statement that is only slow is left alone.
 */
export class ConnectionWatch {
  readonly #config: pg.ClientConfig;
  readonly #times: WatchTimes;
  readonly #watched = new Map<WatchedClient, Seen>();
  #timer: NodeJS.Timeout | undefined;
  #isAsking = false;

  constructor(config: pg.ClientConfig, times: WatchTimes = usualTimes) {
    this.#config = config;
    this.#times = times;
  }

  add(client: WatchedClient): void {
    this.#watched.set(client, { question: 0, looks: 0, misses: 0 });
    this.#timer ??= setInterval(() => void this.#look(), this.#times.lookMilliseconds).unref();
  }

  remove(client: WatchedClient): void {
    this.#watched.delete(client);
    if (this.#watched.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #look(): Promise<void> {
    const silent: [WatchedClient, Seen][] = [];
    for (const [client, seen] of this.#watched) {
      if (seen.question !== client.question) Object.assign(seen, { question: client.question, looks: 0, misses: 0 });
      seen.looks += 1;
      if (client.isWaiting && seen.looks >= looksToAsk) silent.push([client, seen]);
    }
    if (silent.length === 0 || this.#isAsking) return;
    this.#isAsking = true;
    const questions = silent.map(([{ question }]) => question);
    const sessionIds = silent.flatMap(([{ sessionId }]) => sessionId ?? []);
    const found = await findSessionsAtWork(this.#config, { sessionIds, milliseconds: this.#times.askMilliseconds });
    this.#isAsking = false;
    for (const [index, [client, seen]] of silent.entries()) {
      if (!client.isWaiting || client.question !== questions[index]) continue;
      seen.misses = isAtWork(client, found) ? 0 : seen.misses + 1;
      if (seen.misses >= missesToLose) client.lose(new Error('the database does not answer, or not this statement'));
    }
  }
}

type Found = 'unreachable' | 'not said' | Set<number>;

/** If the state is unknown, the session counts as working. */
function isAtWork({ sessionId }: WatchedClient, found: Found): boolean {
  if (found === 'unreachable') return false;
  return found === 'not said' || sessionId === undefined || found.has(sessionId);
}

/** A client that knows whether it waits for a response, and whose wait can be ended. */
export class WatchedClient extends pg.Client {
  /** The number of the newest statement. */
  question = 0;
  isWaiting = false;
  /** The process of the database that works for it; undefined where a pooler picks one for each transaction. */
  sessionId: number | undefined;
  readonly #socket: Socket;

  constructor(config?: pg.ClientConfig) {
    const socket = new Socket();
    super({ ...config, ...keepAlive, stream: () => socket });
    this.#socket = socket;
    // Every statement has its response.
    this.on('drain', () => (this.isWaiting = false));
  }

  override query(...asked: unknown[]): never {
    this.question += 1;
    this.isWaiting = true;
    return super.query(...(asked as Parameters<pg.Client['query']>)) as never;
  }

  lose(fault: Error): void {
    this.#socket.destroy(fault);
  }
}

// For an idle connection: after ten seconds of silence ten probes, one a second (libuv).
const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };

/**
 * The first settings of a session. When a node is cut off, its sessions end after half a minute instead of two hours:
 * those that are idle, that wait for a lock held by another session of the node, and that send data nothing reads.
 * Sessions whose transaction is idle end anyway (`stuckMilliseconds`). If the database's operating system lacks one of
 * the first four settings, the database only logs it; on Windows it rejects the last. PostgreSQL's manual, 20.3.2.
 */
export const sessionWords = `set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3;
  set tcp_user_timeout = '30s';
  select set_config('client_connection_check_interval', '10s', false) where version() !~ 'Visual C|mingw'`;

// Nothing came back at all; a refused connection is a response.
const silences = new Set(['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ENETDOWN', 'EAI_AGAIN']);

/**
 * Returns the sessions that are working, including those that wait for a lock, or for more data of a COPY. No index: a
 * view of memory.
 */
async function findSessionsAtWork(
  config: pg.ClientConfig,
  { sessionIds, milliseconds }: { sessionIds: number[]; milliseconds: number },
): Promise<Found> {
  const client = new WatchedClient(config);
  client.on('error', () => {});
  let isLate = false;
  const limit = setTimeout(() => {
    isLate = true;
    client.lose(new Error('the database does not answer'));
  }, milliseconds);
  try {
    await client.connect();
    const { rows } = await (client as pg.Client).query<{ pid: number }>(
      `select pid from pg_stat_activity where pid = any($1) and coalesce(state, '') not like 'idle%'`,
      [sessionIds],
    );
    return new Set(rows.map(({ pid }) => pid));
  } catch (error) {
    return isLate || silences.has(String((error as NodeJS.ErrnoException).code)) ? 'unreachable' : 'not said';
  } finally {
    clearTimeout(limit);
    client.lose(new Error('asked'));
  }
}
