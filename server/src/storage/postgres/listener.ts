import type pg from 'pg';
import { ConnectionError } from './connection.ts';
import { prepareSession } from './connection-pool.ts';
import { WatchedClient } from './connection-watch.ts';
import { withKnownSslMode } from './ssl-mode.ts';
import { quoteName } from './statement.ts';

export type ListenerTimes = {
  /** How long connecting may take, and the response to a statement. */
  answerMilliseconds: number;
  /** How often the session is asked whether it still listens. */
  probeMilliseconds: number;
};

const usualTimes: ListenerTimes = { answerMilliseconds: 10_000, probeMilliseconds: 30_000 };

export type ListenerOptions = {
  url: string;
  channel: string;
  /** Shown in pg_stat_activity. */
  name: string;
  onPayload: (payload: string) => void;
  /** Aborts connecting. */
  signal: AbortSignal;
  times?: ListenerTimes | undefined;
};

export type Listener = {
  /** Resolves when no more notifications can arrive. `wasSteady`: at least one probe had a response before. */
  lost: Promise<{ fault: unknown; wasSteady: boolean }>;
  /** Ends the session; closes the connection if the database has not responded within `answerMilliseconds`. */
  close(): Promise<void>;
};

/**
 * Opens the session that listens to one channel. It never begins a transaction: PostgreSQL keeps every notification
 * that a listening session has not read yet, in 8 GB for the whole server, and a session in a transaction reads none.
 *
 * A session may disappear without notice, and a pooler may have reused it. TCP's keepalive detects the first in 20
 * seconds; a probe, which asks the session for its channels, detects both.
 *
 * @throws whatever the driver reports, and ConnectionError when a response does not arrive in time
 */
export async function openListener(options: ListenerOptions): Promise<Listener> {
  const { channel, signal, times = usualTimes } = options;
  const { promise: lost, resolve } = Promise.withResolvers<unknown>();
  const client = new WatchedClient({
    connectionString: withKnownSslMode(options.url),
    connectionTimeoutMillis: times.answerMilliseconds,
    application_name: options.name,
  });
  // Stays until the end: a database that shuts down reports an error while the connection is being closed.
  client.on('error', resolve);
  client.on('end', () => resolve(closed('the session that listens has ended')));
  client.on('notification', ({ payload = '' }) => options.onPayload(payload));
  const inTime = async <Result>(work: Promise<Result>): Promise<Result> => {
    const giveUp = (): void => client.lose(closed('the database did not answer the session that listens in time'));
    const limit = setTimeout(giveUp, times.answerMilliseconds);
    return work.finally(() => clearTimeout(limit));
  };
  const breakOff = (): void => client.lose(closed('the node stops'));
  signal.addEventListener('abort', breakOff);
  try {
    signal.throwIfAborted();
    await client.connect();
    await inTime(prepareSession(client, `; listen ${quoteName(channel)}`));
  } catch (error) {
    breakOff();
    throw error;
  } finally {
    signal.removeEventListener('abort', breakOff);
  }
  let wasSteady = false;
  let timer: NodeJS.Timeout;
  function probeLater(): void {
    // A probe that fails has lost the connection, which `lost` reports.
    timer = setTimeout(() => void probe().catch(() => {}), times.probeMilliseconds).unref();
  }
  async function probe(): Promise<void> {
    const channels = await inTime(
      (client as pg.Client).query<{ name: string }>('select pg_listening_channels() as name'),
    );
    if (!channels.rows.some(({ name }) => name === channel))
      return client.lose(
        closed('the session does not listen any more; a pooler in transaction mode may be in between'),
      );
    wasSteady = true;
    probeLater();
  }
  probeLater();
  return {
    lost: lost.then((fault) => ({ fault, wasSteady })),
    async close() {
      clearTimeout(timer);
      await inTime(client.end()).catch(() => {});
    },
  };
}

function closed(message: string): ConnectionError {
  return new ConnectionError('CONNECTION_CLOSED', { message });
}
