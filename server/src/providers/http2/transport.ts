import type { Logger } from '../../log.ts';
import { HostNotAllowedError, AddressBlockedError } from '../../outgoing/guard.ts';
import { ProxyError } from '../../outgoing/proxy.ts';
import type { OutgoingProxy } from '../../outgoing/proxy.ts';
import type { Answer } from '../provider.ts';
import { http1SessionsPerTarget } from './http1-session.ts';
import { openHttp2Session } from './http2-session.ts';
import { openNodeSession } from './node-session.ts';
import type { Http2Target } from './open-socket.ts';
import { PromisedRequests } from './requests.ts';
import type { Http2Request, AnswerListener, OutgoingRequest, PromisedRequest } from './requests.ts';
import { unsent } from './session.ts';
import type { OpenSession, Session } from './session.ts';

export type Http2Transport = {
  /** Sends one request over a pooled session. Never rejects: a network fault is an answer of kind `failure`. */
  request(target: Http2Target, request: Http2Request): Promise<Answer>;
  /** Opens a lane for many requests, without a promise or an object for each. The requests name `owner` as their listener. */
  openLane(target: Http2Target, owner: LaneOwner): RequestLane;
  /** Waits up to five seconds for open requests to end, then closes every session. */
  close(): Promise<void>;
};

export type Http2TransportOptions = {
  log: Logger;
  /** Networks that guarded targets may reach in addition to public ones. */
  allowedNetworks: readonly string[];
  /** One proxy for all targets of the transport, so that sessions with different routes are never shared. */
  proxy?: OutgoingProxy | undefined;
  /** The HTTP/2 client: this project's, or Node's. Node's is slower; tests compare the two. */
  client?: Http2Client | undefined;
  /** Sessions per target; a second one is opened when the first has no free stream. */
  sessionsPerTarget?: number;
  connectMilliseconds?: number;
  requestMilliseconds?: number;
};

export type Http2Client = 'carillon' | 'node';

export const defaultSessionsPerTarget = 2;
// A worker has at most some thousand open requests. More waiting requests mean that something is badly wrong.
const maxWaiting = 10_000;
// There is one target per provider, team and push service. Browsers choose the push services, so their number needs a limit.
const maxTargets = 500;

function isIdle({ waiting, hungry, opening, sessions }: SessionPool): boolean {
  if (waiting.length > 0 || hungry.size > 0 || opening > 0) return false;
  return sessions.every((session) => session.openStreams() === 0);
}

/**
 * Makes pools of long-lived HTTP/2 sessions, a few per target (origin and credential), with streams limited to what the peer's
 * SETTINGS allow. A session that is going away finishes its streams while new requests use another. Targets with a fallback get
 * HTTP/1.1 sessions if their server does not negotiate HTTP/2.
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

  /** Drops the idle pool that was unused for the longest time. */
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

/** A sender of many requests through a lane. */
export type LaneOwner = AnswerListener & HungryLane;

/** Sends one owner's requests to one target, as fast as the peer accepts them, and keeps none of them. */
export type RequestLane = {
  /**
   * Accepts a request if it can be sent now. The owner gets its outcome once, with its ticket. A request with the outcome
   * `unsent` is not retried automatically.
   *
   * @returns false if there is no space; then the request was not read. `onSpace` reports when to try again, and `onUnreachable`
   * that no connection was established in time
   */
  send(request: OutgoingRequest): boolean;
};

/** `poolOf` may make a new pool if the old one was dropped because it was idle. */
export function makeRequestLane(
  target: Http2Target,
  { owner, poolOf }: { owner: LaneOwner; poolOf: (target: Http2Target) => SessionPool },
): RequestLane {
  let pool = poolOf(target);
  return {
    send(request) {
      if (pool.isDropped) pool = poolOf(target);
      if (pool.rules.isClosed) {
        const { ticket } = request;
        queueMicrotask(() => owner.onAnswer(ticket, unsent('the transport is closed')));
        return true;
      }
      // Requests made with a promise are sent before those of lanes.
      const session = pool.waiting.length === 0 ? findSpace(pool) : undefined;
      if (!session) {
        waitForSpace(pool, owner);
        return false;
      }
      noteProgress(pool);
      session.send(request);
      return true;
    },
  };
}

