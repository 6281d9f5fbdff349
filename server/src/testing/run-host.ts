/** The process that runs the test servers; `connectToHost` starts it. Its only argument is the folder of its socket. */
import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from 'node:net';
import { readLines } from './read-lines.ts';
import { toStartError } from '../start/start-errors.ts';
import { startTestServers } from './start-test-servers.ts';
import type { TestServers } from './start-test-servers.ts';

/** How long it waits for the next client, such as the next file of a run. */
const idleMilliseconds = 10_000;

const folder = process.argv[2]!;
const address = join(folder, 'host.sock');
const clients = new Set<Socket>();
let servers: Promise<TestServers> | undefined;
let idle: NodeJS.Timeout | undefined;
let isEnding = false;

const listener = createServer((socket) => {
  // The client connected as the last one left; it retries.
  if (isEnding) return void socket.destroy();
  clearTimeout(idle);
  clients.add(socket);
  socket.on('error', () => {});
  const own = new Set<number>();
  readLines(socket, (line) => void reply(socket, { line, own }));
  socket.on('close', () => {
    clients.delete(socket);
    for (const id of own) void servers?.then((all) => all.stop(id));
    if (clients.size === 0) idle = setTimeout(() => void end(), idleMilliseconds);
  });
});

type Question = { id: number } & (
  { ask: 'start'; settings: Record<string, string> } | { ask: 'stop'; serverId: number }
);

async function reply(socket: Socket, { line, own }: { line: string; own: Set<number> }): Promise<void> {
  const question = JSON.parse(line) as Question;
  const send = (answer: object): void => {
    if (!socket.destroyed) socket.write(`${JSON.stringify({ id: question.id, ...answer })}\n`);
  };
  try {
    servers ??= startTestServers();
    // No server can be started here; the next client gets a new process.
    servers.catch(() => {
      listener.close();
      setTimeout(() => process.exit(1), 100);
    });
    const all = await servers;
    if (question.ask === 'stop') {
      own.delete(question.serverId);
      await all.stop(question.serverId);
      return send({});
    }
    const server = await all.start(question.settings);
    own.add(server.serverId);
    // The client may have disconnected meanwhile.
    if (socket.destroyed) await all.stop(server.serverId);
    send({ answer: server });
  } catch (error) {
    send({ error: toStartError(error).message });
  }
}

async function end(): Promise<void> {
  isEnding = true;
  listener.close();
  await (await servers?.catch(() => undefined))?.end();
  process.exit(0);
}
process.on('SIGTERM', () => void end());
process.on('SIGINT', () => void end());

/** Returns false if the socket was left by a killed process, so that no process responds. */
function isAnswered(): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(address, () => resolve(true));
    probe.on('error', () => resolve(false));
    probe.on('connect', () => probe.destroy());
  });
}

listener.on('error', () => process.exit(0));
if (await isAnswered()) process.exit(0);
await rm(address, { force: true });
listener.listen(address);
idle = setTimeout(() => void end(), idleMilliseconds);
