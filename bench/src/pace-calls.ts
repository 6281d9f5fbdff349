import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type { HttpRequest } from './run-wrk.ts';

export type Pace = { rate: number; seconds: number; connections: number; requests: readonly HttpRequest[] };

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
  { rate, seconds, connections, requests, words }: Pace & { words: string },
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