/** The sessions of one target, and the requests that wait for a stream. */
export type SessionPool = {
  target: Http2Target;
  /** One object for all pools of a transport: `isClosed` becomes true for all at once. */
  rules: Readonly<PoolRules>;
  sessions: Session[];
  opening: number;
  promised: PromisedRequests;
  waiting: PromisedRequest[];
  /** Lanes that wait for space: their last request was not accepted, and they have not been notified since then. */
  hungry: Set<HungryLane>;
  /** Sessions opened since a request last got a stream, or since the waiting requests last failed. */
  openedInVain: number;
  /** The timer runs while requests wait. `hasProgress`: a request got a stream since the timer started. */
  standstill: NodeJS.Timeout | undefined;
  hasProgress: boolean;
  /** When the pool was last used, in milliseconds of the monotonic clock. */
  usedAt: number;
  /** If true, another pool may exist for the target. */
  isDropped: boolean;
};

type HungryLane = { onSpace(): void; onUnreachable(failure: Answer): void };

export type PoolRules = {
  log: Logger;
  openSession: OpenSession;
  allowedNetworks: readonly string[];
  proxy: OutgoingProxy | undefined;
  sessionsPerTarget: number;
  connectMilliseconds: number;
  requestMilliseconds: number;
  isClosed: boolean;
};

// A refused stream was not processed (RFC 9113 §8.7), so its request is sent again on another session.
const maxTries = 3;

export function makeSessionPool(target: Http2Target, rules: PoolRules): SessionPool {
  const pool: SessionPool = {
    target,
    rules,
    sessions: [],
    opening: 0,
    promised: new PromisedRequests((request, answer) => settle(pool, request, answer)),
    waiting: [],
    hungry: new Set(),
    openedInVain: 0,
    standstill: undefined,
    hasProgress: false,
    usedAt: 0,
    isDropped: false,
  };
  return pool;
}

/**
 * Assigns waiting requests to sessions with free streams, then notifies lanes of space. Opens another session if there is none.
 */
export function dispatch(pool: SessionPool): void {
  while (pool.waiting.length > 0) {
    const session = findSession(pool, (candidate) => candidate.hasFreeStream());
    if (!session) break;
    noteProgress(pool);
    run(pool, session, pool.waiting.shift()!);
  }
  failOverdue(pool);
  if (pool.waiting.length === 0 && pool.hungry.size > 0 && findSpace(pool)) {
    const lanes = [...pool.hungry];
    pool.hungry.clear();
    for (const lane of lanes) lane.onSpace();
  }
  openIfWanted(pool);
  watchStandstill(pool);
}

/** Returns a session that can accept a lane's request now. */
function findSpace(pool: SessionPool): Session | undefined {
  return findSession(pool, hasSpace);
}

const hasSpace = (session: Session): boolean => session.hasSpace();

function findSession(pool: SessionPool, isFit: (session: Session) => boolean): Session | undefined {
  for (const session of pool.sessions) if (isFit(session)) return session;
  return undefined;
}

function noteProgress(pool: SessionPool): void {
  pool.openedInVain = 0;
  pool.hasProgress = true;
}

/** Registers a lane without space, to notify it when there is space. */
function waitForSpace(pool: SessionPool, lane: HungryLane): void {
  if (pool.hungry.has(lane)) return;
  pool.hungry.add(lane);
  openIfWanted(pool);
  watchStandstill(pool);
}

function openIfWanted(pool: SessionPool): void {
  if (pool.opening > 0 || (pool.waiting.length === 0 && pool.hungry.size === 0)) return;
  let remaining = 0;
  for (const session of pool.sessions) if (!session.isLeaving()) remaining += 1;
  if (remaining >= maxSessions(pool)) return;
  // Without this limit, a peer that ends every connection before it serves a request would get connections without pause.
  if (pool.openedInVain < maxTries) void open(pool);
  else failWaiting(pool, new Error('every connection ended before it served a request'));
}

function maxSessions({ sessions, rules }: SessionPool): number {
  return sessions[0]?.protocol === 'http/1.1' ? http1SessionsPerTarget : rules.sessionsPerTarget;
}

/**
 * Fails requests that have waited too long for a stream; nothing of them was sent. Without this limit, the last of thousands
 * of requests to a slow peer could wait for an hour.
 */
