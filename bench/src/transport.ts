/**
 * Measures the HTTP/2 transport (budget P1): requests of 400 bytes over one connection with 1,000 streams to `nghttpd`, by
 * `h2load` (C, the limit), by our transport (a lane, and a promise each), by `node:http2`, and by @parse/node-apn, which
 * supports TLS only; all of them with TLS too. Goals: ≥ 0.8 × h2load, ≥ 5 × node:http2, ≥ 12 × node-apn. All run in turn;
 * results are medians of the rounds, by time and by the client's own CPU time.
 *
 * Usage: npm run bench -- transport [--requests 200000] [--rounds 5]. Needs nghttpd and h2load (Debian: nghttp2).
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { tellComparison } from './comparison.ts';
import { median } from './median.ts';
import { runTransportClient } from './run-transport-client.ts';
import type { ClientName, Measured } from './run-transport-client.ts';
import { startNghttpd } from './start-nghttpd.ts';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((word) => word !== 'transport'),
  options: { requests: { type: 'string', default: '200000' }, rounds: { type: 'string', default: '5' } },
});
const requests = Number(values.requests);
const rounds = Number(values.rounds);
const streams = 1_000;
const goals = [
  ['lane', 'h2load', 0.8],
  ['lane', 'node:http2', 5],
  ['lane, TLS', 'h2load, TLS', 0.8],
  ['lane, TLS', 'node:http2, TLS', 5],
  ['lane, TLS', 'node-apn, TLS', 12],
] as const;

if (!existsSync('/usr/bin/h2load')) {
  process.stderr.write('bench: transport needs h2load (Debian: apt install nghttp2)\n');
  process.exit(2);
}
const server = await startNghttpd();
const { folder, path } = server;
try {
  await measure();
} finally {
  await server.stop();
}

async function measure(): Promise<void> {
  await writeFile(join(folder, 'body'), 'x'.repeat(400));
  const { origin: clear } = await server.listen('clear');
  const { origin: secure } = await server.listen('secure');
  const clients: Record<string, () => Promise<Measured>> = {
    h2load: () => runLoad(clear),
    lane: () => runClient('lane', clear),
    promises: () => runClient('promises', clear),
    'node:http2': () => runClient('node-http2', clear),
    'h2load, TLS': () => runLoad(secure),
    'lane, TLS': () => runClient('lane', secure),
    'promises, TLS': () => runClient('promises', secure),
    'node:http2, TLS': () => runClient('node-http2', secure),
    'node-apn, TLS': () => runClient('node-apn', secure),
  };
  process.stdout.write(`machine: ${cpus().length} × ${cpus()[0]!.model}, Node ${process.version}\n`);
  process.stdout.write(`${requests} requests a client and round; each in turn, medians of ${rounds} rounds\n\n`);
  const all: Record<string, Measured[]> = {};
  for (let round = 0; round < rounds; round += 1)
    for (const [name, run] of Object.entries(clients)) (all[name] ??= []).push(await run());
  const rateOf = (name: string): number => median(all[name]!.map(({ rate }) => rate));
  const cpuOf = (name: string): number => median(all[name]!.map(({ cpuMicroseconds }) => cpuMicroseconds));
  const write = (...cells: string[]): boolean =>
    process.stdout.write(
      `${cells.map((cell, number) => (number === 0 ? cell.padEnd(18) : cell.padStart(20))).join('')}\n`,
    );
  write('client', 'requests/s', 'µs of CPU a request');
  for (const name of Object.keys(clients)) write(name, String(Math.round(rateOf(name))), cpuOf(name).toFixed(2));
  process.stdout.write('\n');
  write('', 'times the rate', 'times by CPU', 'goal');
  for (const [one, other, goal] of goals) {
    const [byRate, byCpu] = [rateOf(one) / rateOf(other), cpuOf(other) / cpuOf(one)];
    write(`${one} : ${other}`, byRate.toFixed(2), byCpu.toFixed(2), String(goal));
  }
  process.stdout.write('\n');
  for (const [one, other, goal] of goals)
    tellComparison({
      ...{
        budget: 'P1',
        work: `${requests} requests of 400 bytes, one connection`,
        ratio: rateOf(one) / rateOf(other),
      },
      ours: `${one} ${Math.round(rateOf(one))}/s, ${cpuOf(one).toFixed(1)} µs`,
      peer: `${other} ${Math.round(rateOf(other))}/s, ${cpuOf(other).toFixed(1)} µs`,
      ...{ goal: `≥ ${goal} ×`, isMet: rateOf(one) / rateOf(other) >= goal },
    });
}

async function runLoad(origin: string): Promise<Measured> {
  const words = ['-n', String(requests), '-c', '1', '-m', String(streams), '-d', join(folder, 'body')];
  // The shell's last line is its children's usage: minutes and seconds, user and system.
  const script = '"$@" && times';
  const printed = await run('/bin/sh', ['-c', script, 'sh', '/usr/bin/h2load', ...words, `${origin}${path}`]);
  if (!printed.includes(` ${requests} succeeded`)) throw new Error(printed);
  const used = printed.trimEnd().split('\n').at(-1)!.split(' ');
  const seconds = used.map((text) => Number(text.split('m')[0]) * 60 + Number.parseFloat(text.split('m')[1]!));
  return {
    rate: Number(/, ([\d.]+) req\/s/.exec(printed)![1]),
    cpuMicroseconds: ((seconds[0]! + seconds[1]!) * 1e6) / requests,
  };
}

async function run(program: string, words: string[]): Promise<string> {
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  child.stdout.on('data', (piece) => (printed += piece));
  const [code] = (await once(child, 'close')) as [number];
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${printed}`);
  return printed;
}

function runClient(name: ClientName, origin: string): Promise<Measured> {
  return runTransportClient(name, { origin, certificate: join(folder, 'cert.pem'), requests });
}
