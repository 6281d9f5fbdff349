import { readdir, readFile, readlink } from 'node:fs/promises';
import type { Database } from '../../src/storage/database.ts';

export type NodeSample = {
  rssMegabytes: number;
  /** Of all threads. */
  heapMegabytes: number;
  externalMegabytes: number;
  fileDescriptors: number;
  threads: number;
  /** Connections of callers to the node's port. */
  callerConnections: number;
  databaseConnections: number;
  /** Over all connections; a connection learns what it is asked. */
  preparedStatements: number;
  /** Texts that any connection has prepared. */
  distinctStatements: number;
  timers: number;
};

type SampledNode = { pid: number; port: number; databasePort: number; inspector: Inspector };

type InProcess = { rss: number; heapUsed: number; external: number; timers: number };

// `external` holds the array buffers already.
const readMemory = `(() => {
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rss, heapUsed, external, timers: process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length };
})()`;
const connectionPrototype = `process.getBuiltinModule('module')
  .createRequire(process.argv[1])('pg').Connection.prototype`;
const countStatements = `function () {
  const names = this.map(({ parsedStatements }) => Object.keys(parsedStatements ?? {}));
  return { open: names.flat().length, distinct: new Set(names.flat()).size };
}`;

/** What the node holds right now, after a full collection of garbage. Linux only: it reads /proc. */
export async function sampleNode({ pid, port, databasePort, inspector }: SampledNode): Promise<NodeSample> {
  const statements = await inspector.readObjects<{ open: number; distinct: number }>(
    connectionPrototype,
    countStatements,
  );
  const threads = await inspector.collectAndRead<InProcess>(readMemory);
  const [main] = threads as [InProcess];
  const sum = (read: (thread: InProcess) => number): number =>
    threads.reduce((total, thread) => total + read(thread), 0);
  const { descriptors, sockets } = await readDescriptors(pid);
  const connections = await readConnections(pid, sockets);
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return {
    rssMegabytes: main.rss / 1e6,
    heapMegabytes: sum(({ heapUsed }) => heapUsed) / 1e6,
    externalMegabytes: sum(({ external }) => external) / 1e6,
    fileDescriptors: descriptors,
    threads: Number(/^Threads:\s+(\d+)/m.exec(status)![1]),
    callerConnections: connections.filter(({ localPort }) => localPort === port).length,
    databaseConnections: connections.filter(({ remotePort }) => remotePort === databasePort).length,
    preparedStatements: statements.open,
    distinctStatements: statements.distinct,
    timers: main.timers,
  };
}

async function readDescriptors(pid: number): Promise<{ descriptors: number; sockets: Set<string> }> {
  const names = await readdir(`/proc/${pid}/fd`);
  // One may be closed between the list and the look.
  const links = await Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')));
  const sockets = links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []);
  return { descriptors: names.length, sockets: new Set(sockets) };
}

const established = '01';

