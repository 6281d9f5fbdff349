import type { Logger } from '../../../log.ts';
import type { Answer } from '../provider.ts';
import { openHttp2Session } from './http2-session.ts';
import type { Http2Request, Http2Session, Http2Target } from './http2-session.ts';

export type Http2Transport = {
  /** Sends one request over a pooled session. Never rejects: a network fault is an answer of kind `failure`. */
  request(target: Http2Target, request: Http2Request): Promise<Answer>;
  /** Lets open requests end, at most five seconds, then closes every session. */
  close(): Promise<void>;
};

export type Http2TransportOptions = {
  log: Logger;
  /** Networks beyond the public ones that guarded targets may reach. */
  allowedNetworks: readonly string[];
  /** Sessions per target; a second one is opened when the first has no free stream. */
  sessionsPerTarget?: number;
  connectMilliseconds?: number;
  requestMilliseconds?: number;
};

// A worker has at most some thousand requests open; more waiting than this means something is badly wrong.
const maxWaiting = 10_000;
// Targets are as many as providers, teams and push services; endpoints are chosen by others, so there is a bound.
const maxTargets = 500;
// A refused stream was not processed (RFC 9113 §8.7), so it is sent again on another session.
const maxTries = 3;

type Waiting = { request: Http2Request; tries: number; settle: (answer: Answer) => void };
type Pool = {
  target: Http2Target;
  sessions: Http2Session[];
  opening: number;
  waiting: Waiting[];
  /** Sessions opened since a request last got a stream. */
  openedInVain: number;
  /** Runs while requests wait; restarts whenever one gets a stream. */
  standstill: NodeJS.Timeout | undefined;
};

/**
 * Long-lived HTTP/2 sessions, a few per target (origin and credential), with streams limited to what the peer's SETTINGS
 * allow. A session that is going away finishes its streams while new requests take another.
 */
export function makeHttp2Transport(options: Http2TransportOptions): Http2Transport {
  const { log, sessionsPerTarget = 2, connectMilliseconds = 10_000, requestMilliseconds = 15_000 } = options;
  const pools = new Map<string, Pool>();
  let isClosed = false;

  function poolOf(target: Http2Target): Pool {
    let pool = pools.get(target.key);
    if (!pool) {
      if (pools.size >= maxTargets) dropIdlePool();
      pool = { target, sessions: [], opening: 0, waiting: [], openedInVain: 0, standstill: undefined };
      pools.set(target.key, pool);
    }
    return pool;
  }

  function dropIdlePool(): void {
    for (const [key, pool] of pools) {
      if (pool.waiting.length > 0 || pool.opening > 0 || pool.sessions.some((session) => session.openStreams() > 0))
        continue;
      for (const session of pool.sessions) session.close();
      pools.delete(key);
      return;
    }
  }

  /** Gives waiting requests to sessions with free streams; opens another session when there is none. */
  function dispatch(pool: Pool): void {
    while (pool.waiting.length > 0) {
      const session = pool.sessions.find((candidate) => candidate.hasFreeStream());
      if (!session) break;
      const next = pool.waiting.shift()!;
      pool.openedInVain = 0;
      watchStandstill(pool);
      run(pool, session, next);
    }
    if (pool.standstill === undefined) watchStandstill(pool);
    const wantsSession = pool.waiting.length > 0 && pool.opening === 0;
    if (!wantsSession || pool.sessions.filter((session) => !session.isLeaving()).length >= sessionsPerTarget) return;
    // A peer that ends every connection before it serves one would be called without pause.
    if (pool.openedInVain < maxTries) void open(pool);
    else {
      pool.openedInVain = 0;
      failWaiting(pool, new Error('every connection ended before it served a request'));
    }
  }

  /**
   * A peer may allow no streams at all and keep the connection: no request is sent then, but none may wait forever
   * either.
   */
  function watchStandstill(pool: Pool): void {
    clearTimeout(pool.standstill);
    pool.standstill = undefined;
    if (pool.waiting.length === 0) return;
    pool.standstill = setTimeout(() => {
      pool.standstill = undefined;
      failWaiting(pool, new Error('no stream was free in time'));
    }, connectMilliseconds + requestMilliseconds);
  }

  async function open(pool: Pool): Promise<void> {
    pool.opening += 1;
    pool.openedInVain += 1;
    // Assigned before the connection is ready: a peer may end it in the same packet as its greeting.
    let session: Http2Session | undefined;
    try {
      session = await openHttp2Session(pool.target, {
        log,
        allowedNetworks: options.allowedNetworks,
        connectMilliseconds,
        requestMilliseconds,
        onFreeStream: () => dispatch(pool),
        onClosed: () => {
          pool.sessions = pool.sessions.filter((other) => other !== session);
          dispatch(pool);
        },
      });
      pool.opening -= 1;
      // It was on its way when the transport was closed; nobody else would end it.
      if (isClosed || session.isLeaving()) session.close();
      else pool.sessions.push(session);
    } catch (error) {
      pool.opening -= 1;
      // Nothing was sent; if another session is alive, the requests continue there.
      if (pool.sessions.length === 0) failWaiting(pool, error as Error);
      return;
    }
    dispatch(pool);
  }

  function failWaiting(pool: Pool, error: Error): void {
    const reason = error.name === 'AddressBlockedError' ? 'address-blocked' : 'unreachable';
    const failed = pool.waiting.splice(0);
    watchStandstill(pool);
    for (const waiting of failed) {
      waiting.settle({ kind: 'failure', certainty: 'unsent', reason, detail: error.message });
    }
  }

  function run(pool: Pool, session: Http2Session, waiting: Waiting): void {
    session.request(waiting.request, (answer) => {
      const isUnsent = answer.kind === 'failure' && answer.certainty === 'unsent';
      if (isUnsent && waiting.tries < maxTries && !isClosed) {
        waiting.tries += 1;
        pool.waiting.push(waiting);
        dispatch(pool);
      } else waiting.settle(answer);
    });
  }

  return {
    request(target, request) {
      return new Promise((settle) => {
        const pool = poolOf(target);
        if (isClosed || pool.waiting.length >= maxWaiting) {
          const detail = isClosed ? 'the transport is closed' : 'too many requests are waiting';
          settle({ kind: 'failure', certainty: 'unsent', reason: 'refused', detail });
          return;
        }
        pool.waiting.push({ request, tries: 1, settle });
        dispatch(pool);
      });
    },
    async close() {
      isClosed = true;
      const sessions = [...pools.values()].flatMap((pool) => {
        failWaiting(pool, new Error('the transport is closed'));
        return pool.sessions;
      });
      await Promise.all(sessions.map((session) => session.closeGracefully(5_000)));
      pools.clear();
    },
  };
}
