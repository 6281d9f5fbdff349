import type { Logger } from '../../../log.ts';
import type { Answer } from '../provider.ts';
import type { Http2Request, Http2Target } from './http2-session.ts';
import { dispatch, failWaiting, makeSessionPool } from './session-pool.ts';
import type { SessionPool } from './session-pool.ts';

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

export const defaultSessionsPerTarget = 2;
// A worker has at most some thousand requests open; more waiting than this means something is badly wrong.
const maxWaiting = 10_000;
// Targets are as many as providers, teams and push services; endpoints are chosen by others, so there is a bound.
const maxTargets = 500;

/**
 * Long-lived HTTP/2 sessions, a few per target (origin and credential), with streams limited to what the peer's SETTINGS
 * allow. A session that is going away finishes its streams while new requests take another.
 */
export function makeHttp2Transport(options: Http2TransportOptions): Http2Transport {
  const {
    sessionsPerTarget = defaultSessionsPerTarget,
    connectMilliseconds = 10_000,
    requestMilliseconds = 15_000,
  } = options;
  const pools = new Map<string, SessionPool>();
  const rules = { ...options, sessionsPerTarget, connectMilliseconds, requestMilliseconds, isClosed: false };

  function poolOf(target: Http2Target): SessionPool {
    let pool = pools.get(target.key);
    if (!pool) {
      if (pools.size >= maxTargets) dropIdlePool();
      pool = makeSessionPool(target, rules);
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

  return {
    request(target, request) {
      return new Promise((settle) => {
        const pool = poolOf(target);
        if (rules.isClosed || pool.waiting.length >= maxWaiting) {
          const detail = rules.isClosed ? 'the transport is closed' : 'too many requests are waiting';
          settle({ kind: 'failure', certainty: 'unsent', reason: 'refused', detail });
          return;
        }
        pool.waiting.push({ request, tries: 1, settle });
        dispatch(pool);
      });
    },
    async close() {
      rules.isClosed = true;
      const sessions = [...pools.values()].flatMap((pool) => {
        failWaiting(pool, new Error('the transport is closed'));
        return pool.sessions;
      });
      await Promise.all(sessions.map((session) => session.closeGracefully(5_000)));
      pools.clear();
    },
  };
}
