import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { makeCertificate } from '../engine/delivery/make-certificate.ts';
import { findFreePort } from '../find-free-port.ts';

export const proxiedHost = 'push.example.com';
export type ProxyName = 'nginx' | 'caddy';
const samples: Record<ProxyName, string[]> = { nginx: ['nginx', 'carillon.conf'], caddy: ['caddy', 'Caddyfile'] };
const deployFolder = join(import.meta.dirname, '..', '..', '..', 'deploy');
const startMilliseconds = 10_000;

// One that lacks a library of this machine does not count as there.
export const isProxyInstalled = (name: ProxyName): boolean =>
  spawnSync(name, [name === 'nginx' ? '-v' : 'version']).status === 0;

export type ReverseProxy = { port: number; authority: string; stop(): Promise<void> };

/** The proxy with the sample of deploy/, whose ports and certificate alone are other ones: every other word of it is as it is there. */
export async function startReverseProxy(name: ProxyName, nodePorts: [number, number]): Promise<ReverseProxy> {
  const folder = await mkdtemp(join(tmpdir(), `carillon-${name}-`));
  const { cert, key } = makeCertificate([proxiedHost]);
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  await writeFile(files.cert, cert);
  await writeFile(files.key, key);
  const port = await findFreePort();
  const sample = await readFile(join(deployFolder, ...samples[name]), 'utf8');
  const placed = nodePorts.reduce(
    (text, own, index) => put(text, { from: `127.0.0.1:808${index + 1}`, to: `127.0.0.1:${own}` }),
    sample,
  );
  const settings = join(folder, 'settings');
  await writeFile(settings, write[name](placed, { ...files, port, folder }));
  const words = {
    nginx: ['-p', folder, '-c', settings, '-e', 'stderr'],
    caddy: ['run', '--adapter', 'caddyfile', '--config', settings],
  };
  const child = spawn(name, words[name], {
    stdio: ['ignore', 'ignore', 'pipe'],
    // Caddy keeps what it made below a home.
    env: { PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
  });
  let said = '';
  child.stderr!.setEncoding('utf8').on('data', (piece) => (said += piece));
  const exited = once(child, 'close');
  await untilListening(port, () => {
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}: ${said}`);
  });
  return {
    ...{ port, authority: cert },
    async stop() {
      child.kill('SIGTERM');
      await exited;
      await rm(folder, { recursive: true });
    },
  };
}

type Placed = { cert: string; key: string; port: number; folder: string };

const write: Record<ProxyName, (sample: string, placed: Placed) => string> = {
  nginx(sample, { cert, key, port, folder }) {
    const own = [
      ['listen 443 ssl', `listen 127.0.0.1:${port} ssl`],
      ['/etc/ssl/carillon/certificate.pem', cert],
      ['/etc/ssl/carillon/key.pem', key],
    ].reduce((text, [from, to]) => put(text, { from: from!, to: to! }), sample);
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (kind) => `${kind}_temp_path ${folder}/${kind};`,
    );
    return `daemon off; master_process off; pid ${folder}/pid; events {}\nhttp { access_log off; ${paths.join(' ')}\n${own}}`;
  },
  caddy(sample, { cert, key, port }) {
    const site = put(sample, {
      from: `${proxiedHost} {`,
      to: `${proxiedHost}:${port} {\nbind 127.0.0.1\ntls ${cert} ${key}`,
    });
    return `{\nadmin off\nauto_https disable_redirects\n}\n${site}`;
  },
};

/** What is not in the sample any more must not pass by unseen. */
function put(text: string, { from, to }: { from: string; to: string }): string {
  if (text.split(from).length !== 2) throw new Error(`the sample says "${from}" not once`);
  return text.replace(from, () => to);
}

async function untilListening(port: number, look: () => void): Promise<void> {
  const end = performance.now() + startMilliseconds;
  for (;;) {
    look();
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      return;
    } catch (error) {
      if (performance.now() > end) throw error;
      await wait(20);
    } finally {
      socket.destroy();
    }
  }
}