/** The process's own connections: the kernel lists those of the whole machine. */
async function readConnections(pid: number, sockets: ReadonlySet<string>) {
  const tables = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/${pid}/net/${name}`, 'utf8')));
  return tables.flatMap((table) =>
    table
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter((columns) => columns[3] === established && sockets.has(columns[9]!))
      .map((columns) => ({ localPort: portOf(columns[1]!), remotePort: portOf(columns[2]!) })),
  );
}

function portOf(address: string): number {
  return Number.parseInt(address.split(':')[1]!, 16);
}

/** What the debugger's protocol says of a running process, without a change of what runs in it. */
type Inspector = {
  /** A full collection of garbage in every thread, then the value of an expression in each, the main one first. */
  collectAndRead<T>(expression: string): Promise<T[]>;
  /** Applies a function to the list of all living objects of a prototype. */
  readObjects<T>(prototypeExpression: string, read: string): Promise<T>;
  close(): void;
};

type Reply = { id?: number; method?: string; params?: any; result?: any; error?: { message: string } };
type Send = (method: string, parameters?: object) => Promise<any>;

export async function openInspector(address: string): Promise<Inspector> {
  const socket = new WebSocket(address);
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve());
    socket.addEventListener('error', () => reject(new Error(`the inspector at ${address} does not answer`)));
  });
  const waiting = new Map<number, { resolve: (result: any) => void; reject: (error: Error) => void }>();
  /** Sessions of the threads next to the main one. */
  const threads = new Set<string>();
  let lastId = 0;
  const take = (text: string): void => {
    const { id, method, params, result, error } = JSON.parse(text) as Reply;
    if (method === 'NodeWorker.attachedToWorker') threads.add(params.sessionId as string);
    if (method === 'NodeWorker.detachedFromWorker') threads.delete(params.sessionId as string);
    if (method === 'NodeWorker.receivedMessageFromWorker') return take(params.message as string);
    const asked = id === undefined ? undefined : waiting.get(id);
    if (!asked) return;
    waiting.delete(id!);
    if (error) asked.reject(new Error(error.message));
    else asked.resolve(result);
  };
  socket.addEventListener('message', ({ data }) => take(String(data)));
  socket.addEventListener('close', () => {
    for (const asked of waiting.values()) asked.reject(new Error('the process of the node ended'));
    waiting.clear();
  });

  const ask = (pass: (id: number) => void): Promise<any> =>
    new Promise((resolve, reject) => {
      const id = (lastId += 1);
      waiting.set(id, { resolve, reject });
      pass(id);
    });
  const send: Send = (method, params = {}) => ask((id) => socket.send(JSON.stringify({ id, method, params })));
  const sendTo =
    (sessionId: string): Send =>
    (method, params = {}) =>
      ask((id) => {
        const message = JSON.stringify({ id, method, params });
        send('NodeWorker.sendMessageToWorker', { sessionId, message }).catch(() => {});
      });
  await send('NodeWorker.enable', { waitForDebuggerOnStart: false });
  const valueOf = ({ result, exceptionDetails }: any): any => {
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };

  return {
    async collectAndRead<T>(expression: string) {
      const senders = [send, ...[...threads].map(sendTo)];
      for (const sender of senders) await sender('HeapProfiler.collectGarbage');
      const evaluation = { expression, returnByValue: true };
      return Promise.all(senders.map(async (sender) => valueOf(await sender('Runtime.evaluate', evaluation)) as T));
    },
    async readObjects<T>(prototypeExpression: string, read: string) {
      // What the debugger holds would never be collected.
      const objectGroup = 'soak';
      try {
        const { result: prototype } = await send('Runtime.evaluate', { expression: prototypeExpression, objectGroup });
        const { objects } = await send('Runtime.queryObjects', { prototypeObjectId: prototype.objectId, objectGroup });
        const call = { objectId: objects.objectId, functionDeclaration: read, returnByValue: true };
        return valueOf(await send('Runtime.callFunctionOn', call)) as T;
      } finally {
        await send('Runtime.releaseObjectGroup', { objectGroup });
      }
    },
    close: () => socket.close(),
  };
}

export type TableSample = {
  rows: number;
  /** Rows that their clean-up should have taken, by the installation's time. */
  overdue: number;
};

/**
 * What is stored for a time only, and what must not be among it: a day later than its end it is gone. Ledger, campaigns,
 * segments and the log of changes are kept for good; what waits in queues is judged when the load has ended.
 */
const retained: Record<string, string> = {
  access_tokens: `expires_at < now.at - interval '2 days'`,
  refresh_tokens: `expires_at < now.at - interval '2 days'`,
  console_sessions: `expires_at < now.at - interval '1 day'`,
  idempotency_keys: `created_at < now.at - interval '2 days'`,
  api_log: `received_at < now.at - interval '8 days'`,
  limit_windows: `last_event_at < now.at - interval '2 days'`,
  unattributed_events: `received_at < now.at - interval '1 day'`,
};

/** Rows of work that is not finished. */
const queues: Record<string, string> = {
  'runs open': `runs where status in ('QUEUED', 'SENDING')`,
  'chunks open': `chunks where state in ('READY', 'CLAIMED')`,
  'deliveries waiting': `deliveries where outcome = 'WAITING'`,
  'segment operations open': `segment_operations where state in ('QUEUED', 'FILLING', 'WAITING')`,
  'segment file pieces': `segment_file_pieces`,
  'callbacks pending': `callbacks where state = 'PENDING'`,
  'erasures open': `erasures where state <> 'DONE'`,
};

export async function sampleTables(database: Database, at: Date): Promise<Record<string, TableSample>> {
  const parts = Object.entries(retained).map(
    ([table, overdue]) =>
      `select '${table}' as name, count(*) as rows, count(*) filter (where ${overdue}) as overdue from ${table}, now`,
  );
  const text = `with now as (select timestamptz '${at.toISOString()}' as at) ${parts.join(' union all ')}`;
  const rows = (await database.unsafe(text)) as unknown as ({ name: string } & TableSample)[];
  return Object.fromEntries(rows.map(({ name, ...sample }) => [name, sample]));
}

export async function sampleQueues(database: Database): Promise<Record<string, number>> {
  const parts = Object.entries(queues).map(([name, from]) => `select '${name}' as name, count(*) as rows from ${from}`);
  const rows = (await database.unsafe(parts.join(' union all '))) as unknown as { name: string; rows: number }[];
  return Object.fromEntries(rows.map(({ name, rows: count }) => [name, count]));
}

/** The node's connections as the database counts them, and how long its longest transaction has been open. */
export async function sampleSessions(database: Database): Promise<{ sessions: number; maxTransactionSeconds: number }> {
  const [row] = await database<{ sessions: number; maxTransactionSeconds: number }[]>`
    select count(*) as sessions,
      coalesce(max(extract(epoch from clock_timestamp() - xact_start)), 0)::float as "maxTransactionSeconds"
    from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend' and application_name is distinct from 'soak'`;
  return row!;
}
