import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { makeCertificate } from '../../../server/test/engine/delivery/make-certificate.ts';
import { readProcessSeconds } from '../../../server/test/rig/processor-time.ts';
import type { Bench } from './bench.ts';

export type Nghttpd = {
  /** Contains `key.pem`, `cert.pem` and `files/`, which is served. */
  folder: string;
  path: string;
  /** Listens on a separate port. */
  listen(kind: 'clear' | 'secure'): Promise<Listener>;
};
/** `restart` ends the process with open connections, and starts another on the same port. */
export type Listener = {
  origin: string;
  restart(): Promise<void>;
  /** Returns the processor time of the process that listens now. */
  readSeconds(): Promise<number>;
};

const program = '/usr/sbin/nghttpd';

/** Prepares nghttp2's own server with one empty file, which it returns to every request for it. Its limit is 1,000 streams. */
export async function startNghttpd({ defer, makeFolder }: Pick<Bench, 'defer' | 'makeFolder'>): Promise<Nghttpd> {
  const folder = await makeFolder();
  const device = 'ab'.repeat(32);
  const certificate = makeCertificate();
  await writeFile(join(folder, 'key.pem'), certificate.key);
  await writeFile(join(folder, 'cert.pem'), certificate.cert);
  await mkdir(join(folder, 'files', '3', 'device'), { recursive: true });
  await writeFile(join(folder, 'files', '3', 'device', device), '');
  const stops = new Set<() => Promise<void>>();
  defer(() => Promise.all([...stops].map((stop) => stop())));
  return {
    folder,
    path: `/3/device/${device}`,
    async listen(kind) {
      const port = await freePort();
      const keys = kind === 'secure' ? [join(folder, 'key.pem'), join(folder, 'cert.pem')] : [];
      const flags = [...(kind === 'clear' ? ['--no-tls'] : []), '-a', '127.0.0.1', '-m', '1000'];
      const words = [...flags, `--htdocs=${join(folder, 'files')}`, String(port), ...keys];
      const start = async (): Promise<{ pid: number; end: () => Promise<void> }> => {
        const child = spawn(program, words, { stdio: 'ignore' });
        await isListeningSoon(port);
        const end = async (): Promise<void> => {
          stops.delete(end);
          const ended = once(child, 'exit');
          child.kill();
          await ended;
        };
        stops.add(end);
        return { pid: child.pid!, end };
      };
      let running = await start();
      return {
        origin: `${kind === 'clear' ? 'http' : 'https'}://localhost:${port}`,
        async restart() {
          await running.end();
          running = await start();
        },
        readSeconds: () => readProcessSeconds(running.pid),
      };
    },
  };
}

/** Polls the port, because nghttpd does not print that it listens, unless it prints every frame. */
async function isListeningSoon(port: number): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    if (await isListening(port)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('nghttpd does not listen');
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const answer = await Promise.race([
    once(socket, 'connect').then(() => true),
    once(socket, 'error').then(() => false),
  ]).catch(() => false);
  socket.destroy();
  return answer;
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}
