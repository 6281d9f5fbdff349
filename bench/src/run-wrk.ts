import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type HttpRequest = { path: string; headers: Record<string, string>; body: string };
export type Load = { rate: number; requests: number; medianMilliseconds: number; p99Milliseconds: number };

const program = '/usr/bin/wrk';

/** Exits if wrk is not installed. */
export function requireWrk(measurement: string): void {
  if (existsSync(program)) return;
  process.stderr.write(`bench: ${measurement} needs wrk (Debian: apt install wrk)\n`);
  process.exit(2);
}

/**
 * POSTs these requests in turn by this many connections for this long; each connection waits for its response. wrk is written
 * in C, so it uses little of the measured machine.
 *
 * @throws when a response has another status than 2xx or 3xx, or when there is none
 */
export async function runWrk(
  origin: string,
  { requests, connections, seconds }: { requests: readonly HttpRequest[]; connections: number; seconds: number },
): Promise<Load> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-bench-wrk-'));
  try {
    const file = join(folder, 'requests');
    const lines = requests.map(({ path, headers, body }) =>
      ['POST', path, ...Object.entries(headers).map(([name, value]) => `${name}=${value}`), body].join('\t'),
    );
    await writeFile(file, `${lines.join('\n')}\n`);
    const script = join(import.meta.dirname, 'wrk-requests.lua');
    const how = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '30s', '--latency', '-s', script];
    const child = spawn(program, [...how, origin, '--', file], { stdio: ['ignore', 'pipe', 'inherit'] });
    let printed = '';
    child.stdout.on('data', (piece) => (printed += piece));
    const [code] = (await once(child, 'close')) as [number];
    const failures = [...printed.matchAll(/Non-2xx.*|Socket errors.*/g)].map(([line]) => line);
    if (code !== 0 || failures.length > 0) throw new Error(`wrk: ${failures.join('; ') || printed}`);
    return {
      rate: Number(/Requests\/sec: +([\d.]+)/.exec(printed)![1]),
      requests: Number(/(\d+) requests in/.exec(printed)![1]),
      medianMilliseconds: readLatency(printed, 50),
      p99Milliseconds: readLatency(printed, 99),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const milliseconds = { us: 0.001, ms: 1, s: 1000 } as const;

function readLatency(printed: string, percent: number): number {
  const [, number, unit] = new RegExp(`\\b${percent}% +([\\d.]+)(us|ms|s)`).exec(printed)!;
  return Number(number) * milliseconds[unit as keyof typeof milliseconds];
}
