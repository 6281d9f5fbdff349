/**
 * A Carillon for one test. It runs in a process of its own that all tests of this machine share and that ends after them,
 * so this file needs nothing but Node 20, whatever the server itself needs.
 */
import { connectToHost, HostGoneError } from './connect-to-host.ts';
import type { HostConnection } from './connect-to-host.ts';

/**
 * Starts a server of its own: a free port, a database that nobody else sees, simulated providers, a clock that can be moved,
 * and a demo workspace with the same ids and keys every time. The first of a run takes some seconds, each other a fifth of
 * one.
 *
 * @throws Error for a setting that is not one, or that a test server has no choice in
 */
export async function createTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const { host, started } = await start({ ask: 'start', settings: options.settings ?? {} });
  const { serverId, ...server } = started;
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= host.ask<void>({ ask: 'stop', serverId }).catch(ignoreGone));
  return { ...server, stop, [Symbol.asyncDispose]: stop };
}

export type TestServerOptions = {
  /** Settings under the names of their variables, as `{ CARILLON_HEADER_PREFIX: 'ACME' }`. */
  settings?: Record<string, string>;
};

export type TestServer = {
  /** Base URL of every route, and of the console below `/console/`. */
  url: string;
  /** Of the demo workspace: client id, `X-SVC-APPKEY`, and user name of Basic authentication. */
  workspaceId: string;
  /** The value of `SVC-DBNAME`. */
  dbName: string;
  keys: { oauth: string; data: string; push: string; campaigns: string };
  /** What phones received. */
  inbox: string;
  /** Ends the server and removes its database; what the process leaves is removed when it ends. */
  stop(): Promise<void>;
  /** The same, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
};

type StartedServer = Omit<TestServer, 'stop' | typeof Symbol.asyncDispose> & { serverId: number };

async function start(question: { ask: 'start'; settings: Record<string, string> }) {
  for (let triesLeft = 2; ; triesLeft -= 1) {
    const host = await findHost();
    try {
      return { host, started: await host.ask<StartedServer>(question) };
    } catch (error) {
      // It ended just then, because nobody had asked it for a while.
      if (!(error instanceof HostGoneError) || triesLeft === 0) throw error;
    }
  }
}

/** Nothing of it is left to stop. */
function ignoreGone(error: unknown): void {
  if (!(error instanceof HostGoneError)) throw error;
}

let connecting: Promise<HostConnection> | undefined;

/** One connection a process; another when it was lost. */
async function findHost(): Promise<HostConnection> {
  const known = await connecting?.catch(() => undefined);
  if (known && !known.isClosed()) return known;
  connecting = connectToHost();
  return connecting;
}
