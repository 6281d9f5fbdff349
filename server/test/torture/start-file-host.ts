import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';

export type FileHost = {
  fileUrl: string;
  callbackUrl: string;
  /** Pieces of the file that were served, all requests together. */
  servedPieces(): number;
  /** What arrived at the callback's address, by `webhook-id`. */
  callbacks: ReadonlyMap<string, { times: number; body: string }>;
  close(): Promise<void>;
};

const pieceLines = 500;
const pauseMilliseconds = 50;

/** Serves the ids of users as a file, in pieces as a far server would, and takes callbacks. */
export async function startFileHost(users: number): Promise<FileHost> {
  const lines = Array.from({ length: users }, (_, number) => `demo-user-${number}\n`);
  const callbacks = new Map<string, { times: number; body: string }>();
  let served = 0;
  const server = createServer((request, response) => {
    void (async () => {
      if (request.url === '/callback') {
        let body = '';
        for await (const piece of request) body += String(piece);
        const id = String(request.headers['webhook-id']);
        callbacks.set(id, { times: (callbacks.get(id)?.times ?? 0) + 1, body });
        response.writeHead(200).end('{}');
        return;
      }
      response.writeHead(200, { 'content-type': 'text/csv' });
      for (let at = 0; at < lines.length && !response.destroyed; at += pieceLines) {
        response.write(lines.slice(at, at + pieceLines).join(''));
        served += 1;
        await setTimeout(pauseMilliseconds);
      }
      response.end();
    })().catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    fileUrl: `${origin}/users.csv`,
    callbackUrl: `${origin}/callback`,
    servedPieces: () => served,
    callbacks,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
