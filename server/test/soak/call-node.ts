import { Agent, request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import type { SoakTally } from './soak-tally.ts';

export type NodeCall = {
  /** Under which it is counted. */
  kind: string;
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
  /** Statuses that are right here. */
  expected: readonly number[];
  /** Gives the request up after this time; it is then not counted. */
  abortAfterMilliseconds?: number;
  /** For who must not share the limits of the others. */
  localAddress?: string;
};

export type NodeAnswer = { status: number; headers: IncomingHttpHeaders; text: string; json(): any };

export type CallNode = ((call: NodeCall) => Promise<NodeAnswer | undefined>) & { close(): void };

// As many as a caller of a moderate size keeps open; taken in turn, so that none is ever idle for long.
const keptConnections = 8;
// Longer than any route may take; the inbox waits for up to five seconds here.
const maxAnswerMilliseconds = 30_000;

/** Calls the node over connections that stay open, and counts every answer. Undefined: aborted as it was asked to. */
export function makeCallNode({ url, tally }: { url: string; tally: SoakTally }): CallNode {
  const shared = new Agent({ keepAlive: true, maxSockets: keptConnections, scheduling: 'fifo' });

  const callNode = async (call: NodeCall): Promise<NodeAnswer | undefined> => {
    const startedAt = performance.now();
    const abort = new AbortController();
    const limit = setTimeout(() => abort.abort(), call.abortAfterMilliseconds ?? maxAnswerMilliseconds);
    try {
      const answer = await send(call, { url, agent: agentOf(call), signal: abort.signal });
      const milliseconds = performance.now() - startedAt;
      const isExpected = call.expected.includes(answer.status);
      tally.answer({ kind: call.kind, milliseconds, status: answer.status, isExpected, text: answer.text });
      return answer;
    } catch (error) {
      if (call.abortAfterMilliseconds !== undefined && abort.signal.aborted) return undefined;
      tally.fault(`${call.kind}: ${abort.signal.aborted ? 'no answer in 30 s' : (error as Error).message}`);
      return undefined;
    } finally {
      clearTimeout(limit);
    }
  };

  /** What is aborted or comes from elsewhere has a connection of its own, which ends with it. */
  function agentOf(call: NodeCall): Agent {
    const isAlone = call.abortAfterMilliseconds !== undefined || call.localAddress !== undefined;
    return isAlone ? new Agent({ keepAlive: false }) : shared;
  }

  return Object.assign(callNode, { close: () => shared.destroy() });
}

type Sending = { url: string; agent: Agent; signal: AbortSignal };

function send(call: NodeCall, { url, agent, signal }: Sending): Promise<NodeAnswer> {
  const { method, path, headers, body, localAddress } = call;
  const payload = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const asked = request(`${url}${path}`, {
      method,
      agent,
      signal,
      headers: {
        ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
        ...(payload === undefined ? {} : { 'content-length': String(Buffer.byteLength(payload)) }),
        ...headers,
      },
      ...(localAddress === undefined ? {} : { localAddress }),
    });
    asked.on('error', reject);
    asked.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => (text += piece));
      response.on('error', reject);
      response.on('end', () => {
        resolve({ status: response.statusCode!, headers: response.headers, text, json: () => JSON.parse(text) });
      });
    });
    asked.end(payload);
  });
}
