import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import type { TlsOptions } from 'node:tls';
import { findFreePort } from '../../find-free-port.ts';

export type Behaviour = (call: { head: string; socket: Socket; tunnel: () => Promise<void> }) => unknown;

/** Lets every call through. */
export const serveAll: Behaviour = async ({ socket, tunnel }) => {
  await tunnel();
  socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
};

/**
 * A proxy of the test's own: it writes down what it is asked, leads each name to the port of this machine that the test
 * gives it, and can be as hostile as the test likes.
 */
export async function startOwnProxy({ tls, behave = serveAll }: { tls?: TlsOptions; behave?: Behaviour } = {}) {
  const heads: string[] = [];
  const ports = new Map<string, number>();
  const sockets = new Set<Socket>();
  const onSocket = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    let read = Buffer.alloc(0);
    const onData = (piece: Buffer): void => {
      read = Buffer.concat([read, piece]);
      const end = read.indexOf('\r\n\r\n');
      if (end === -1) return;
      socket.off('data', onData);
      const head = read.toString('latin1', 0, end);
      heads.push(head);
      void behave({ head, socket, tunnel: () => tunnel(socket, head.split(' ', 2)[1]!) });
    };
    socket.on('data', onData);
  };

  async function tunnel(socket: Socket, authority: string): Promise<void> {
    const port = ports.get(authority);
    if (port === undefined) {
      socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
      await once(socket, 'close');
      return;
    }
    const inner = connect(port, '127.0.0.1');
    sockets.add(inner);
    inner.on('error', () => socket.destroy()).on('close', () => socket.destroy());
    socket.on('close', () => inner.destroy());
    await once(inner, 'connect');
    socket.pipe(inner);
    inner.pipe(socket);
  }

  const server = tls ? createTlsServer(tls, onSocket) : createServer(onSocket);
  const port = await listen(server);
  return {
    port,
    /** What it was asked, in order. */
    heads,
    authorities: () => heads.map((head) => head.split(' ', 2)[1]),
    /** `authority` is led to the port of this machine. */
    lead: (authority: string, to: number) => void ports.set(authority, to),
    behave(next: Behaviour) {
      behave = next;
    },
    openSockets: () => sockets.size,
    cutAll() {
      for (const socket of sockets) socket.destroy();
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

export async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const tinyproxy = '/usr/bin/tinyproxy';
export const isTinyproxyInstalled = existsSync(tinyproxy);

/** Debian's tinyproxy, which wants a user; it passes tunnels on to a proxy that knows the names of the test. */
export async function startTinyproxy({
  user,
  password,
  upstream,
}: {
  user: string;
  password: string;
  upstream: number;
}) {
  const port = await findFreePort();
  const folder = await mkdtemp(join(tmpdir(), 'carillon-tinyproxy-'));
  const settings = join(folder, 'tinyproxy.conf');
  await writeFile(
    settings,
    `Port ${port}
Listen 127.0.0.1
Timeout 600
MaxClients 100
BasicAuth ${user} ${password}
Upstream http 127.0.0.1:${upstream}
`,
  );
  const start = async () => {
    const child = spawn(tinyproxy, ['-d', '-c', settings], { stdio: 'ignore' });
    const exited = once(child, 'exit');
    await untilListening(port);
    return { child, exited };
  };
  let running = await start();
  const kill = async (): Promise<void> => {
    running.child.kill('SIGKILL');
    await running.exited;
  };
  return {
    port,
    kill,
    async restart() {
      running = await start();
    },
    async stop() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const startMilliseconds = 10_000;

async function untilListening(port: number): Promise<void> {
  const until = performance.now() + startMilliseconds;
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      return;
    } catch (error) {
      if (performance.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    } finally {
      socket.destroy();
    }
  }
}
