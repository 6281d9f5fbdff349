import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Where the node fetches files of segments, and where it sends callbacks. */
export type Receiver = {
  /** Serves a file once asked for. @returns its address */
  serve(content: string): string;
  /** Addresses that answer otherwise than with a file. */
  addressOf(kind: 'missing' | 'truncated'): string;
  callbackUrl: string;
  callbacks(): number;
  stop(): Promise<void>;
};

// A file is fetched soon after it was named; older ones are not asked for again.
const keptFiles = 50;

export async function startReceiver(): Promise<Receiver> {
  const files = new Map<string, string>();
  let lastFile = 0;
  let callbacks = 0;
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    request.resume();
    if (request.method === 'POST') {
      callbacks += 1;
      // One in five is asked to come again.
      response.writeHead(callbacks % 5 === 0 ? 503 : 200).end();
      return;
    }
    const content = files.get(request.url!);
    if (request.url === '/truncated.csv') {
      response.writeHead(200, { 'content-type': 'text/csv', 'content-length': '1000' });
      response.write('demo-user-1\n', () => response.destroy());
    } else if (content === undefined) response.writeHead(404).end();
    else response.writeHead(200, { 'content-type': 'text/csv' }).end(content);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    serve(content) {
      const path = `/file-${(lastFile += 1)}.csv`;
      files.set(path, content).delete(`/file-${lastFile - keptFiles}.csv`);
      return origin + path;
    },
    addressOf: (kind) => `${origin}/${kind}.csv`,
    callbackUrl: `${origin}/callback`,
    callbacks: () => callbacks,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
