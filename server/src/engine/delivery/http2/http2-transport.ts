import type { Logger } from '../../../log.ts';
import type { OutgoingProxy } from '../../outgoing-http/outgoing-proxy.ts';
import type { Answer } from '../provider.ts';
import { openHttp2Session } from './http2-session.ts';
import { openNodeSession } from './open-node-session.ts';
import type { Http2Target } from './open-socket.ts';
import type { Http2Request } from './promised-requests.ts';
import { makeRequestLane } from './request-lane.ts';
import type { LaneOwner, RequestLane } from './request-lane.ts';
import { dispatch, failWaiting, makeSessionPool } from './session-pool.ts';
import type { SessionPool } from './session-pool.ts';

export type Http2Transport = {
  /** Sends one request over a pooled session. Never rejects: a network fault is an answer of kind `failure`. */
  request(target: Http2Target, request: Http2Request): Promise<Answer>;
  /** For many requests: no promise, and no object, is made for one. The requests name `owner` as their listener. */
  openLane(target: Http2Target, owner: LaneOwner): RequestLane;
  /** Lets open requests end, at most five seconds, then closes every session. */
  close(): Promise<void>;
};

export type Http2TransportOptions = {
  log: Logger;
  /** Networks beyond the public ones that guarded targets may reach. */
  allowedNetworks: readonly string[];
  /** One for all targets of the transport, so that no session of another way is ever shared. */
  proxy?: OutgoingProxy | undefined;
  /** Whose HTTP/2 is spoken: this project's, or that of Node, which is slower and a second opinion. */
  client?: Http2Client | undefined;
  /** Sessions per target; a second one is opened when the first has no free stream. */
  sessionsPerTarget?: number;
  connectMilliseconds?: number;
  requestMilliseconds?: number;
};

export type Http2Client = 'carillon' | 'node';

export const defaultSessionsPerTarget = 2;
// A worker has at most some thousand requests open; more waiting than this means something is badly wrong.
const maxWaiting = 10_000;
// Targets are as many as providers, teams and push services; endpoints are chosen by others, so there is a bound.
const maxTargets = 500;

function isIdle({ waiting, hungry, opening, sessions }: SessionPool): boolean {
  if (waiting.length > 0 || hungry.size > 0 || opening > 0) return false;
  return sessions.every((session) => session.openStreams() === 0);
}

/**
 * Long-lived HTTP/2 sessions, a few per target (origin and credential), with streams limited to what the peer's SETTINGS
 * allow. A session that is going away finishes its streams while new requests take another. Targets with a fallback get
 * sessions of HTTP/1.1 where their server does not negotiate HTTP/2.
 */
export function makeHttp2Transport(options: Http2TransportOptions): Http2Transport {
  const {
    client = 'carillon',
    sessionsPerTarget = defaultSessionsPerTarget,
    connectMilliseconds = 10_000,
    requestMilliseconds = 15_000,
  } = options;
  const pools = new Map<string, SessionPool>();
  const openSession = client === 'node' ? openNodeSession : openHttp2Session;
  const limits = { sessionsPerTarget, connectMilliseconds, requestMilliseconds };
  const rules = { ...options, ...limits, proxy: options.proxy, openSession, isClosed: false };

  function poolOf(target: Http2Target): SessionPool {
    let pool = pools.get(target.key);
    if (!pool) {
      if (pools.size >= maxTargets) dropIdlePool();
      pool = makeSessionPool(target, rules);
      pools.set(target.key, pool);
    }
    pool.usedAt = performance.now();
    return pool;
  }

  /** The one that was not used for the longest time. */
  function dropIdlePool(): void {
    let oldest: SessionPool | undefined;
    for (const pool of pools.values()) if (isIdle(pool) && pool.usedAt < (oldest?.usedAt ?? Infinity)) oldest = pool;
    if (!oldest) return;
    for (const session of oldest.sessions) session.close();
    pools.delete(oldest.target.key);
    oldest.isDropped = true;
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
        const waitsUntil = pool.usedAt + connectMilliseconds + requestMilliseconds;
        pool.waiting.push({ ...request, tries: 1, waitsUntil, settle });
        dispatch(pool);
      });
    },
    openLane: (target, owner) => makeRequestLane(target, { owner, poolOf }),
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