function failOverdue(pool: SessionPool): void {
  if (pool.waiting.length === 0) return;
  const now = performance.now();
  while (pool.waiting.length > 0 && pool.waiting[0]!.waitsUntil <= now) pool.waiting.shift()!.settle(noStream);
}

const noStream = {
  kind: 'failure',
  certainty: 'unsent',
  reason: 'unreachable',
  detail: 'no stream was free in time',
} as const satisfies Answer;

/** Fails all waiting requests and lanes; nothing of them was sent. */
export function failWaiting(pool: SessionPool, error: Error): void {
  const failure: Answer = { kind: 'failure', certainty: 'unsent', reason: reasonOf(error), detail: error.message };
  const failed = pool.waiting.splice(0);
  const lanes = [...pool.hungry];
  pool.hungry.clear();
  // Callers decide when to retry; each retry opens a connection.
  pool.openedInVain = 0;
  watchStandstill(pool);
  for (const waiting of failed) waiting.settle(failure);
  for (const lane of lanes) lane.onUnreachable(failure);
}

const proxyReasons = {
  PROXY_UNREACHABLE: 'proxy-unreachable',
  PROXY_REFUSED: 'proxy-refused',
  PROXY_AUTH: 'proxy-auth',
} as const;

function reasonOf(error: Error) {
  if (error instanceof ProxyError) return proxyReasons[error.code];
  if (error instanceof HostNotAllowedError) return 'host-not-allowed';
  if (error instanceof AddressBlockedError) return 'address-blocked';
  // Node reports this code only for names without an address (EAI_NONAME, EAI_NODATA). A resolver that does not respond, or
  // that fails itself, has other codes (EAI_AGAIN, EAI_FAIL).
  return (error as NodeJS.ErrnoException).code === 'ENOTFOUND' ? 'unresolved' : 'unreachable';
}

/**
 * Limits how long requests wait without progress. Otherwise they would wait forever for a peer that keeps the connection but
 * allows no streams.
 */
function watchStandstill(pool: SessionPool): void {
  const isWaiting = pool.waiting.length > 0 || pool.hungry.size > 0;
  if (!isWaiting || pool.hasProgress) {
    clearTimeout(pool.standstill);
    pool.standstill = undefined;
    pool.hasProgress = false;
  }
  if (!isWaiting || pool.standstill !== undefined) return;
  pool.standstill = setTimeout(() => {
    pool.standstill = undefined;
    if (pool.hasProgress) watchStandstill(pool);
    else failWaiting(pool, new Error(noStream.detail));
  }, pool.rules.connectMilliseconds + pool.rules.requestMilliseconds);
}

async function open(pool: SessionPool): Promise<void> {
  const { openSession, ...rules } = pool.rules;
  pool.opening += 1;
  pool.openedInVain += 1;
  // Assigned before the connection is ready: a peer may end it in the same packet as its greeting.
  let session: Session | undefined;
  try {
    session = await openSession(pool.target, {
      ...rules,
      onSpace: () => dispatch(pool),
      onClosed: () => {
        pool.sessions = pool.sessions.filter((other) => other !== session);
        dispatch(pool);
      },
    });
    pool.opening -= 1;
    // The transport was closed while the session was opening; nothing else would end it.
    if (pool.rules.isClosed || session.isLeaving()) session.close();
    else pool.sessions.push(session);
  } catch (error) {
    pool.opening -= 1;
    // Nothing was sent. If another session is open, the requests continue there.
    if (pool.sessions.length === 0) failWaiting(pool, error as Error);
    return;
  }
  dispatch(pool);
}

function run(pool: SessionPool, session: Session, request: PromisedRequest): void {
  try {
    session.send(pool.promised.begin(request));
  } catch (error) {
    request.settle(unsent((error as Error).message));
  }
}

function settle(pool: SessionPool, request: PromisedRequest, answer: Answer): void {
  const isUnsent = answer.kind === 'failure' && answer.certainty === 'unsent';
  if (isUnsent && request.tries < maxTries && !pool.rules.isClosed) {
    request.tries += 1;
    pool.waiting.push(request);
    dispatch(pool);
  } else request.settle(answer);
}
