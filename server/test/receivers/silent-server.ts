import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'vitest';

export type TestReceiver = {
  origin: string;
  /** The same server as the n-th of many hosts: all of 127.0.0.0/8 is this machine. */
  originOf(number: number): string;
  /** Requests that arrived, by path. */
  paths: string[];
  /** Requests that are waiting for an answer. */
  open(): number;
  /** The largest number of requests that waited at once. */
  maxOpen(): number;
  /** Resolves when this many requests have arrived. */
  arrived(count: number): Promise<void>;
  /** From now on requests are answered with 200; those that wait are answered, too. */
  answer(): void;
  close(): void;
};

/** A server on loopback that accepts requests and never answers them, until `answer` is called. */
export async function startSilentReceiver(): Promise<TestReceiver> {
  return startReceiver({ isSilent: () => true });
}

/** A server on loopback that answers 200 except where `isSilent` says so. */
export async function startReceiver({
  isSilent = () => false,
}: { isSilent?: (path: string) => boolean } = {}): Promise<TestReceiver> {
  const paths: string[] = [];
  const waiting = new Set<() => void>();
  const listeners = new Set<() => void>();
  let isAnswering = false;
  let maxOpen = 0;
  const server: Server = createServer((request, response) => {
    const path = request.url ?? '';
    request.resume();
    paths.push(path);
    for (const listener of listeners) listener();
    const reply = (): void => void response.writeHead(200).end();
    if (isAnswering || !isSilent(path)) return reply();
    waiting.add(reply);
    maxOpen = Math.max(maxOpen, waiting.size);
    response.on('close', () => waiting.delete(reply));
  });
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    originOf: (number) => `http://127.1.${number >> 8}.${number & 255}:${port}`,
    paths,
    open: () => waiting.size,
    maxOpen: () => maxOpen,
    arrived: (count) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (paths.length < count) return;
          listeners.delete(look);
          resolve();
        };
        listeners.add(look);
        look();
      }),
    answer() {
      isAnswering = true;
      for (const reply of waiting) reply();
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

// Far below the 15 s for which one attempt holds its slot, and far above what a busy machine needs.
const ceilingMilliseconds = 10_000;

/**
 * Waits until a request for the path has arrived; fails after ten seconds. PRINT_TIMES=1 prints how long it took.
 *
 * @returns milliseconds
 */
export async function awaitArrival(receiver: TestReceiver, path: string): Promise<number> {
  const startedAt = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(reject, ceilingMilliseconds, new Error(`no request within ${ceilingMilliseconds} ms`));
  });
  const arrival = async (): Promise<void> => {
    while (!receiver.paths.includes(path)) await receiver.arrived(receiver.paths.length + 1);
  };
  await Promise.race([arrival(), late]).finally(() => clearTimeout(timer));
  const took = Math.round(performance.now() - startedAt);
  if (process.env['PRINT_TIMES']) process.stdout.write(`${expect.getState().currentTestName}: ${took} ms\n`);
  return took;
}
