import type { Logger } from '../../../log.ts';
import type { Answer } from '../provider.ts';
import { openHttp2Session } from './http2-session.ts';
import type { Http2Request, Http2Session, Http2Target } from './http2-session.ts';

/** The sessions of one target and the requests that wait for a stream of theirs. */
export type SessionPool = {
  target: Http2Target;
  /** One object for all pools of a transport: `isClosed` becomes true for all at once. */
  rules: Readonly<PoolRules>;
  sessions: Http2Session[];
  opening: number;
  waiting: Waiting[];
  /** Sessions opened since a request last got a stream. */
  openedInVain: number;
  /** Runs while requests wait; restarts whenever one gets a stream. */
  standstill: NodeJS.Timeout | undefined;
};

type PoolRules = {
  log: Logger;
  allowedNetworks: readonly string[];
  sessionsPerTarget: number;
  connectMilliseconds: number;
  requestMilliseconds: number;
  isClosed: boolean;
};

type Waiting = { request: Http2Request; tries: number; settle: (answer: Answer) => void };

// A refused stream was not processed (RFC 9113 §8.7), so it is sent again on another session.
const maxTries = 3;

export function makeSessionPool(target: Http2Target, rules: PoolRules): SessionPool {
  return { target, rules, sessions: [], opening: 0, waiting: [], openedInVain: 0, standstill: undefined };
}

/** Gives waiting requests to sessions with free streams; opens another session when there is none. */
export function dispatch(pool: SessionPool): void {
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
  if (!wantsSession || pool.sessions.filter((session) => !session.isLeaving()).length >= pool.rules.sessionsPerTarget)
    return;
  // A peer that ends every connection before it serves one would be called without pause.
  if (pool.openedInVain < maxTries) void open(pool);
  else {
    pool.openedInVain = 0;
    failWaiting(pool, new Error('every connection ended before it served a request'));
  }
}

export function failWaiting(pool: SessionPool, error: Error): void {
  const reason = error.name === 'AddressBlockedError' ? 'address-blocked' : 'unreachable';
  const failed = pool.waiting.splice(0);
  watchStandstill(pool);
  for (const waiting of failed) {
    waiting.settle({ kind: 'failure', certainty: 'unsent', reason, detail: error.message });
  }
}

/**
 * A peer may allow no streams at all and keep the connection: no request is sent then, but none may wait forever
 * either.
 */
function watchStandstill(pool: SessionPool): void {
  clearTimeout(pool.standstill);
  pool.standstill = undefined;
  if (pool.waiting.length === 0) return;
  pool.standstill = setTimeout(() => {
    pool.standstill = undefined;
    failWaiting(pool, new Error('no stream was free in time'));
  }, pool.rules.connectMilliseconds + pool.rules.requestMilliseconds);
}

async function open(pool: SessionPool): Promise<void> {
  const { log, allowedNetworks, connectMilliseconds, requestMilliseconds } = pool.rules;
  pool.opening += 1;
  pool.openedInVain += 1;
  // Assigned before the connection is ready: a peer may end it in the same packet as its greeting.
  let session: Http2Session | undefined;
  try {
    session = await openHttp2Session(pool.target, {
      log,
      allowedNetworks,
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

function run(pool: SessionPool, session: Http2Session, waiting: Waiting): void {
  session.request(waiting.request, (answer) => {
    const isUnsent = answer.kind === 'failure' && answer.certainty === 'unsent';
    if (isUnsent && waiting.tries < maxTries && !pool.rules.isClosed) {
      waiting.tries += 1;
      pool.waiting.push(waiting);
      dispatch(pool);
    } else waiting.settle(answer);
  });
}
