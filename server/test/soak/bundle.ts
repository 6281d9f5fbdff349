import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../../src/storage/database.ts';
import { acrossRoleOf } from '../../src/storage/installation/database-roles.ts';
import { startKillableDatabase } from '../rig/databases.ts';
import { importUsers, nodeEnvironment } from '../rig/processes.ts';
import { makeRandom } from '../rig/random.ts';
import { startReceiver } from '../rig/receivers.ts';
import { startNode } from '../start/start-bundle.ts';
import type { StartLine } from '../start/start-bundle.ts';
import { openInspector, sampleNode } from './node-sample.ts';
import { makeSoakTally } from './report.ts';
import type { SoakTally } from './report.ts';

/** Users with one device each, a third of each platform, that answer as they should all the time. */
export const steadyUsers = 600;

export type SoakBundle = Awaited<ReturnType<typeof makeSoakBundle>>;

/** One node of role `all` in a process, as main.ts starts it, with a database that is not its child. */
export async function makeSoakBundle({ seed }: { seed: number }) {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-soak-'));
  const postgres = await startKillableDatabase(join(folder, 'postgres'));
  const receiver = await startReceiver();
  const environment = {
    ...nodeEnvironment(folder, postgres),
    // Reached within minutes, so that the inbox is one of the things that must not grow.
    CARILLON_INBOX_MESSAGES: '2000',
  };
  const node = await startInspectedNode(environment, seed);
  const inspector = await openInspector(node.inspectorAddress);
  const databaseUrl = new URL(postgres.url);
  const acrossRole = acrossRoleOf(databaseUrl.username);
  const database = openDatabase({ url: postgres.url, connections: 2, name: 'soak', acrossRole });
  const tally = makeSoakTally();
  const callNode = makeCallNode({ url: node.line.url, tally });
  const port = Number(new URL(node.line.url).port);
  const sampled = { pid: node.process.pid!, port, databasePort: Number(databaseUrl.port), inspector };

  return {
    url: node.line.url,
    workspaceId: node.line.workspaceId,
    dbName: node.line.dbName,
    keys: node.line.keys!,
    signInCode: node.line.console.split('#sign-in=')[1]!,
    random: makeRandom(seed),
    database: database.acrossWorkspaces(),
    /** As the login itself, which may see its own sessions. */
    login: database,
    receiver,
    tally,
    callNode,
    nodeErrors: node.errors,
    hasEnded: () => node.process.exitCode !== null || node.process.signalCode !== null,
    sample: () => sampleNode(sampled),
    importUsers: () => importUsers(environment, steadyUsers),
    async stop(): Promise<void> {
      callNode.close();
      inspector.close();
      node.process.kill('SIGTERM');
      await node.exited;
      await receiver.close();
      await database.end({ timeoutSeconds: 5 });
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function startInspectedNode(environment: Record<string, string>, seed: number) {
  const inspected = { ...environment, NODE_OPTIONS: '--inspect=127.0.0.1:0' };
  const node = startNode(['--port', '0', '--json', '--seed', String(seed)], inspected);
  let stderr = '';
  node.process.stderr!.on('data', (piece) => (stderr += String(piece)));
  const firstLine = await node.firstLine;
  if (firstLine === undefined) throw new Error(`the node ended before it was ready: ${stderr}`);
  return {
    process: node.process,
    exited: node.exited,
    line: JSON.parse(firstLine) as StartLine,
    inspectorAddress: /ws:\/\/\S+/.exec(stderr)![0],
    /** The lines of its log; other lines are the debugger's. */
    errors: () => stderr.split('\n').filter((line) => line.startsWith('{')),
  };
}

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
function makeCallNode({ url, tally }: { url: string; tally: SoakTally }): CallNode {
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

  /** A request that is aborted or has another address gets a separate connection, which ends with it. */
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
