import { readFile, readdir, readlink } from 'node:fs/promises';
import type { Inspector } from './open-inspector.ts';

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

export type SampledNode = { pid: number; port: number; databasePort: number; inspector: Inspector };

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
