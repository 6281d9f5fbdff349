import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
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

/** Where the node fetches files of segments, and where it sends callbacks. */
type Receiver = {
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

export type EventReceiver = {
  url: string;
  /** How many events of a campaign were told, each uuid once, by code and content or control group. */
  told(campaignId: string): Map<string, number>;
  /** Requests and events that came, repeats with them. */
  received(): { requests: number; events: number };
  close(): Promise<void>;
};

/** Takes batches of events, of which it refuses one in fifty: those come again. */
export async function startEventReceiver(): Promise<EventReceiver> {
  const events = new Map<string, { campaignId: string; what: string }>();
  let [requests, count] = [0, 0];
  const server = createServer((request, reply) => {
    void (async () => {
      let text = '';
      for await (const piece of request) text += String(piece);
      requests += 1;
      if (requests % 50 === 0) return void reply.writeHead(503).end();
      for (const { event_uuid: uuid, event_code: code, event_attributes: about } of JSON.parse(text).events) {
        count += 1;
        const what = `${code} ${about.control_group ?? `${about.locale} ${about.variation}`}`;
        events.set(uuid, { campaignId: about.campaign_id, what });
      }
      reply.writeHead(204).end();
    })().catch(() => reply.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
    told(campaignId) {
      const told = new Map<string, number>();
      for (const event of events.values())
        if (event.campaignId === campaignId) told.set(event.what, (told.get(event.what) ?? 0) + 1);
      return told;
    },
    received: () => ({ requests, events: count }),
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
