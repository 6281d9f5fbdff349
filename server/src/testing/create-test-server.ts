import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, closeSync, lstatSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { findServerNode } from './find-server-node.ts';
import { readLines } from './read-lines.ts';

/**
 * A Carillon for one test. It runs in a separate process that all tests of this machine share and that ends after them, so this
 * file needs only Node 20, whatever the server itself needs.
 */

/**
 * Starts an isolated server: a free port, its own database, simulated providers, a clock that can be moved, and a demo
 * workspace with the same ids and keys every time. The first server of a run takes some seconds, each further one a fifth of a
 * second.
 *
 * @throws Error for an unknown setting, or one that is fixed in test servers
 */
export async function createTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const { host, started } = await start({ ask: 'start', settings: options.settings ?? {} });
  const { serverId, ...server } = started;
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= host.ask<void>({ ask: 'stop', serverId }).catch(ignoreGone));
  return { ...server, stop, [Symbol.asyncDispose]: stop };
}

export type TestServerOptions = {
  /** Settings by the names of their variables, as `{ CARILLON_HEADER_PREFIX: 'ACME' }`. */
  settings?: Record<string, string>;
};

export type TestServer = {
  /** Base URL of every route, and of the console below `/console/`. */
  url: string;
  /** Id of the demo workspace: client id, `X-SVC-APPKEY`, and user name of Basic authentication. */
  workspaceId: string;
  /** The value of `SVC-DBNAME`. */
  dbName: string;
  keys: { oauth: string; data: string; push: string; campaigns: string };
  /** URL of the inbox with the messages that devices received. */
  inbox: string;
  /** Stops the server and removes its database; other remains are removed when the process ends. */
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
      // The process ended at that instant, because it had been idle.
      if (!(error instanceof HostGoneError) || triesLeft === 0) throw error;
    }
  }
}

/** Nothing of the server is left to stop. */
function ignoreGone(error: unknown): void {
  if (!(error instanceof HostGoneError)) throw error;
}

let connecting: Promise<HostConnection> | undefined;

/** Returns the process's single connection, or a new one if it was lost. */
async function findHost(): Promise<HostConnection> {
  const known = await connecting?.catch(() => undefined);
  if (known && !known.isClosed()) return known;
  connecting = connectToHost();
  return connecting;
}

type HostConnection = {
  /** @throws Error with the host's message, HostGoneError */
  ask<Answer>(question: { ask: string } & Record<string, unknown>): Promise<Answer>;
  isClosed(): boolean;
};

/** The process of the test servers ended before it responded. */
class HostGoneError extends Error {
  override readonly name = 'HostGoneError';
  override readonly message = 'The process of the test servers has ended.';
}

// The first start creates and migrates a database, which takes a while on a machine that runs all its tests at once.
const maxWaitMilliseconds = 60_000;
const lookMilliseconds = 25;

/**
 * Connects to the process that runs the test servers of this installation and account, starting it if there is none. If two are
 * started at once, the second finds the address taken and ends.
 *
 * @throws Error
 */
async function connectToHost(): Promise<HostConnection> {
  const folder = makeHostFolder();
  const address = join(folder, 'host.sock');
  let ended: { code: number | null } | undefined;
  let isBegun = false;
  const deadline = performance.now() + maxWaitMilliseconds;
  for (;;) {
    const socket = await tryConnect(address);
    if (socket) return speak(socket);
    if (!isBegun || ended?.code === 0) {
      isBegun = true;
      ended = undefined;
      beginHost(folder, (code) => (ended = { code }));
    }
    if (ended) throw new Error(`The process of the test servers ended with ${ended.code}: ${lastLines(folder)}`);
    if (performance.now() > deadline)
      throw new Error(`The process of the test servers does not answer at ${address}: ${lastLines(folder)}`);
    await new Promise((resolve) => setTimeout(resolve, lookMilliseconds));
  }
}

/**
 * Returns a folder of this account only, because every process that can write there is trusted. Separate for each installed
 * version, whose path is part of the name.
 */
function makeHostFolder(): string {
  const owner = process.getuid?.() ?? 0;
  const digest = createHash('sha256')
    .update(import.meta.dirname)
    .digest('hex')
    .slice(0, 12);
  const folder = join(tmpdir(), `carillon-test-${owner}-${digest}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = lstatSync(folder);
  if (!found.isDirectory() || found.uid !== owner) throw new Error(`${folder} belongs to another account.`);
  chmodSync(folder, 0o700);
  return folder;
}

function tryConnect(address: string): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect(address);
    socket.once('connect', () => resolve(socket));
    socket.once('error', () => resolve(undefined));
  });
}

/** Detached from this process: it serves the other workers of the run, and ends by itself when no client is connected. */
function beginHost(folder: string, onEnd: (code: number | null) => void): void {
  // Of the test runner's variables only NODE_OPTIONS would cause harm: its conditions and loaders are not the host's.
  const { NODE_OPTIONS: _, ...environment } = process.env;
  const record = openSync(join(folder, 'host.log'), 'w', 0o600);
  const script = join(import.meta.dirname, `run-host${extname(import.meta.filename)}`);
  const flags = ['--disable-warning=ExperimentalWarning', '--max-old-space-size=8192'];
  const child = spawn(findServerNode(), [...flags, script, folder], {
    cwd: folder,
    detached: true,
    stdio: ['ignore', record, record],
    env: { ...environment, NODE_COMPILE_CACHE: join(folder, 'compiled') },
  });
  closeSync(record);
  child.on('error', () => onEnd(1));
  child.on('exit', onEnd);
  child.unref();
}

function lastLines(folder: string): string {
  return readFileSync(join(folder, 'host.log'), 'utf8').trim().split('\n').slice(-5).join(' / ');
}

type Answer = { id: number; answer?: unknown; error?: string };

/** Sends and receives lines of JSON; responses come in any order. The process may end while no request is pending. */
function speak(socket: Socket): HostConnection {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let lastId = 0;
  let isClosed = false;
  socket.unref();
  readLines(socket, (line) => {
    const { id, answer, error } = JSON.parse(line) as Answer;
    const asked = waiting.get(id);
    waiting.delete(id);
    if (waiting.size === 0) socket.unref();
    if (error === undefined) asked?.resolve(answer);
    else asked?.reject(new Error(error));
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    isClosed = true;
    for (const { reject } of waiting.values()) reject(new HostGoneError());
    waiting.clear();
  });
  return {
    isClosed: () => isClosed,
    ask<Answer>(question: object) {
      if (isClosed) return Promise.reject(new HostGoneError());
      lastId += 1;
      const asked = makeResolvers<Answer>();
      waiting.set(lastId, asked as PromiseWithResolvers<unknown>);
      socket.ref();
      socket.write(`${JSON.stringify({ ...question, id: lastId })}\n`);
      return asked.promise;
    },
  };
}

/** `Promise.withResolvers` requires Node 22. */
function makeResolvers<Result>(): PromiseWithResolvers<Result> {
  const made = {} as PromiseWithResolvers<Result>;
  made.promise = new Promise<Result>((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
}
