import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

type Answer = (call: { request: IncomingMessage; text: string; reply: ServerResponse }) => Promise<unknown> | unknown;

/** Listens on a free loopback port, and answers each request when its whole body is read. */
async function listen(answer: Answer): Promise<{ origin: string; close(): Promise<void> }> {
  const server = createServer((request, reply) => {
    void (async () => {
      let text = '';
      for await (const piece of request) text += String(piece);
      await answer({ request, text, reply });
    })().catch(() => reply.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

const csv = { 'content-type': 'text/csv' };

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

/** Serves the ids of users as a file, in pieces as a distant server would, and accepts callbacks. */
export async function startFileHost(users: number): Promise<FileHost> {
  const lines = Array.from({ length: users }, (_, number) => `demo-user-${number}\n`);
  const callbacks = new Map<string, { times: number; body: string }>();
  let served = 0;
  const { origin, close } = await listen(async ({ request, text, reply }) => {
    if (request.url === '/callback') {
      const id = String(request.headers['webhook-id']);
      callbacks.set(id, { times: (callbacks.get(id)?.times ?? 0) + 1, body: text });
      return reply.writeHead(200).end('{}');
    }
    reply.writeHead(200, csv);
    for (let at = 0; at < lines.length && !reply.destroyed; at += pieceLines) {
      reply.write(lines.slice(at, at + pieceLines).join(''));
      served += 1;
      await wait(pauseMilliseconds);
    }
    return reply.end();
  });
  return {
    fileUrl: `${origin}/users.csv`,
    callbackUrl: `${origin}/callback`,
    servedPieces: () => served,
    callbacks,
    close,
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
  close(): Promise<void>;
};

// A file is fetched soon after it was named; older ones are not asked for again.
const keptFiles = 50;

export async function startReceiver(): Promise<Receiver> {
  const files = new Map<string, string>();
  let lastFile = 0;
  let callbacks = 0;
  const { origin, close } = await listen(({ request, reply }) => {
    const content = files.get(request.url!);
    if (request.method === 'POST') {
      callbacks += 1;
      // Every fifth callback has to be sent again.
      reply.writeHead(callbacks % 5 === 0 ? 503 : 200).end();
    } else if (request.url === '/truncated.csv') {
      reply.writeHead(200, { ...csv, 'content-length': '1000' });
      reply.write('demo-user-1\n', () => reply.destroy());
    } else if (content === undefined) reply.writeHead(404).end();
    else reply.writeHead(200, csv).end(content);
  });
  return {
    serve(content) {
      const path = `/file-${(lastFile += 1)}.csv`;
      files.set(path, content).delete(`/file-${lastFile - keptFiles}.csv`);
      return origin + path;
    },
    addressOf: (kind) => `${origin}/${kind}.csv`,
    callbackUrl: `${origin}/callback`,
    callbacks: () => callbacks,
    close,
  };
}

export type EventReceiver = {
  url: string;
  /** The number of events of a campaign, each uuid once, by code and content or control group. */
  told(campaignId: string): Map<string, number>;
  /** Requests and events that came, repeats with them. */
  received(): { requests: number; events: number };
  close(): Promise<void>;
};

/** Accepts batches of events, and refuses one in fifty, which is then sent again. */
export async function startEventReceiver(): Promise<EventReceiver> {
  const events = new Map<string, { campaignId: string; what: string }>();
  let [requests, count] = [0, 0];
  const { origin, close } = await listen(({ text, reply }) => {
    requests += 1;
    if (requests % 50 === 0) return reply.writeHead(503).end();
    for (const { event_uuid: uuid, event_code: code, event_attributes: about } of JSON.parse(text).events) {
      count += 1;
      const what = `${code} ${about.control_group ?? `${about.locale} ${about.variation}`}`;
      events.set(uuid, { campaignId: about.campaign_id, what });
    }
    return reply.writeHead(204).end();
  });
  return {
    url: `${origin}/events`,
    told(campaignId) {
      const told = new Map<string, number>();
      for (const event of events.values())
        if (event.campaignId === campaignId) told.set(event.what, (told.get(event.what) ?? 0) + 1);
      return told;
    },
    received: () => ({ requests, events: count }),
    close,
  };
}
