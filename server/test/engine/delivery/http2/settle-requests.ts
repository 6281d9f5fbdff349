import { expect } from 'vitest';
import { makeHttp2Transport } from '../../../../src/providers/http2/transport.ts';
import type { Http2Transport } from '../../../../src/providers/http2/transport.ts';
import type { Http2Target } from '../../../../src/providers/http2/open-socket.ts';
import type { Http2Request } from '../../../../src/providers/http2/requests.ts';
import { makeLog } from '../../../../src/log.ts';
import { startHostileServer } from './hostile-http2-server.ts';
import type { HostileServer, Peer } from './hostile-http2-server.ts';
import { sendByLane } from './send-by-lane.ts';
import { watchLeftBehind } from './watch-left-behind.ts';

export type Answer = Awaited<ReturnType<ReturnType<typeof makeHttp2Transport>['request']>>;

export const ways = ['promises', 'lanes'] as const;
export type Way = (typeof ways)[number];

export type Given = {
  behave: (peer: Peer) => void;
  /** Sent at once, or `inTurn`: each after the one before has settled. */
  requests?: number;
  inTurn?: true;
  sessionsPerTarget?: number;
  /** How long one request may take; short where the row waits for it. */
  requestMilliseconds?: number;
  connectMilliseconds?: number;
  bodyBytes?: number;
  /** By promises unless said otherwise. Through lanes what was refused is sent again by the caller. */
  way?: Way;
  /** Printed with a failure. */
  name?: string;
};

export type Settled = { answers: Answer[]; server: HostileServer; milliseconds: number };

const soon = { timeout: 5_000, interval: 5 };
// The transport sends what was surely not processed three times in all.
const maxTries = 3;

/**
 * Sends requests to a hostile server and holds what is true whatever it does: each settles in time with an answer or a
 * failure of the documented shape, none that the server took is sent again or called unsent, connections are not made
 * without end, nothing is thrown, and after `close` neither socket nor timer is left.
 */
export async function settleRequests(given: Given): Promise<Settled> {
  const [settled] = await settleRequestsOfAll([given]);
  return settled!;
}

/** The same for many servers side by side, because most of the time passes in waiting. */
export async function settleRequestsOfAll(all: Given[]): Promise<Settled[]> {
  const watch = watchLeftBehind();
  const thrown: unknown[] = [];
  const record = (error: unknown): void => void thrown.push(error);
  process.on('uncaughtExceptionMonitor', record);
  process.on('unhandledRejection', record);
  try {
    const settled = await Promise.all(all.map(sendAll));
    await expect.poll(watch.left, soon).toEqual([]);
    expect(thrown).toEqual([]);
    return settled;
  } finally {
    process.off('uncaughtExceptionMonitor', record);
    process.off('unhandledRejection', record);
    watch.stop();
  }
}

async function sendAll(given: Given): Promise<Settled> {
  try {
    return await sendToHostileServer(given);
  } catch (error) {
    if (given.name === undefined) throw error;
    throw new Error(`${(error as Error).message}\n${given.name}`, { cause: error });
  }
}

async function sendToHostileServer(given: Given): Promise<Settled> {
  const { requests = 3, connectMilliseconds = 2_000, requestMilliseconds = 2_000 } = given;
  const server = await startHostileServer(given.behave);
  const transport = makeHttp2Transport({
    log: makeLog({ level: 'silent', pretty: false }),
    allowedNetworks: [],
    connectMilliseconds,
    requestMilliseconds,
    ...(given.sessionsPerTarget === undefined ? {} : { sessionsPerTarget: given.sessionsPerTarget }),
  });
  const target = { key: 'hostile', origin: 'https://hostile.test', connectTo: server.origin, isGuarded: false };
  try {
    const startedAt = performance.now();
    const bodies = Array.from({ length: requests }, (_, number) =>
      `request-${number};`.padEnd(given.bodyBytes ?? 0, '.'),
    );
    const send = (body: string): Promise<Answer> => {
      const headers = { 'content-type': 'application/json', 'x-number': 'x' };
      const request = { path: '/3/device/x', headers, body: Buffer.from(body) };
      return given.way === 'lanes' ? sendAgain(transport, { target, request }) : transport.request(target, request);
    };
    // At worst every request waits for all before it, and each of them is sent three times.
    const limit = requests * maxTries * (connectMilliseconds + requestMilliseconds) + 5_000;
    const answers = await inTime(limit, given.inTurn ? sendInTurn(bodies, send) : bodies.map(send));
    const milliseconds = performance.now() - startedAt;
    for (const [number, answer] of answers.entries()) checkAnswer(answer, { server, body: bodies[number]! });
    expect(server.peers.length, 'connections').toBeLessThanOrEqual(2 * maxTries * requests + 2);
    return { answers, server, milliseconds };
  } finally {
    await transport.close();
    await expect.poll(server.openSockets, soon).toBe(0);
    await server.stop();
  }
}

/** As a caller of lanes does it: what was refused goes out again, as often as the transport does it for promises. */
async function sendAgain(
  transport: Http2Transport,
  { target, request }: { target: Http2Target; request: Http2Request },
): Promise<Answer> {
  for (let tries = 1; ; tries += 1) {
    const [answer] = await sendByLane(transport, { target, reads: 'failures', requests: [request] });
    const isRefused = answer!.kind === 'failure' && answer!.certainty === 'unsent' && answer!.reason === 'refused';
    if (!isRefused || tries === maxTries) return answer!;
  }
}

/** One promise for each, as if all were sent at once. */
function sendInTurn<T>(bodies: string[], send: (body: string) => Promise<T>): Promise<T>[] {
  let before: Promise<unknown> = Promise.resolve();
  return bodies.map((body) => {
    const sent = before.then(() => send(body));
    before = sent;
    return sent;
  });
}

async function inTime<T>(milliseconds: number, promises: Promise<T>[]): Promise<T[]> {
  let limit: NodeJS.Timeout | undefined;
  let settled = 0;
  const late = new Promise<never>((_, reject) => {
    limit = setTimeout(() => {
      reject(new Error(`${promises.length - settled} of ${promises.length} requests never settled`));
    }, milliseconds);
  });
  try {
    return await Promise.race([Promise.all(promises.map((promise) => promise.finally(() => (settled += 1)))), late]);
  } finally {
    clearTimeout(limit);
  }
}

function checkAnswer(answer: Answer, { server, body }: { server: HostileServer; body: string }): void {
  // A request may arrive more than once only when each earlier arrival was refused (RFC 9113 §8.7).
  const kept = server.receipts().filter((receipt) => receipt.body === body && !receipt.isRefused).length;
  expect(kept, 'times taken').toBeLessThanOrEqual(1);
  if (answer.kind === 'answer') {
    expect(Number.isInteger(answer.status) && answer.status >= 100 && answer.status <= 999).toBe(true);
    expect(answer.body.length).toBeLessThanOrEqual(64 * 1024);
    for (const value of Object.values(answer.headers)) expect(typeof value).toBe('string');
    return;
  }
  expect(['timeout', 'reset', 'refused', 'unreachable']).toContain(answer.reason);
  expect(['unsent', 'unknown']).toContain(answer.certainty);
  expect(typeof answer.detail).toBe('string');
  if (answer.certainty === 'unsent') expect(kept, 'taken, but called unsent').toBe(0);
}
