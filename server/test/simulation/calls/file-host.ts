import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../../../src/clock.ts';
import type { History } from '../../rig/history.ts';

export type CallsFileHost = Awaited<ReturnType<typeof startCallsFileHost>>;

/** Serves files of user ids, and acknowledges callbacks with 200, except the first attempt of every third one. */
export async function startCallsFileHost({ clock, history }: { clock: Clock; history: History }) {
  const files = new Map<string, string>();
  const attempts = new Map<string, number>();
  const server = createServer((request, reply) => {
    if (request.method !== 'POST') {
      const content = files.get(request.url!);
      reply.writeHead(content === undefined ? 404 : 200, { 'content-type': 'text/csv' }).end(content);
      return;
    }
    void readText(request).then((text) => {
      const id = String(request.headers['webhook-id']);
      const attempt = (attempts.get(id) ?? 0) + 1;
      attempts.set(id, attempt);
      const status = attempt === 1 && attempts.size % 3 === 0 ? 503 : 200;
      const at = clock.now().getTime();
      history.note({ kind: 'callback', at, id, path: request.url, status, body: JSON.parse(text) as unknown });
      reply.writeHead(status).end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    callbackUrl: `${origin}/callback`,
    /** Each file has a separate address. @returns it */
    serve(customerIds: readonly string[]): string {
      const path = `/file-${files.size}.csv`;
      files.set(path, customerIds.map((id) => `${id}\n`).join(''));
      history.note({ kind: 'file', url: origin + path, values: customerIds });
      return origin + path;
    },
    async close(): Promise<void> {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function readText(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const piece of request) text += String(piece);
  return text;
}
