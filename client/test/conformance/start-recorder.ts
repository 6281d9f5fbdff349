import { createServer } from 'node:http';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An answer instead of the node's, or (`loses`) a connection that ends after the node has processed the request. */
export type Fault = {
  status?: number;
  headers?: Record<string, string>;
  text?: string;
  loses?: boolean;
  times?: number;
};

export type Recorded = { line: string; headers: Record<string, string | undefined>; body: string };

export type Recorder = Awaited<ReturnType<typeof startRecorder>>;

/**
 * Stands between a client and a node: records what the client sent, passes it on, and answers some calls itself. Token
 * requests always reach the node.
 */
export async function startRecorder(target: string) {
  const recorded: Recorded[] = [];
  const faults: Fault[] = [];
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    const { method = '', url = '' } = request;
    const headers = request.headers as Record<string, string | undefined>;
    recorded.push({ line: `${method} ${url}`, headers, body });
    const fault = url.startsWith('/v1/oauth/') ? undefined : faults.shift();
    if (fault !== undefined && !fault.loses) {
      response.writeHead(fault.status!, fault.headers ?? {}).end(fault.text ?? '{}');
      return;
    }
    const { host: _host, connection: _connection, 'content-length': _length, expect: _expect, ...passed } = headers;
    const init: RequestInit = { method, headers: passed as Record<string, string>, redirect: 'manual' };
    if (body !== '') init.body = body;
    const replied = await fetch(target + url, init);
    const text = await replied.text();
    if (fault?.loses) {
      response.destroy();
      return;
    }
    const told: OutgoingHttpHeaders = Object.fromEntries(replied.headers);
    // The body was decoded, and is sent whole.
    for (const name of ['content-encoding', 'transfer-encoding', 'content-length', 'connection', 'keep-alive'])
      delete told[name];
    response.writeHead(replied.status, told).end(text);
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Forgets what was recorded, and answers the next calls by these faults. */
    expectCalls(next: Fault[]): void {
      recorded.length = 0;
      faults.length = 0;
      for (const fault of next) for (let times = fault.times ?? 1; times > 0; times -= 1) faults.push(fault);
    },
    recorded,
    async stop(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}
