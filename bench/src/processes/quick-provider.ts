/**
 * A provider that accepts everything, in its own process. It notes when the request of each push arrives, by the number at the end
 * of its text, and sends the notes when it is asked. Its clock is that of all processes of the machine.
 */
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';

let arrivals: Arrivals = [];

/** The number of a push, and the milliseconds since 1970 with fractions. A push that arrives twice has two. */
export type Arrivals = [number: number, at: number][];

const server = createServer({ settings: { maxConcurrentStreams: 1_000 } }).on('stream', (stream) => {
  const at = performance.timeOrigin + performance.now();
  const pieces: Buffer[] = [];
  stream.on('data', (piece: Buffer) => pieces.push(piece));
  stream.on('error', () => {});
  stream.on('end', () => {
    const [, number] = /Push (\d+)\./.exec(Buffer.concat(pieces).toString('latin1')) ?? [];
    if (number !== undefined) arrivals.push([Number(number), at]);
    stream.respond({ ':status': 200 }, { endStream: true });
  });
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('message', () => {
  process.send?.(arrivals);
  arrivals = [];
});
process.on('disconnect', () => process.exit(0));
