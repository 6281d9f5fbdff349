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

/** Who sends many requests through a lane. */
export type LaneOwner = AnswerListener & HungryLane;

/** Sends requests of one owner to one target, as fast as the peer takes them, and keeps nothing of them. */
export type RequestLane = {
  /**
   * Takes a request when it can leave now; its owner is told once how it ended, by its ticket. What ended `unsent` is not
   * sent again by itself.
   *
   * @returns false: there is no space, and nothing was read of it. `onSpace` says when to ask again; `onUnreachable`, that no
   *   connection came to be in time
   */
  send(request: OutgoingRequest): boolean;
};

/** `poolOf` may make a new pool, when the old one was dropped for being idle. */
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
      // Those whose answer somebody waits for come first.
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

/** The sessions of one target and what waits for a stream of theirs. */
export type SessionPool = {
  target: Http2Target;
  /** One object for all pools of a transport: `isClosed` becomes true for all at once. */
  rules: Readonly<PoolRules>;
  sessions: Session[];
  opening: number;
  promised: PromisedRequests;
  waiting: PromisedRequest[];
  /** Lanes that were refused a request since they last heard of space. */
  hungry: Set<HungryLane>;
  /** Sessions opened since a request last got a stream, or those that waited were last told that there is none. */
  openedInVain: number;
  /** Runs while something waits; `hasProgress`: a stream was got since it was started. */
  standstill: NodeJS.Timeout | undefined;
  hasProgress: boolean;
  /** Milliseconds of the monotonic clock, when the pool was last asked for. */
  usedAt: number;
  /** Another pool may have been made for the target. */
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

// A refused stream was not processed (RFC 9113 §8.7), so it is sent again on another session.
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

/** Gives waiting requests to sessions with free streams, then space to lanes; opens another session when there is none. */
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

/** A session that can take a lane's request now. */
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

/** There is no space for the lane, which hears when there is. */
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
  // A peer that ends every connection before it serves one would be called without pause.
  if (pool.openedInVain < maxTries) void open(pool);
  else failWaiting(pool, new Error('every connection ended before it served a request'));
}

function maxSessions({ sessions, rules }: SessionPool): number {
  return sessions[0]?.protocol === 'http/1.1' ? http1SessionsPerTarget : rules.sessionsPerTarget;
}

/** A peer may serve requests so slowly that the last of thousands would wait for an hour. Nothing of them was sent. */
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

/** Everything that waits is told that nothing of it was sent. */
export function failWaiting(pool: SessionPool, error: Error): void {
  const failure: Answer = { kind: 'failure', certainty: 'unsent', reason: reasonOf(error), detail: error.message };
  const failed = pool.waiting.splice(0);
  const lanes = [...pool.hungry];
  pool.hungry.clear();
  // Whoever is told asks again when it wants to, and is tried for again.
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
  // Node has this code for names without an address (EAI_NONAME, EAI_NODATA) only: a resolver that does not answer, or
  // answers with a fault of its own, has others (EAI_AGAIN, EAI_FAIL).
  return (error as NodeJS.ErrnoException).code === 'ENOTFOUND' ? 'unresolved' : 'unreachable';
}

/**
 * A peer may allow no streams at all and keep the connection: no request is sent then, but none may wait forever
 * either.
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
    // It was on its way when the transport was closed; nobody else would end it.
    if (pool.rules.isClosed || session.isLeaving()) session.close();
    else pool.sessions.push(session);
  } catch (error) {
    pool.opening -= 1;
    // Nothing was sent; if another session is alive, the requests continue there.
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
