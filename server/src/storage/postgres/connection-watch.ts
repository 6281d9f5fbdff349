import { Socket } from 'node:net';
import pg from 'pg';

export type WatchTimes = {
  /** How often it looks. */
  lookMilliseconds: number;
  /** How long the database may take to say what it is at. */
  askMilliseconds: number;
};

const usualTimes: WatchTimes = { lookMilliseconds: 5_000, askMilliseconds: 10_000 };
/** At so many looks one after the other a statement was still not answered: then the database is asked about it. */
const looksToAsk = 4;
/** The answer of a statement that has just ended may be on its way. */
const missesToLose = 2;

type Seen = { question: number; looks: number; misses: number };

/**
 * Looks after statements that nobody answers. When a machine is cut off, neither side gets word of it, and the kernel sends
 * again what was not acknowledged for a quarter of an hour; the driver has no way to shorten that. So the database is asked
 * over a new connection: a statement at which nobody is at work there will not be answered, and its connection is closed
 * here. One that takes its time is left alone.
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

/** Of what is not known it is taken to be. */
function isAtWork({ sessionId }: WatchedClient, found: Found): boolean {
  if (found === 'unreachable') return false;
  return found === 'not said' || sessionId === undefined || found.has(sessionId);
}

/** A client that says what it waits for, and that can be told to wait no longer. */
export class WatchedClient extends pg.Client {
  /** The number of the newest. */
  question = 0;
  isWaiting = false;
  /** The process of the database that works for it; undefined where a pooler picks one for each transaction. */
  sessionId: number | undefined;
  readonly #socket: Socket;

  constructor(config?: pg.ClientConfig) {
    const socket = new Socket();
    super({ ...config, ...keepAlive, stream: () => socket });
    this.#socket = socket;
    // All that was asked is answered.
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

// Of an idle connection: after ten seconds of silence ten probes, one a second (libuv).
const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };

/**
 * The first words of a session. When a node is cut off, its sessions end after half a minute and not after two hours:
 * those that are idle, that wait for a lock behind another of its own, and that send what nobody takes. Those of a
 * transaction that stands still end anyway (`stuckMilliseconds`). Where the system of the database lacks one of the first
 * four, its log says so and no more; the last it refuses, on Windows. PostgreSQL's manual, 20.3.2.
 */
export const sessionWords = `set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3;
  set tcp_user_timeout = '30s';
  select set_config('client_connection_check_interval', '10s', false) where version() !~ 'Visual C|mingw'`;

// Nothing came back at all; whoever refuses a connection has answered.
const silences = new Set(['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ENETDOWN', 'EAI_AGAIN']);

/** At work are also those that wait for a lock, or for more of what is copied in. No index: a view of memory. */
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
