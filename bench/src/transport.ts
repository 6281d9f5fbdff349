/**
 * The HTTP/2 transport (budget P1): requests of 400 bytes over one connection with 1,000 streams to `nghttpd`, by
 * `h2load` (C, the limit), by our transport, by `node:http2`, and by @parse/node-apn, which speaks TLS only, as ours
 * does a second time. Goals: ≥ 0.8 × h2load, ≥ 5 × node:http2, ≥ 12 × node-apn. All in turn, medians of the rounds.
 *
 * Usage: npm run bench -- transport [--requests 200000] [--rounds 5]. Needs nghttpd and h2load (Debian: nghttp2).
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { makeCertificate } from '../../server/test/engine/delivery/make-certificate.ts';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((word) => word !== 'transport'),
  options: { requests: { type: 'string', default: '200000' }, rounds: { type: 'string', default: '5' } },
});
const requests = Number(values.requests);
const rounds = Number(values.rounds);
const streams = 1_000;
const device = 'ab'.repeat(32);
const server = '/usr/sbin/nghttpd';

if (!existsSync(server) || !existsSync('/usr/bin/h2load')) {
  process.stderr.write('bench: transport needs nghttpd and h2load (Debian: apt install nghttp2)\n');
  process.exit(2);
}
const folder = await mkdtemp(join(tmpdir(), 'carillon-bench-'));
const stops: (() => void)[] = [];
try {
  await measure();
} finally {
  for (const stop of stops) stop();
  await rm(folder, { recursive: true, force: true });
}

async function measure(): Promise<void> {
  const certificate = makeCertificate();
  await writeFile(join(folder, 'key.pem'), certificate.key);
  await writeFile(join(folder, 'cert.pem'), certificate.cert);
  await mkdir(join(folder, 'files', '3', 'device'), { recursive: true });
  await writeFile(join(folder, 'files', '3', 'device', device), '');
  await writeFile(join(folder, 'body'), 'x'.repeat(400));
  const clear = `http://localhost:${await startServer(['--no-tls'])}`;
  const secure = `https://localhost:${await startServer([], [join(folder, 'key.pem'), join(folder, 'cert.pem')])}`;
  const clients: Record<string, () => Promise<number>> = {
    h2load: () => runLoad(clear),
    carillon: () => runClient('carillon', clear),
    'node:http2': () => runClient('node-http2', clear),
    'h2load, TLS': () => runLoad(secure),
    'carillon, TLS': () => runClient('carillon', secure),
    'node-apn, TLS': () => runClient('node-apn', secure),
  };
  process.stdout.write(`machine: ${cpus().length} × ${cpus()[0]!.model}, Node ${process.version}\n`);
  const rates: Record<string, number[]> = {};
  for (let round = 0; round < rounds; round += 1)
    for (const [name, run] of Object.entries(clients)) (rates[name] ??= []).push(await run());
  for (const [name, all] of Object.entries(rates))
    process.stdout.write(`${name.padEnd(14)} ${Math.round(median(all))}/s (${all.map(Math.round).join(', ')})\n`);
  const ratio = (one: string, other: string, goal: number): void => {
    const reached = median(rates[one]!) / median(rates[other]!);
    process.stdout.write(`${one} is ${reached.toFixed(2)} × ${other} (goal ${goal})\n`);
  };
  ratio('carillon', 'h2load', 0.8);
  ratio('carillon', 'node:http2', 5);
  ratio('carillon, TLS', 'h2load, TLS', 0.8);
  ratio('carillon, TLS', 'node-apn, TLS', 12);
}

function median(numbers: number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]!;
}

/** nghttpd over the one file; resolves with its port when it listens. */
async function startServer(flags: string[], keys: string[] = []): Promise<number> {
  const port = await freePort();
  const words = [...flags, `--htdocs=${join(folder, 'files')}`, '-a', '127.0.0.1', '-m', String(streams)];
  const child = spawn(server, [...words, String(port), ...keys], { stdio: 'ignore' });
  stops.push(() => child.kill());
  // It says nothing when it listens, unless it is told to say every frame.
  for (let tries = 0; tries < 100; tries += 1) {
    if (await isListening(port)) return port;
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

/** @returns requests a second */
async function runLoad(origin: string): Promise<number> {
  const words = ['-n', String(requests), '-c', '1', '-m', String(streams), '-d', join(folder, 'body')];
  const printed = await run('/usr/bin/h2load', [...words, `${origin}/3/device/${device}`]);
  if (!printed.includes(` ${requests} succeeded`)) throw new Error(printed);
  return Number(/, ([\d.]+) req\/s/.exec(printed)![1]);
}

/** One of the clients in a process of its own, which trusts the certificate of this run. @returns requests a second */
async function runClient(name: string, origin: string): Promise<number> {
  const script = join(import.meta.dirname, 'transport-client.ts');
  const words = ['--disable-warning=ExperimentalWarning', script, name, origin, String(requests)];
  return Number(await run(process.execPath, words));
}

async function run(program: string, words: string[]): Promise<string> {
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: join(folder, 'cert.pem') };
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'inherit'], env });
  let printed = '';
  child.stdout.on('data', (piece) => (printed += piece));
  const [code] = (await once(child, 'close')) as [number];
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${printed}`);
  return printed;
}
