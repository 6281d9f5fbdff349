import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A POST request. */
export type HttpRequest = { path: string; headers: Record<string, string>; body: string };
export type Load = { rate: number; requests: number; medianMilliseconds: number; p99Milliseconds: number };

type LoadOptions = { requests: readonly HttpRequest[]; connections: number; seconds: number };

/**
 * Sends these requests in turn over this many connections for this long; each connection waits for its response. wrk is written
 * in C, so it uses little of the measured machine.
 *
 * @throws when a response has another status than 2xx or 3xx, or when there is none
 */
export async function runWrk(origin: string, { requests, connections, seconds }: LoadOptions): Promise<Load> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-bench-wrk-'));
  try {
    const file = join(folder, 'requests');
    const lines = requests.map(({ path, headers, body }) =>
      ['POST', path, ...Object.entries(headers).map(([name, value]) => `${name}=${value}`), body].join('\t'),
    );
    await writeFile(file, `${lines.join('\n')}\n`);
    const script = join(import.meta.dirname, '..', 'processes', 'wrk-requests.lua');
    const how = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '30s', '--latency', '-s', script];
    const child = spawn('/usr/bin/wrk', [...how, origin, '--', file], { stdio: ['ignore', 'pipe', 'inherit'] });
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

export type Pace = LoadOptions & {
  /** Calls a second; Infinity: each connection sends its next call when it has its response, until the requests end. */
  rate: number;
  /** Called with the number of each request when its response has arrived. */
  onAnswer?: (number: number) => void;
};

/**
 * Sends calls at even intervals over this many connections, whether or not earlier ones have a response; a call without a free
 * connection waits for one. Writes and reads the bytes itself: a client that used as much of the machine as the server would
 * measure itself.
 *
 * @returns the milliseconds that each call waited since it was due; a late send counts as waiting
 * @throws when a response has another status than 200, or a body without these words
 */
export async function paceCalls(
  origin: string,
  { rate, seconds, connections, requests, words, onAnswer }: Pace & { words: string },
): Promise<number[]> {
  const { hostname, port } = new URL(origin);
  const messages = requests.slice(0, Math.floor(rate * seconds)).map((request) => toBytes(hostname, request));
  const waits: number[] = [];
  const free: Socket[] = [];
  let next = 0;
  const begun = performance.now();
  const dueAt = (number: number): number => begun + (number / rate) * 1000;
  return new Promise<number[]>((resolve, reject) => {
    const end = (settle: () => void): void => {
      clearInterval(timer);
      for (const socket of sockets) socket.destroy();
      settle();
    };
    const send = (): void => {
      const now = performance.now();
      while (next < messages.length && dueAt(next) <= now && free.length > 0) ask(free.pop()!);
    };
    const ask = (socket: Socket): void => {
      const number = next;
      next += 1;
      let text = '';
      socket.removeAllListeners('data').on('data', (piece) => {
        text += piece.toString('latin1');
        if (!isWhole(text)) return;
        if (!text.startsWith('HTTP/1.1 200 ') || !text.includes(words))
          return end(() => reject(new Error(`call ${number}: ${text}`)));
        waits.push(performance.now() - dueAt(number));
        onAnswer?.(number);
        free.push(socket);
        if (waits.length === messages.length) end(() => resolve(waits));
        else send();
      });
      socket.write(messages[number]!);
    };
    const sockets = Array.from({ length: connections }, () => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true });
      socket.on('connect', () => free.push(socket));
      socket.on('error', (error) => end(() => reject(error)));
      return socket;
    });
    const timer = setInterval(send, 1);
  });
}

function toBytes(host: string, { path, headers, body }: HttpRequest): Buffer {
  const lines = [
    `POST ${path} HTTP/1.1`,
    `Host: ${host}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
}

function isWhole(text: string): boolean {
  const head = text.indexOf('\r\n\r\n');
  if (head < 0) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, head + 2));
  return length !== null && text.length >= head + 4 + Number(length[1]);
}
